"""A dataset as Prolog: the rule proves its labels from the facts, and the learners' files hold the examples."""

import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, digits
from assay.config import Settings
from assay.data import Dataset, Recipe, export, make
from assay.data.prolog import rules_of, write_prolog
from assay.logic import Knowledge
from assay.prolog import Bias, Vocabulary, formula_of, oracle
from assay.prolog.ilp_files import definitions_text


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prolog")
    sizes = (("train", 20), ("valid", 0), ("test", 10), ("hard", 0))
    make(Recipe("kand-logic-pairs", Settings(), sizes=sizes), folder / "data")
    dataset = Dataset.open(folder / "data")
    counts = export(dataset, "prolog", folder / "out")
    return dataset, folder / "out", counts


def test_files_are_all_there(exported):
    dataset, out, counts = exported
    label = dataset.knowledge.labels[0].name
    assert counts == {name: len(dataset[name]) for name in dataset.split_names}
    for split in dataset.split_names:
        for name in ("facts.pl", "labels.pl", f"aleph/{label}.b", f"aleph/{label}.f", f"aleph/{label}.n",
                     f"popper/{label}/bk.pl", f"popper/{label}/bias.pl", f"popper/{label}/exs.pl"):  # fmt: skip
            assert (out / split / name).stat().st_size, (split, name)
        positive = set(re.findall(r"\((w\d+)\)", (out / split / "aleph" / f"{label}.f").read_text()))
        assert positive == {f"w{row}" for row in np.flatnonzero(dataset[split].labels[:, 0])}
        examples = (out / split / "popper" / label / "exs.pl").read_text()
        assert set(re.findall(r"pos\(\w+\((w\d+)\)\)", examples)) == positive
        assert examples.count("neg(") == len(dataset[split]) - len(positive)


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
def test_the_rule_proves_the_labels_from_the_facts(exported):
    dataset, out, _ = exported
    head = re.match(r"\w+", (out / "rules.pl").read_text())[0]
    command = ["swipl", "-q", "-f", "none", "-g", f"forall({head}(W), (write(W), nl))", "-t", "halt"]
    files = [str(out / "train" / "facts.pl"), str(out / "rules.pl")]
    found = subprocess.run([*command, *files], capture_output=True, text=True, timeout=60, check=True)
    expected = {f"w{row}" for row in np.flatnonzero(dataset["train"].labels[:, 0])}
    assert (set(found.stdout.split()), found.stderr) == (expected, "")


def test_popper_s_language_reads_back(exported):
    dataset, _, _ = exported
    vocabulary = Vocabulary(dataset.knowledge.space)
    thing = next(relation for relation in vocabulary.relations if relation.what == "attribute")
    has = vocabulary.relation("has", thing.group).name
    learned = f"y(A) :- {has}(A,B), {thing.name}_{thing.values[0]}(B)."
    found = formula_of(definitions_text(Bias(vocabulary.space)) + learned, vocabulary, "y")
    assert str(found) == f"any(a.{thing.attribute} == '{thing.values[0]}' for a in {thing.group})"


def test_values_may_have_letters_of_any_alphabet(tmp_path):
    knowledge = Knowledge.of(ConceptSpace((Concept("colour", ("blå", "größer", "红")),)), {"y": "colour == 'blå'"})
    codes = np.array([[0], [2], [1]])
    data = SimpleNamespace(concepts=codes, labels=knowledge.labels_of(codes), given_labels=knowledge.labels_of(codes))
    split = type("Split", (SimpleNamespace,), {"__len__": lambda self: 3, "with_known_concepts": lambda self, _: self})
    dataset = SimpleNamespace(knowledge=knowledge, symbols=lambda name: split(**vars(data)))
    assert write_prolog(dataset, ["test"], tmp_path) == {"test": 3}
    assert (tmp_path / "test" / "facts.pl").read_text(encoding="utf-8").splitlines() == [
        "colour(w0,'blå').", "colour(w1,'红').", "colour(w2,'größer').",
    ]  # fmt: skip
    assert "blå" in (tmp_path / "rules.pl").read_text(encoding="utf-8")


def test_a_label_that_is_a_program_is_written_as_it_is():
    knowledge = Knowledge.of(digits(["a"]), {"big": oracle("big(W) :- a(W, X), X > 4.", digits(["a"]))})
    assert (
        rules_of(knowledge) == "% label big is big/1 of this program, worlds told as facts\nbig(W) :- a(W, X), X > 4.\n"
    )

"""A dataset as Prolog: the rule proves its labels from the facts, and the learners' files hold the examples."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from assay.base import Settings
from assay.dataset import Dataset, Recipe, make
from assay.exchange import Annotation, annotate, export, from_table
from assay.logic import Knowledge, digits
from assay.prolog import Vocabulary, formula_of, oracle
from assay.render import Layout
from tests.toys import Coin, written


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


def test_what_popper_learns_reads_back_as_a_formula(exported):
    dataset, out, _ = exported
    vocabulary = Vocabulary(dataset.knowledge.space)
    thing = next(relation for relation in vocabulary.relations if relation.what == "attribute")
    has = vocabulary.relation("has", thing.group).name
    learned = f"y(A) :- {has}(A,B), {thing.name}_{thing.values[0]}(B)."
    known = (out / "train" / "popper" / dataset.knowledge.labels[0].name / "bk.pl").read_text()
    definitions = "".join(line + "\n" for line in known.splitlines() if "include(" not in line)
    found = formula_of(definitions + learned, vocabulary, "y")
    assert str(found) == f"any(a.{thing.attribute} == '{thing.values[0]}' for a in {thing.group})"


def test_values_may_have_letters_of_any_alphabet(tmp_path):
    colours = ["blå", "红", "größer"] * 4
    columns = {
        "concept_colour": colours,
        "label_y": [colour == "blå" for colour in colours],
        "split": ["train", "valid", "test"] * 4,
    }
    data = from_table(
        columns, tmp_path / "data", images=[np.zeros((8, 8), np.uint8)] * 12, rule={"y": "colour == 'blå'"}
    )
    assert export(data, "prolog", tmp_path / "out", ["valid"]) == {"valid": 4}
    facts = (tmp_path / "out" / "valid" / "facts.pl").read_text(encoding="utf-8").splitlines()
    assert facts == [f"colour(w{row},'红')." for row in range(4)]
    assert "blå" in (tmp_path / "out" / "rules.pl").read_text(encoding="utf-8")


def test_learners_read_the_labels_that_are_given(mnlogic, tmp_path):
    annotate(mnlogic, Annotation(label_noise=0.4), tmp_path / "noisy")
    noisy = Dataset.open(tmp_path / "noisy")
    export(noisy, "prolog", tmp_path / "out", ["train"])
    given, true = (labels[:, 0] for labels in (noisy["train"].given_labels, noisy["train"].labels))
    for ending, value in (("f", 1), ("n", 0)):
        text = (tmp_path / "out" / "train" / "aleph" / f"y.{ending}").read_text()
        assert {int(row) for row in re.findall(r"\(w(\d+)\)", text)} == set(np.flatnonzero(given == value).tolist())
    assert (given != true).any()


def test_what_learners_read_includes_the_facts(mnlogic, tmp_path):
    export(mnlogic, "prolog", tmp_path / "out", ["train"])
    assert ":- include('../facts.pl')." in (tmp_path / "out" / "train" / "aleph" / "y.b").read_text()
    assert ":- include('../../facts.pl')." in (tmp_path / "out" / "train" / "popper" / "y" / "bk.pl").read_text()


def test_a_label_that_is_a_program_is_written_as_it_is(tmp_path):
    program = "big(W) :- a(W, X), X > 4.\n"

    class Programmed(Coin):
        name = "programmed"
        knowledge = Knowledge.of(digits(["a"]), {"big": oracle(program, digits(["a"])), "few": "a < 3"})
        layout = Layout(1, 1)

    data = written(Programmed(), tmp_path / "data", train=12, valid=2, test=2, hard=0, pairs=0)
    export(data, "prolog", tmp_path / "out")
    text = (tmp_path / "out" / "rules.pl").read_text()
    assert program in text and "few(" in text and "% label big is big/1 of this program" in text

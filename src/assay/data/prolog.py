"""Writing a dataset as Prolog: the rule as clauses, worlds as facts, and files that Aleph and Popper read.

`rules.pl` has the labels and constraints as clauses. For each split: `facts.pl` (the true concepts), `labels.pl` (the
true labels), and for each true-or-false label `aleph/LABEL.b .f .n` and `popper/LABEL/bk.pl bias.pl exs.pl`, whose
examples are the labels as they are given, noise and all.
"""

from collections.abc import Sequence
from pathlib import Path

from assay.data.dataset import Dataset, SplitData
from assay.files import write_atomically
from assay.logic.formula import Oracle
from assay.logic.knowledge import Knowledge, Label
from assay.logic.prolog.bias import Bias, aleph_text, examples_text, helpers_text, popper_bias
from assay.logic.prolog.vocabulary import WORLD, Vocabulary
from assay.logic.prolog.write import facts_text, label_names, labels_text, rules_text


def write_prolog(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a dataset; return how many examples of each."""
    knowledge = dataset.knowledge
    _write(folder / "rules.pl", rules_of(knowledge))
    return {name: _write_split(knowledge, dataset.symbols(name), folder / name) for name in splits}


def rules_of(knowledge: Knowledge) -> str:
    """Return the rule as clauses; a label that is a program is that program."""
    programs = [label for label in knowledge.labels if isinstance(label.formula, Oracle)]
    clauses = tuple(label for label in knowledge.labels if label not in programs)
    text = rules_text(Knowledge(knowledge.space, clauses, knowledge.constraints))
    for label in programs:
        if isinstance(label.formula, Oracle):
            form = label.formula.template or "facts"
            text += f"% label {label.name} is {label.formula.head}/1 of this program, worlds told as {form}\n"
            text += label.formula.program.rstrip() + "\n"
    return text


def _write_split(knowledge: Knowledge, data: SplitData, folder: Path) -> int:
    vocabulary = Vocabulary(knowledge.space)
    _write(folder / "facts.pl", facts_text(vocabulary, data.concepts))
    _write(folder / "labels.pl", labels_text(knowledge, data.labels))
    for place, label in enumerate(knowledge.labels):
        if label.kind == "bool":
            _write_examples(
                Bias(vocabulary, label_names(knowledge)[label.name], numbers=True), label, data, place, folder
            )
    return len(data)


def _write_examples(bias: Bias, label: Label, data: SplitData, place: int, folder: Path) -> None:
    given = data.given_labels[:, place].tolist()
    worlds: dict[bool, list[str]] = {True: [], False: []}
    for number, code in enumerate(given):
        if code >= 0:
            worlds[label.values[code] is True].append(f"{WORLD}{number}")
    aleph, popper = folder / "aleph" / label.name, folder / "popper" / label.name
    _write(aleph.with_suffix(".b"), aleph_text(bias) + ":- include('../facts.pl').\n")
    for truth, ending in ((True, ".f"), (False, ".n")):
        _write(aleph.with_suffix(ending), "".join(f"{bias.head}({world}).\n" for world in worlds[truth]))
    _write(popper / "bias.pl", popper_bias(bias))
    _write(popper / "bk.pl", ":- include('../../facts.pl').\n" + helpers_text(bias))
    _write(popper / "exs.pl", examples_text(bias.head, worlds[True], worlds[False]))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())

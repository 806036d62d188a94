"""Writing a dataset as Prolog: the rule as clauses, worlds as facts, and files that Aleph and Popper read.

`rules.pl` has the labels and constraints as clauses. For each split: `facts.pl` (the true concepts), `labels.pl` (the
true labels), and for each true-or-false label `aleph/LABEL.b .f .n` and `popper/LABEL/bk.pl bias.pl exs.pl`, whose
examples are the labels as they are given, noise and all. They are the files that our models `aleph` and `popper`
write, but that they include the facts, which all labels share.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.base import write_atomically
from assay.dataset import Dataset, SplitData
from assay.logic import Knowledge, Label, Oracle
from assay.prolog import (
    WORLD,
    Bias,
    IlpProblem,
    aleph_files,
    facts_text,
    label_names,
    labels_text,
    popper_files,
    rules_text,
)


def write_prolog(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a dataset; return how many examples of each."""
    knowledge = dataset.knowledge
    knowledge.require_rule("the export to Prolog")
    _write(folder / "rules.pl", rules_of(knowledge))
    parts = {name: dataset.symbols(name, given=True).with_known_concepts("the export to Prolog") for name in splits}
    return {name: _write_split(knowledge, data, folder / name) for name, data in parts.items()}


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
    bias, names = Bias(knowledge.space), label_names(knowledge)
    _write(folder / "facts.pl", facts_text(bias.vocabulary, data.concepts))
    _write(folder / "labels.pl", labels_text(knowledge, data.labels))
    for place, label in enumerate(knowledge.labels):
        if label.kind == "bool":
            worlds: dict[bool, list[str]] = {True: [], False: []}
            for number, code in enumerate(data.given_labels[:, place].tolist()):
                if code >= 0:
                    worlds[label.values[code] is True].append(f"{WORLD}{number}")
            _write_problem(IlpProblem(bias, names[label.name], "", worlds[True], worlds[False]), label, folder)
    return len(data)


def _write_problem(problem: IlpProblem, label: Label, folder: Path) -> None:
    for ending, text in aleph_files(replace(problem, facts=":- include('../facts.pl').\n")).items():
        _write((folder / "aleph" / label.name).with_suffix(ending), text)
    for name, text in popper_files(replace(problem, facts=":- include('../../facts.pl').\n")).items():
        _write(folder / "popper" / label.name / name, text)


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())

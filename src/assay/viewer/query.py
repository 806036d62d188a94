"""Which samples of a split a query asks for: by what is true of them, and by what runs predict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, ConfigError, UnknownName, suggestion
from assay.contracts import CONCEPT, LABEL
from assay.logic import ConceptSpace, Value
from assay.viewer.answers import Answers
from assay.viewer.state import State
from assay.viewer.table import SplitTable

OF_ONE = ("right", "wrong", "misread", "hidden", "violating")
OF_TWO = ("only_first", "only_second")
OF_SEVERAL = ("differ", "all_right", "all_wrong")
OUTCOMES = (*OF_ONE, *OF_TWO, *OF_SEVERAL)
NONE = "none"
"""What a query writes where a run predicts nothing."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class Misreading:
    """A concept or encoder group, the code of a true value, and that of the predicted one, as an address has them."""

    name: str
    truth: str
    predicted: str


@dataclass(frozen=True)
class Query:
    """Which samples: labels and concepts by code, regions of a label's rule, and what runs predict, the first first.

    `predicts` are labels as the first run predicts them, `reads` concepts by true and predicted value, `violates`
    constraints that its predicted concepts break, `outcome` how it did, or how several runs did.
    """

    labels: tuple[Pair, ...] = ()
    concepts: tuple[Pair, ...] = ()
    tags: tuple[Pair, ...] = ()
    runs: tuple[str, ...] = ()
    outcome: str = ""
    predicts: tuple[Pair, ...] = ()
    reads: tuple[Misreading, ...] = ()
    violates: tuple[str, ...] = ()

    @classmethod
    def of(cls, parameters: Mapping[str, Sequence[str]]) -> "Query":
        """Read the query of an address, such as `label=y:1&run=good&reads=digit:2:4&outcome=right`."""
        values = {key: tuple(parameters.get(key, ())) for key in PARAMETERS}
        labels, concepts, tags, predicts = (
            tuple(map(_pair, values[key])) for key in ("label", "concept", "tag", "predicts")
        )
        runs = tuple(dict.fromkeys(run for run in (*values["run"], *values["versus"]) if run))
        outcome = (values["outcome"] or ("",))[-1]
        reads = tuple(map(_misreading, values["reads"]))
        query = cls(labels, concepts, tags, runs, outcome, predicts, reads, values["violates"])
        query._check()
        return query

    def _check(self) -> None:
        if self.outcome and self.outcome not in OUTCOMES:
            raise ConfigError(f"no outcome {self.outcome!r}; there is: {', '.join(OUTCOMES)}")
        if self.about_runs and not self.runs:
            raise ConfigError("an outcome is that of a run; name one")
        if self.outcome in (*OF_TWO, *OF_SEVERAL) and len(self.runs) < 2:
            raise ConfigError("this outcome compares runs; name a second")

    @property
    def about_runs(self) -> bool:
        """Whether what runs predict decides."""
        return bool(self.outcome or self.predicts or self.reads or self.violates)


PARAMETERS = ("label", "concept", "tag", "run", "versus", "outcome", "predicts", "reads", "violates")
"""What an address may ask; `versus` is a further run."""


def _pair(text: str) -> Pair:
    name, colon, value = text.partition(":")
    if not colon:
        raise ConfigError(f"expected NAME:VALUE, not {text!r}")
    return name, value


def _misreading(text: str) -> Misreading:
    parts = text.rsplit(":", 2)
    if len(parts) != 3:
        raise ConfigError(f"expected NAME:TRUE:PREDICTED, not {text!r}")
    return Misreading(*parts)


def matching_rows(state: State, key: str, split: str, query: Query) -> Array:
    """Return the numbers of the rows that a query asks for."""
    table: SplitTable = state.table(key, split)
    mask = np.ones(len(table), dtype=bool)
    space = table.knowledge.space
    for name, code in query.labels:
        mask &= table.codes(LABEL + name) == _code(code, table.knowledge.label(name).values)
    for name, code in query.concepts:
        mask &= table.codes(CONCEPT + name) == _code(code, space.concept(name).values)
    for name, tag in query.tags:
        if name not in table.sides:
            raise UnknownName(f"no boundary of label {name!r} in {key!r}")
        mask &= table.sides[name].mask(tag)
    if query.about_runs:
        mask &= _predicted(state.require_answers(key, split, query.runs[0]), query)
    if query.outcome:
        mask &= outcome_mask([state.require_answers(key, split, run) for run in query.runs], query.outcome)
    return np.flatnonzero(mask)


def _code(text: str, values: Sequence[Value], silent: bool = False) -> int:
    if silent and text == NONE:
        return -1
    if not text.isdecimal() or int(text) >= len(values):
        raise ConfigError(f"expected a code from 0 to {len(values) - 1}, not {text!r}")
    return int(text)


def _predicted(answers: Answers, query: Query) -> Array:
    """Return the rows where a run predicts these labels, reads concepts so, and breaks these constraints."""
    knowledge, mask = answers.table.knowledge, answers.has_answer.copy()
    for name, code in query.predicts:
        place = knowledge.label_names.index(knowledge.label(name).name)
        mask &= answers.labels[:, place] == _code(code, knowledge.labels[place].values, silent=True)
    for reading in query.reads:
        columns = columns_of(knowledge.space, reading.name)
        values = knowledge.space.concepts[columns[0]].values
        true, predicted = _code(reading.truth, values), _code(reading.predicted, values, silent=True)
        pairs = (answers.table.concepts[:, columns] == true) & (answers.concepts[:, columns] == predicted)
        mask &= pairs.any(axis=1)
    names = [constraint.name for constraint in knowledge.constraints]
    for name in query.violates:
        if name not in names:
            raise UnknownName(f"no constraint named {name!r}{suggestion(name, names)}")
        mask &= answers.violations[:, names.index(name)]
    return mask


def columns_of(space: ConceptSpace, name: str) -> list[int]:
    """Return the columns of the concepts that share an encoder of this name, or of the one concept of this name."""
    group = next((group for group in space.encoders if group.name == name), None)
    return [space.place(name)] if group is None else [space.place(concept) for concept in group.concepts]


def outcome_mask(runs: Sequence[Answers], outcome: str) -> Array:
    """Return the rows on which runs did so: the first by itself, the first two, or all of them."""
    first = runs[0]
    if outcome in OF_ONE:
        return _outcome_of_one(first, outcome)
    every = np.logical_and.reduce([answers.has_answer for answers in runs])
    if outcome in OF_TWO:
        one, other = (first, runs[1]) if outcome == "only_first" else (runs[1], first)
        return np.asarray(first.has_answer & runs[1].has_answer & one.right & ~other.right)
    if outcome == "differ":
        return np.asarray(every & np.any([(first.labels != r.labels).any(axis=1) for r in runs[1:]], axis=0))
    right = np.array([answers.right for answers in runs])
    return np.asarray(every & (right.all(axis=0) if outcome == "all_right" else ~right.any(axis=0)))


def _outcome_of_one(answers: Answers, outcome: str) -> Array:
    if outcome == "violating":
        return np.asarray(answers.violations.any(axis=1))
    return {
        "right": answers.right,
        "wrong": answers.has_answer & ~answers.right,
        "misread": answers.misread,
        "hidden": answers.misread & answers.right,
    }[outcome]

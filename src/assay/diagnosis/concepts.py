"""How a model reads each concept: right, misread, collapsed, noisy, not learned, absent, or too few examples to tell.

A fault is claimed where a test excludes the alternative, at a level that all concepts of all splits share, so that a
sound model with a hundred concepts is not called noisy by chance. That a concept is right needs a test too: it would be
right as often by a chance of 2.5 % only, were it wrong in a tenth; and no value of it is clearly missed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from assay.base import Array, AssayError, Codes, distinct_rows
from assay.diagnosis.maps import ConceptMap, MapFitter
from assay.diagnosis.thresholds import DEFAULTS, Concepts, Labels, Maps, Thresholds
from assay.logic import ConceptSpace, Const, Diagram, Knowledge, compile_diagram, ground_formula, names_in
from assay.metrics import Evidence, at_least, at_most, confusion, wilson

State = Literal["right", "misread", "collapsed", "noisy", "not learned", "absent", "too few"]
STATES: dict[State, str] = {
    "right": "right",
    "misread": "systematically misread: another map than the identity explains the predictions",
    "collapsed": "values are merged: several are predicted as one",
    "noisy": "mostly right, but wrong more often than is tolerated",
    "not learned": "the predictions have little to do with the truth",
    "absent": "not predicted, or not for every example",
    "too few": "too few examples to tell",
}
SYSTEMATIC: tuple[State, ...] = ("misread", "collapsed")
WRONG: tuple[State, ...] = ("misread", "collapsed", "noisy", "not learned")

DIAGRAM = 20_000
"""How large the rule's diagram may get when used concepts are looked for."""
MOST_PAIRS = 200_000
"""How many pairs of its nodes are followed when constraints are looked at."""


@dataclass(frozen=True)
class ConceptState:
    """How one concept is read on one split."""

    concept: str
    state: State
    used: bool
    """Whether the label of some world depends on it."""
    decides: int
    """In how many of these examples a change of this concept alone changes a label."""
    examples: int
    answered: int
    right: int
    map: ConceptMap | None = None
    """What explains the answers."""
    missed: tuple[str, ...] = ()
    """The values that are clearly missed, of a noisy concept."""

    @property
    def is_wrong(self) -> bool:
        """Whether it is surely read wrong, in whatever way."""
        return self.state in WRONG

    @property
    def accuracy(self) -> float:
        """The share of answers that are right."""
        return self.right / self.answered if self.answered else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy."""
        return wilson(self.right, self.answered)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain data."""
        low, high = self.interval
        return {
            "concept": self.concept,
            "state": self.state,
            "used_by_rule": self.used,
            "decides_examples": self.decides,
            "examples": self.examples,
            "answered": self.answered,
            "right": self.right,
            "accuracy": self.accuracy if self.answered else None,
            "low": low,
            "high": high,
            "missed_values": list(self.missed),
            "map": None if self.map is None else map_to_dict(self.map),
        }


def map_to_dict(mapping: ConceptMap) -> dict[str, Any]:
    """Return a map as plain data; of very many entries, the first."""
    entries = [
        {"true": list(key), "said": value, "examples": mapping.entries[key][0], "follow": mapping.entries[key][1]}
        for key, value in list(mapping.image.items())[:100]
    ]
    return {
        "kind": mapping.kind,
        "read_from": list(mapping.sources),
        "explained": mapping.fidelity,
        "entries": entries,
    }


@lru_cache(maxsize=32)
def used_concepts(knowledge: Knowledge) -> frozenset[int]:
    """Return the columns of the concepts on which the label of some possible world depends.

    A concept that constraints tie to others is not used if the others determine the label of every possible world.

    >>> from assay.logic.concepts import bits
    >>> sorted(used_concepts(Knowledge.of(bits(["a", "b", "c"]), {"y": "a and (b or not b)"})))
    [0]
    """
    formulas, space = [label.formula for label in knowledge.labels], knowledge.space
    if not knowledge.has_rule:
        return frozenset(range(len(space)))  # any of them may matter
    try:
        diagram = compile_diagram(formulas, space, budget=DIAGRAM)
    except AssayError:  # too large, or a program: what the text names
        return named_concepts(knowledge)
    pairs = zip(diagram.order, diagram.layers, strict=True)
    used = frozenset(place for place, layer in pairs if bool((layer != layer[:, :1]).any()))
    return used if knowledge.possible == Const(True) else used - _idle(knowledge, used)


def named_concepts(knowledge: Knowledge) -> frozenset[int]:
    """Return the columns of the concepts that the text of the rule names."""
    space = knowledge.space
    grounded = [ground_formula(label.formula, space) for label in knowledge.labels]
    return frozenset(space.place(name) for formula in grounded for name in names_in(formula))


def _idle(knowledge: Knowledge, used: frozenset[int]) -> frozenset[int]:
    """Return concepts that the formulas use, that no constraint ties, and that decide no label of a possible world."""
    space = knowledge.space
    tied = {space.place(name) for name in names_in(ground_formula(knowledge.possible, space))}
    formulas = [*(label.formula for label in knowledge.labels), knowledge.possible]
    try:
        diagram = compile_diagram(formulas, space, budget=DIAGRAM)
    except AssayError:
        return frozenset()
    return frozenset(place for place in used - tied if not _decides(diagram, place))


def _decides(diagram: Diagram, free: int) -> bool:
    """Return whether two possible worlds that differ in a concept alone have different labels, or too many to tell.

    Pairs of nodes are followed down the diagram, with equal values but for that concept.
    """
    pairs = np.zeros((1, 2), dtype=np.int64)
    for place, layer in zip(diagram.order, diagram.layers, strict=True):
        size, width = layer.shape[1], int(layer.max()) + 1
        first, second = layer[pairs[:, 0]], layer[pairs[:, 1]]
        if place == free:
            first, second = np.repeat(first, size, axis=1), np.tile(second, (1, size))
        together = np.unique(first.ravel() * width + second.ravel())
        if len(together) > MOST_PAIRS:
            return True
        pairs = np.stack([together // width, together % width], axis=1)
    ends = [(diagram.outcomes[one], diagram.outcomes[other]) for one, other in pairs.tolist()]
    return any(one[-1] and other[-1] and one[:-1] != other[:-1] for one, other in ends)


def judge_concepts(
    evidence: Evidence,
    used: frozenset[int],
    level: float,
    thresholds: Thresholds = DEFAULTS,
    fitted: Sequence[ConceptState] = (),
) -> tuple[ConceptState, ...]:
    """Return how each concept is predicted; `level` is the chance of a false alarm over all of them.

    `fitted` are the states on the examples that these were drawn from again: their maps are taken over.
    """
    space = evidence.knowledge.space
    fitter = MapFitter(evidence, level, thresholds.of(Maps))
    decides = [state.decides for state in fitted] or decided_examples(evidence).tolist()
    settings, each = thresholds.of(Concepts), level / len(space)
    blank = [
        ConceptState(concept.name, "absent", place in used, decides[place], 0, 0, 0)
        for place, concept in enumerate(space.concepts)
    ]
    return tuple(
        _judge(evidence, state, fitter, each, settings, fitted[place] if fitted else None)
        for place, state in enumerate(blank)
    )


def decided_examples(evidence: Evidence) -> Array:
    """Return for each concept in how many examples a change of it alone changes some label; none without a rule."""
    rows = evidence.distinct
    known = rows.known.all(axis=1)
    if not rows.knowledge.has_rule or not known.any():
        return np.zeros(rows.concepts.shape[1], dtype=np.int64)
    flips = [boundary.flips(rows.concepts[known]) for boundary in rows.knowledge.boundaries]
    return np.asarray(rows.weights[known] @ np.any(flips, axis=0))


def _judge(
    evidence: Evidence,
    blank: ConceptState,
    fitter: MapFitter,
    level: float,
    settings: Concepts,
    fitted: ConceptState | None,
) -> ConceptState:
    """Return how the concept of a state that is not judged yet is predicted."""
    place = evidence.knowledge.space.place(blank.concept)
    concept, truth = evidence.knowledge.space.concepts[place], evidence.concepts[:, place]
    table = confusion(truth, evidence.predicted_concepts[:, place], len(concept.values))[:, :-1]  # no column for none
    total, answered = int((truth >= 0).sum()), int(table.sum())
    absent = replace(blank, examples=total, answered=answered, right=int(np.trace(table)))
    if not total:
        return replace(absent, state="too few")  # its truth is nowhere known
    if not answered or at_least(total - answered, total, settings.tolerated) <= level:
        return absent
    elsewhere = fitter.elsewhere(place) if fitted is None else _elsewhere(fitted)
    if elsewhere is not None:
        return replace(absent, state="misread", map=elsewhere)
    missed = tuple(str(concept.values[code]) for code in clearly_missed(table, level, settings.recall))
    wrong = misread_values(table, level)
    clearly = fitter.clearly_misread if fitted is None else lambda _: fitted.state in SYSTEMATIC
    if not wrong and clearly(place):
        wrong = [code for code, row in enumerate(table) if row.max() > row[code]]
    own = fitter.own(place) if wrong or fitted is None or fitted.map is None else fitted.map
    state = _own_state(table, own, wrong, bool(missed), level, settings, fitter.settings)
    return replace(absent, state=state, map=own, missed=missed)


def _elsewhere(state: ConceptState) -> ConceptMap | None:
    return state.map if state.map is not None and state.map.kind != "own" else None


def surely_right(right: int, total: int, settings: Concepts | Labels) -> bool:
    """Return whether so many right answers show that more than the asked share is right.

    >>> surely_right(37, 37, Labels()), surely_right(38, 38, Labels())
    (False, True)
    """
    return total > 0 and at_least(right, total, settings.right) <= settings.surely


def clearly_missed(counts: Array, level: float, recall: float) -> list[int]:
    """Return the true values of which clearly fewer than `recall` are predicted right."""
    rows = [code for code in range(len(counts)) if counts[code].sum()]
    totals = {code: int(counts[code].sum()) for code in rows}
    return [c for c in rows if at_most(int(counts[c, c]), totals[c], recall) <= level / len(rows)]


def misread_values(counts: Array, level: float) -> list[int]:
    """Return the true values that are clearly said as another one more often than as themselves."""
    codes = []
    for code, row in enumerate(counts):
        best = int(row.argmax())
        if row[best] > row[code]:
            chance = at_least(int(row[best]), int(row[best] + row[code]), 0.5)
            if chance * max(1, len(row) - 1) * len(counts) <= level:
                codes.append(code)
    return codes


def _own_state(
    counts: Array, own: ConceptMap, wrong: list[int], missed: bool, level: float, settings: Concepts, maps: Maps
) -> State:
    """Judge by the counts of true values (rows) against answers (columns)."""
    total, right = int(counts.sum()), int(np.trace(counts))
    if wrong:
        return _wrong_state(counts, own, wrong, settings, maps)
    if at_most(right, total, 1 - settings.tolerated) <= level or missed:
        return "not learned" if association(counts) < settings.learned else "noisy"
    return "right" if surely_right(right, total, settings) else "too few"


def _wrong_state(counts: Array, own: ConceptMap, wrong: list[int], settings: Concepts, maps: Maps) -> State:
    shares = counts.sum(axis=0) / counts.sum()
    if shares.max() >= settings.constant:
        return "collapsed"
    if association(counts) < settings.learned:
        return "not learned"
    examples, follow = int(counts[wrong].sum()), int(counts[wrong].max(axis=1).sum())
    if wilson(follow, examples)[0] < maps.mostly:
        return "noisy"
    return "collapsed" if own.merges else "misread"


def association(counts: Array) -> float:
    """Return how much answers depend on the truth: Cramer's V, corrected for chance; 0 where either is constant.

    >>> association(np.array([[50, 0], [0, 50]])) > 0.99, association(np.array([[25, 25], [25, 25]]))
    (True, 0.0)
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(float)
    total, (rows, columns) = table.sum(), table.shape
    if min(rows, columns) < 2 or total < 2:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / total
    excess = max(
        0.0, float(((table - expected) ** 2 / expected).sum() / total) - (rows - 1) * (columns - 1) / (total - 1)
    )
    sides = (size - (size - 1) ** 2 / (total - 1) for size in (rows, columns))
    return float(np.sqrt(excess / max(min(sides) - 1, 1e-9)))


def read_by_maps(states: Sequence[ConceptState], codes: Codes, space: ConceptSpace) -> Codes:
    """Return worlds as the maps of these concepts read them; what a map does not know is read as it is."""
    read = codes.copy()
    for state in states:
        if state.map is None:
            continue
        place, columns = space.place(state.concept), [space.place(name) for name in state.map.sources]
        worlds = distinct_rows(codes[:, columns])
        table = np.full(len(worlds), -1)
        for row, world in enumerate(codes[worlds.first][:, columns].tolist()):
            key = tuple(space.concepts[c].values[code] for c, code in zip(columns, world, strict=True))
            if key in state.map.image:
                table[row] = space.concepts[place].code(state.map.image[key])
        mapped = table[worlds.which]
        read[:, place] = np.where(mapped >= 0, mapped, codes[:, place])
    return read

"""The strategy `plan`: labels of the concepts that the model misreads, then of the values that `assay count` names.

What the diagnosis of a round calls wrong is bought first, of concepts that the rule uses; it is judged on the
validation split, and where that has too few examples to tell, on the first split of the diagnosis. Where concepts are
misread by their own values and the count says that labels allow it, only the values are bought that it names: labels
decide the others. Where nothing is misread, the values are bought after whose supervision only the right reading is
left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, AssayError, Codes, ConfigError, distinct_rows
from assay.counting import count_shortcuts
from assay.dataset import Dataset, SplitData, training_worlds
from assay.diagnosis import ConceptState, used_concepts
from assay.lab.acquisition.situation import AcquiredData, AcquisitionContext
from assay.logic import Knowledge
from assay.metrics import Evidence, confusion

JUDGED = "valid"
MISSED = 0.05
"""The share of a value's examples that may be misread before the value counts as confused."""
SECONDS = 60.0
"""For counting the readings, and again for the plan."""


@dataclass(frozen=True)
class MisreadConcept:
    """A concept in the rule that is read wrong."""

    column: int
    state: ConceptState
    label_errors: float
    """The share of training examples whose label its confusions would change if the other concepts were right."""
    confused: tuple[int, ...]
    """The values, as codes, that are misread or predicted in place of others, the most errors first."""

    @property
    def own_values(self) -> bool:
        """Whether its predictions are explained by its own values, as `assay count` supposes."""
        return self.state.map is None or self.state.map.kind == "own"


def misread_concepts(situation: AcquisitionContext) -> list[MisreadConcept]:
    """Return the concepts in the rule that the diagnosis calls wrong: those that cost the most labels come first."""
    states, knowledge = situation.diagnosis.concepts, situation.training.knowledge
    first = next(iter(states))
    judged = JUDGED if JUDGED in states else first
    found: list[MisreadConcept] = []
    for column, (state, other) in enumerate(zip(states[judged], states[first], strict=True)):
        split, state = (first, other) if state.state == "too few" else (judged, state)
        if state.used and state.is_wrong:
            counts = _confusion(situation.evidence(split), column)
            errors = _label_errors(knowledge, situation.training, column, counts)
            found.append(MisreadConcept(column, state, errors, _confused(counts)))
    return sorted(found, key=lambda one: (-one.label_errors, one.state.accuracy))


def shares(misread: Sequence[MisreadConcept]) -> list[float]:
    """Return how much of a round each concept gets: as many label errors as it causes, or none, as many wrong answers.

    A misreading that changes no label in any world waits until those that do are repaired.
    """
    harm = [one.label_errors for one in misread]
    return harm if sum(harm) else [1 - one.state.accuracy for one in misread]


def _confusion(evidence: Evidence, column: int) -> Array:
    """Return how often each true value of a concept (row) was predicted as each value."""
    size = evidence.knowledge.space.sizes[column]
    return confusion(evidence.concepts[:, column], evidence.predicted_concepts[:, column], size)[:, :-1]


def _confused(counts: Array) -> tuple[int, ...]:
    """Return the values that are misread more often than tolerated, and those that are predicted in their place."""
    errors = counts - np.diag(np.diag(counts))
    wrong = errors.sum(axis=1) > MISSED * counts.sum(axis=1)
    taken = errors[wrong].sum(axis=0) > MISSED * errors[wrong].sum()
    involved = errors.sum(axis=0) + errors.sum(axis=1)
    codes = np.flatnonzero(wrong | taken)
    return tuple(codes[np.argsort(-involved[codes], kind="stable")].tolist())


def _label_errors(knowledge: Knowledge, data: SplitData, column: int, counts: Array) -> float:
    """Return the share of worlds whose label changes if a concept is read as its confusions say, the others right.

    The worlds are those of training, whose concepts are known from the labels only in part; like `assay count`, this
    looks at which worlds there are, not at which picture shows which.
    """
    if not knowledge.has_rule:
        return 0.0
    worlds: Codes = data.concepts[(data.concepts >= 0).all(axis=1)]
    labels, total = knowledge.labels_of(worlds), 0.0
    rates = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for code in range(counts.shape[1]):
        changed = worlds.copy()
        changed[:, column] = code
        moved = (knowledge.labels_of(changed) != labels).any(axis=1)
        total += float(rates[worlds[:, column], code] @ moved)
    return total / max(1, len(worlds))


@dataclass(frozen=True)
class ShownValue:
    """A value that is to be shown, and the concepts that it can be shown by."""

    text: str
    columns: tuple[int, ...]
    codes: tuple[int, ...]
    """The code of the value in each of these concepts."""

    def shown_by(self, concepts: Array) -> Array:
        """Return in which cells (examples x all concepts) these codes have the value."""
        found = np.zeros(concepts.shape, dtype=bool)
        for column, code in zip(self.columns, self.codes, strict=True):
            found[:, column] = concepts[:, column] == code
        return found


@dataclass(frozen=True)
class CountedValues:
    """What the count of readings says: the values to show, and the columns of the concepts that labels leave open."""

    values: tuple[ShownValue, ...]
    open: frozenset[int]


def planned_labels(situation: AcquisitionContext) -> AcquiredData:
    """Buy examples of the values that the model misreads, or of those that `assay count` plans to show.

    An annotator is asked for a value and looks through the training pictures in random order until it is found. What
    is shown is paid; at how much was looked is counted beside it.
    """
    situation.require_labels()
    plan, holdings = _Plan(situation), situation.holdings
    wanted = plan.wanted()
    if not wanted:  # a plan that cannot be made is an error at the start, and the end of what to buy later
        counted = count_values(situation.dataset) if situation.number == 1 else plan.counted
        return plan.buy(holdings, counted.values, situation.budget)
    held = [sum(plan.count_held(holdings, value) for value in values) for values in wanted]
    there = [sum(plan.there(value) for value in values) for values in wanted]
    counts = share_out(held, there, list(wanted.values()), situation.budget)
    for values, count in zip(wanted, counts, strict=True):
        holdings = plan.buy(holdings, values, count)
    return holdings


@dataclass(frozen=True)
class _Plan:
    """What a plan chooses from."""

    situation: AcquisitionContext

    @cached_property
    def counted(self) -> CountedValues:
        """The values that the count plans to show; none where nothing is left to show or it cannot be counted."""
        try:
            return count_values(self.situation.dataset)
        except AssayError:
            return CountedValues((), frozenset())

    def wanted(self) -> dict[tuple[ShownValue, ...], float]:
        """Return which values of misread concepts to show, and how much of the round each set of values gets."""
        misread = misread_concepts(self.situation)
        within = [one for one in misread if one.own_values and one.column in self.counted.open]
        settled = any(one.column in value.columns for one in within for value in self.counted.values)
        chosen = [(self._named(one) if settled and one in within else self._confused(one), one) for one in misread]
        offered = [(values, one) for values, one in chosen if any(self.there(value) for value in values)]
        wanted: dict[tuple[ShownValue, ...], float] = {}
        for (values, _), share in zip(offered, shares([one for _, one in offered]), strict=True):
            wanted[values] = wanted.get(values, 0.0) + share  # concepts that share a map have the same values
        return wanted

    def _named(self, misread: MisreadConcept) -> tuple[ShownValue, ...]:
        """Return the values of a concept that the count plans to show, perhaps none: labels decide the others."""
        return tuple(value for value in self.counted.values if misread.column in value.columns)

    def _confused(self, misread: MisreadConcept) -> tuple[ShownValue, ...]:
        """Return the values of a concept that the model confuses."""
        concept = self.situation.training.knowledge.space.concepts[misread.column]
        texts = {code: f"{concept.name} {concept.values[code]}" for code in misread.confused}
        return tuple(ShownValue(text, (misread.column,), (code,)) for code, text in texts.items())

    @cached_property
    def offered(self) -> Array:
        """Which labels can be bought and tell something: not those that an example's label gives by the rule."""
        return self.situation.is_open & ~decided_by_labels(self.situation)

    def count_held(self, holdings: AcquiredData, value: ShownValue) -> int:
        """Return how many examples of a value there are."""
        return int(value.shown_by(holdings.concepts).sum())

    def there(self, value: ShownValue) -> int:
        """Return how many more examples of a value can be bought."""
        return int((value.shown_by(self.situation.answers) & self.offered).sum())

    def buy(self, holdings: AcquiredData, values: Sequence[ShownValue], budget: int) -> AcquiredData:
        """Return the holdings with so many more examples, as many of each value as of another."""
        held = [self.count_held(holdings, value) for value in values]
        there = [self.there(value) for value in values]
        counts = share_out(held, there, [1.0] * len(values), budget)
        for value, count in zip(values, counts, strict=True):
            holdings = self._find(holdings, value, count)
        return holdings

    def _find(self, holdings: AcquiredData, value: ShownValue, count: int) -> AcquiredData:
        """Return the holdings with further examples of a value, found by looking at open labels in random order."""
        situation = self.situation
        places = np.zeros(holdings.concepts.shape, dtype=bool)
        places[:, list(value.columns)] = True
        cells = np.argwhere(places & self.offered & (holdings.concepts < 0))
        order = cells[situation.rng.permutation(len(cells))]
        hits = np.flatnonzero(value.shown_by(situation.answers)[order[:, 0], order[:, 1]])[:count]
        searched = int(hits[-1]) + 1 if len(hits) else 0
        return holdings.with_labels(order[hits], situation.answers, searched)


def decided_by_labels(situation: AcquisitionContext) -> Array:
    """Return which concepts of which training examples their labels decide, in all worlds that training shows."""
    data, knowledge = situation.training, situation.training.knowledge
    decided = np.zeros(data.concepts.shape, dtype=bool)
    worlds = training_worlds(situation.dataset)
    if worlds is None or not knowledge.has_rule:
        return decided
    outcomes = knowledge.labels_of(worlds)
    for outcome in outcomes[distinct_rows(outcomes).first]:
        own = worlds[(outcomes == outcome).all(axis=1)]
        decided[np.ix_((data.labels == outcome).all(axis=1), (own == own[0]).all(axis=0))] = True
    return decided


def share_out(held: Sequence[int], there: Sequence[int], weights: Sequence[float], budget: int) -> list[int]:
    """Return how many more of each to buy, so that what is held comes near to these shares.

    >>> share_out([3, 0, 1], [9, 9, 1], [1, 1, 1], 5), share_out([0, 0, 0], [9, 9, 9], [3, 1, 0], 8)
    ([1, 3, 1], [6, 2, 0])
    """
    bought = [0] * len(held)
    for _ in range(budget):
        open_ones = [i for i, left in enumerate(there) if bought[i] < left and weights[i] > 0]
        if not open_ones:
            break
        bought[min(open_ones, key=lambda i: ((held[i] + bought[i] + 0.5) / weights[i], i))] += 1
    return bought


def count_values(dataset: Dataset) -> CountedValues:
    """Return the values of used concepts after whose supervision only the right reading of these is left."""
    knowledge, name = dataset.knowledge, repr(str(dataset.folder))
    knowledge.require_rule("strategy 'plan'")
    used = used_concepts(knowledge)
    counted = count_shortcuts(knowledge, "shared", training_worlds(dataset), seconds=SECONDS, used=used)
    if counted.readings is None:
        raise ConfigError(
            f"plan: the readings that keep the training labels of {name} are too many to count in {SECONDS:.0f} s; "
            "choose --strategy uncertainty"
        )
    if counted.readings.total == 1:
        raise ConfigError(
            f"plan: the training labels of {name} leave only the right reading of the concepts in the rule, and the "
            "model misreads none of them, so no value needs to be shown; choose --strategy uncertainty"
        )
    steps = counted.readings.plan_frequent(SECONDS)
    owners = {entry.owner for entry, share in counted.readings.identifiability() if share < 1}
    cells, values = counted.readings.problem.every_cell, []
    for entry in (entry for step in steps for entry in step.entries):
        columns = tuple(cell.concept for cell in cells if cell.owner == entry.owner)
        codes = tuple(knowledge.space.concepts[column].code(entry.truth[0]) for column in columns)
        values.append(ShownValue(entry.text, columns, codes))
    return CountedValues(tuple(values), frozenset(cell.concept for cell in cells if cell.owner in owners))

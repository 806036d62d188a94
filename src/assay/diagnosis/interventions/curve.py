"""Intervention curves: from no question to all of them, every point through the same model call and encoding.

In *manipulation* worlds are drawn again with concepts changed, and the model looks again; truth changes with the
world. Which concepts are changed is up to the same policies and budgets. A model that reads concepts and follows the
rule stays as accurate as before; one that reads something else does not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from assay.base import Array, Codes, ConfigError, rng_for
from assay.contracts import EVERY, IntervenableModel, ModelOutput
from assay.dataset import SplitData
from assay.diagnosis.interventions.automation import Abstention, net_work_automated
from assay.diagnosis.interventions.policies import POLICIES, Policy, PolicyState, Selection
from assay.diagnosis.interventions.sources import check_answers
from assay.diagnosis.interventions.units import Budget, Units
from assay.worlds import World


@dataclass(frozen=True)
class Truth:
    """The true concepts and labels, as codes, a row an example."""

    concepts: Codes
    labels: Codes


@dataclass(frozen=True)
class Automation:
    """What is decided without a person: the share of examples, how often rightly, and what is left after the asking."""

    coverage: float
    selective_accuracy: float
    net_work_automated: float


@dataclass(frozen=True)
class Point:
    """One budget: what was asked, and how right the model is then."""

    budget: float
    whole: bool
    """Whether the budget buys all questions."""
    accuracy: float
    """Over all labels."""
    all_right: float
    """The share of examples with every label right."""
    concept_accuracy: float
    asked: float
    """Concepts asked about, per example."""
    answered: float
    """Of these, those that got an answer."""
    edited: float
    """Of these, those whose answer is not what the model thought most likely."""
    cost: float
    """What was spent, per example."""
    changed: float
    """The share of examples whose predicted labels are not those of k = 0."""
    exact: bool
    """Whether the policy compared all sets that the budget buys."""
    automated: Automation | None = None
    gain: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain data."""
        plain = {key: value for key, value in self.__dict__.items() if key != "automated"}
        more = {} if self.automated is None else self.automated.__dict__
        return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in {**plain, **more}.items()}


@dataclass(frozen=True)
class Curve:
    """The points of one model, and for each what was asked and the model's output after it."""

    points: tuple[Point, ...]
    asked: tuple[Selection, ...]
    outputs: tuple[ModelOutput, ...]


@dataclass(frozen=True)
class Trial:
    """A model, what may be asked of whom, and what is true."""

    model: IntervenableModel
    units: Units
    answers: Sequence[Array]
    truth: Truth
    seed: int = 0
    abstention: Abstention | None = None
    """If given, only examples that the model abstains on are asked about."""
    baseline: float | None = None
    """The accuracy of another model, over which gain is counted."""

    def run(self, policy: Policy, budgets: Sequence[Budget], asked: Sequence[Selection] | None = None) -> Curve:
        """Return the curve of a policy over budgets, or of what is asked if that is chosen already."""
        self.check(policy, budgets)
        before = self.model.answer(EVERY, {})
        state = self.state(before)
        chosen = asked or [policy.ask(state, budget) for budget in budgets]
        outputs = [self.model.answer(EVERY, state.answers_to(selection.units)) for selection in chosen]
        steps = zip(budgets, chosen, outputs, strict=True)
        points = [self.point(budget, selection, before, after) for budget, selection, after in steps]
        return Curve(tuple(points), tuple(chosen), tuple(outputs))

    def check(self, policy: Policy, budgets: Sequence[Budget]) -> None:
        """Refuse what cannot be done."""
        if policy.soft and not self.model.soft:
            fine = [name for name in POLICIES if not POLICIES[name].soft]
            raise ConfigError(
                f"policy {policy.name!r} needs concept probabilities, and {self.model.name!r} gives only values; "
                f"use {', '.join(fine)}"
            )
        for budget in budgets:
            self.units.check_budget(budget)

    def state(self, before: ModelOutput) -> PolicyState:
        """Return what a policy sees."""
        answers = check_answers(self.answers, len(self.truth.labels), self.units.sizes)
        open_rows = np.ones(len(self.truth.labels), dtype=bool)
        if self.abstention is not None:
            open_rows = ~self.abstention.decides(before.labels)
        return PolicyState(self.model, self.units, answers, open_rows, self.seed)

    def point(self, budget: Budget, asked: Selection, before: ModelOutput, after: ModelOutput) -> Point:
        """Return how things stand after some questions."""
        concepts = by_concept(asked.units, self.units)
        answered = concepts & np.stack([~np.isnan(p[:, 0]) for p in self.answers], axis=1)
        predicted = np.stack([np.asarray(p).argmax(axis=1) for p in self.model.concepts], axis=1)
        other = np.stack([np.nan_to_num(p).argmax(axis=1) for p in self.answers], axis=1) != predicted
        right = after.label_codes == self.truth.labels
        point = Point(
            budget=budget.each,
            whole=budget.each >= self.units.whole,
            accuracy=float(right.mean()),
            all_right=float(right.all(axis=1).mean()),
            concept_accuracy=float((after.concept_codes == self.truth.concepts)[self.truth.concepts >= 0].mean()),
            asked=float(concepts.sum(axis=1).mean()),
            answered=float(answered.sum(axis=1).mean()),
            edited=float((answered & other).sum(axis=1).mean()),
            cost=float((asked.units @ self.units.cost).mean()),
            changed=float((after.label_codes != before.label_codes).any(axis=1).mean()),
            exact=asked.exact,
        )
        over = None if self.baseline is None else point.accuracy - self.baseline
        return replace(point, automated=self._automation(point, after), gain=over)

    def _automation(self, point: Point, after: ModelOutput) -> Automation | None:
        if self.abstention is None:
            return None
        decided = self.abstention.decides(after.labels)
        right = (after.label_codes == self.truth.labels).all(axis=1)
        accuracy = float(right[decided].mean()) if decided.any() else math.nan
        coverage = float(decided.mean())
        return Automation(coverage, accuracy, net_work_automated(coverage, point.asked, len(self.units.sizes)))


def by_concept(asked: Array, units: Units) -> Array:
    """Return which concepts are asked about, from which units are."""
    concepts = np.zeros((len(asked), len(units.sizes)), dtype=bool)
    for unit, places in enumerate(units.members):
        concepts[:, list(places)] = asked[:, [unit]]
    return concepts


def budgets_from(text: str, units: Units, total: float | None = None) -> list[Budget]:
    """Return the budgets that a text such as `0-3,5,max` names, rising; `max` buys everything.

    Parameters
    ----------
    text
        Numbers and ranges, such as `0-3,5`; `max` buys everything.
    units
        What can be asked about, with its cost.
    total
        What all examples together may cost, beside what each may.

    >>> from assay.logic.concepts import bits
    >>> [budget.each for budget in budgets_from("0-2,max", Units.of(bits(["a", "b", "c"])))]
    [0.0, 1.0, 2.0, 3.0]
    """
    budgets: set[float] = set()
    for word in text.split(","):
        first, dash, last = word.strip().partition("-")
        try:
            if word.strip() == "max":
                budgets.add(units.whole)
            elif dash:
                budgets.update(_rising(int(first), int(last)))
            else:
                budgets.add(float(word))
        except ValueError:
            raise ConfigError(f"--budget {text!r}: expected numbers, ranges and 'max', such as 0-3,max") from None
    return [Budget(each, total) for each in sorted(budgets)]


def _rising(first: int, last: int) -> list[float]:
    """Return the numbers of a range such as `0-3`; one that falls is none."""
    if last < first:
        raise ValueError(f"{first}-{last} falls")
    return [float(number) for number in range(first, last + 1)]


Answering = Callable[[SplitData], IntervenableModel]


def toggle_concepts(truth: Codes, sizes: Sequence[int], seed: int) -> Codes:
    """Return another value for every concept, any other where there are several, -1 where there is none."""
    rng = rng_for(seed, "toggle", len(truth))
    others = [
        (truth[:, i] + 1 + rng.integers(size - 1, size=len(truth))) % size if size > 1 else np.full(len(truth), -1)
        for i, size in enumerate(sizes)
    ]
    return np.stack(others, axis=1)


class Redraw(Protocol):
    """What can change worlds and draw them: the task, for those who may ask it."""

    def change(self, world: World, place: int, code: int) -> World | None:
        """Return the world with one concept changed, and what must follow from that; None where that cannot be."""

    def draw(self, data: SplitData, worlds: Sequence[World]) -> SplitData:
        """Return the split with these worlds in the place of its own."""


@dataclass(frozen=True)
class Manipulation:
    """A trial whose questions are changes of the world to target codes (-1: leave it)."""

    trial: Trial
    redraw: Redraw
    data: SplitData
    targets: Codes
    answering: Answering

    def run(self, policy: Policy, budgets: Sequence[Budget], asked: Sequence[Selection] | None = None) -> Curve:
        """Return the curve of a policy over budgets: accuracy on the changed worlds."""
        trial = self.trial
        trial.check(policy, budgets)
        before = trial.model.answer(EVERY, {})
        state = trial.state(before)
        chosen = asked or [policy.ask(state, budget) for budget in budgets]
        points, told = [], []
        for budget, one in zip(budgets, chosen, strict=True):
            drawn, done = self.change_worlds(by_concept(one.units, trial.units))
            after = self.answering(drawn).answer(EVERY, {})
            there = replace(trial, truth=Truth(drawn.concepts, drawn.labels))
            edited = float((drawn.concepts != trial.truth.concepts).sum(axis=1).mean())
            made = there.point(budget, one, before, after)
            points.append(replace(made, answered=float(done.sum(axis=1).mean()), edited=edited))
            told.append(after)
        return Curve(tuple(points), tuple(chosen), tuple(told))

    def change_worlds(self, concepts: Array) -> tuple[SplitData, Array]:
        """Return the split with these concepts of its worlds changed, and which of them could be."""
        worlds, done = [], np.zeros(concepts.shape, dtype=bool)
        for row in range(len(self.data)):
            world = self.data.world(row)
            for place in np.flatnonzero(concepts[row] & (self.targets[row] >= 0)).tolist():
                made = self.redraw.change(world, place, int(self.targets[row, place]))
                if made is not None:
                    world, done[row, place] = made, True
            worlds.append(world)
        return self.redraw.draw(self.data, worlds), done

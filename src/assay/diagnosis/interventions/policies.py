"""Intervention policies: which concepts to ask about, for each example, within a budget."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from assay.base import Array, Codes, ConfigError, Registry, rng_for
from assay.contracts import EVERY, IntervenableModel, one_hot
from assay.diagnosis.interventions.responsiveness import best_sets
from assay.diagnosis.interventions.units import SLACK, Budget, Units


@dataclass(frozen=True)
class PolicyState:
    """A model, the units that can be asked about, the answers to each, and which examples are still open."""

    model: IntervenableModel
    units: Units
    answers: Sequence[Array]
    open: Array
    seed: int = 0
    responsiveness: dict[tuple[int, ...], Array] = field(default_factory=dict)
    """The responsiveness of sets of concepts that a policy has computed so far."""

    def __len__(self) -> int:
        return len(self.open)

    def answers_to(self, asked: Array) -> dict[int, Array]:
        """Return the answers to what is asked (examples x units), by concept column; NaN where nothing is."""
        answers = {}
        for unit, places in enumerate(self.units.members):
            if asked[:, unit].any():
                for place in places:
                    answers[place] = np.where(asked[:, unit, None], self.answers[place], np.nan)
        return answers

    @cached_property
    def entropy(self) -> Array:
        """How uncertain the concepts of each unit are together, in bits: examples x units."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = [-np.nansum(p * np.log2(p), axis=1, dtype=np.float64) for p in self.model.concepts]
        return np.stack([sum(bits[place] for place in places) for places in self.units.members], axis=1)


@dataclass(frozen=True)
class Selection:
    """Which units are asked about (examples x units), and whether the policy compared all sets that it should."""

    units: Array
    exact: bool = True


@dataclass(frozen=True)
class Policy(ABC):
    """An intervention policy: it selects the concepts to ask about."""

    threshold: float | None = None
    """What the score of a set or unit must exceed, for policies that have one."""
    name: ClassVar[str]
    soft: ClassVar[bool] = False
    """Whether it needs probabilities of the concepts."""
    scored: ClassVar[bool] = False
    """Whether it has a score that a threshold can be set on."""
    adaptive: ClassVar[bool] = False
    """Whether what it asks depends on the answers so far."""

    @abstractmethod
    def ask(self, state: PolicyState, budget: Budget) -> Selection:
        """Return the units to ask about within a budget."""


def fill(scores: Array, units: Units, budget: Budget, possible: Array) -> Array:
    """Return what is asked when units are taken by falling score while they fit; what does not fit is passed over.

    Each example has its own budget; where there is one for all, the best of all examples go first.
    """
    order = np.argsort(-np.where(possible, scores, -np.inf), axis=1, kind="stable")
    rows, cost = np.arange(len(scores)), units.cost
    asked = np.zeros(scores.shape, dtype=bool)
    left = np.full(len(scores), budget.each + SLACK)
    for unit in order.T:
        fits = (cost[unit] <= left) & possible[rows, unit]
        asked[rows[fits], unit[fits]] = True
        left[fits] -= cost[unit[fits]]
    return asked if budget.total is None else _within_total(asked, scores, cost, budget.total)


def _within_total(asked: Array, scores: Array, cost: Array, total: float) -> Array:
    """Return those questions that the budget for all examples buys, those of the highest score first."""
    rows, units = np.nonzero(asked)
    order = np.argsort(-scores[rows, units], kind="stable")
    affordable = np.zeros_like(asked)
    left = total + SLACK
    for place in order.tolist():
        price = cost[units[place]]
        if price <= left:
            affordable[rows[place], units[place]] = True
            left -= price
    return affordable


@dataclass(frozen=True)
class Random(Policy):
    """Any concepts, the same for every budget."""

    name: ClassVar[str] = "random"

    def ask(self, state: PolicyState, budget: Budget) -> Selection:
        """Ask about a random choice."""
        shape = (len(state), len(state.units))
        scores = rng_for(state.seed, "interventions", self.name).random(shape)
        return Selection(fill(scores, state.units, budget, np.broadcast_to(state.open[:, None], shape)))


@dataclass(frozen=True)
class FixedOrder(Policy):
    """The same order for every example: that of the concepts, or another one."""

    order: tuple[int, ...] = ()
    name: ClassVar[str] = "fixed"

    def ask(self, state: PolicyState, budget: Budget) -> Selection:
        """Ask in order; units that the order leaves out come last."""
        rest = [unit for unit in range(len(state.units)) if unit not in self.order]
        rank = np.argsort([*self.order, *rest])
        shape = (len(state), len(state.units))
        scores = np.broadcast_to(-rank.astype(float), shape)
        return Selection(fill(scores, state.units, budget, np.broadcast_to(state.open[:, None], shape)))


@dataclass(frozen=True)
class ValidationRanked(FixedOrder):
    """The order in which the concepts, each alone and perfectly answered, would have helped on validation."""

    name: ClassVar[str] = "validation"


@dataclass(frozen=True)
class Uncertainty(Policy):
    """The concepts that the model is most uncertain of, by entropy in bits."""

    name: ClassVar[str] = "uncertainty"
    soft: ClassVar[bool] = True
    scored: ClassVar[bool] = True

    def ask(self, state: PolicyState, budget: Budget) -> Selection:
        """Ask by falling entropy, above the threshold if there is one."""
        possible = state.open[:, None] & (state.entropy > (-1 if self.threshold is None else self.threshold))
        return Selection(fill(state.entropy, state.units, budget, possible))


@dataclass(frozen=True)
class Cooperative(Policy):
    """One at a time, seeing each answer before the next: what is uncertain, moves the label, and costs little.

    The score of a unit is its entropy, plus how far the probability of the predicted labels is expected to move when it
    is answered, less its cost, each with its weight.
    """

    weights: tuple[float, float, float] = (1.0, 1.0, 0.1)
    name: ClassVar[str] = "cooperative"
    soft: ClassVar[bool] = True
    scored: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True

    def ask(self, state: PolicyState, budget: Budget) -> Selection:
        """Ask step by step."""
        asked = np.zeros((len(state), len(state.units)), dtype=bool)
        left = np.full(len(state), budget.each + SLACK)
        total = math.inf if budget.total is None else budget.total + SLACK
        cost, rows = state.units.cost, np.arange(len(state))
        while True:
            possible = ~asked & (cost <= left[:, None]) & (cost <= total) & state.open[:, None]
            if not possible.any():
                return Selection(asked)
            scores = np.where(possible, self.scores(state, asked), -np.inf)
            if self.threshold is not None:
                scores[scores <= self.threshold] = -np.inf
            unit = scores.argmax(axis=1)
            best = scores[rows, unit]
            chosen = [row for row in np.argsort(-best, kind="stable").tolist() if best[row] > -np.inf]
            for row in chosen:
                if cost[unit[row]] <= total:
                    asked[row, unit[row]] = True
                    left[row] -= cost[unit[row]]
                    total -= cost[unit[row]]
            if not chosen:
                return Selection(asked)

    def scores(self, state: PolicyState, asked: Array) -> Array:
        """Return the score of every unit, given what is answered so far."""
        uncertain, moving, costly = self.weights
        moves = expected_changes(state.model, state.units, state.answers_to(asked))
        return np.asarray(uncertain * state.entropy + moving * moves - costly * state.units.cost)


def expected_changes(model: IntervenableModel, units: Units, answers: Mapping[int, Array]) -> Array:
    """Return how far the probability of the predicted labels is expected to move when each unit is answered.

    This is the mean absolute change over the values of the unit's concepts, weighted by the model's probabilities.
    """
    before = model.answer(EVERY, answers)
    codes, rows = before.label_codes, np.arange(len(before.labels[0]))
    likely = [p[rows, codes[:, i]] for i, p in enumerate(before.labels)]
    changes = np.zeros((len(rows), len(units)))
    for unit, places in enumerate(units.members):
        for values in product(*(range(units.sizes[place]) for place in places)):
            chance = np.ones(len(rows))
            do = dict(answers)
            for place, code in zip(places, values, strict=True):
                chance = chance * before.concepts[place][:, code]
                do[place] = np.broadcast_to(np.eye(units.sizes[place])[code], (len(rows), units.sizes[place]))
            after = model.answer(EVERY, do).labels
            moved = [np.abs(p[rows, codes[:, i]] - likely[i]) for i, p in enumerate(after)]
            changes[:, unit] += chance * np.mean(moved, axis=0)
    return changes


@dataclass(frozen=True)
class Responsiveness(Policy):
    """The set of concepts whose answers are most likely to change the prediction; asked if likelier than a threshold.

    Sets are compared exactly while there are not too many; a larger budget then adds single concepts, the most
    responsive first, to the best set that was found.
    """

    threshold: float | None = 0.2
    name: ClassVar[str] = "responsiveness"
    soft: ClassVar[bool] = True
    scored: ClassVar[bool] = True

    def ask(self, state: PolicyState, budget: Budget) -> Selection:
        """Ask about the best set."""
        units = state.units
        sets, exact = _sets_within(units, budget.each, max(1, state.model.work // max(1, len(state))))
        if not sets:
            return Selection(np.zeros((len(state), len(units)), dtype=bool))
        best = best_sets(state.model, [units.concepts(chosen) for chosen in sets], state.responsiveness)
        wanted = state.open & (best.choice >= 0) & (best.score > (self.threshold or 0.0))
        members = np.zeros((len(sets), len(units)), dtype=bool)
        for number, chosen in enumerate(sets):
            members[number, list(chosen)] = True
        asked = members[best.choice] & wanted[:, None]
        if not exact:
            asked = self._more(state, budget, asked, wanted)
        if budget.total is not None:
            asked &= _rows_within(best.score, asked @ units.cost, budget.total)[:, None]
        return Selection(asked, exact)

    def _more(self, state: PolicyState, budget: Budget, asked: Array, wanted: Array) -> Array:
        """Add single units by their own responsiveness, then by their entropy, to what is asked."""
        units = state.units
        alone = [best_sets(state.model, [places], state.responsiveness).score for places in units.members]
        scores = np.stack(alone, axis=1) + 1e-6 * state.entropy + 10 * asked
        return fill(scores, units, Budget(budget.each), np.broadcast_to(wanted[:, None], asked.shape))


def _sets_within(units: Units, budget: float, work: int) -> tuple[list[tuple[int, ...]], bool]:
    """Return the sets of units that a budget buys, smaller first, and whether these are all or further are too many."""
    sets: list[tuple[int, ...]] = []
    spent = 0
    for size in range(1, len(units) + 1):
        more = []
        for chosen in units.sets(budget, size):
            more.append(chosen)
            spent += units.assignments(chosen)
            if spent > work and size > 1:
                return sets, False
        if not more:
            break
        sets += more
    return sets, True


def _rows_within(scores: Array, costs: Array, total: float) -> Array:
    """Return which rows a budget for all buys, those of the highest score first."""
    affordable = np.zeros(len(scores), dtype=bool)
    left = total + SLACK
    for row in np.argsort(-scores, kind="stable").tolist():
        if 0 < costs[row] <= left:
            affordable[row] = True
            left -= costs[row]
    return affordable


POLICIES = Registry("policy")
POLICIES.add("responsiveness", "the concepts most likely to change the prediction (the paper's D.2)", Responsiveness)
POLICIES.add("random", "any concepts", Random)
POLICIES.add("uncertainty", "the concepts that the model is most uncertain of", Uncertainty)
POLICIES.add("fixed", "the concepts in the order of the space, or in --order", FixedOrder)
POLICIES.add("cooperative", "one by one: uncertain, moving the label, cheap (after CooP)", Cooperative)
POLICIES.add("validation", "the concepts that would have helped most on validation", ValidationRanked)


@dataclass(frozen=True)
class ValidationRanking:
    """A model on validation examples with their ground truth, from which an order of units is learned."""

    model: IntervenableModel
    concepts: Codes
    labels: Codes

    def order(self, units: Units) -> tuple[int, ...]:
        """Return the units by how much each alone, answered perfectly, raises the accuracy, then the true chance."""
        before = self._quality({})
        gains = []
        for places in units.members:
            after = self._quality({p: one_hot(self.concepts[:, p], units.sizes[p]) for p in places})
            gains.append((after[0] - before[0], after[1] - before[1]))
        return tuple(sorted(range(len(units)), key=lambda unit: gains[unit], reverse=True))

    def _quality(self, do: Mapping[int, Array]) -> tuple[float, float]:
        output = self.model.answer(EVERY, do)
        rows = np.arange(len(self.labels))
        likely = [p[rows, self.labels[:, i]].mean() for i, p in enumerate(output.labels)]
        return float((output.label_codes == self.labels).mean()), float(np.mean(likely))


def policy_of(
    name: str,
    threshold: float | None = None,
    order: Sequence[int] = (),
    ranking: ValidationRanking | None = None,
    units: Units | None = None,
) -> Policy:
    """Return a policy by name; a threshold is for those that have a score.

    Parameters
    ----------
    name
        A name in `POLICIES`.
    threshold
        What a score must exceed, for policies that have one.
    order
        The units that come first, for `fixed`.
    ranking
        The model on validation examples, for `validation`.
    units
        What can be asked about, for `validation`.
    """
    make = POLICIES[name]
    if threshold is not None and not make.scored:
        raise ConfigError(f"policy {name!r} has no score that a threshold could be set on")
    if order and make is not FixedOrder:
        raise ConfigError(f"an order of concepts is for policy 'fixed', not {name!r}")
    if make is ValidationRanked:
        if ranking is None or units is None:
            raise ConfigError("policy 'validation' needs a validation split, and there is none")
        return ValidationRanked(order=ranking.order(units))
    if make is FixedOrder:
        return FixedOrder(order=tuple(order))
    policy: Policy = make() if threshold is None else make(threshold)
    return policy

"""Policies: which concepts to ask about, for each example, within a budget."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.arrays import Array
from assay.diagnosis.interventions.cooperation import expected_changes
from assay.diagnosis.interventions.responsiveness import best_sets
from assay.diagnosis.interventions.scene import Asked, Scene, fill
from assay.diagnosis.interventions.units import SLACK, Budget, Units
from assay.registry import Registry
from assay.seeds import rng_for


@dataclass(frozen=True)
class Random:
    """Any concepts, the same for every budget."""

    threshold: float | None = None
    name: ClassVar[str] = "random"
    soft: ClassVar[bool] = False
    scored: ClassVar[bool] = False
    adaptive: ClassVar[bool] = False

    def ask(self, scene: Scene, budget: Budget) -> Asked:
        """Ask about a random choice."""
        shape = (len(scene), len(scene.units))
        scores = rng_for(scene.seed, "interventions", self.name).random(shape)
        return Asked(fill(scores, scene.units, budget, np.broadcast_to(scene.open[:, None], shape)))


@dataclass(frozen=True)
class Ordered:
    """The same order for every example: that of the concepts, or one that is given."""

    order: tuple[int, ...] = ()
    threshold: float | None = None
    name: ClassVar[str] = "fixed"
    soft: ClassVar[bool] = False
    scored: ClassVar[bool] = False
    adaptive: ClassVar[bool] = False

    def ask(self, scene: Scene, budget: Budget) -> Asked:
        """Ask in order; units that the order leaves out come last."""
        rest = [unit for unit in range(len(scene.units)) if unit not in self.order]
        rank = np.argsort([*self.order, *rest])
        shape = (len(scene), len(scene.units))
        scores = np.broadcast_to(-rank.astype(float), shape)
        return Asked(fill(scores, scene.units, budget, np.broadcast_to(scene.open[:, None], shape)))


@dataclass(frozen=True)
class ValidationRanked(Ordered):
    """The order in which the concepts, each alone and perfectly answered, would have helped on validation."""

    name: ClassVar[str] = "validation"


@dataclass(frozen=True)
class Uncertainty:
    """What the model is most uncertain of, by entropy in bits."""

    threshold: float | None = None
    name: ClassVar[str] = "uncertainty"
    soft: ClassVar[bool] = True
    scored: ClassVar[bool] = True
    adaptive: ClassVar[bool] = False

    def ask(self, scene: Scene, budget: Budget) -> Asked:
        """Ask by falling entropy, above the threshold if there is one."""
        possible = scene.open[:, None] & (scene.entropy > (-1 if self.threshold is None else self.threshold))
        return Asked(fill(scene.entropy, scene.units, budget, possible))


@dataclass(frozen=True)
class Cooperative:
    """One at a time, seeing each answer before the next: what is uncertain, moves the label, and costs little.

    The score of a unit is its entropy, plus how far the probability of the predicted labels is expected to move when it
    is answered, less its cost, each with its weight.
    """

    threshold: float | None = None
    weights: tuple[float, float, float] = (1.0, 1.0, 0.1)
    name: ClassVar[str] = "cooperative"
    soft: ClassVar[bool] = True
    scored: ClassVar[bool] = True
    adaptive: ClassVar[bool] = True

    def ask(self, scene: Scene, budget: Budget) -> Asked:
        """Ask step by step."""
        asked = np.zeros((len(scene), len(scene.units)), dtype=bool)
        left = np.full(len(scene), budget.each + SLACK)
        total = math.inf if budget.total is None else budget.total + SLACK
        cost, rows = scene.units.cost, np.arange(len(scene))
        while True:
            possible = ~asked & (cost <= left[:, None]) & (cost <= total) & scene.open[:, None]
            if not possible.any():
                return Asked(asked)
            scores = np.where(possible, self.scores(scene, asked), -np.inf)
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
                return Asked(asked)

    def scores(self, scene: Scene, asked: Array) -> Array:
        """Return the score of every unit, given what is answered so far."""
        uncertain, moving, costly = self.weights
        moves = expected_changes(scene.model, scene.units, scene.given(asked))
        return np.asarray(uncertain * scene.entropy + moving * moves - costly * scene.units.cost)


@dataclass(frozen=True)
class Responsiveness:
    """The set of concepts whose answers are most likely to change the prediction; asked if likelier than a threshold.

    Sets are compared exactly while there are not too many; a larger budget then adds single concepts, the most
    responsive first, to the best set that was found.
    """

    threshold: float | None = 0.2
    name: ClassVar[str] = "responsiveness"
    soft: ClassVar[bool] = True
    scored: ClassVar[bool] = True
    adaptive: ClassVar[bool] = False

    def ask(self, scene: Scene, budget: Budget) -> Asked:
        """Ask about the best set."""
        units = scene.units
        sets, exact = _sets_within(units, budget.each, max(1, scene.model.work // max(1, len(scene))))
        if not sets:
            return Asked(np.zeros((len(scene), len(units)), dtype=bool))
        best = best_sets(scene.model, [units.concepts(chosen) for chosen in sets], scene.known)
        wanted = scene.open & (best.choice >= 0) & (best.score > (self.threshold or 0.0))
        members = np.zeros((len(sets), len(units)), dtype=bool)
        for number, chosen in enumerate(sets):
            members[number, list(chosen)] = True
        asked = members[best.choice] & wanted[:, None]
        if not exact:
            asked = self._more(scene, budget, asked, wanted)
        if budget.total is not None:
            asked &= _rows_within(best.score, asked @ units.cost, budget.total)[:, None]
        return Asked(asked, exact)

    def _more(self, scene: Scene, budget: Budget, asked: Array, wanted: Array) -> Array:
        """Add single units by their own responsiveness, then by their entropy, to what is asked."""
        units = scene.units
        alone = [best_sets(scene.model, [places], scene.known).score for places in units.members]
        scores = np.stack(alone, axis=1) + 1e-6 * scene.entropy + 10 * asked
        return fill(scores, units, Budget(budget.each), np.broadcast_to(wanted[:, None], asked.shape))


def _sets_within(units: Units, budget: float, work: int) -> tuple[list[tuple[int, ...]], bool]:
    """Return the sets of units that a budget buys, smaller first, and whether these are all or further are too many."""
    found: list[tuple[int, ...]] = []
    spent = 0
    for size in range(1, len(units) + 1):
        more = []
        for chosen in units.sets(budget, size):
            more.append(chosen)
            spent += units.assignments(chosen)
            if spent > work and size > 1:
                return found, False
        if not more:
            break
        found += more
    return found, True


def _rows_within(scores: Array, costs: Array, total: float) -> Array:
    """Return which rows a budget for all buys, those of the highest score first."""
    kept = np.zeros(len(scores), dtype=bool)
    left = total + SLACK
    for row in np.argsort(-scores, kind="stable").tolist():
        if 0 < costs[row] <= left:
            kept[row] = True
            left -= costs[row]
    return kept


POLICIES = Registry("policy")
POLICIES.add("responsiveness", "the concepts most likely to change the prediction (the paper's D.2)", Responsiveness)
POLICIES.add("random", "any concepts", Random)
POLICIES.add("uncertainty", "the concepts that the model is least sure of", Uncertainty)
POLICIES.add("fixed", "the concepts in order, or in the order given", Ordered)
POLICIES.add("cooperative", "one by one: uncertain, moving the label, cheap (after CooP)", Cooperative)
POLICIES.add("validation", "the concepts that would have helped most on validation", ValidationRanked)

"""What a policy sees and returns, and how a budget is filled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from assay.arrays import Array
from assay.diagnosis.interventions.answering import Answerer
from assay.diagnosis.interventions.units import SLACK, Budget, Units


@dataclass(frozen=True)
class Scene:
    """A model, what can be asked about it, the answers that would be given, and which examples are still open."""

    model: Answerer
    units: Units
    answers: Sequence[Array]
    open: Array
    seed: int = 0
    known: dict[tuple[int, ...], Array] = field(default_factory=dict)
    """How responsive sets of concepts are, as far as a policy has found out."""

    def __len__(self) -> int:
        return len(self.open)

    def given(self, asked: Array) -> dict[int, Array]:
        """Return the answers to what is asked (examples x units), by place; NaN where nothing is."""
        found = {}
        for unit, places in enumerate(self.units.members):
            if asked[:, unit].any():
                for place in places:
                    found[place] = np.where(asked[:, unit, None], self.answers[place], np.nan)
        return found

    @cached_property
    def entropy(self) -> Array:
        """How uncertain the concepts of each unit are together, in bits: examples x units."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = [-np.nansum(p * np.log2(p), axis=1, dtype=np.float64) for p in self.model.concepts]
        return np.stack([sum(bits[place] for place in places) for places in self.units.members], axis=1)


@dataclass(frozen=True)
class Asked:
    """What is asked about (examples x units), and whether the policy could do exactly what it says."""

    units: Array
    exact: bool = True


class Policy(Protocol):
    """A way of choosing what to ask."""

    name: ClassVar[str]
    soft: ClassVar[bool]
    """Whether it needs probabilities of the concepts."""
    scored: ClassVar[bool]
    """Whether it has a score that a threshold can be set on."""
    adaptive: ClassVar[bool]
    """Whether what it asks depends on the answers so far."""

    @property
    def threshold(self) -> float | None:
        """What the score of a set or unit must exceed, for policies that have one."""

    def ask(self, scene: Scene, budget: Budget) -> Asked:
        """Return what to ask within a budget."""


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
    kept = np.zeros_like(asked)
    left = total + SLACK
    for place in order.tolist():
        price = cost[units[place]]
        if price <= left:
            kept[rows[place], units[place]] = True
            left -= price
    return kept

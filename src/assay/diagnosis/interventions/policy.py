"""What an intervention policy is: the state that it sees, the selection that it returns, how a budget is filled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from assay.base import Array
from assay.contracts import IntervenableModel
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


class Policy(Protocol):
    """An intervention policy: it selects the concepts to ask about."""

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

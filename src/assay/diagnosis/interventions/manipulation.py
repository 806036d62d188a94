"""Manipulation: worlds are drawn again with concepts changed, and the model looks again; truth changes with the world.

Which concepts are changed is up to the same policies and budgets as in confirmation. A model that reads concepts and
follows the rule stays as accurate as before; one that reads something else does not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.contracts import EVERY, IntervenableModel
from assay.dataset import SplitData
from assay.diagnosis.interventions.curve import Curve, Trial, Truth, by_concept
from assay.diagnosis.interventions.policy import Policy, Selection
from assay.diagnosis.interventions.units import Budget
from assay.worlds import World

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

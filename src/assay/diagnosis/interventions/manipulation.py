"""Manipulation: worlds are drawn again with concepts changed, and the model looks again; truth changes with the world.

Which concepts are changed is up to the same policies and budgets as in confirmation. A model that reads concepts and
follows the rule stays as accurate as before; one that reads something else does not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array, Codes
from assay.data.dataset import SplitData
from assay.data.shard import table_of
from assay.diagnosis.interventions.curve import Curve, Trial, Truth, by_concept
from assay.diagnosis.interventions.intervenable import EVERY, IntervenableModel
from assay.diagnosis.interventions.policy import Policy, Selection
from assay.diagnosis.interventions.units import Budget
from assay.logic.evaluate import evaluate
from assay.seeds import rng_for
from assay.tasks.base import Task
from assay.worlds.world import World

Answering = Callable[[SplitData], IntervenableModel]


def toggled(truth: Codes, sizes: Sequence[int], seed: int) -> Codes:
    """Return another value for every concept, any other where there are several."""
    rng = rng_for(seed, "toggle", len(truth))
    steps = [1 + rng.integers(size - 1, size=len(truth)) for size in sizes]
    return np.stack([(truth[:, i] + step) % sizes[i] for i, step in enumerate(steps)], axis=1)


@dataclass(frozen=True)
class Manipulation:
    """A trial whose questions are changes of the world to target codes (-1: leave it)."""

    trial: Trial
    task: Task
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
            drawn, done = self.drawn(by_concept(one.units, trial.units))
            after = self.answering(drawn).answer(EVERY, {})
            there = replace(trial, truth=Truth(drawn.concepts, drawn.labels))
            edited = float((drawn.concepts != trial.truth.concepts).sum(axis=1).mean())
            made = there.point(budget, one, before, after)
            points.append(replace(made, answered=float(done.sum(axis=1).mean()), edited=edited))
            told.append(after)
        return Curve(tuple(points), tuple(chosen), tuple(told))

    def drawn(self, concepts: Array) -> tuple[SplitData, Array]:
        """Return the split with these concepts of its worlds changed, and which of them could be."""
        worlds, done = [], np.zeros(concepts.shape, dtype=bool)
        for row in range(len(self.data)):
            world = self.data.world(row)
            for place in np.flatnonzero(concepts[row] & (self.targets[row] >= 0)).tolist():
                made = self._changed(world, place, int(self.targets[row, place]))
                if made is not None:
                    world, done[row, place] = made, True
            worlds.append(world)
        names = [f"{self.data.name}-{number}.png" for number in self.data.index.tolist()]
        return replace(self.data, table=table_of(self.task, worlds, names, self.data.index)), done

    def _changed(self, world: World, place: int, code: int) -> World | None:
        concept, knowledge = self.task.space.concepts[place], self.task.knowledge
        if world.codes[place] == code:
            return world
        made = self.task.changed(world, {concept.name: concept.values[code]})
        if made is None or made.codes[place] != code:
            return None
        fits = evaluate(knowledge.possible, knowledge.space, np.array([made.codes], dtype=np.int64))[0]
        return made if fits else None

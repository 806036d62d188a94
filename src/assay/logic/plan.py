"""Formulas as a sequence of steps: a shared subformula is computed once, and freed after its last use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.logic.formula import Formula

Make = Callable[[list[Any], Codes], Any]
"""Return what a part gives, from what the parts inside it give and from the codes."""
BYTE = 255
"""The largest number in one byte."""


@dataclass(frozen=True)
class PreparedPart:
    """A part of a formula, ready to be computed: the parts that it needs, and the function to apply.

    With `fold`, the parts inside are taken in one by one, the first two to begin with, so that none must wait.
    """

    inside: tuple[Formula, ...]
    make: Make
    fold: bool = False


@dataclass(frozen=True)
class Step:
    """One computation: the numbers of the steps that it needs, those needed no more after it, and how."""

    inside: tuple[int, ...]
    done: tuple[int, ...]
    make: Make


class Plan:
    """Some formulas as steps; a step comes after all that it needs."""

    def __init__(self, formulas: Sequence[Formula], prepare: Callable[[Formula], PreparedPart]) -> None:
        self.prepare = prepare
        self.numbers: dict[Formula, int] = {}
        self.computations: list[tuple[tuple[int, ...], Make]] = []
        self.results = tuple(self._number(formula) for formula in formulas)
        self.steps = self._steps()

    def _number(self, formula: Formula) -> int:
        """Return the number of a part, giving one to it and to all inside it."""
        if formula not in self.numbers:
            ready = self.prepare(formula)
            if ready.fold and len(ready.inside) > 1:
                self.numbers[formula] = self._folded(ready)
            else:
                inside = tuple(self._number(part) for part in ready.inside)
                self.numbers[formula] = self._added(inside, ready.make)
        return self.numbers[formula]

    def _folded(self, ready: PreparedPart) -> int:
        so_far = self._number(ready.inside[0])
        for part in ready.inside[1:]:
            so_far = self._added((so_far, self._number(part)), ready.make)
        return so_far

    def _added(self, inside: tuple[int, ...], make: Make) -> int:
        self.computations.append((inside, make))
        return len(self.computations) - 1

    def _steps(self) -> list[Step]:
        last = {needed: place for place, (inside, _) in enumerate(self.computations) for needed in inside}
        done: dict[int, list[int]] = {}
        for needed, place in last.items():
            if needed not in self.results:
                done.setdefault(place, []).append(needed)
        return [Step(inside, tuple(done.get(n, ())), make) for n, (inside, make) in enumerate(self.computations)]

    def run(self, codes: Codes) -> list[Any]:
        """Return the array, or the one number, that each formula gives."""
        values: list[Any] = [None] * len(self.steps)
        for number, step in enumerate(self.steps):
            values[number] = step.make([values[needed] for needed in step.inside], codes)
            for over in step.done:
                values[over] = None
        return [values[number] for number in self.results]


class ColumnCount:
    """How often some tests of single concepts hold, added up column by column.

    For each concept, `weights` tells how many of its tests each code passes.
    """

    def __init__(self, weights: dict[int, Array]) -> None:
        most = sum(int(weight.max()) for weight in weights.values())
        self.kind: Any = np.uint8 if most <= BYTE else np.int64
        self.parts = [(place, _run(weight), weight.astype(self.kind)) for place, weight in weights.items()]

    def __call__(self, inside: list[Any], codes: Codes) -> Array:
        """Return how many tests each row passes."""
        total, mask, other = np.zeros(len(codes), self.kind), *np.empty((2, len(codes)), dtype=bool)
        for place, run, weight in self.parts:
            column = codes[:, place]
            if run is None:
                total += weight[column]
                continue
            first, last = run
            if first == last:
                np.equal(column, first, out=mask)
            else:
                np.logical_and(
                    np.greater_equal(column, first, out=mask), np.less_equal(column, last, out=other), out=mask
                )
            np.add(total, mask.view(np.uint8), out=total)
        return total


def _run(weight: Array) -> tuple[int, int] | None:
    """Return the first and the last code of the one run that counts once, None if it is not as simple as that."""
    places = np.flatnonzero(weight)
    if not len(places) or weight.max() > 1 or places[-1] - places[0] >= len(places):
        return None
    return int(places[0]), int(places[-1])

"""`count_readings`: the number of optimal readings of a rule under a family, on a support, within a budget."""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.arrays import Codes
from assay.concepts import Value
from assay.counting.block import block_count
from assay.counting.families import Family, entry_of
from assay.counting.full import all_worlds, prove_on_all
from assay.counting.problem import Problem
from assay.counting.readings import Readings
from assay.counting.solver import OutOfTime
from assay.errors import ConfigError, TooLarge
from assay.logic.knowledge import Knowledge

MOST_DIGITS = 100_000


@dataclass(frozen=True)
class ReadingCount:
    """How many optimal readings there are: exactly `total`, or between `low` and `high`."""

    family: Family
    worlds: int | None
    """How many worlds the support has; None for all of a space too large to list."""
    low: int
    high: int
    method: str
    seconds: float
    readings: Readings | None = None
    shown: tuple[str, ...] = field(default=())

    @property
    def total(self) -> int | None:
        """The exact number, if it is known."""
        return self.low if self.low == self.high else None

    def to_dict(self) -> dict[str, Any]:
        """Return the count as plain data."""
        known = {"total": self.total} if self.total is not None else {"low": self.low, "high": self.high}
        about = {"family": self.family, "worlds": self.worlds, "method": self.method, "seconds": round(self.seconds, 4)}
        return {**known, **about, "shown": list(self.shown), "identifiability": self.identifiability()}

    def identifiability(self) -> dict[str, float]:
        """Return, for each entry of the reading, the share of optimal readings that get it right."""
        if self.readings is None or self.total is None:
            return {}
        return {entry.text: share for entry, share in self.readings.identifiability()}


def count_readings(
    knowledge: Knowledge,
    family: Family = "shared",
    support: Codes | None = None,
    shown: Mapping[str, Iterable[Value] | None] | None = None,
    seconds: float = 60.0,
) -> ReadingCount:
    """Count the readings that keep the labels of every world of the support; without a support, of every world.

    `shown` names concepts that are shown to the model, all of their values (None) or some. Entries that no world of the
    support uses are left out, but in `free` and `block`, which count whole maps as the rsbench paper does.

    >>> from assay.concepts import bits
    >>> count_readings(Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b, c)"}), "block").total
    24
    """
    start = time.monotonic()
    if family in ("free", "block", "block-permutation"):
        if shown:
            raise ConfigError(f"family {family!r} takes no supervision; use per-concept, shared or per-object")
        return _whole_maps(knowledge, family, support, seconds, start)
    try:
        listed = all_worlds(knowledge) if support is None else np.unique(support, axis=0)
        if listed is None:
            return _proved(knowledge, family, shown, seconds, start)
        problem = Problem(knowledge, family, listed)
        problem = Problem(knowledge, family, listed, shown_entries(problem, shown))
        readings = Readings(problem, seconds)
        names = tuple(sorted(f"{owner} {', '.join(map(str, truth))}" for owner, truth in problem.shown))
        return _bounded(readings, family, len(listed), start, names)
    except TooLarge as error:
        raise TooLarge(f"{error}; give a smaller support") from None


def shown_entries(
    problem: Problem, shown: Mapping[str, Iterable[Value] | None] | None
) -> frozenset[tuple[str, tuple[Value, ...]]]:
    """Return the entries that decide the named concepts, or some values of them."""
    space, found = problem.knowledge.space, set[tuple[str, tuple[Value, ...]]]()
    for name, values in (shown or {}).items():
        column = space.place(name)
        cell = problem.cells[column]
        wanted = None if values is None else {space.concept(name).code(value) for value in values}
        for codes in problem.support.tolist():
            if wanted is None or codes[column] in wanted:
                entry = entry_of(space, cell, codes)
                found.add((entry.owner, entry.truth))
    return frozenset(found)


def _bounded(readings: Readings, family: Family, worlds: int, start: float, shown: tuple[str, ...]) -> ReadingCount:
    """Count, or on the end of time or an interruption give bounds: each independent part is counted or it is not."""
    solver = readings.solver
    low = high = solver.free(solver.mask(readings.part))
    method = "residual constraints"
    for component in solver.components(readings.part):
        widest = math.prod(solver.space.sizes[i] for i in range(len(solver.space)) if solver.mask(component) >> i & 1)
        try:
            counted = solver.count(component)
            low, high = low * counted, high * counted
        except OutOfTime:
            high, method = high * widest, "residual constraints, stopped by the budget"
        except KeyboardInterrupt:
            solver.deadline = 0.0  # what is left is bounded at once
            high, method = high * widest, "residual constraints, interrupted"
    exact = readings if low == high else None
    return ReadingCount(family, worlds, low, high, method, time.monotonic() - start, exact, shown)


def _proved(
    knowledge: Knowledge,
    family: Family,
    shown: Mapping[str, Iterable[Value] | None] | None,
    seconds: float,
    start: float,
) -> ReadingCount:
    """Count on all of a space too large to list."""
    try:
        problem, found = prove_on_all(knowledge, family, seconds)
    except (OutOfTime, TooLarge, KeyboardInterrupt) as error:
        most = math.prod(len(c.present) ** len(c.present) for c in knowledge.space.concepts)
        return ReadingCount(
            family, None, 1, most, f"bounds only: {str(error) or 'interrupted'}", time.monotonic() - start
        )
    chosen = Problem(knowledge, family, problem.support, shown_entries(problem, shown))
    readings = Readings(chosen, seconds)
    method = f"proved on all {knowledge.space.worlds:,} worlds, {len(problem.support):,} of which decide"
    names = tuple(sorted(f"{owner} {', '.join(map(str, truth))}" for owner, truth in chosen.shown))
    total = readings.total if shown else len(found)
    return ReadingCount(family, None, total, total, method, time.monotonic() - start, readings, names)


def _whole_maps(
    knowledge: Knowledge, family: Family, support: Codes | None, seconds: float, start: float
) -> ReadingCount:
    worlds = knowledge.space.worlds if support is None else len(np.unique(support, axis=0))
    if family == "free":
        total, method = _free(knowledge, support), "closed form"
    else:
        try:
            total, method = block_count(knowledge, support, family == "block-permutation", seconds)
        except OutOfTime:
            sizes = knowledge.space.sizes
            most = math.factorial(len(sizes)) * math.prod(max(sizes) ** max(sizes) for _ in sizes)
            return ReadingCount(family, worlds, 1, most, "stopped by the budget", time.monotonic() - start)
    return ReadingCount(family, worlds, total, total, method, time.monotonic() - start)


def _free(knowledge: Knowledge, support: Codes | None) -> int:
    """Return the product, over the support, of how many worlds have the same labels, and over other worlds of all."""
    counts = knowledge.diagram.counts
    if support is None:
        factors = [(count, count) for count in counts.values()]
    else:
        rows = np.unique(support, axis=0)
        outcomes = list(counts.values())
        used = np.bincount(knowledge.diagram.outcome_of(rows), minlength=len(outcomes)).tolist()
        factors = [*zip(outcomes, used, strict=True), (knowledge.space.worlds, knowledge.space.worlds - len(rows))]
    digits = sum(times * math.log10(base) for base, times in factors if base > 1)
    if digits > MOST_DIGITS:
        raise TooLarge(f"the count has about {digits:,.0f} digits, more than the {MOST_DIGITS:,} that are written out")
    return math.prod(base**times for base, times in factors)

"""`count_shortcuts`: the number of optimal readings of a rule in a class of readings, on a support, within a budget."""

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.base import Codes, ConfigError, KnowledgeError, TooLarge, html_table, html_text
from assay.counting.backends import count_with, encode_problem
from assay.counting.concept_permutations import count_block
from assay.counting.counterexample_guided import all_worlds, prove_on_all, sample_worlds
from assay.counting.problem import (
    Problem,
    ReadingClass,
    Supervised,
    check_reading_class,
    deciding_concepts,
    most_readings,
)
from assay.counting.readings import ConceptMappings, WorldReadings
from assay.counting.solver import OutOfTime
from assay.logic import TRUE, Knowledge

MOST_DIGITS = 100_000
MOST = 10**6
"""Above it, a number is written as a power of ten."""


@dataclass(frozen=True, repr=False)
class ReadingCount:
    """How many optimal readings there are: exactly `total`, or between `low` and `high`.

    They are ways of reading the concepts that the rule uses, times `idle` ways of reading all others.
    """

    family: str
    worlds: int | None
    """How many worlds the support has; None for all of a space too large to list."""
    low: int
    high: int
    method: str
    seconds: float
    readings: ConceptMappings | None = None
    """Those of the concepts that the rule uses, if their number is exact and the family is a table of entries."""
    supervised: tuple[str, ...] = field(default=())
    idle: int = 1
    """In how many ways the concepts can be read on which no label depends."""
    unused: tuple[str, ...] = ()
    """These concepts, but for those that share a map with a concept that the rule uses."""

    @property
    def total(self) -> int | None:
        """The exact number, if it is known."""
        return self.low if self.low == self.high else None

    @property
    def of_used(self) -> tuple[int, int]:
        """The least and the greatest number of readings of the concepts that the rule uses, the right one included."""
        return max(1, self.low // self.idle), self.high // self.idle

    @property
    def shortcuts(self) -> tuple[int, int]:
        """The least and the greatest number of reasoning shortcuts: wrong readings of the concepts in the rule."""
        low, high = self.of_used
        return low - 1, high - 1

    @property
    def text(self) -> str:
        """The count in words."""
        if self.of_used == (1, 1):
            return "1 reading keeps every label: the right one"
        return f"{numerals(*self.of_used)} readings keep every label, the right one included"

    @property
    def unused_text(self) -> str:
        """How many concepts no label can identify; nothing where there are none."""
        return describe_unused(len(self.unused))

    def to_dict(self) -> dict[str, Any]:
        """Return the count as plain data."""
        known = {"total": self.total} if self.total is not None else {"low": self.low, "high": self.high}
        about = {"family": self.family, "worlds": self.worlds, "method": self.method, "seconds": round(self.seconds, 4)}
        used = {"used_low": self.of_used[0], "used_high": self.of_used[1], "unused_concepts": list(self.unused)}
        return {**known, **used, **about, "shown": list(self.supervised), "identifiability": self.identifiability()}

    def identifiability(self) -> dict[str, float]:
        """Return, for each entry of a used concept's reading, the share of optimal readings that get it right."""
        if self.readings is None or self.total is None:
            return {}
        return {entry.text: share for entry, share in self.readings.identifiability()}

    def count_again(self, engine: str) -> int:
        """Return the number of readings by another engine: `ganak` exactly, `approxmc` about."""
        return count_with(engine, self._table().problem).count

    def to_dimacs(self) -> str:
        """Return the counting problem as clauses, with a projection on the entries of a reading."""
        return encode_problem(self._table().problem).to_dimacs()

    def _table(self) -> ConceptMappings:
        if self.readings is None:
            raise ConfigError(
                f"--check and --write need an exact count of a table of entries, not family {self.family!r}"
            )
        return self.readings

    def __repr__(self) -> str:
        where = "every world" if self.worlds is None else f"{self.worlds:,} worlds"
        unused = f"; {self.unused_text}" if self.unused else ""
        return f"ReadingCount({self.text}{unused}; {self.family}, {where})"

    def _repr_html_(self) -> str:
        rows = [[entry, f"{100 * share:.0f} %"] for entry, share in list(self.identifiability().items())[:20]]
        return html_text(repr(self), bold=True) + (
            html_table(["read right in", "of the readings"], rows) if rows else ""
        )


def describe_unused(number: int) -> str:
    """Return that so many concepts are not in the rule, as a clause.

    >>> describe_unused(76)
    '76 concepts are not in the rule: no label can identify them'
    """
    if number < 2:
        return "1 concept is not in the rule: no label can identify it" if number else ""
    return f"{number:,} concepts are not in the rule: no label can identify them"


def count_shortcuts(
    knowledge: Knowledge,
    family: str = "shared",
    support: Codes | None = None,
    supervised: Supervised | None = None,
    seconds: float = 60.0,
    used: frozenset[int] | None = None,
) -> ReadingCount:
    """Count the readings that keep the labels of every world of the support; without a support, of every world.

    >>> from assay.logic.concepts import bits
    >>> count_shortcuts(Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b, c)"}), "block").total
    24

    Parameters
    ----------
    knowledge
        The concepts and the rule.
    family
        The class of readings: what a reading may depend on when it decides a concept's value. `free` and `block` count
        whole maps, as the rsbench paper does; the others leave out entries that no world of the support uses.
    support
        The codes of the training worlds.
    supervised
        Concepts with supervision, on all of their values (None) or some.
    seconds
        After so long, bounds are returned.
    used
        The columns of the concepts to count apart from all others, by default those on which a label depends.
    """
    start, supervised, family = time.monotonic(), supervised or {}, check_reading_class(family)
    if family in ("free", "block", "block-permutation"):
        if supervised:
            raise ConfigError(f"family {family!r} takes no supervision; use per-concept, shared or per-object")
        return _whole_maps(knowledge, family, support, seconds, start)
    try:
        worlds = all_worlds(knowledge) if support is None else np.unique(support, axis=0)
        if worlds is not None and not len(worlds):
            raise KnowledgeError("no world in the support: there is nothing to read")
        if family == "per-world":
            return _whole_worlds(knowledge, worlds, supervised, start)
        counted = deciding_concepts(knowledge) if used is None else used
        if worlds is None and counted:
            return _proved(knowledge, family, supervised, seconds, start, counted)
        listed = sample_worlds(knowledge, family, 1) if worlds is None else worlds  # a sample uses every entry
        problem = Problem(knowledge, family, listed, used=counted).supervise(supervised)
        return _listed(problem, seconds, start) if counted else _nothing_used(problem, start, worlds)
    except TooLarge as error:
        raise TooLarge(f"{error}; give a smaller support") from None


def _apart(count: ReadingCount, problem: Problem) -> ReadingCount:
    """Return a count of the used concepts with the ways of reading all others."""
    idle = problem.idle
    return replace(count, low=count.low * idle, high=count.high * idle, idle=idle, unused=problem.unused)


def _nothing_used(problem: Problem, start: float, worlds: Codes | None) -> ReadingCount:
    took, number = time.monotonic() - start, None if worlds is None else len(worlds)
    why = "no label depends on a concept"
    return _apart(ReadingCount(problem.family, number, 1, 1, why, took, None, _names(problem)), problem)


def _listed(problem: Problem, seconds: float, start: float) -> ReadingCount:
    """Count on a support that is listed."""
    try:
        return _bounded(ConceptMappings(problem, seconds), start)
    except OutOfTime as error:
        most = most_readings(problem.knowledge.space, problem.family) // problem.idle
        took, why = time.monotonic() - start, f"bounds only: {error}"
        return _apart(ReadingCount(problem.family, len(problem.support), 1, most, why, took), problem)


def _whole_worlds(knowledge: Knowledge, worlds: Codes | None, supervised: Supervised, start: float) -> ReadingCount:
    """Count the readings of whole worlds; what the rule does not use has no share in them."""
    if worlds is None:
        raise TooLarge(f"{numeral(knowledge.space.worlds)} worlds are too many for family 'per-world'")
    readings = WorldReadings.of(knowledge, worlds, supervised)
    total, took = readings.total, time.monotonic() - start
    known = tuple(supervised)
    return ReadingCount("per-world", len(worlds), total, total, "closed form", took, None, known, 1, readings.unused)


def _bounded(readings: ConceptMappings, start: float) -> ReadingCount:
    """Count, or on the end of time or an interruption give bounds: each independent part is counted or it is not."""
    solver, problem = readings.solver, readings.problem
    low = high = solver.free(solver.mask(readings.part))
    method = "residual constraints"
    for component in solver.components(readings.part):
        widest = math.prod(solver.space.sizes[i] for i in range(len(solver.space)) if solver.mask(component) >> i & 1)
        try:
            counted = solver.count(component)
            low, high = low * counted, high * counted
        except (OutOfTime, RecursionError):
            high, method = high * widest, "residual constraints, stopped by the budget"
        except KeyboardInterrupt:
            solver.deadline = 0.0  # what is left is bounded at once
            high, method = high * widest, "residual constraints, interrupted"
    solver.deadline = math.inf  # what is asked of the readings later has no budget
    exact = readings if low == high else None
    took = time.monotonic() - start
    count = ReadingCount(problem.family, len(problem.support), low, high, method, took, exact, _names(problem))
    return _apart(count, problem)


def _names(problem: Problem) -> tuple[str, ...]:
    return tuple(entry.text for entry in problem.supervised_entries)


def _proved(
    knowledge: Knowledge,
    family: ReadingClass,
    supervised: Supervised,
    seconds: float,
    start: float,
    used: frozenset[int],
) -> ReadingCount:
    """Count on all of a space too large to list."""
    try:
        readings, proved = prove_on_all(knowledge, family, supervised, seconds, used)
    except (OutOfTime, RecursionError, KeyboardInterrupt) as error:
        most, method = most_readings(knowledge.space, family), f"bounds only: {str(error) or 'interrupted'}"
        return ReadingCount(family, None, 1, most, method, time.monotonic() - start)
    total, decide = readings.total, len(readings.problem.support)
    readings.solver.deadline = math.inf
    method = f"proved on all {numeral(knowledge.space.worlds)} worlds, {decide:,} of which decide"
    if not proved:
        method = f"bounds only: this many fit {decide:,} worlds, too many to prove each on all in time"
    low, took = total if proved else 1, time.monotonic() - start
    exact = readings if proved else None
    count = ReadingCount(family, None, low, total, method, took, exact, _names(readings.problem))
    return _apart(count, readings.problem)


def _whole_maps(
    knowledge: Knowledge, family: ReadingClass, support: Codes | None, seconds: float, start: float
) -> ReadingCount:
    used = _used(knowledge, support)
    worlds = sum(used)
    if not worlds:
        raise KnowledgeError("no world in the support: there is nothing to read")
    if family == "free":
        total, method = _free(knowledge, used), "closed form"
    else:
        try:
            total, method = count_block(knowledge, support, family == "block-permutation", seconds)
        except (OutOfTime, KeyboardInterrupt):
            sizes = knowledge.space.sizes
            most = math.factorial(len(sizes)) * math.prod(max(sizes) ** max(sizes) for _ in sizes)
            return ReadingCount(family, worlds, 1, most, "stopped by the budget", time.monotonic() - start)
    return ReadingCount(family, worlds, total, total, method, time.monotonic() - start)


def _used(knowledge: Knowledge, support: Codes | None) -> list[int]:
    """Return how many worlds of the support, or possible worlds, have each outcome of the rule's diagram."""
    diagram = knowledge.diagram
    if support is None:
        inside = knowledge.diagram_within(TRUE).counts
        return [inside.get((*outcome, True), 0) for outcome in diagram.outcomes]
    counts: list[int] = np.bincount(
        diagram.outcome_of(np.unique(support, axis=0)), minlength=len(diagram.outcomes)
    ).tolist()
    return counts


def _free(knowledge: Knowledge, used: list[int]) -> int:
    """Return the product, over the support, of how many worlds have the same labels, and over other worlds of all."""
    worlds = knowledge.space.worlds
    factors = [*zip(knowledge.diagram.counts.values(), used, strict=True), (worlds, worlds - sum(used))]
    digits = sum(times * math.log10(base) for base, times in factors if base > 1)
    if digits > MOST_DIGITS:
        raise TooLarge(f"the count has about {digits:,.0f} digits, more than the {MOST_DIGITS:,} that are written out")
    return math.prod(base**times for base, times in factors)


def numeral(number: int) -> str:
    """Return a number with thousands apart, or as a power of ten.

    >>> numeral(178_405), numeral(178_405_961), numeral(10**71 - 1)
    ('178,405', '1.8 x 10^8', '1.0 x 10^71')
    """
    if number <= MOST:
        return f"{number:,}"
    exponent = math.floor(math.log10(number))
    digits = (number + 5 * 10 ** (exponent - 2)) // 10 ** (exponent - 1)  # two digits, rounded without floats
    while not 10 <= digits < 100:
        exponent += 1 if digits >= 100 else -1
        digits = (number + 5 * 10 ** (exponent - 2)) // 10 ** (exponent - 1)
    return f"{digits // 10}.{digits % 10} x 10^{exponent}"


def numerals(low: int, high: int) -> str:
    """Return a number, or the range that it lies in.

    >>> numerals(3, 3), numerals(0, 10**9)
    ('3', '0 to 1.0 x 10^9')
    """
    return numeral(low) if low == high else f"{numeral(low)} to {numeral(high)}"

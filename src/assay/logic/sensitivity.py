"""Sensitivity of a formula to single concepts: after a change, only what depends on that concept is recomputed.

Sums, counts, conjunctions and the like are stored as tallies, to which a change adds its difference: one change of a
rule over 64 squares costs about as much as one of a rule over two.
"""

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.logic import formula as f
from assay.logic.concepts import ConceptSpace
from assay.logic.evaluation import Evaluator
from assay.logic.formula import Formula
from assay.logic.traverse import children

CHUNK = 8192
TALLIED = (f.Sum, f.Count, f.And, f.Or, f.Xor)


class Dependencies:
    """A formula prepared for changes: its parts, innermost first, and which of them depend on each concept.

    Parts are named by their number; `inside[n]` are the numbers of the parts directly inside part `n`.
    """

    def __init__(self, formula: Formula, space: ConceptSpace) -> None:
        self.space = space
        self.evaluator = Evaluator(space, formula)
        self.parts: list[Formula] = []
        self.inside: list[tuple[int, ...]] = []
        self._collect(self.evaluator.formula, {})
        names: list[frozenset[str]] = []
        for part, inside in zip(self.parts, self.inside, strict=True):
            own = frozenset([part.name]) if isinstance(part, f.Var) else frozenset()
            names.append(own.union(*(names[child] for child in inside)))
        self.names = names[-1]
        self.moved = {name: [n for n in range(len(names)) if name in names[n]] for name in self.names}

    def _collect(self, part: Formula, numbers: dict[Formula, int]) -> int:
        if part not in numbers:
            inside = tuple(self._collect(child, numbers) for child in children(part))
            numbers[part] = len(self.parts)
            self.parts.append(part)
            self.inside.append(inside)
        return numbers[part]

    def at(self, codes: Codes) -> "Changes":
        """Return the changes of these worlds."""
        return Changes(self, codes)


class Changes:
    """Worlds, the value of every part of a formula in them, and the formula's value after a change."""

    def __init__(self, rule: Dependencies, codes: Codes) -> None:
        self.rule = rule
        self.codes = codes
        self.tallies: dict[int, Any] = {}
        self.values: list[Any] = []
        for number in range(len(rule.parts)):
            self.values.append(self._first(number))
        self.changing = ""
        self.known: dict[Hashable, Any] = {}

    @cached_property
    def now(self) -> Array:
        """The formula's value before any change."""
        return np.broadcast_to(np.asarray(self.values[-1]), len(self.codes))

    def after(self, name: str, value: int) -> Array:
        """Return the formula's value once a concept has this number; unchanged if it does not use the concept."""
        if name not in self.rule.names:
            return self.now
        if name != self.changing:
            self.changing, self.known = name, {}
        keys: dict[int, Hashable] = {}
        for number in self.rule.moved[name]:
            keys[number] = self._again(number, keys, value)
        return np.broadcast_to(np.asarray(self._new(keys[len(self.values) - 1])), len(self.codes))

    def _first(self, number: int) -> Any:
        part = self.rule.parts[number]
        if isinstance(part, (f.Var, f.Const)):
            return self.rule.evaluator.run(part, self.codes)
        inside = [self.values[child] for child in self.rule.inside[number]]
        if isinstance(part, TALLIED):
            self.tallies[number] = self._added(part, inside)
            return _from_tally(part, self.tallies[number])
        if isinstance(part, f.AllDifferent):
            self.tallies[number] = _equal_pairs(combinations(inside, 2))
            return self.tallies[number] == 0
        return self.rule.evaluator.apply(part, inside)

    def _new(self, key: Hashable) -> Any:
        return self.known[key] if isinstance(key, tuple) else key

    def _again(self, number: int, keys: dict[int, Hashable], value: int) -> Hashable:
        """Recompute a part and return the key of its value: equal keys, equal arrays, computed once."""
        if isinstance(self.rule.parts[number], f.Var):
            return value
        inside = self.rule.inside[number]
        key = (number, *(keys[child] for child in inside if child in keys))
        if key not in self.known:
            result = self._computed(number, [self._new(keys[child]) if child in keys else None for child in inside])
            if np.ndim(result) == 0:
                return int(result)
            self.known[key] = result
        return key

    def _computed(self, number: int, new: list[Any]) -> Any:
        """Return the value of a part, with None for the parts inside it that do not change."""
        part, old = self.rule.parts[number], [self.values[child] for child in self.rule.inside[number]]
        moved = [after for after in new if after is not None]
        if isinstance(part, TALLIED):
            return _from_tally(part, self._rest(number, old, new) + self._added(part, moved))
        if isinstance(part, f.AllDifferent):
            fixed = [before for before, after in zip(old, new, strict=True) if after is None]
            return self._rest(number, old, new) + _equal_pairs(_pairs(moved, fixed)) == 0
        both = zip(old, new, strict=True)
        return self.rule.evaluator.apply(part, [before if after is None else after for before, after in both])

    def _rest(self, number: int, old: list[Any], new: list[Any]) -> Any:
        """Return the tally of a part without the old values of the changing parts inside it."""
        key = ("rest", number)
        if key not in self.known:
            part, both = self.rule.parts[number], list(zip(old, new, strict=True))
            gone = [before for before, after in both if after is not None]
            fixed = [before for before, after in both if after is None]
            lost = _equal_pairs(_pairs(gone, fixed)) if isinstance(part, f.AllDifferent) else self._added(part, gone)
            self.known[key] = self.tallies[number] - lost
        return self.known[key]

    def _added(self, part: Formula, inside: list[Any]) -> Any:
        """Return the sum of numbers, or how many truths there are, in as narrow a width as holds it."""
        if isinstance(part, f.Sum):
            wide: Any = object if self.rule.evaluator.big else np.int64
            return sum((np.asarray(value).astype(wide, copy=False) for value in inside), start=np.int64(0))
        return sum((np.asarray(value).astype(np.int16) for value in inside), start=np.int16(0))


def _from_tally(part: Formula, tally: Any) -> Any:
    match part:
        case f.And(parts):
            return tally == len(parts)
        case f.Or():
            return tally > 0
        case f.Xor():
            return tally % 2 == 1
    return tally


def _pairs(moved: list[Any], fixed: list[Any]) -> Iterable[tuple[Any, Any]]:
    yield from combinations(moved, 2)
    yield from ((first, second) for first in moved for second in fixed)


def _equal_pairs(pairs: Iterable[tuple[Any, Any]]) -> Any:
    return sum((np.equal(first, second).astype(np.int16) for first, second in pairs), start=np.int16(0))


def flips(
    label: Formula,
    space: ConceptSpace,
    codes: Codes,
    within: Formula = f.TRUE,
    steps: Sequence[Array | None] | None = None,
) -> Array:
    """Return whether a change of each concept alone can change the label: a row a world, a column a concept.

    Only changes that keep `within` count, and of a concept whose counts go by steps only steps: `steps[place]` has a
    truth value for each pair of codes, from and to.
    """
    rule, limits = Dependencies(label, space), Dependencies(within, space)
    flipped = np.zeros(codes.shape, dtype=bool)
    for start in range(0, len(codes), CHUNK):
        some = codes[start : start + CHUNK]
        flipped[start : start + CHUNK] = _flips(rule.at(some), limits.at(some), steps)
    return flipped


def _flips(label: Changes, limits: Changes, steps: Sequence[Array | None] | None) -> Array:
    codes, space = label.codes, label.rule.space
    flipped = np.zeros(codes.shape, dtype=bool)
    for place, concept in enumerate(space.concepts):
        if concept.name not in label.rule.names:
            continue
        column, step = codes[:, place], None if steps is None else steps[place]
        for code, value in enumerate(concept.values):
            changed = label.after(concept.name, label.rule.evaluator.number(value)) != label.now
            if step is not None:
                changed &= step[column, code]
            if limits.rule.names:
                changed &= np.asarray(limits.after(concept.name, limits.rule.evaluator.number(value)), dtype=bool)
            flipped[:, place] |= changed
            if flipped[:, place].all():
                break
    return flipped

"""The boundary of a rule: the ways in which it holds, and the ways in which a world just misses it.

A *variant* is a disjunct of the rule's disjunctive form, in which none can be left out or made more general. A world is
*near* the boundary if it is false and a change of one concept makes it true; concepts that count things change by one
step, from one class of counts that the rule tells apart to the next. A near-boundary *type* is a variant with the
features of one concept moved.

After a change of one concept, only what depends on it is recomputed. Sums, counts, conjunctions and the like are stored
as tallies, to which a change adds its difference: one change of a rule over 64 squares costs about as much as one of a
rule over two.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from assay.base import Array, Codes, KnowledgeError, TooLarge
from assay.logic import formula as f
from assay.logic.build import children, conjunction
from assay.logic.concepts import ConceptSpace
from assay.logic.evaluation import Evaluator
from assay.logic.features import Feature, Profiles, features_of, profiles_of, steps_of
from assay.logic.formula import TRUE, Formula, Not
from assay.logic.ground import ground_formula, shape_of

MOST_VARIANTS = 100
MOST_FEATURES = 16

Cube = tuple[frozenset[int], ...]
"""For each feature the classes that are allowed."""
CHUNK = 8192
TALLIED = (f.Sum, f.Count, f.And, f.Or, f.Xor)


@dataclass(frozen=True)
class Region:
    """Some worlds, with a name that people can read."""

    name: str
    formula: Formula


@dataclass(frozen=True)
class Boundary:
    """The boundary of one label. Without variants (`explicit` is false) it still knows near from far."""

    label: Formula
    space: ConceptSpace
    within: Formula
    variants: tuple[Region, ...] = ()
    types: tuple[Region, ...] = ()
    explicit: bool = False
    listed: bool = False
    """Whether the types were given; then near is what they hold, whatever a change of one concept does."""
    _evaluators: dict[Formula, Evaluator] = field(default_factory=dict, init=False, repr=False, compare=False)

    def _values(self, formula: Formula, codes: Codes) -> Array:
        if formula not in self._evaluators:
            self._evaluators[formula] = Evaluator(self.space, formula)
        return self._evaluators[formula](codes)

    def _matrix(self, regions: Sequence[Region], codes: Codes) -> Array:
        columns = [self._values(region.formula, codes) for region in regions]
        return np.stack(columns, axis=1) if columns else np.zeros((len(codes), 0), dtype=bool)

    @cached_property
    def steps(self) -> list[Array | None] | None:
        """For each concept whether a step leads from one code to another, where the label is true or false."""
        if not self.truth:
            return None
        features = features_of(ground_formula(self.label, self.space), self.space)
        return [steps_of(name, features) for name in self.space.names]

    @cached_property
    def truth(self) -> bool:
        """Whether the label is true or false."""
        return shape_of(self.label, self.space).kind == "bool"

    def flips(self, codes: Codes) -> Array:
        """Return whether a change of each concept alone changes the label: a row a world, a column a concept."""
        return flips(self.label, self.space, codes, self.within, self.steps)

    def near(self, codes: Codes) -> Array:
        """Return which worlds lie at the boundary; of a label with variants, the false ones that nearly are true."""
        if self.listed:
            return np.asarray(self._matrix(self.types, codes).any(axis=1) & ~self._values(self.label, codes))
        near = np.asarray(self.flips(codes).any(axis=1))
        return near & ~self._values(self.label, codes) if self.explicit else near

    def in_variants(self, codes: Codes) -> Array:
        """Return which worlds are of which variant, a column a variant."""
        return self._matrix(self.variants, codes)

    def in_types(self, codes: Codes) -> Array:
        """Return which worlds are of which near-boundary type, a column a type."""
        return self._matrix(self.types, codes) & self.near(codes)[:, None]

    def tags(self, codes: Codes) -> list[str]:
        """Return for each world its variants or types, or the concepts that change its label, or `far`."""
        if self.explicit:
            names = [region.name for region in (*self.variants, *self.types)]
            membership = np.concatenate([self.in_variants(codes), self.in_types(codes)], axis=1)
        else:
            names, membership = [f"change {name}" for name in self.space.names], self.flips(codes)
        kinds, which = np.unique(membership, axis=0, return_inverse=True)
        texts = ["; ".join(names[place] for place in np.flatnonzero(kind)) or "far" for kind in kinds]
        return [texts[number] for number in which.ravel().tolist()]


def boundary_of(label: Formula, space: ConceptSpace, within: Formula = TRUE, types: Sequence[Region] = ()) -> Boundary:
    """Return the boundary of a label among the worlds within; its variants where there are not too many.

    >>> from assay.logic.concepts import bits
    >>> from assay.logic import parse
    >>> found = boundary_of(parse("lamp and (bus or tram)"), bits(["lamp", "bus", "tram"]))
    >>> [variant.name for variant in found.variants], [type.name for type in found.types]
    (['lamp and bus', 'lamp and tram'], ['not lamp and bus', 'lamp and not bus and not tram', 'not lamp and tram'])

    Parameters
    ----------
    label
        The formula of the label.
    space
        The concepts that it is about.
    within
        What holds in every world that can occur.
    types
        The near-boundary types, and all that is near, instead of those derived.
    """
    # texts and kinds, because True and 1 are the same key
    key = (str(label), str(within), *(concept.kind for concept in space.concepts))
    derived = _boundary_of(label, space, within, key)
    if not types:
        return derived
    if not derived.explicit:
        raise KnowledgeError(f"types cannot be listed for '{label}': it is no true-or-false rule with few variants")
    return Boundary(label, space, within, derived.variants, tuple(types), explicit=True, listed=True)


@lru_cache(maxsize=64)
def _boundary_of(label: Formula, space: ConceptSpace, within: Formula, key: tuple[str, ...]) -> Boundary:
    """Return the boundary; a rule that is read from a file again has the one that it had."""
    plain = Boundary(label, space, within)
    if not plain.truth:
        return plain
    try:
        return _explicit(plain)
    except TooLarge:
        return plain


def _explicit(plain: Boundary) -> Boundary:
    profiles = profiles_of(plain.label, plain.space, plain.within)
    cubes = [_tight(cube, profiles) for cube in _cover(profiles)]
    false = profiles.rows[~profiles.holds]
    types: dict[bytes, Cube] = {}
    for cube in cubes:
        for moved in _misses(cube, profiles):
            key = _inside(moved, false).tobytes()
            types[key] = _both(types[key], moved) if key in types else moved
    rule, features = plain.label, profiles.features
    missed = [_region(_plainer(moved, profiles), features, (Not(rule),)) for moved in types.values()]
    variants = tuple(_region(cube, features) for cube in cubes)
    return Boundary(rule, plain.space, plain.within, variants, tuple(missed), explicit=True)


def _inside(cube: Cube, rows: Array) -> Array:
    """Return which profiles lie in a cube."""
    inside = np.ones(len(rows), dtype=bool)
    for number, allowed in enumerate(cube):
        is_allowed = np.zeros(max(allowed, default=0) + 1, dtype=bool)
        is_allowed[list(allowed)] = True
        inside &= (rows[:, number] < len(is_allowed)) & is_allowed[np.minimum(rows[:, number], len(is_allowed) - 1)]
    return inside


def _cover(profiles: Profiles) -> list[Cube]:
    """Return cubes that hold every true profile and no false one, each as large as it can be, none to spare."""
    true, false = profiles.rows[profiles.holds], profiles.rows[~profiles.holds]
    sizes = [feature.size for feature in profiles.features]
    if len(sizes) > MOST_FEATURES:
        raise TooLarge("the rule tells too many things apart to list the ways in which it holds")
    cubes, covered = list[Cube](), np.zeros(len(true), dtype=bool)
    while not covered.all():
        seed = true[int(np.argmin(covered))]
        cubes.append(_grown(tuple(frozenset([int(number)]) for number in seed), false, sizes))
        covered |= _inside(cubes[-1], true)
        if len(cubes) > MOST_VARIANTS:
            raise TooLarge(f"the rule holds in more than {MOST_VARIANTS} ways")
    return _without_spares(cubes, true)


def _grown(cube: Cube, false: Array, sizes: Sequence[int]) -> Cube:
    """Allow in a cube whatever keeps the false profiles out: first all classes of a feature, then single ones."""
    for number, size in enumerate(sizes):
        cube = _if_free(cube, number, frozenset(range(size)), false)
    for number, size in enumerate(sizes):
        for extra in range(size):
            cube = _if_free(cube, number, cube[number] | {extra}, false)
    return cube


def _if_free(cube: Cube, number: int, allowed: frozenset[int], false: Array) -> Cube:
    larger = (*cube[:number], allowed, *cube[number + 1 :])
    return cube if _inside(larger, false).any() else larger


def _without_spares(cubes: list[Cube], true: Array) -> list[Cube]:
    """Leave out cubes that the others cover, small ones first."""
    members = {cube: _inside(cube, true) for cube in dict.fromkeys(cubes)}
    for cube in sorted(members, key=lambda member: int(members[member].sum())):
        others = [members[member] for member in members if member != cube]
        if others and (np.any(others, axis=0) >= members[cube]).all():
            del members[cube]
    return sorted(members, key=lambda cube: [min(allowed) for allowed in cube])[::-1]


def _misses(cube: Cube, profiles: Profiles) -> Iterable[Cube]:
    """Yield the cube with the features of one concept as they are in false profiles that a change leads out of."""
    for move in profiles.moves:
        own = [number for number, feature in enumerate(profiles.features) if move.name in feature.names]
        before = move.before[_inside(cube, profiles.rows[move.after])]
        for classes in np.unique(profiles.rows[before][:, own], axis=0).tolist():
            moved = dict(zip(own, classes, strict=True))
            yield tuple(frozenset([moved[n]]) if n in moved else allowed for n, allowed in enumerate(cube))


def _both(left: Cube, right: Cube) -> Cube:
    return tuple(first & second for first, second in zip(left, right, strict=True))


def _tight(cube: Cube, profiles: Profiles) -> Cube:
    """Allow in a cube only what occurs in it: of `car > truck and truck`, that there is a car."""
    rows = profiles.rows[_inside(cube, profiles.rows)]
    return tuple(allowed & frozenset(rows[:, number].tolist()) for number, allowed in enumerate(cube))


def _plainer(cube: Cube, profiles: Profiles) -> Cube:
    """Drop relations that the rest of a cube implies: without persons there are fewer of them than of anything."""
    members = _inside(cube, profiles.rows)
    for number, feature in enumerate(profiles.features):
        wider = (*cube[:number], frozenset(range(feature.size)), *cube[number + 1 :])
        if len(feature.names) > 1 and np.array_equal(_inside(wider, profiles.rows), members):
            cube = wider
    return cube


def _region(cube: Cube, features: Sequence[Feature], more: tuple[Formula, ...] = ()) -> Region:
    restricted = [(f, allowed) for f, allowed in zip(features, cube, strict=True) if len(allowed) < f.size]
    name = " and ".join(feature.text(allowed) for feature, allowed in restricted) or "always"
    return Region(name, conjunction(*(feature.formula(allowed) for feature, allowed in restricted), *more))


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

"""The boundary of a rule: the ways in which it holds, and the ways in which a world just misses it.

A *variant* is a disjunct of the rule's disjunctive form, in which none can be left out or made more general. A world is
*near* the boundary if it is false and a change of one concept makes it true; concepts that count things change by one
step, from one class of counts that the rule tells apart to the next. A near-boundary *type* is a variant with the
features of one concept moved.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from assay.base import Array, Codes, KnowledgeError, TooLarge
from assay.logic.concepts import ConceptSpace
from assay.logic.evaluation import Evaluator
from assay.logic.features import Feature, features_of
from assay.logic.formula import TRUE, Formula, Not, conjunction
from assay.logic.ground import ground_formula, shape_of
from assay.logic.profiles import Profiles, profiles_of, steps_of
from assay.logic.sensitivity import flips

MOST_VARIANTS = 100
MOST_FEATURES = 16

Cube = tuple[frozenset[int], ...]
"""For each feature the classes that are allowed."""


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

    With `types`, these are the near-boundary types, and all that is near.

    >>> from assay.logic.concepts import bits
    >>> from assay.logic import parse
    >>> found = boundary_of(parse("lamp and (bus or tram)"), bits(["lamp", "bus", "tram"]))
    >>> [variant.name for variant in found.variants], [type.name for type in found.types]
    (['lamp and bus', 'lamp and tram'], ['not lamp and bus', 'lamp and not bus and not tram', 'not lamp and tram'])
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

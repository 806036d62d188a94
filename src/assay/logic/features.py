"""What a rule distinguishes: its features, and its profiles, the combinations of them that occur.

A feature is a concept's values in classes that the rule treats alike, or a relation between concepts. A rule with
`cup == 3` distinguishes counts 0, 1-2, 3 and 4 or more (absence is a class of its own for a concept that counts
objects). One with `car > truck` distinguishes less, equal and more. The rule is a function of these.

A profile is a class for every feature. Rules over few worlds have their worlds listed; rules that only group the values
of single concepts have their profiles listed, however many worlds there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from assay.base import Array, Codes, FormulaError, TooLarge
from assay.logic import formula as f
from assay.logic.build import children, conjunction, disjunction, names_in
from assay.logic.concepts import ABSENT, Concept, ConceptSpace, Value
from assay.logic.evaluation import Evaluator, evaluate
from assay.logic.formula import TRUE, Formula, Var
from assay.logic.ground import ground_formula, shape_of

CONNECTIVES = (f.Not, f.And, f.Or, f.Xor, f.Implies, f.Iff)
MOST_WORLDS = 200_000
MOST_PROFILES = 4096


@dataclass(frozen=True)
class Feature:
    """Classes of worlds, exactly one of which a world is in; each has a formula and, in words, a name."""

    names: tuple[str, ...]
    formulas: tuple[Formula, ...]
    words: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.formulas)

    def classes(self, space: ConceptSpace, codes: Codes) -> Array:
        """Return the class of each world."""
        truths = [Evaluator(space, formula)(codes) for formula in self.formulas[:-1]]
        return np.asarray(np.select(truths, range(self.size - 1), self.size - 1) if truths else np.zeros(len(codes)))

    def formula(self, allowed: frozenset[int]) -> Formula:
        """Return "in one of these classes"."""
        return disjunction(*(self.formulas[number] for number in sorted(allowed)))

    def text(self, allowed: frozenset[int]) -> str:
        """Return "in one of these classes" in words."""
        words = [self.words[number] for number in sorted(allowed)]
        return words[0] if len(words) == 1 else f"({' or '.join(words)})"


@dataclass(frozen=True)
class GroupedValues(Feature):
    """One concept, its values in classes: `of[code]` is the class of a value."""

    concept: Concept
    of: tuple[int, ...]

    def classes(self, space: ConceptSpace, codes: Codes) -> Array:
        """Return the class of each world."""
        classes: Array = np.array(self.of)[codes[:, space.place(self.concept.name)]]
        return classes

    def formula(self, allowed: frozenset[int]) -> Formula:
        """Return "has one of these values"."""
        return self.description(allowed)[0]

    def text(self, allowed: frozenset[int]) -> str:
        """Return "has one of these values" in words."""
        return self.description(allowed)[1]

    def description(self, allowed: frozenset[int]) -> tuple[Formula, str]:
        """Return "has one of these values" as a formula and in words."""
        values = [v for v, number in zip(self.concept.values, self.of, strict=True) if number in allowed]
        return describe_values(self.concept, values)

    @cached_property
    def steps(self) -> Array | None:
        """For concepts that count: whether a step leads from one code to another; None where every change is one."""
        if not self.concept.counts:
            return None
        classes = np.array(self.of)
        return np.asarray(np.abs(classes[:, None] - classes[None, :]) <= 1)


WAYS: dict[frozenset[int], f.Operator] = {
    frozenset([0]): "==", frozenset([1]): "<", frozenset([2]): ">",
    frozenset([0, 1]): "<=", frozenset([0, 2]): ">=", frozenset([1, 2]): "!=",
}  # fmt: skip


@dataclass(frozen=True)
class ComparedNumbers(Feature):
    """Two numbers compared: equal, less, more."""

    left: Formula
    right: Formula

    def formula(self, allowed: frozenset[int]) -> Formula:
        """Return "compares in one of these ways"."""
        return f.Compare(WAYS[allowed], self.left, self.right)

    def text(self, allowed: frozenset[int]) -> str:
        """Return "compares in one of these ways" in words."""
        return str(self.formula(allowed))


def describe_values(concept: Concept, values: list[Value]) -> tuple[Formula, str]:
    """Return "the concept has one of these values", as a formula and in words.

    >>> describe_values(Concept("cup", (0, 1, 2, 3, 4), counts=True), [1, 2])[1]
    '1-2 cup'
    """
    variable, name = Var(concept.name), concept.name
    missing = [value for value in concept.values if value not in values]
    if concept.kind == "bool" and not concept.optional:
        return (variable, name) if values == [True] else (f.Not(variable), f"not {name}")
    if len(values) == 1:
        same = variable.eq(values[0])
        return same, (f"not {name}" if concept.counts and values[0] == 0 else f"{name} == {values[0]}")
    if len(missing) == 1 and not (concept.counts and missing[0] in (min(concept.values), max(concept.values))):
        return variable.ne(missing[0]), f"{name} != {missing[0]}"
    if concept.kind == "int" and not concept.optional:
        run = _run(concept, values)
        if run is not None:
            return run
    rows = tuple((value,) for value in values)
    return f.Member((variable,), rows), f"{name} in {{{', '.join(map(str, values))}}}"


def _run(concept: Concept, values: list[Value]) -> tuple[Formula, str] | None:
    """Describe values that follow one another among those of a concept, such as 1 to 2, or 4 and more."""
    numbers, ordered = sorted(map(int, values)), sorted(map(int, concept.values))
    low, high = numbers[0], numbers[-1]
    if numbers != [number for number in ordered if low <= number <= high]:
        return None
    variable, name = Var(concept.name), concept.name
    if high == ordered[-1]:
        return variable >= low, (name if concept.counts and low == 1 else f"{name} >= {low}")
    if low == ordered[0]:
        return variable <= high, f"{name} <= {high}"
    text = f"{low}-{high} {name}" if concept.counts else f"{low} <= {name} <= {high}"
    return conjunction(variable >= low, variable <= high), text


def atoms(formula: Formula) -> Iterator[Formula]:
    """Yield the truths that a grounded formula combines: concepts, comparisons and the like, not connectives.

    A count of truths is a connective as well: `exactly(2, a, b, c)` combines a, b and c.
    """
    if isinstance(formula, f.Const):
        return
    inside = list(_truths_inside(formula))
    if isinstance(formula, (*CONNECTIVES, f.If)):
        inside = list(children(formula))
    elif not inside or _has_plain_numbers(formula):
        yield formula
        return
    for part in inside:
        yield from atoms(part)


def _truths_inside(formula: Formula) -> Iterator[Formula]:
    """Yield the truth values inside numbers: what is counted, and conditions."""
    for part in children(formula):
        if isinstance(part, f.Count):
            yield from part.parts
        elif isinstance(part, f.If):
            yield part.condition
            yield from _truths_inside(part)
        else:
            yield from _truths_inside(part)


def _has_plain_numbers(formula: Formula) -> bool:
    """Return whether a concept's own value enters, not only counts of truths."""
    if isinstance(formula, Var):
        return True
    if isinstance(formula, f.Count):
        return False
    skipped = {formula.condition} if isinstance(formula, f.If) else set()
    return any(_has_plain_numbers(part) for part in children(formula) if part not in skipped)


def features_of(formula: Formula, space: ConceptSpace) -> tuple[Feature, ...]:
    """Return the features that a grounded formula distinguishes, in order of occurrence."""
    single: dict[str, list[Formula]] = {}
    order: dict[str | Formula, None] = {}
    relations: dict[Formula, Feature] = {}
    for atom in dict.fromkeys(guard_atom(atom, space) for atom in atoms(formula)):
        names = names_in(atom)
        if len(names) == 1:
            single.setdefault(names[0], []).append(atom)
            order[names[0]] = None
        elif names:
            relation = _relation(atom, space)
            known = relations.get(relation.formulas[0], relation)
            relations[relation.formulas[0]] = max(known, relation, key=lambda one: one.size)  # truths that are ordered
            order[relation.formulas[0]] = None
    return tuple(_grouped(key, single[key], space) if isinstance(key, str) else relations[key] for key in order)


def _grouped(name: str, atoms_of_concept: list[Formula], space: ConceptSpace) -> GroupedValues:
    concept, place = space.concept(name), space.place(name)
    codes = np.zeros((len(concept.values), len(space)), dtype=np.int64)
    codes[:, place] = np.arange(len(concept.values))
    truths = np.stack([Evaluator(space, atom)(codes) for atom in atoms_of_concept], axis=1)
    keys = [tuple(row) for row in truths.tolist()]
    if concept.counts:  # neighbouring counts that are told apart are classes; so is none at all
        keys = [(0,), *((1 + sum(keys[i] != keys[i - 1] for i in range(2, code + 1)),) for code in range(1, len(keys)))]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    of = tuple(numbers[key] for key in keys)
    members = [[v for v, number in zip(concept.values, of, strict=True) if number == one] for one in numbers.values()]
    formulas, words = zip(*[describe_values(concept, values) for values in members], strict=True)
    return GroupedValues((name,), formulas, words, concept, of)


def _relation(atom: Formula, space: ConceptSpace) -> Feature:
    """Return whether a relation of several concepts holds; for a comparison of numbers, which way it goes."""
    names = names_in(atom)
    if not isinstance(atom, f.Compare):
        return Feature(names, (atom, f.Not(atom)), (str(atom), str(f.Not(atom))))
    left, right = sorted((atom.left, atom.right), key=str)
    kinds, exact = {shape_of(left, space).kind, shape_of(right, space).kind}, atom.operator in ("==", "!=")
    if "symbol" in kinds or (exact and (kinds == {"bool"} or _may_be_absent(names, space))):
        formulas: tuple[Formula, ...] = (left.eq(right), left.ne(right))
        return Feature(names, formulas, tuple(str(formula) for formula in formulas))
    formulas = (left.eq(right), f.Compare("<", left, right), f.Compare(">", left, right))
    return ComparedNumbers(names, formulas, tuple(str(formula) for formula in formulas), left, right)


def guard_atom(atom: Formula, space: ConceptSpace) -> Formula:
    """Return an atom that is defined in every world: one that is defined only where its objects are present says so."""
    try:
        shape_of(atom, space)
    except FormulaError:
        there = [Var(name).ne(ABSENT) for name in names_in(atom) if space.concept(name).optional]
        return f.And((*there, atom))
    return atom


def _may_be_absent(names: tuple[str, ...], space: ConceptSpace) -> bool:
    return any(space.concept(name).optional for name in names)


@dataclass(frozen=True)
class Move:
    """Changes of one concept that lead from false to true: pairs of profile numbers."""

    name: str
    before: Array
    after: Array


@dataclass(frozen=True)
class Profiles:
    """The profiles that occur, a row each, whether the rule holds in each, and the moves between them."""

    features: tuple[Feature, ...]
    rows: Array
    holds: Array
    moves: tuple[Move, ...]


def profiles_of(rule: Formula, space: ConceptSpace, within: Formula) -> Profiles:
    """Return the profiles of a rule, or raise TooLarge."""
    flat = ground_formula(rule, space)
    features = features_of(flat, space)
    if not features:
        return _of_constant(rule, space)
    named = dict.fromkeys((*names_in(flat), *names_in(ground_formula(within, space))))
    places = [space.place(name) for name in named]
    if prod(space.sizes[place] for place in places) <= MOST_WORLDS:
        return _from_worlds(rule, space, within, features, places)
    if within == TRUE and all(isinstance(feature, GroupedValues) for feature in features):
        return _from_classes(rule, space, [feature for feature in features if isinstance(feature, GroupedValues)])
    raise TooLarge("the rule has too many worlds to list the ways in which it holds")


def _of_constant(rule: Formula, space: ConceptSpace) -> Profiles:
    """Return the one profile of a rule that tells nothing apart."""
    holds = evaluate(rule, space, np.zeros((1, len(space)), dtype=np.int64))
    return Profiles((), np.zeros((1, 0), dtype=np.int64), holds, ())


def _listed(sizes: Sequence[int]) -> Array:
    """Return all combinations, the last number fastest."""
    return np.stack(np.unravel_index(np.arange(prod(sizes)), tuple(sizes)), axis=1)


def _from_worlds(
    rule: Formula, space: ConceptSpace, within: Formula, features: tuple[Feature, ...], places: list[int]
) -> Profiles:
    codes = np.zeros((prod(space.sizes[p] for p in places), len(space)), dtype=np.int64)
    codes[:, places] = _listed([space.sizes[place] for place in places])
    possible, truth = evaluate(within, space, codes), evaluate(rule, space, codes)
    classes = np.stack([feature.classes(space, codes) for feature in features], axis=1).astype(np.int64)
    numbers = np.ravel_multi_index(tuple(classes.T), tuple(feature.size for feature in features))
    distinct, first, which = np.unique(numbers[possible], return_index=True, return_inverse=True)
    _refuse_many(len(distinct))
    which_of = np.full(len(codes), -1)
    which_of[possible] = which.ravel()
    rows, holds = classes[possible][first], truth[possible][first]
    concepts = {name for feature in features for name in feature.names}
    grid = _Grid(space, places, codes, which_of, truth & possible, len(distinct))
    moves = [grid.move(place, features) for place in places if space.names[place] in concepts]
    return Profiles(features, rows, holds, tuple(moves))


@dataclass(frozen=True)
class _Grid:
    """All worlds of the concepts at some places, numbered; `which` is a world's profile, -1 if it cannot be."""

    space: ConceptSpace
    places: list[int]
    codes: Codes
    which: Array
    truth: Array
    profiles: int

    def move(self, place: int, features: Sequence[Feature]) -> Move:
        """Return where a change of one concept makes the rule true."""
        sizes = [self.space.sizes[p] for p in self.places]
        stride = prod(sizes[self.places.index(place) + 1 :])
        column, numbers = self.codes[:, place], np.arange(len(self.codes))
        false = (self.which >= 0) & ~self.truth
        steps = steps_of(self.space.names[place], features)
        reached = np.zeros((self.profiles, self.profiles), dtype=bool)
        for code in range(self.space.sizes[place]):
            there = numbers + (code - column) * stride
            some = false & self.truth[there] if steps is None else false & self.truth[there] & steps[column, code]
            reached[self.which[some], self.which[there[some]]] = True
        before, after = np.nonzero(reached)
        return Move(self.space.names[place], before, after)


def _from_classes(rule: Formula, space: ConceptSpace, features: Sequence[GroupedValues]) -> Profiles:
    sizes = [feature.size for feature in features]
    _refuse_many(prod(sizes))
    rows = _listed(sizes)
    codes = np.zeros((len(rows), len(space)), dtype=np.int64)
    for number, feature in enumerate(features):
        member = np.array([feature.of.index(number_of_class) for number_of_class in range(feature.size)])
        codes[:, space.place(feature.concept.name)] = member[rows[:, number]]
    holds = evaluate(rule, space, codes)
    moves = [_class_move(number, feature, rows, holds) for number, feature in enumerate(features)]
    return Profiles(tuple(features), rows, holds, tuple(moves))


def _class_move(number: int, feature: GroupedValues, rows: Array, holds: Array) -> Move:
    stride = prod(int(size) for size in rows.max(axis=0)[number + 1 :] + 1)
    pairs = []
    for target in range(feature.size):
        there = np.arange(len(rows)) + (target - rows[:, number]) * stride
        near = np.abs(target - rows[:, number]) <= 1 if feature.concept.counts else True
        before = np.flatnonzero(~holds & holds[there] & near)
        pairs.append(np.stack([before, there[before]], axis=1))
    before, after = np.concatenate(pairs).T
    return Move(feature.concept.name, before, after)


def steps_of(name: str, features: Sequence[Feature]) -> Array | None:
    """Return the steps of a concept, or None where every change of it is one."""
    grouped = (feature for feature in features if isinstance(feature, GroupedValues))
    return next((feature.steps for feature in grouped if feature.concept.name == name), None)


def _refuse_many(profiles: int) -> None:
    if profiles > MOST_PROFILES:
        raise TooLarge(
            f"the rule tells {profiles:,} kinds of worlds apart, too many to list the ways in which it holds"
        )

"""The typed language of the programs, after Table 6 of the COCOLogic-V2 paper, over any space of concepts.

Int      `count_object_in_img`: a concept that counts or is a number, or how many slots have a property;
         `count_all_objects`: how many slots are present (where concepts count some classes of things, how many things
         there are in all is not known); the numbers 0 to 3; `addb`, an Int and a Bool added up
Bool     `exists_object`, `exists_property`, `exists_object_with_property`; `gt?` and `eq?` of two Ints; `and`, `or`,
         `xor`, `not`

An *object* is whatever a predicate can be asked of: a class of things that are counted, a value of a concept, a
property that slots may have. A *family* is one predicate asked of several objects; chains of `or`, `and` and `addb`
over a family are leaves of the search, so that the predicate is paid for once and no order of objects is tried twice.
A leaf is known by which examples it holds in, as packed bits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product
from math import comb, factorial, log2

import numpy as np

from assay.base import Array, Codes
from assay.logic import (
    ABSENT,
    TRUE,
    And,
    Compare,
    Concept,
    ConceptSpace,
    Const,
    Formula,
    Operator,
    Quantified,
    Value,
    Var,
    at_least,
    conjunction,
    disjunction,
    evaluate,
    exactly,
    parity,
)
from assay.models.symbolic.examples import pack_bits

NUMBERS = (0, 1, 2, 3)
FEW = 12
"""Numbers that are no counts are tested for each value, up to so many values."""
MOST_OBJECTS = 400
"""Properties in pairs are left out where there would be more of them."""
UNITS = 8
"""Costs are counted in eighths of a bit, so that programs of equal cost form a level."""
MOST_SUBSETS = 20_000
"""Groups of more objects are left out where there would be more of them in a family."""
Make = Callable[[int], Formula]
Join = Callable[..., Formula]


@dataclass(frozen=True)
class Costs:
    """What each primitive costs, in bits: a program of cost c is meant to be as likely as one among 2**c.

    Naming an object costs -log2 of how often it is seen in the examples, as a share of all; the order of objects that
    the same is asked of costs nothing.
    """

    exists: float = 1.0
    gt: float = 1.5
    eq: float = 2.5
    number: float = 2.25
    """A number, and half a bit more for each step from 0."""
    two_ints: float = 1.75
    """Comparing two Ints where none is a number written out."""
    every: float = 3.0
    """Counting everything."""
    conj: float = 1.0
    disj: float = 1.25
    xor: float = 2.25
    negation: float = 1.0
    addb: float = 0.5
    several: float = 1.0
    """Applying one predicate to several objects."""
    another: float = 1.0
    """Each object after the first."""
    unseen: float = 0.1
    """The share of the examples that each object counts as seen in beside those where it is."""

    def of_number(self, number: int) -> float:
        """Return the cost of a number."""
        return self.number + 0.5 * abs(number)


@dataclass(frozen=True)
class Family:
    """One predicate applied to several objects, as formulas; `cost` is that of the predicate alone."""

    name: str
    cost: float
    objects: tuple[Formula, ...]
    grouped: bool = True


@dataclass(frozen=True)
class NumberTerms:
    """Ints that can be compared with each other, and what each costs beside its name."""

    formulas: tuple[Formula, ...]
    costs: tuple[float, ...]


@dataclass(frozen=True)
class ProgramLanguage:
    """All predicates and Ints over a space."""

    families: tuple[Family, ...]
    terms: tuple[NumberTerms, ...]
    costs: Costs = field(default_factory=Costs)

    @classmethod
    def of(cls, space: ConceptSpace, costs: Costs | None = None) -> "ProgramLanguage":
        """Return the language over a space of concepts."""
        costs = costs or Costs()
        loose = _loose(space)
        families = [*_counted(loose, costs), *_plain(loose, costs), *_slotted(space, costs)]
        return cls(tuple(family for family in families if family.objects), tuple(_terms(space, loose, costs)), costs)

    @property
    def objects(self) -> int:
        """The number of different objects that predicates apply to, which sets the cost of naming one."""
        return max(2, max(len(family.objects) for family in self.families))


def _loose(space: ConceptSpace) -> list[Concept]:
    """Return the concepts that belong to no slot, or to a group of a single slot."""
    grouped = {name for slots in space.groups.values() if len(slots) > 1 for slot in slots for name in slot.concepts}
    return [concept for concept in space.concepts if concept.name not in grouped]


def _compared(what: Formula, costs: Costs) -> Iterator[tuple[str, float, Formula]]:
    """Give the predicates of a count: some, at least 2 or 3, exactly 1, 2 or 3."""
    yield "exists", costs.exists, Compare(">=", what, Const(1))
    for number in NUMBERS[1:3]:
        yield f"gt {number}", costs.gt + costs.of_number(number), Compare(">=", what, Const(number + 1))
    for number in NUMBERS[1:]:
        yield f"eq {number}", costs.eq + costs.of_number(number), Compare("==", what, Const(number))


def _families(predicates: Sequence[tuple[str, float, Formula]], grouped: bool = True) -> list[Family]:
    """Return predicates grouped into families by name."""
    names = dict.fromkeys((name, cost) for name, cost, _ in predicates)
    return [
        Family(name, cost, tuple(formula for other, _, formula in predicates if other == name), grouped)
        for name, cost in names
    ]


def _counted(concepts: Sequence[Concept], costs: Costs) -> list[Family]:
    return _families([predicate for c in concepts if c.counts for predicate in _compared(Var(c.name), costs)])


def _plain(concepts: Sequence[Concept], costs: Costs) -> list[Family]:
    """Return the families of concepts that do not count: is it true, is it this value, is it at least this."""
    truths = [("exists", costs.exists, Var(c.name)) for c in concepts if c.kind == "bool" and not c.optional]
    families = _families(truths)
    others = [c for c in concepts if not c.counts and (c.kind != "bool" or c.optional)]
    equal = [(c, value) for c in others for value in c.values if c.kind == "symbol" or len(c.values) <= FEW]
    for value in dict.fromkeys(value for _, value in equal):
        holders = tuple(_is(Var(c.name), other) for c, other in equal if other == value)
        families.append(Family(f"is {value}", costs.exists + np.log2(max(2, len(equal)) / len(holders)), holders))
    for concept in others:
        if concept.kind == "int" and not concept.optional:
            steps = tuple(Var(concept.name) >= value for value in concept.values[1:] if not isinstance(value, bool))
            families.append(Family(f"least {concept.name}", costs.gt + costs.two_ints, steps, grouped=False))
        elif concept.kind == "symbol":
            either = tuple(_is(Var(concept.name), value) for value in concept.values)
            families.append(Family(f"one of {concept.name}", costs.exists, either))
    return families


def _is(what: Formula, value: Value) -> Formula:
    return Compare("==", what, Const(value))


def _properties(space: ConceptSpace, group: str) -> list[tuple[str, Formula]]:
    """Return the attribute of each property that slots of a group can have, and the property of the slot `x`."""
    slot = space.groups[group][0]
    properties = []
    for attribute in slot.attributes:
        concept = space.concept(slot.concept(attribute))
        for value in concept.values:
            if value != ABSENT:
                properties.append((attribute, _is(Var(f"x.{attribute}"), value)))
    return properties


def _slotted(space: ConceptSpace, costs: Costs) -> list[Family]:
    """Return the families over slots: how many have a property, and whether some has two, or all have one."""
    families: list[Family] = []
    for group, slots in space.groups.items():
        if len(slots) < 2:
            continue
        properties = _properties(space, group)
        counted = [_count(group, body) for _, body in properties]
        families += _families([predicate for what in counted for predicate in _compared(what, costs)])
        if space.concept(slots[0].concepts[0]).optional:
            present = [(name, cost + costs.every, test) for name, cost, test in _compared(_count(group, TRUE), costs)]
            families += [Family(f"{group} {name}", cost, (test,), grouped=False) for name, cost, test in present]
        every = tuple(Quantified("all", ("x",), group, body) for _, body in properties)
        families.append(Family(f"all of {group}", costs.exists + costs.every, every))
        pairs = [And((first, second)) for (a, first), (b, second) in combinations(properties, 2) if a != b]
        if 0 < len(pairs) <= MOST_OBJECTS:
            both = tuple(Quantified("any", ("x",), group, body) for body in pairs)
            families.append(Family(f"with property of {group}", costs.exists + costs.conj, both, grouped=False))
    return families


def _count(group: str, body: Formula) -> Formula:
    return Quantified("count", ("x",), group, body)


def _terms(space: ConceptSpace, loose: Sequence[Concept], costs: Costs) -> Iterator[NumberTerms]:
    """Give the Ints that can be compared: counts and their sum, numbers, and how many slots have a property."""
    counts: list[Formula] = [Var(c.name) for c in loose if c.counts]
    if len(counts) > 1:
        yield NumberTerms(tuple(counts), tuple(0.0 for _ in counts))
    plain: list[Formula] = [Var(c.name) for c in loose if c.kind == "int" and not c.counts and not c.optional]
    if len(plain) > 1:
        yield NumberTerms(tuple(plain), tuple(0.0 for _ in plain))
    for group, slots in space.groups.items():
        properties = _properties(space, group) if len(slots) > 1 else []
        if 1 < len(properties) <= FEW * 4:
            yield NumberTerms(tuple(_count(group, body) for _, body in properties), tuple(0.0 for _ in properties))


def truths(formulas: Sequence[Formula], space: ConceptSpace, codes: Codes) -> Array:
    """Return whether each formula holds in each example: formulas x examples."""
    return np.stack([np.asarray(evaluate(formula, space, codes), dtype=bool) for formula in formulas])


def numbers(formulas: Sequence[Formula], space: ConceptSpace, codes: Codes) -> Array:
    """Return the value of each Int in each example: formulas x examples."""
    return np.stack([np.asarray(evaluate(formula, space, codes), dtype=np.int64) for formula in formulas])


def symbol_pairs(space: ConceptSpace) -> list[Formula]:
    """Return "these two have the same value" for concepts of the same symbols that are in no slots."""
    symbols = [c for c in _loose(space) if c.kind == "symbol"]
    return [
        Compare("==", Var(a.name), Var(b.name)) for a, b in product(symbols, symbols)
        if a.name < b.name and a.values == b.values
    ]  # fmt: skip


# -- leaves ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeafBlock:
    """Leaves of one form, the cheapest first: their bits (a row each), their costs in units, and how one is written."""

    words: Array
    costs: Array
    make: Make

    @classmethod
    def of(cls, holds: Array, bits: Array, make: Make) -> "LeafBlock":
        """Return the block of leaves that hold in these examples (leaves x examples) and cost so many bits."""
        costs = np.maximum(1, np.round(bits * UNITS)).astype(np.int64)
        order = np.argsort(costs, kind="stable")
        return cls(pack_bits(holds[order]), costs[order], lambda row: make(int(order[row])))

    def of_cost(self, cost: int) -> slice:
        """Return the rows of one cost."""
        return slice(*np.searchsorted(self.costs, [cost, cost + 1]).tolist())


def units(bits: float) -> int:
    """Return a cost in bits as a whole number of units."""
    return max(1, round(bits * UNITS))


def leaves_of(language: ProgramLanguage, space: ConceptSpace, codes: Codes, largest: int) -> list[LeafBlock]:
    """Return all leaves over these examples; groups have up to `largest` objects."""
    blocks: list[LeafBlock] = []
    for family in language.families:
        blocks += _of_family(family, language.costs, truths(family.objects, space, codes), largest)
    for terms in language.terms:
        blocks += _of_terms(terms, language.costs, numbers(terms.formulas, space, codes))
    same = symbol_pairs(space)
    if same:
        bits = np.full(len(same), language.costs.eq + language.costs.two_ints + log2(len(same) + 1))
        blocks.append(LeafBlock.of(truths(same, space, codes), bits, lambda row: same[row]))
    return blocks


def names(truths: Array, costs: Costs) -> Array:
    """Return what naming each object costs in bits: less if it is seen in more examples (a row each)."""
    share = truths.sum(axis=1) + costs.unseen * truths.shape[1]
    return np.asarray(-np.log2(share / share.sum()))


def _of_family(family: Family, costs: Costs, truth: Array, largest: int) -> Iterator[LeafBlock]:
    many = len(family.objects)
    naming = names(truth, costs) + (1 if many == 1 else 0)
    yield LeafBlock.of(truth, family.cost + naming, lambda row: family.objects[row])
    for size in range(2, min(largest, many) + 1) if family.grouped else ():
        if comb(many, size) > MOST_SUBSETS:
            return
        chosen = np.array(list(combinations(range(many), size)))
        counts = truth[chosen].sum(axis=1, dtype=np.uint8)
        unordered = naming[chosen].sum(axis=1) - log2(factorial(size))
        shared = family.cost + unordered + costs.several + costs.another * (size - 1)
        for extra, holds, join in _joins(counts, size, costs):
            yield LeafBlock.of(holds, shared + extra, _writer(family, chosen, join))


def _joins(counts: Array, size: int, costs: Costs) -> Iterator[tuple[float, Array, Join]]:
    """Give the ways to ask a predicate of several objects: what it costs, where it holds, and how it is written."""
    yield costs.disj, counts >= 1, disjunction
    yield costs.conj, counts == size, conjunction
    if size == 2:
        yield costs.xor, counts == 1, parity
        return
    for number in range(1, size):
        counted = costs.addb * size + costs.of_number(number)
        yield costs.eq + counted, counts == number, partial(exactly, number)
        if number > 1:
            yield costs.gt + counted, counts >= number, partial(at_least, number)


def _writer(family: Family, chosen: Array, join: Join) -> Make:
    return lambda row: join(*(family.objects[place] for place in chosen[row].tolist()))


def _of_terms(terms: NumberTerms, costs: Costs, values: Array) -> Iterator[LeafBlock]:
    """Give the comparisons of two Ints."""
    many = len(terms.formulas)
    naming = names(values != 0, costs) + np.array(terms.costs)
    ordered = np.array([(a, b) for a in range(many) for b in range(many) if a != b])
    unordered = ordered[ordered[:, 0] < ordered[:, 1]]
    kinds: list[tuple[Operator, Array, float]] = [(">", ordered, costs.gt), ("==", unordered, costs.eq - 1)]
    for operator, pairs, cost in kinds:
        left, right = values[pairs[:, 0]], values[pairs[:, 1]]
        holds = left > right if operator == ">" else left == right
        yield LeafBlock.of(holds, cost + costs.two_ints + naming[pairs].sum(axis=1), _compare(terms, pairs, operator))


def _compare(terms: NumberTerms, pairs: Array, operator: Operator) -> Make:
    return lambda row: Compare(operator, terms.formulas[pairs[row, 0]], terms.formulas[pairs[row, 1]])

"""Fit a formula to a space: spell out quantifiers over the slots, check kinds, bound numbers.

Who runs a rule that is a program (the formula `Oracle`) is named by its address, as registries name tasks: so logic
does not depend on Prolog, which depends on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations, pairwise
from typing import Protocol, cast

from assay.base import Array, FormulaError, TooLarge, suggestion
from assay.logic import formula as f
from assay.logic.build import DEEPEST, children, conjunction, depth, disjunction, map_children, quote
from assay.logic.concepts import ABSENT, Concept, ConceptSpace, Kind, Slot
from assay.logic.formula import Formula, Oracle

MOST_CASES = 200_000
RUNNER = "assay.prolog"
NUMBER = "number"
"""What every bound slot has besides its attributes: its place among the slots of its group, from 1 on."""


def ground_formula(formula: Formula, space: ConceptSpace) -> Formula:
    """Return the formula with every quantifier spelled out over the slots of its group.

    A truth value that is absent is not true: where a truth is wanted, `flag` becomes `flag == True`.
    """
    grounder = _Grounder(space)
    return grounder.truth(grounder.ground(formula, {}, 1))


class _Grounder:
    def __init__(self, space: ConceptSpace) -> None:
        self.space = space
        self.maybe = {concept.name for concept in space.concepts if concept.kind == "bool" and concept.optional}

    def ground(self, formula: Formula, bound: Mapping[str, Slot], cases: int) -> Formula:
        """Return a part spelled out, where variables are bound to slots and this is one of so many cases."""
        match formula:
            case f.Var(name):
                head, dot, attribute = name.partition(".")
                return self._attribute(bound[head], attribute) if dot and head in bound else formula
            case f.Quantified():
                return self._spelled_out(formula, bound, cases)
            case f.Const():
                return formula
        whole = map_children(formula, lambda part: self.ground(part, bound, cases))
        if isinstance(whole, (f.Not, f.And, f.Or, f.Xor, f.Implies, f.Iff, f.Count)):
            return map_children(whole, self.truth) if self.maybe else whole
        return f.If(self.truth(whole.condition), whole.then, whole.otherwise) if isinstance(whole, f.If) else whole

    def _attribute(self, slot: Slot, attribute: str) -> Formula:
        """Return the concept of an attribute; `number`, unless slots have that, is the slot's place from 1 on."""
        if attribute == NUMBER and attribute not in slot.attributes:
            return f.Const(self.space.groups[slot.group].index(slot) + 1)
        return f.Var(slot.concept(attribute))

    def truth(self, formula: Formula) -> Formula:
        """Return the formula as a truth value that is never absent."""
        if isinstance(formula, f.Var) and formula.name in self.maybe:
            return formula.eq(True)
        if isinstance(formula, f.If):
            return f.If(formula.condition, self.truth(formula.then), self.truth(formula.otherwise))
        return formula

    def _spelled_out(self, formula: f.Quantified, bound: Mapping[str, Slot], cases: int) -> Formula:
        groups = self.space.groups
        if formula.group not in groups:
            hint = suggestion(formula.group, groups)
            raise FormulaError(f"formula {quote(formula)}: no group of slots named {formula.group!r}{hint}")
        choices = list(combinations(groups[formula.group], len(formula.variables)))
        if cases * len(choices) > MOST_CASES:
            raise TooLarge(
                f"formula {quote(formula)} has more than {MOST_CASES:,} cases; use fewer slots or quantifiers"
            )
        parts = [self._case(formula, slots, bound, cases * len(choices)) for slots in choices]
        if formula.quantifier == "count":
            return f.Count(tuple(parts))
        return conjunction(*parts) if formula.quantifier == "all" else disjunction(*parts)

    def _case(self, formula: f.Quantified, slots: tuple[Slot, ...], bound: Mapping[str, Slot], cases: int) -> Formula:
        inside = {**bound, **dict(zip(formula.variables, slots, strict=True))}
        body = self.truth(self.ground(formula.body, inside, cases))
        guards = [guard for guard in (present(slot, self.space) for slot in slots) if guard != f.TRUE]
        if not guards:
            return body
        if formula.quantifier == "all":
            return f.Implies(conjunction(*guards), body)
        return f.And((*guards, body))


def present(slot: Slot, space: ConceptSpace) -> Formula:
    """Return "this slot holds an object"."""
    first = slot.concept(slot.attributes[0])
    return f.Var(first).ne(ABSENT) if space.concept(first).optional else f.Const(True)


def well_formed(space: ConceptSpace) -> Formula:
    """Return "each slot is wholly there or wholly absent"."""
    rules: list[Formula] = []
    for slot in space.slots:
        if space.concept(slot.concepts[0]).optional and len(slot.concepts) > 1:
            rules.append(f.AllEqual(tuple(f.Var(name).eq(ABSENT) for name in slot.concepts)))
    return conjunction(*rules)


@dataclass(frozen=True)
class FormulaShape:
    """What a formula gives: its kind, the least and greatest number, or the symbols that can come out."""

    kind: Kind
    least: int = 0
    most: int = 1
    symbols: tuple[str, ...] = ()
    optional: bool = False


def shape_of(formula: Formula, space: ConceptSpace) -> FormulaShape:
    """Return what a formula gives on a space, or raise if it does not fit.

    >>> from assay.logic.concepts import digits
    >>> shape_of(f.Var("a") + f.Var("b"), digits(["a", "b"])).most
    18
    """
    return check_formula(formula, space).shape


@dataclass(frozen=True)
class CheckedFormula:
    """A formula that fits a space: spelled out, what it gives, and the greatest number on the way, its sign aside."""

    flat: Formula
    shape: FormulaShape
    largest: int


def check_formula(formula: Formula, space: ConceptSpace) -> CheckedFormula:
    """Return a formula spelled out and what it gives on a space, or raise if it does not fit."""
    checker, flat = _Checker(space, formula), _flat(formula, space)
    shape = checker.shape(flat)
    return CheckedFormula(flat, shape, checker.largest)


def _flat(formula: Formula, space: ConceptSpace) -> Formula:
    """Return the grounded formula, unless it is nested too deep to walk through."""
    if depth(formula) <= DEEPEST:
        flat = ground_formula(formula, space)
        if depth(flat) <= DEEPEST:
            return flat
    raise FormulaError(f"a formula is nested more than {DEEPEST} deep, quantifiers spelled out; name parts as concepts")


class _Checker:
    def __init__(self, space: ConceptSpace, whole: Formula) -> None:
        self.space = space
        self.whole = whole
        self.known: dict[tuple[Formula, frozenset[str]], FormulaShape] = {}
        self.there: frozenset[str] = frozenset()
        self.largest = 0

    def refuse(self, why: str) -> FormulaError:
        return FormulaError(f"formula {quote(self.whole, 120)}: {why}")

    def shape(self, formula: Formula) -> FormulaShape:
        key = formula, self.there
        if key not in self.known:
            shape = self._shape(formula)
            self.largest = max(self.largest, shape.most, -shape.least)
            if self.largest.bit_length() > f.BITS:
                raise self.refuse(f"its numbers can grow beyond {f.BITS} bits")
            self.known[key] = shape
        return self.known[key]

    def check_guarded(self, guards: Iterable[Formula], parts: Iterable[Formula]) -> None:
        """Check parts that matter only where the guards hold: objects that a guard says are present, are present."""
        before = self.there
        named = {_said_present(part) for guard in guards for part in _parts(guard)} - {None}
        for slot in self.space.slots:
            if named & set(slot.concepts):
                self.there |= set(slot.concepts)
        self.truths(parts)
        self.there = before

    def _shape(self, formula: Formula) -> FormulaShape:
        match formula:
            case f.Const(value):
                return _shape_of_value(value)
            case f.Var(name):
                return self._shape_of_name(name)
            case f.And(parts):
                self.check_guarded(parts, parts)
                return FormulaShape("bool")
            case f.Implies(premise, conclusion):
                self.truth(premise)
                self.check_guarded([premise], [conclusion])
                return FormulaShape("bool")
            case f.Not() | f.Or() | f.Xor() | f.Iff():
                self.truths(children(formula))
                return FormulaShape("bool")
            case f.Count(parts):
                self.truths(parts)
                return FormulaShape("int", 0, len(parts))
            case f.Compare(operator, left, right):
                return self._compared(operator, left, right)
            case f.AllEqual(parts) | f.AllDifferent(parts):
                for part in parts:
                    self.shape(part)
                for left, right in pairwise(parts):
                    self._comparable(left, right)
                return FormulaShape("bool")
            case f.Member(terms, rows):
                for place, term in enumerate(terms):
                    self.shape(term)
                    for row in rows:
                        self.shape(f.Const(row[place]))
                        self._comparable(term, f.Const(row[place]))
                return FormulaShape("bool")
            case f.If(condition, then, otherwise):
                self.truth(condition)
                return self._either(then, otherwise)
            case f.Oracle():
                return self._program(formula)
        return self._number_shape(formula)

    def _program(self, formula: f.Oracle) -> FormulaShape:
        for part in formula.concepts:
            self.shape(part)
        program_runner(formula, self.space).check()
        return FormulaShape("bool")

    def _shape_of_name(self, name: str) -> FormulaShape:
        if name not in self.space.places:
            raise self.refuse(f"no concept named {name!r}{suggestion(name, self.space.names)}")
        shape = _shape_of_concept(self.space.concept(name))
        return replace(shape, optional=False) if name in self.there else shape

    def truth(self, formula: Formula) -> None:
        shape = self.shape(formula)
        if shape.kind != "bool":
            raise self.refuse(
                f"{quote(formula)} is a {'number' if shape.kind == 'int' else 'symbol'}, not true or false"
            )

    def truths(self, parts: Iterable[Formula]) -> None:
        for part in parts:
            self.truth(part)

    def number(self, formula: Formula) -> FormulaShape:
        shape = self.shape(formula)
        if shape.kind == "symbol":
            raise self.refuse(f"{quote(formula)} is a symbol, not a number")
        if shape.optional:
            raise self.refuse(f"{quote(formula)} may be absent; compare it with == or inside any(), all(), count()")
        return shape

    def _compared(self, operator: f.Operator, left: Formula, right: Formula) -> FormulaShape:
        self._comparable(left, right)
        if operator not in ("==", "!=") and "symbol" in (self.shape(left).kind, self.shape(right).kind):
            raise self.refuse(f"symbols have no order: {quote(f.Compare(operator, left, right))}")
        if operator not in ("==", "!="):
            self.number(left)
            self.number(right)
        return FormulaShape("bool")

    def _comparable(self, left: Formula, right: Formula) -> None:
        mine, theirs = self.shape(left), self.shape(right)
        nothing = f.Const(ABSENT)
        if (left == nothing and ABSENT in theirs.symbols) or (right == nothing and ABSENT in mine.symbols):
            return
        if (mine.kind == "symbol") != (theirs.kind == "symbol"):
            raise self.refuse(f"{quote(left)} and {quote(right)} cannot be compared: a symbol and a number")
        if mine.kind == "symbol" and not set(mine.symbols) & set(theirs.symbols) - {ABSENT}:
            if not isinstance(left, f.Const) and not isinstance(right, f.Const):
                raise self.refuse(f"{quote(left)} and {quote(right)} cannot be compared: they have no value in common")
            fixed, free = (mine, theirs) if isinstance(left, f.Const) else (theirs, mine)
            raise self.refuse(f"no value {fixed.symbols[0]!r}{suggestion(fixed.symbols[0], free.symbols)}")

    def _either(self, then: Formula, otherwise: Formula) -> FormulaShape:
        first, second = self.shape(then), self.shape(otherwise)
        if (first.kind == "symbol") != (second.kind == "symbol"):
            raise self.refuse(f"{quote(then)} and {quote(otherwise)} are of different kinds")
        kind: Kind = first.kind if first.kind == second.kind else "int"
        symbols = tuple(dict.fromkeys(first.symbols + second.symbols))
        optional = first.optional or second.optional
        return FormulaShape(kind, min(first.least, second.least), max(first.most, second.most), symbols, optional)

    def _number_shape(self, formula: Formula) -> FormulaShape:
        parts = [self.number(part) for part in children(formula)]
        match formula:
            case f.Sum():
                return FormulaShape("int", sum(p.least for p in parts), sum(p.most for p in parts))
            case f.Minus():
                return FormulaShape("int", -parts[0].most, -parts[0].least)
            case f.Product():
                least = most = 1
                for part in parts:
                    corners = [x * y for x in (least, most) for y in (part.least, part.most)]
                    least, most = min(corners), max(corners)
                return FormulaShape("int", least, most)
            case f.Divide(operator, _, right):
                if parts[1].least <= 0 <= parts[1].most:
                    raise self.refuse(f"division by {quote(right)}, which can be zero")
                return self._applied(operator, parts)
            case f.Function(name):
                if name == "pow" and (parts[1].least < 0 or parts[1].most > 64):
                    raise self.refuse(f"the exponent of {quote(formula)} must lie in 0..64")
                return self._applied(name, parts)
        raise self.refuse(f"{quote(formula)} has no meaning here")

    def _applied(self, name: str, parts: list[FormulaShape]) -> FormulaShape:
        return FormulaShape("int", *bounds(name, [(part.least, part.most) for part in parts]))


def _parts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, f.And) else (formula,)


def _said_present(formula: Formula) -> str | None:
    """Return the name of a concept if the formula says that it is present: `name != 'absent'`."""
    match formula:
        case f.Compare("!=", f.Var(name), f.Const(value)) if value == ABSENT:
            return name
    return None


def bounds(name: str, ranges: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the least and the greatest that a function gives, or bounds of them, for arguments in these ranges.

    >>> bounds("//", [(-7, 9), (2, 3)])
    (-4, 4)
    """
    low, high = ranges[0]
    match name:
        case "abs":
            ends = [abs(low), abs(high)]
            return (0 if low <= 0 <= high else min(ends)), max(ends)
        case "//":
            widest = max(abs(low), abs(high))
            if ranges[1][0] <= 0 <= ranges[1][1]:  # only where `absent`, a number far below all others, is among them
                return -widest, widest
            corners = [x // y for x in (low, high) for y in ranges[1]]
            return min(corners), max(corners)
        case "%":
            return min(0, ranges[1][0] + 1), max(0, ranges[1][1] - 1)
        case "pow":
            largest = max(abs(x ** max(y, 0)) for x in (low, high, 0) for y in ranges[1])
            return (-largest if low < 0 else 0), largest
    pick = min if name == "min" else max
    return pick(low for low, _ in ranges), pick(high for _, high in ranges)


def _shape_of_value(value: bool | int | str) -> FormulaShape:
    if isinstance(value, bool):
        return FormulaShape("bool", int(value), int(value))
    if isinstance(value, int):
        return FormulaShape("int", value, value)
    return FormulaShape("symbol", symbols=(value,))


def _shape_of_concept(concept: Concept) -> FormulaShape:
    if concept.kind == "symbol":
        return FormulaShape("symbol", symbols=tuple(str(v) for v in concept.values), optional=concept.optional)
    numbers = [int(v) for v in concept.present]
    symbols = (ABSENT,) if concept.optional else ()
    return FormulaShape(concept.kind, min(numbers), max(numbers), symbols, concept.optional)


class ProgramRunner(Protocol):
    """Runs the program of an `Oracle` on worlds of a space."""

    def check(self) -> None:
        """Raise unless the program can be read and run."""

    def ask(self, rows: Array, numbers: Mapping[str, Sequence[int]]) -> Array:
        """Return the program's answers for worlds given as numbers; `numbers` has those of each concept's values."""

    def is_small(self) -> bool:
        """Return whether its worlds are few enough to be tabulated."""

    def tabulated(self) -> Formula:
        """Return the program as the list of worlds that it labels true."""


def program_runner(formula: Oracle, space: ConceptSpace) -> ProgramRunner:
    """Return what runs a program; it is imported where a rule is one."""
    return cast(ProgramRunner, import_module(RUNNER).OracleRunner(formula, space))

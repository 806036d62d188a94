"""Fit a formula to a space: spell out quantifiers over the slots, check kinds, bound numbers."""

from dataclasses import dataclass
from itertools import combinations, pairwise

from assay.concepts import ABSENT, Concept, ConceptSpace, Kind, Slot
from assay.errors import FormulaError, suggestion
from assay.logic import formula as f
from assay.logic.formula import Formula
from assay.logic.traverse import children, rebuilt


def grounded(formula: Formula, space: ConceptSpace) -> Formula:
    """Return the formula with every quantifier spelled out over the slots of its group."""
    if not isinstance(formula, f.Quantified):
        return rebuilt(formula, lambda part: grounded(part, space)) if children(formula) else formula
    if formula.group not in space.groups:
        raise FormulaError(
            f"formula '{formula}': no group of slots named {formula.group!r}{suggestion(formula.group, space.groups)}"
        )
    choices = combinations(space.groups[formula.group], len(formula.variables))
    cases = [_case(formula, slots, space) for slots in choices]
    if formula.quantifier == "count":
        return f.Count(tuple(cases))
    return f.conjunction(*cases) if formula.quantifier == "all" else f.disjunction(*cases)


def _case(formula: f.Quantified, slots: tuple[Slot, ...], space: ConceptSpace) -> Formula:
    bound = dict(zip(formula.variables, slots, strict=True))
    body = grounded(_renamed(formula.body, bound), space)
    guards = [present(slot, space) for slot in slots]
    guards = [guard for guard in guards if guard != f.Const(True)]
    if not guards:
        return body
    if formula.quantifier == "all":
        return f.Implies(f.conjunction(*guards), body)
    return f.And((*guards, body))


def _renamed(formula: Formula, bound: dict[str, Slot]) -> Formula:
    if isinstance(formula, f.Var):
        head, dot, attribute = formula.name.partition(".")
        if dot and head in bound:
            return f.Var(bound[head].concept(attribute))
        return formula
    if isinstance(formula, f.Quantified):
        bound = {name: slot for name, slot in bound.items() if name not in formula.variables}
    return rebuilt(formula, lambda part: _renamed(part, bound)) if children(formula) else formula


def present(slot: Slot, space: ConceptSpace) -> Formula:
    """Return "this slot holds an object"."""
    first = slot.concepts[0]
    return f.Var(first).ne(ABSENT) if space.concept(first).optional else f.Const(True)


def well_formed(space: ConceptSpace) -> Formula:
    """Return "each slot is wholly there or wholly absent"."""
    rules: list[Formula] = []
    for slot in space.slots:
        if space.concept(slot.concepts[0]).optional and len(slot.concepts) > 1:
            rules.append(f.AllEqual(tuple(f.Var(name).eq(ABSENT) for name in slot.concepts)))
    return f.conjunction(*rules)


@dataclass(frozen=True)
class Shape:
    """What a formula gives: its kind, the least and greatest number, or the symbols that can come out."""

    kind: Kind
    least: int = 0
    most: int = 1
    symbols: tuple[str, ...] = ()
    optional: bool = False


def shape_of(formula: Formula, space: ConceptSpace) -> Shape:
    """Return what a formula gives on a space, or raise if it does not fit.

    >>> from assay.concepts import digits
    >>> shape_of(f.Var("a") + f.Var("b"), digits(["a", "b"])).most
    18
    """
    return _Checker(space, formula).shape(grounded(formula, space))


class _Checker:
    def __init__(self, space: ConceptSpace, whole: Formula) -> None:
        self.space = space
        self.whole = whole
        self.known: dict[Formula, Shape] = {}

    def refuse(self, why: str) -> FormulaError:
        text = str(self.whole)
        return FormulaError(f"formula {text if len(text) < 120 else text[:117] + '...'!r}: {why}")

    def shape(self, formula: Formula) -> Shape:
        if formula not in self.known:
            self.known[formula] = self._shape(formula)
        return self.known[formula]

    def _shape(self, formula: Formula) -> Shape:
        match formula:
            case f.Const(value):
                return _shape_of_value(value)
            case f.Var(name):
                return self._shape_of_name(name)
            case f.Not() | f.And() | f.Or() | f.Xor() | f.Implies() | f.Iff():
                for part in children(formula):
                    self.truth(part)
                return Shape("bool")
            case f.Count(parts):
                for part in parts:
                    self.truth(part)
                return Shape("int", 0, len(parts))
            case f.Compare(operator, left, right):
                return self._compared(operator, left, right)
            case f.AllEqual(parts) | f.AllDifferent(parts):
                for one, other in pairwise(parts):
                    self._comparable(one, other)
                return Shape("bool")
            case f.Member(terms, rows):
                for place, term in enumerate(terms):
                    for row in rows:
                        self._comparable(term, f.Const(row[place]))
                return Shape("bool")
            case f.If(condition, then, otherwise):
                self.truth(condition)
                return self._either(then, otherwise)
        return self._number_shape(formula)

    def _shape_of_name(self, name: str) -> Shape:
        if name not in self.space.places:
            raise self.refuse(f"no concept named {name!r}{suggestion(name, self.space.names)}")
        return _shape_of_concept(self.space.concept(name))

    def truth(self, formula: Formula) -> None:
        shape = self.shape(formula)
        if shape.kind != "bool":
            raise self.refuse(f"'{formula}' is a {'number' if shape.kind == 'int' else 'symbol'}, not true or false")

    def number(self, formula: Formula) -> Shape:
        shape = self.shape(formula)
        if shape.kind == "symbol":
            raise self.refuse(f"'{formula}' is a symbol, not a number")
        if shape.optional:
            raise self.refuse(f"'{formula}' may be absent; compare it with == or inside any(), all(), count()")
        return shape

    def _compared(self, operator: f.Operator, left: Formula, right: Formula) -> Shape:
        self._comparable(left, right)
        if operator not in ("==", "!=") and self.shape(left).kind == "symbol":
            raise self.refuse(f"symbols have no order: '{left} {operator} {right}'")
        return Shape("bool")

    def _comparable(self, left: Formula, right: Formula) -> None:
        one, other = self.shape(left), self.shape(right)
        absent = ABSENT in one.symbols + other.symbols and (one.optional or other.optional)
        if absent:
            return
        if (one.kind == "symbol") != (other.kind == "symbol"):
            raise self.refuse(f"'{left}' and '{right}' cannot be compared: a symbol and a number")
        if one.kind == "symbol" and not set(one.symbols) & set(other.symbols):
            fixed, free = (one, other) if isinstance(left, f.Const) else (other, one)
            word = fixed.symbols[0] if fixed.symbols else ""
            raise self.refuse(f"no value {word!r}{suggestion(word, free.symbols)}")

    def _either(self, then: Formula, otherwise: Formula) -> Shape:
        one, other = self.shape(then), self.shape(otherwise)
        if (one.kind == "symbol") != (other.kind == "symbol"):
            raise self.refuse(f"'{then}' and '{otherwise}' are of different kinds")
        kind: Kind = one.kind if one.kind == other.kind else "int"
        symbols = tuple(dict.fromkeys(one.symbols + other.symbols))
        optional = one.optional or other.optional
        return Shape(kind, min(one.least, other.least), max(one.most, other.most), symbols, optional)

    def _number_shape(self, formula: Formula) -> Shape:
        parts = [self.number(part) for part in children(formula)]
        match formula:
            case f.Sum():
                return Shape("int", sum(p.least for p in parts), sum(p.most for p in parts))
            case f.Minus():
                return Shape("int", -parts[0].most, -parts[0].least)
            case f.Product():
                least = most = 1
                for part in parts:
                    corners = [x * y for x in (least, most) for y in (part.least, part.most)]
                    least, most = min(corners), max(corners)
                return Shape("int", least, most)
            case f.Divide(operator, _, right):
                return self._divided(operator, right, *parts)
            case f.Function(name):
                return self._function(name, formula, parts)
        raise self.refuse(f"'{formula}' has no meaning here")

    def _divided(self, operator: str, right: Formula, one: Shape, other: Shape) -> Shape:
        if other.least <= 0 <= other.most:
            raise self.refuse(f"division by '{right}', which can be zero")
        if operator == "//":
            corners = [x // y for x in (one.least, one.most) for y in (other.least, other.most)]
            return Shape("int", min(corners), max(corners))
        return Shape("int", min(0, other.least + 1), max(0, other.most - 1))

    def _function(self, name: str, formula: Formula, parts: list[Shape]) -> Shape:
        if name == "abs":
            ends = [abs(parts[0].least), abs(parts[0].most)]
            return Shape("int", 0 if parts[0].least <= 0 <= parts[0].most else min(ends), max(ends))
        if name == "pow":
            if parts[1].least < 0 or parts[1].most > 64:
                raise self.refuse(f"the exponent of '{formula}' must lie in 0..64")
            corners = [x**y for x in (parts[0].least, parts[0].most, 0) for y in (parts[1].least, parts[1].most)]
            largest = max(map(abs, corners))
            return Shape("int", -largest if parts[0].least < 0 else 0, largest)
        pick = min if name == "min" else max
        return Shape("int", pick(p.least for p in parts), pick(p.most for p in parts))


def _shape_of_value(value: bool | int | str) -> Shape:
    if isinstance(value, bool):
        return Shape("bool", int(value), int(value))
    if isinstance(value, int):
        return Shape("int", value, value)
    return Shape("symbol", symbols=(value,))


def _shape_of_concept(concept: Concept) -> Shape:
    if concept.kind == "symbol":
        return Shape("symbol", symbols=tuple(str(v) for v in concept.values), optional=concept.optional)
    numbers = [int(v) for v in concept.present]
    symbols = (ABSENT,) if concept.optional else ()
    return Shape(concept.kind, min(numbers), max(numbers), symbols, concept.optional)

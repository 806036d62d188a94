"""What is left of formulas once some concepts are known: interned terms in a normal form that merges equals.

A term is a number. Sums are linear forms, counts are sums of truth values, comparisons are `linear <op> 0` with the
common divisor taken out and decided as soon as the bounds allow. So sums, counts and parities have few residuals.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any, Literal

from assay.logic import formula as f
from assay.logic.build import children
from assay.logic.concepts import ABSENT, ABSENT_NUMBER, ConceptSpace, Value
from assay.logic.formula import Formula, Operator
from assay.logic.ground import bounds, ground_formula, program_runner

Term = int
Op = Literal["const", "var", "not", "and", "or", "xor", "zero", "positive", "linear", "product", "apply", "same",
             "different", "if", "member"]  # fmt: skip


@dataclass(frozen=True)
class Node:
    """A term's operation and operands, the concepts it still depends on (as bits), and its bounds."""

    op: Op
    operands: tuple[Any, ...]
    mask: int
    least: int
    most: int


class Residuals:
    """The terms of one space, each stored once; every method returns the simplest term it can."""

    def __init__(self, space: ConceptSpace) -> None:
        self.space = space
        self.nodes: list[Node] = []
        self.known: dict[tuple[Any, ...], Term] = {}
        self.restricted: dict[tuple[Term, int, int], Term] = {}
        self.false = self.const(False)
        self.true = self.const(True)

    def value(self, term: Term) -> Value | None:
        """Return the value of a term that is decided, else None."""
        node = self.nodes[term]
        value: Value | None = node.operands[0] if node.op == "const" else None
        return value

    def _intern(self, op: Op, operands: tuple[Any, ...], parts: Iterable[Term], least: int = 0, most: int = 1) -> Term:
        key = (op, *operands)
        if key in self.known:
            return self.known[key]
        mask = reduce(lambda bits, part: bits | self.nodes[part].mask, parts, 0)
        return self._add(key, Node(op, operands, mask, least, most))

    def _add(self, key: tuple[Any, ...], node: Node) -> Term:
        self.nodes.append(node)
        self.known[key] = len(self.nodes) - 1
        return self.known[key]

    def const(self, value: Value) -> Term:
        """Return the term of a value."""
        key = ("const", type(value), value)
        if key in self.known:
            return self.known[key]
        number = value if isinstance(value, int) else ABSENT_NUMBER if value == ABSENT else 0
        return self._add(key, Node("const", (value,), 0, number, number))

    def variable(self, name: str) -> Term:
        """Return the term of a concept."""
        place = self.space.place(name)
        key = ("var", place)
        if key in self.known:
            return self.known[key]
        concept = self.space.concepts[place]
        numbers = [0] if concept.kind == "symbol" else [_number(v) for v in concept.values]
        return self._add(key, Node("var", (place,), 1 << place, min(numbers), max(numbers)))

    # -- truth ----------------------------------------------------------------------------------------------------

    def negate(self, part: Term) -> Term:
        """Return "not this"."""
        node = self.nodes[part]
        if node.op == "const":
            return self.const(not node.operands[0])
        if node.op == "not":
            inside: Term = node.operands[0]
            return inside
        return self._intern("not", (part,), (part,))

    def conjoin(self, parts: Iterable[Term]) -> Term:
        """Return "all of these"."""
        return self._junction("and", parts, self.true, self.false)

    def disjoin(self, parts: Iterable[Term]) -> Term:
        """Return "one of these"."""
        return self._junction("or", parts, self.false, self.true)

    def _junction(self, op: Op, parts: Iterable[Term], neutral: Term, decisive: Term) -> Term:
        operands: set[Term] = set()
        for part in parts:
            node = self.nodes[part]
            operands.update(node.operands if node.op == op else (part,))
        operands.discard(neutral)
        if decisive in operands or any(
            self.nodes[p].op == "not" and self.nodes[p].operands[0] in operands for p in operands
        ):
            return decisive
        if len(operands) < 2:
            return next(iter(operands), neutral)
        return self._intern(op, tuple(sorted(operands)), operands)

    def parity(self, parts: Iterable[Term]) -> Term:
        """Return "an odd number of these"."""
        odd, operands = False, set[Term]()
        stack = list(parts)
        while stack:
            part = stack.pop()
            node = self.nodes[part]
            if node.op == "const":
                odd ^= bool(node.operands[0])
            elif node.op == "not":
                odd = not odd
                stack.append(node.operands[0])
            elif node.op == "xor":
                stack.extend(node.operands)
            else:
                operands ^= {part}
        if len(operands) < 2:
            whole = next(iter(operands), self.false)
        else:
            whole = self._intern("xor", tuple(sorted(operands)), operands)
        return self.negate(whole) if odd else whole

    # -- numbers --------------------------------------------------------------------------------------------------

    def linear(self, constant: int, terms: Iterable[tuple[int, Term]]) -> Term:
        """Return `constant + sum(coefficient * term)` with like terms gathered."""
        constant, gathered = self._gathered(constant, terms)
        if not gathered:
            return self.const(constant)
        if constant == 0 and len(gathered) == 1 and gathered[0][0] == 1:
            return gathered[0][1]
        least = constant + sum(min(c * self.nodes[t].least, c * self.nodes[t].most) for c, t in gathered)
        most = constant + sum(max(c * self.nodes[t].least, c * self.nodes[t].most) for c, t in gathered)
        return self._intern("linear", (constant, gathered), (t for _, t in gathered), least, most)

    def _gathered(self, constant: int, terms: Iterable[tuple[int, Term]]) -> tuple[int, tuple[tuple[int, Term], ...]]:
        weights: dict[Term, int] = {}
        stack = list(terms)
        while stack:
            weight, term = stack.pop()
            node = self.nodes[term]
            if node.op == "const":
                constant += weight * _number(node.operands[0])
            elif node.op == "linear":
                constant += weight * node.operands[0]
                stack.extend((weight * inner, part) for inner, part in node.operands[1])
            else:
                weights[term] = weights.get(term, 0) + weight
        return constant, tuple(sorted((w, t) for t, w in weights.items() if w))

    def multiply(self, parts: Iterable[Term]) -> Term:
        """Return the product."""
        factor, factors = 1, list[Term]()
        stack = list(parts)
        while stack:
            part = stack.pop()
            node = self.nodes[part]
            if node.op == "const":
                factor *= _number(node.operands[0])
            elif node.op == "product":
                stack.extend(node.operands)
            elif node.op == "linear" and node.operands[0] == 0 and len(node.operands[1]) == 1:
                factor *= node.operands[1][0][0]
                stack.append(node.operands[1][0][1])
            else:
                factors.append(part)
        if factor == 0 or not factors:
            return self.const(factor)
        return self.linear(0, [(factor, self._product(factors))])

    def _product(self, parts: list[Term]) -> Term:
        if len(parts) == 1:
            return parts[0]
        least = most = 1
        for part in parts:
            node = self.nodes[part]
            corners = [x * y for x in (least, most) for y in (node.least, node.most)]
            least, most = min(corners), max(corners)
        return self._intern("product", tuple(sorted(parts)), parts, least, most)

    def apply(self, name: str, parts: list[Term]) -> Term:
        """Return a function of numbers, computed once all are known."""
        if all(self.nodes[part].op == "const" for part in parts):
            return self.const(FUNCTIONS[name](*(_number(self.nodes[part].operands[0]) for part in parts)))
        if name in ("min", "max"):
            parts = sorted(set(parts))
        ranges = [(self.nodes[part].least, self.nodes[part].most) for part in parts]
        return self._intern("apply", (name, tuple(parts)), parts, *bounds(name, ranges))

    # -- comparison -----------------------------------------------------------------------------------------------

    def compare(self, operator: Operator, left: Term, right: Term) -> Term:
        """Return the comparison, decided if it can be."""
        if operator in ("!=", "<=", ">="):
            opposite: dict[str, Operator] = {"!=": "==", "<=": ">", ">=": "<"}
            return self.negate(self.compare(opposite[operator], left, right))
        if operator == "<":
            return self.compare(">", right, left)
        if left == right:
            return self.const(operator == "==")
        if self._symbolic(left) or self._symbolic(right):
            return self.same([left, right])
        difference = self.linear(0, [(1, left), (-1, right)])
        return self._is_zero(difference) if operator == "==" else self._is_positive(difference)

    def _symbolic(self, term: Term) -> bool:
        node = self.nodes[term]
        if node.op == "const":
            value: Value = node.operands[0]
            return isinstance(value, str) and value != ABSENT
        if node.op == "var":
            place: int = node.operands[0]
            return self.space.concepts[place].kind == "symbol"
        return node.op == "if" and (self._symbolic(node.operands[1]) or self._symbolic(node.operands[2]))

    def _scaled(self, term: Term) -> tuple[int, int, tuple[tuple[int, Term], ...]]:
        node = self.nodes[term]
        constant, terms = node.operands if node.op == "linear" else (0, ((1, term),))
        return gcd(*(weight for weight, _ in terms)), constant, terms

    def _is_zero(self, term: Term) -> Term:
        node = self.nodes[term]
        if node.op == "const":
            return self.const(_number(node.operands[0]) == 0)
        if node.least > 0 or node.most < 0:
            return self.false
        divisor, constant, terms = self._scaled(term)
        if constant % divisor:
            return self.false
        if min((part, weight) for weight, part in terms)[1] < 0:  # a == b and b == a are one term
            divisor = -divisor
        return self._test("zero", constant // divisor, terms, divisor)

    def _is_positive(self, term: Term) -> Term:
        node = self.nodes[term]
        if node.op == "const":
            return self.const(_number(node.operands[0]) > 0)
        if node.least > 0:
            return self.true
        if node.most <= 0:
            return self.false
        divisor, constant, terms = self._scaled(term)
        return self._test("positive", -((-constant) // divisor), terms, divisor)

    def _test(self, op: Op, constant: int, terms: tuple[tuple[int, Term], ...], divisor: int) -> Term:
        scaled = self.linear(constant, [(weight // divisor, part) for weight, part in terms])
        return self._intern(op, (scaled,), (scaled,))

    def same(self, parts: list[Term]) -> Term:
        """Return "all of these have one value"."""
        known = {self._value(part): part for part in parts if self.nodes[part].op == "const"}
        distinct = {part for part in parts if self.nodes[part].op != "const"} | set(known.values())
        if len(known) > 1:
            return self.false
        if len(distinct) < 2:
            return self.true
        if known and len(distinct) > 2:
            (fixed,) = known.values()
            return self.conjoin([self.same([fixed, part]) for part in distinct if part != fixed])
        return self._intern("same", tuple(sorted(distinct)), distinct)

    def different(self, parts: list[Term]) -> Term:
        """Return "no two of these have the same value"."""
        values = [self._value(part) for part in parts if self.nodes[part].op == "const"]
        if len(set(parts)) < len(parts) or len(set(values)) < len(values):
            return self.false
        if len(parts) < 2 or len(values) == len(parts):
            return self.true
        return self._intern("different", tuple(sorted(parts)), parts)

    def _value(self, part: Term) -> str | int:
        return _plain(self.nodes[part].operands[0])

    def choose(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """Return one term or the other."""
        node = self.nodes[condition]
        if node.op == "const":
            return then if node.operands[0] else otherwise
        if then == otherwise:
            return then
        first, second = self.nodes[then], self.nodes[otherwise]
        bounds = min(first.least, second.least), max(first.most, second.most)
        operands = (condition, then, otherwise)
        return self._intern("if", operands, operands, *bounds)

    def member(self, terms: list[Term], rows: frozenset[tuple[Value, ...]]) -> Term:
        """Return "the terms are one of these rows", with the columns of known terms used up."""
        open_places = []
        for place, term in enumerate(terms):
            if self.nodes[term].op == "const":
                value = self._value(term)
                rows = frozenset(row for row in rows if _plain(row[place]) == value)
            else:
                open_places.append(place)
        if not rows or not open_places:
            return self.const(bool(rows))
        open_terms = tuple(terms[place] for place in open_places)
        open_rows = frozenset(tuple(_plain(row[place]) for place in open_places) for row in rows)
        return self._intern("member", (open_terms, open_rows), open_terms)

    def all_same(self, parts: list[Term]) -> Term:
        """Return "all of these have one value", as a comparison of numbers where two numbers are left."""
        if len(parts) == 2 and not any(self._symbolic(part) for part in parts):
            return self.compare("==", *parts)
        return self.same(parts)

    # -- formulas and what is left of them ------------------------------------------------------------------------

    def term(self, formula: Formula) -> Term:
        """Return the term of a formula."""
        return self._term(ground_formula(formula, self.space))

    def restrict(self, term: Term, place: int, code: int) -> Term:
        """Return what is left of the term once the concept at `place` has the value number `code`."""
        node = self.nodes[term]
        if not node.mask >> place & 1:
            return term
        key = (term, place, code)
        if key not in self.restricted:
            self.restricted[key] = self._restricted(node, place, code)
        return self.restricted[key]

    def _term(self, formula: Formula) -> Term:
        match formula:
            case f.Const(value):
                return self.const(value)
            case f.Var(name):
                return self.variable(name)
            case f.Compare(operator, left, right):
                return self.compare(operator, self._term(left), self._term(right))
            case f.If(condition, then, otherwise):
                return self.choose(self._term(condition), self._term(then), self._term(otherwise))
            case f.Member(terms, rows):
                return self.member([self._term(term) for term in terms], frozenset(rows))
            case f.Oracle():
                return self._term(program_runner(formula, self.space).tabulated())
        return self._term_of(formula, [self._term(part) for part in children(formula)])

    def _term_of(self, formula: Formula, parts: list[Term]) -> Term:
        match formula:
            case f.Not():
                return self.negate(parts[0])
            case f.And():
                return self.conjoin(parts)
            case f.Or():
                return self.disjoin(parts)
            case f.Xor():
                return self.parity(parts)
            case f.Implies():
                return self.disjoin([self.negate(parts[0]), parts[1]])
            case f.Iff():
                return self.negate(self.parity(parts))
            case f.Sum() | f.Count():
                return self.linear(0, [(1, part) for part in parts])
            case f.Minus():
                return self.linear(0, [(-1, parts[0])])
            case f.Product():
                return self.multiply(parts)
            case f.Divide(operator):
                return self.apply(operator, parts)
            case f.Function(name):
                return self.apply(name, parts)
            case f.AllEqual():
                return self.same(parts)
            case f.AllDifferent():
                return self.different(parts)
        raise TypeError(f"no residual of {type(formula).__name__}")

    def _restricted(self, node: Node, place: int, code: int) -> Term:
        def go(part: Term) -> Term:
            return self.restrict(part, place, code)

        match node.op, node.operands:
            case "var", _:
                return self.const(self.space.concepts[place].values[code])
            case "not", (part,):
                return self.negate(go(part))
            case "and", parts:
                return self.conjoin(map(go, parts))
            case "or", parts:
                return self.disjoin(map(go, parts))
            case "xor", parts:
                return self.parity(map(go, parts))
            case "zero", (part,):
                return self._is_zero(go(part))
            case "positive", (part,):
                return self._is_positive(go(part))
            case "linear", (constant, terms):
                return self.linear(constant, [(weight, go(part)) for weight, part in terms])
            case "product", parts:
                return self.multiply(map(go, parts))
            case "apply", (name, parts):
                return self.apply(name, [go(part) for part in parts])
            case "same", parts:
                return self.all_same([go(part) for part in parts])
            case "different", parts:
                return self.different([go(part) for part in parts])
            case "if", (condition, then, otherwise):
                return self.choose(go(condition), go(then), go(otherwise))
            case "member", (terms, rows):
                return self.member([go(term) for term in terms], rows)
        raise TypeError(f"cannot restrict {node.op}")


def _plain(value: Value) -> int | str:
    return int(value) if isinstance(value, int) else value


def _number(value: Value) -> int:
    if isinstance(value, str):
        return ABSENT_NUMBER
    return int(value)


FUNCTIONS: dict[str, Any] = {
    "//": lambda left, right: left // right if right else 0,
    "%": lambda left, right: left % right if right else 0,
    "abs": abs,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "pow": lambda base, exponent: base ** max(exponent, 0),
}
"""What is computed for `absent`, far below all numbers, must not fail; it does not count, as a guard is false there."""

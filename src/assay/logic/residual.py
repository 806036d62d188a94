"""What is left of formulas once some concepts are known.

The residuals of sums, counts and parities are few, because `Terms` brings them to a normal form and merges equals.
"""

from assay.logic import formula as f
from assay.logic.build import children
from assay.logic.concepts import ConceptSpace
from assay.logic.formula import Formula
from assay.logic.ground import ground_formula, program_runner
from assay.logic.terms import Node, Term, Terms


class Residuals(Terms):
    """Terms of formulas, and what is left of them."""

    def __init__(self, space: ConceptSpace) -> None:
        super().__init__(space)
        self.restricted: dict[tuple[Term, int, int], Term] = {}

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
                return self._term(program_runner().tabulate(formula, self.space))
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

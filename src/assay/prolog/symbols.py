"""Unknown values in terms: symbols for concepts, and unification that returns conditions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.base import NoSymbols
from assay.logic import (
    TRUE,
    And,
    Compare,
    ConceptSpace,
    Const,
    Divide,
    Formula,
    Function,
    Not,
    Operator,
    Value,
    Var,
    conjunction,
    disjunction,
)
from assay.prolog.arithmetic import COMPARE, value_of
from assay.prolog.terms import Term, Tick, Variable, deref, show
from assay.prolog.vocabulary import atom_of

Conditions = tuple[Formula, ...]
SIGNS: dict[str, tuple[Operator, Operator]] = {
    "<": ("<", ">"), ">": (">", "<"), "=<": ("<=", ">="), ">=": (">=", "<="), "=:=": ("==", "=="), "=\\=": ("!=", "!="),
}  # fmt: skip
"""Prolog's comparisons as those of formulas, and with their sides exchanged."""
FALSE = Const(False)
MOST_WORK = 500_000


@dataclass(frozen=True)
class Sym:
    """A value that depends on the world: a formula, and which atom stands for which of its values (None: numbers)."""

    formula: Formula
    meaning: Mapping[Term, Value] | None = None

    def __hash__(self) -> int:
        return hash(self.formula)

    def __str__(self) -> str:
        return str(self.formula)

    @property
    def numeric(self) -> bool:
        """Whether it is a number."""
        return self.meaning is None or all(type(atom) is int for atom in self.meaning)


def symbol(name: str, space: ConceptSpace, renamed: Mapping[Term, Term] | None = None) -> Sym:
    """Return the value of a concept, with other names for its atoms where a template gives them."""
    atoms = {atom_of(value): value for value in space.concept(name).present}
    return Sym(Var(name), {(renamed or {}).get(atom, atom): value for atom, value in atoms.items()})


def simplify(conditions: Iterable[Formula]) -> Conditions | None:
    """Return conditions that all must hold, each once, or None if they contradict one another."""
    distinct: dict[Formula, None] = {}
    fixed: dict[Formula, Formula] = {}
    for condition in conditions:
        for part in condition.parts if isinstance(condition, And) else (condition,):
            if part == TRUE:
                continue
            if part == FALSE:
                return None
            same = isinstance(part, Compare) and part.operator == "==" and isinstance(part.right, Const)
            if isinstance(part, Compare) and same and fixed.setdefault(part.left, part.right) != part.right:
                return None
            distinct[part] = None
    if any(Not(condition) in distinct or opposite(condition) in distinct for condition in distinct):
        return None
    return tuple(distinct)


def opposite(condition: Formula) -> Formula:
    """Return "this does not hold", as a comparison where it is one."""
    match condition:
        case Compare("==", left, right):
            return Compare("!=", left, right)
        case Compare("!=", left, right):
            return Compare("==", left, right)
        case Not(body):
            return body
        case Const(value):
            return Const(not value)
    return Not(condition)


def either(paths: Iterable[Conditions]) -> Formula:
    """Return "one of these paths holds", without paths that a shorter one covers."""
    sets = sorted({frozenset(path): path for path in paths}.items(), key=lambda pair: len(pair[0]))
    shortest: list[tuple[frozenset[Formula], Conditions]] = []
    for conditions, path in sets:
        if len(shortest) > 3000 or not any(other <= conditions for other, _ in shortest):
            shortest.append((conditions, path))
    return disjunction(*(conjunction(*path) for _, path in shortest))


class Unifier:
    """Makes terms equal; where they hold unknown values, under conditions."""

    def __init__(self) -> None:
        self.trail: list[Variable] = []
        self.work = 0

    def tick(self) -> None:
        """Count a step of work on terms, which may be far larger than their text."""
        self.work += 1
        if self.work > MOST_WORK:
            raise NoSymbols("the program's terms are too large, or too many, to be written as a formula")

    def undo(self, mark: int) -> None:
        """Unbind what was bound since."""
        while len(self.trail) > mark:
            self.trail.pop().ref = None

    def unify(self, left: Term, right: Term) -> Conditions | None:
        """Return what must hold for two terms to be equal, having bound variables; None if they never are."""
        self.tick()
        left, right = deref(left), deref(right)
        if left is right:
            return ()
        if type(left) is Variable or type(right) is Variable:
            variable, other = (left, right) if type(left) is Variable else (right, left)
            variable.ref = other
            self.trail.append(variable)
            return ()
        if isinstance(left, Sym) or isinstance(right, Sym):
            return self._unknown(left, right) if isinstance(left, Sym) else self._unknown(right, left)
        if type(left) is not tuple or type(right) is not tuple:
            return () if type(left) is type(right) and left == right else None
        if len(left) != len(right) or left[0] != right[0]:
            return None
        conditions: list[Formula] = []
        for mine, other in zip(left[1:], right[1:], strict=True):
            more = self.unify(mine, other)
            if more is None:
                return None
            conditions.extend(more)
        return tuple(conditions)

    def compared(self, name: str, left: Term, right: Term) -> Conditions | None:
        """Return what must hold for `is`, `=`, `==` and their opposites; None if they never do."""
        if name == "is":
            return self.bind(left, number(right, self.tick))
        if name == "=":
            return self.unify(left, right)
        mark = len(self.trail)
        conditions = self.unify(left, right)
        bound = len(self.trail) > mark
        self.undo(mark)
        if name in ("==", "\\==") and bound:
            conditions = None
        if name == "==":
            return conditions
        return () if conditions is None else None if not conditions else (opposite(conjunction(*conditions)),)

    def bind(self, term: Term, value: Formula) -> Conditions | None:
        """Unify a term with a number: with its value if that is known, else with a symbol."""
        return self.unify(term, value.value if isinstance(value, Const) else Sym(value))

    def _unknown(self, left: Sym, right: Term) -> Conditions | None:
        if isinstance(right, Sym):
            return _equal(left, right)
        if type(right) is tuple:
            return None
        if left.meaning is None:
            return (left.formula.eq(right),) if type(right) is int else None
        if right not in left.meaning or (type(right) is float):
            return None
        if len(left.meaning) == 1:
            return ()
        return (left.formula.eq(left.meaning[right]),)


def _equal(left: Sym, right: Sym) -> Conditions | None:
    if left.formula == right.formula:
        return ()
    if left.numeric and right.numeric:
        return (left.formula.eq(right.formula),)
    if left.meaning is None or right.meaning is None:
        return None
    shared = [atom for atom in left.meaning if atom in right.meaning]
    if not shared:
        return None
    if all(left.meaning[atom] == right.meaning[atom] for atom in shared):
        return (left.formula.eq(right.formula),)
    pairs = [And((left.formula.eq(left.meaning[a]), right.formula.eq(right.meaning[a]))) for a in shared]
    return (disjunction(*pairs),)


def number(term: Term, tick: Tick) -> Formula:
    """Return an arithmetic term as a formula."""
    tick()
    term = deref(term)
    if type(term) is int:
        return Const(term)
    if isinstance(term, Sym):
        if not term.numeric:
            raise NoSymbols(f"{term.formula} is no number")
        return term.formula
    if type(term) is tuple:
        inside = [number(part, tick) for part in term[1:]]
        if all(isinstance(part, Const) for part in inside):
            value = value_of((term[0], *[part.value for part in inside if isinstance(part, Const)]), tick)
            if type(value) is int:
                return Const(value)
        match term[0], len(inside):
            case "+", 2:
                return inside[0] + inside[1]
            case "-", 2:
                return inside[0] - inside[1]
            case "*", 2:
                return inside[0] * inside[1]
            case "-", 1:
                return -inside[0]
            case ("min" | "max" | "abs") as name, _:
                return Function(name, tuple(inside))
            case "mod", 2:
                return Divide("%", inside[0], inside[1])
    what = "an unbound variable" if type(term) is Variable else show(term)
    raise NoSymbols(f"no formula says what {what} is in arithmetic")


def comparison(operator: str, left: Term, right: Term, tick: Tick) -> Conditions | None:
    """Return what must hold for an arithmetic comparison; None if it never does."""
    first, second = number(left, tick), number(right, tick)
    if isinstance(first, Const) and isinstance(second, Const):
        return () if COMPARE[operator](int(first.value), int(second.value)) else None
    sign, mirrored = SIGNS[operator]
    return (Compare(mirrored, second, first) if isinstance(first, Const) else Compare(sign, first, second),)

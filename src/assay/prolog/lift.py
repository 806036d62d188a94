"""Flat programs back as formulas: `has_car(W, C), colour(C, red)` is `any(a.colour == 'red' for a in cars)`."""

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from assay.base import NoSymbols
from assay.logic import (
    NUMBER,
    TRUE,
    And,
    Compare,
    ConceptSpace,
    Const,
    Formula,
    Or,
    Quantified,
    Var,
    conjunction,
    disjunction,
    map_children,
)
from assay.prolog.arithmetic import COMPARE
from assay.prolog.program import Program, head_of, read_program
from assay.prolog.symbols import Conditions, Sym, Unifier, comparison, opposite, symbol
from assay.prolog.terms import Term, Variable, chain_of, deref, free_vars, indicator, key_of
from assay.prolog.unfold import rename_variables, unfold
from assay.prolog.vocabulary import WORLD, Relation, Vocabulary, atom_of

DEEPEST = 40
FALSE = Const(False)


def formula_of(program: Program | str, vocabulary: Vocabulary | ConceptSpace, head: str | None = None) -> Formula:
    """Return the formula of a program over the facts of worlds, with quantifiers where it is flat.

    >>> from assay.logic.concepts import digits
    >>> formula_of("big(W) :- a(W, X), b(W, X). big(W) :- a(W, X), X > 7.", digits(["a", "b"]))
    <a == b or a > 7>

    Parameters
    ----------
    program
        A program, or its text.
    vocabulary
        The concepts, or the predicates that state them.
    head
        The predicate that is the label; by default the one that no other calls.
    """
    read = read_program(program) if isinstance(program, str) else program
    words = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
    name = head or head_of(read)
    whole = read.complete(words.keys)
    try:
        return merge_pairs(Lifter(whole, words).holds((name, WORLD)))
    except NoSymbols:
        return unfold(read, name, words.space)


@dataclass(frozen=True)
class BoundObject:
    """An object that a quantifier binds, in a formula read back from Prolog."""

    name: str
    group: str


class Lifter(Unifier):
    """Runs a program on a world of unknown values, and collects the conditions as a formula with quantifiers."""

    def __init__(self, program: Program, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.program = program
        self.vocabulary = vocabulary
        self.space = vocabulary.space
        used = {name.partition(".")[0] for name in self.space.names}
        self.names = [name for name in _names() if name not in used][:DEEPEST]
        self.bound = 0

    def refuse(self, why: str) -> NoSymbols:
        """Return the error that says why the program cannot be written with quantifiers."""
        return NoSymbols(f"{self.program.name} is not flat: {why}")

    def holds(self, goal: Term) -> Formula:
        """Return when a goal holds."""
        return self.all((goal,), 0)

    def all(self, goals: tuple[Term, ...], depth: int) -> Formula:
        """Return when all goals hold."""
        self.tick()
        if depth > DEEPEST:
            raise self.refuse("it recurses")
        if not goals:
            return TRUE
        goal, rest = deref(goals[0]), goals[1:]
        if type(goal) is Variable:
            raise self.refuse("a goal is a variable")
        key = key_of(goal)
        if key in self.program.clauses:
            return self._clauses(goal, rest, depth)
        if key in self.vocabulary.by_key:
            return self._fact(self.vocabulary.by_key[key], goal, rest, depth)
        if key == (",", 2):
            return self.all((*chain_of(goal, ","), *rest), depth)
        if key == (";", 2) and not (type(deref(goal[1])) is tuple and deref(goal[1])[0] in ("->", "*->")):
            return _or([self._tried((goal[place], *rest), depth) for place in (1, 2)])
        return self._and(self._test(goal, depth), rest, depth)

    def _tried(self, goals: tuple[Term, ...], depth: int) -> Formula:
        mark = len(self.trail)
        formula = self.all(goals, depth)
        self.undo(mark)
        return formula

    def _and(self, conditions: Conditions | None, rest: tuple[Term, ...], depth: int) -> Formula:
        if conditions is None or FALSE in conditions:
            return FALSE
        return _both([*conditions, self.all(rest, depth)])

    def _test(self, goal: Term, depth: int) -> Conditions | None:
        name, arguments = goal[0] if type(goal) is tuple else goal, goal[1:] if type(goal) is tuple else ()
        match name, len(arguments):
            case (("true" | "otherwise"), 0):
                return ()
            case (("fail" | "false"), 0):
                return None
            case (("\\+" | "not"), 1):
                return (opposite(self._tried((arguments[0],), depth + 1)),)
            case "forall", 2:
                return (opposite(self._tried((arguments[0], ("\\+", arguments[1])), depth + 1)),)
            case (("=" | "==" | "is" | "\\=" | "\\=="), 2):
                return self.compared(name, *arguments)
            case ("aggregate_all", 3) if deref(arguments[0]) == "count":
                return self._count(deref(arguments[1]), arguments[2], depth)
        if name in COMPARE and len(arguments) == 2:
            return comparison(name, arguments[0], arguments[1], self.tick)
        raise self.refuse(f"{indicator((name, len(arguments)))} is not understood here")

    def unify(self, left: Term, right: Term) -> Conditions | None:
        """Return what must hold for two terms to be equal; two objects are equal if they are in the same slot."""
        left, right = deref(left), deref(right)
        if isinstance(left, BoundObject) and isinstance(right, BoundObject):
            if left == right:
                return ()
            return (self._number(left).eq(self._number(right)),) if left.group == right.group else None
        return super().unify(left, right)

    def _clauses(self, goal: Term, rest: tuple[Term, ...], depth: int) -> Formula:
        bodies = []
        for clause in self.program.clauses[key_of(goal)]:
            mark = len(self.trail)
            head, body = rename_variables(clause)
            conditions = self.unify(goal, head)
            if conditions is not None:
                bodies.append(_both([*conditions, self.all((body, *rest), depth + 1)]))
            self.undo(mark)
        return _or(bodies)

    def _fact(self, relation: Relation, goal: Term, rest: tuple[Term, ...], depth: int) -> Formula:
        if relation.what == "concept":
            row = (relation.name, WORLD, symbol(relation.attribute, self.space))
            return self._and(self.unify(goal, row), rest, depth)
        places = {"has": (2,), "number": (1,), "attribute": (1,), "before": (1, 2)}[relation.what]
        for place in places:
            term = deref(goal[place])
            if type(term) is Variable:
                return self._any(relation, term, (goal, *rest), depth)
            if not isinstance(term, BoundObject):
                raise self.refuse(f"{term!r} is no object")
        return self._and(self._relation_holds(relation, goal), rest, depth)

    def _any(self, relation: Relation, variable: Variable, goals: tuple[Term, ...], depth: int) -> Formula:
        """Return "for some object", as a quantifier."""
        options: list[Formula] = []
        for group in [relation.group] if relation.group else list(self.space.groups):
            if self.bound >= len(self.names):
                raise self.refuse("it has too many objects")
            name = self.names[self.bound]
            self.bound += 1
            mark = len(self.trail)
            super().unify(variable, BoundObject(name, group))
            body = self.all(goals, depth)
            self.undo(mark)
            self.bound -= 1
            options.append(FALSE if body == FALSE else Quantified("any", (name,), group, body))
        return _or(options)

    def _relation_holds(self, relation: Relation, goal: Term) -> Conditions | None:
        thing: BoundObject = deref(goal[2 if relation.what == "has" else 1])
        if relation.what == "has":
            return self.unify(goal[1], WORLD) if thing.group == relation.group else None
        if relation.what == "before":
            other: BoundObject = deref(goal[2])
            if thing.group != other.group or thing == other:
                return None
            return (self._number(thing) < self._number(other),)
        if thing.group != relation.group:
            return None
        if relation.what == "number":
            return self.unify(goal[2], Sym(self._number(thing)))
        slots = self.space.groups[relation.group]
        if any(relation.attribute not in slot.attributes for slot in slots):
            raise self.refuse(f"not every {relation.types[0]} has {relation.attribute}")
        meaning = {atom_of(value): value for value in relation.values}
        return self.unify(goal[2], Sym(Var(f"{thing.name}.{relation.attribute}"), meaning))

    def _number(self, thing: BoundObject) -> Formula:
        for place, slot in enumerate(self.space.groups[thing.group], 1):
            if NUMBER in slot.attributes and self.space.concept(slot.concept(NUMBER)).present != (place,):
                raise self.refuse(f"{slot.name} has a number of its own")
        return Var(f"{thing.name}.{NUMBER}")

    def _count(self, goal: Term, result: Term, depth: int) -> Conditions | None:
        """Return "so many objects", where each is counted at most once."""
        first, *rest = chain_of(goal, ",")
        relation = self.vocabulary.by_key.get(key_of(first)) if type(first) is tuple else None
        simple = all(
            type(part) is tuple
            and (part[0] in COMPARE or self.vocabulary.by_key.get(key_of(part), relation) != relation)
            and key_of(part) not in self.program.clauses
            for part in rest
        )
        if relation is None or relation.what != "has" or not simple or type(deref(first[2])) is not Variable:
            raise self.refuse("what is counted is not one object each")
        known = {id(first[2])} | {id(variable) for part in rest for variable in free_vars(part)[:1]}
        if len(known) > 1:
            raise self.refuse("what is counted is not one object each")
        some = self._any(relation, first[2], (first, *rest), depth)
        if not isinstance(some, Quantified):
            return self.unify(result, 0)
        return self.unify(result, Sym(Quantified("count", some.variables, some.group, some.body)))


def _names() -> Iterator[str]:
    yield from ascii_lowercase
    yield from (f"{letter}_{number}" for number in range(1, 3) for letter in ascii_lowercase)


def _both(formulas: list[Formula]) -> Formula:
    """Return "all of these", flat, each once."""
    flat = [part for formula in formulas for part in (formula.parts if isinstance(formula, And) else (formula,))]
    if FALSE in flat:
        return FALSE
    return conjunction(*dict.fromkeys(part for part in flat if part != TRUE))


def _or(formulas: list[Formula]) -> Formula:
    flat = [part for formula in formulas for part in (formula.parts if isinstance(formula, Or) else (formula,))]
    if TRUE in flat:
        return TRUE
    return disjunction(*dict.fromkeys(part for part in flat if part != FALSE))


def merge_pairs(formula: Formula) -> Formula:
    """Return a formula where nested `any` over two ordered objects is written as one `any` over pairs.

    >>> from assay.logic import parse
    >>> merge_pairs(parse("any(any(a.number < b.number and a.x and b.x for b in cars) for a in cars)"))
    <any(a.x and b.x for a, b in pairs(cars))>
    """
    outermost = map_children(formula, merge_pairs) if not isinstance(formula, (Const, Var)) else formula
    if not isinstance(outermost, Quantified) or outermost.quantifier != "any" or len(outermost.variables) != 1:
        return outermost
    outer = list(outermost.body.parts) if isinstance(outermost.body, And) else [outermost.body]
    inner = [part for part in outer if isinstance(part, Quantified)]
    if (
        len(inner) != 1
        or inner[0].quantifier != "any"
        or len(inner[0].variables) != 1
        or inner[0].group != outermost.group
    ):
        return outermost
    first, second = outermost.variables[0], inner[0].variables[0]
    before = Compare("<", Var(f"{first}.{NUMBER}"), Var(f"{second}.{NUMBER}"))
    within = list(inner[0].body.parts) if isinstance(inner[0].body, And) else [inner[0].body]
    if before not in within:
        return outermost
    rest = [part for part in (*outer, *within) if part not in (before, inner[0])]
    return Quantified("any", (first, second), outermost.group, conjunction(*rest))

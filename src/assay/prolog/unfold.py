"""A program as a formula: every way to prove its head on a world of unknown values, with what each way needs.

The program is run with the values of concepts left open, once for each choice of objects that are there. A path to a
proof collects conditions on them; the formula is "one of these paths". Cut, if-then-else and negation are exact, since
paths come in the order in which Prolog tries.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import combinations, product

from assay.base import NoSymbols
from assay.logic import ABSENT, TRUE, ConceptSpace, Const, Count, Formula, Slot, Var, conjunction, disjunction
from assay.logic import total as sum_of
from assay.prolog.arithmetic import COMPARE
from assay.prolog.program import Program
from assay.prolog.reader import Clause
from assay.prolog.symbols import Conditions, Sym, Unifier, comparison, either, number, opposite, simplify, symbol
from assay.prolog.terms import (
    Key,
    Term,
    Tick,
    Variable,
    as_list,
    chain_of,
    deref,
    indicator,
    items_of,
    key_of,
    show,
)
from assay.prolog.vocabulary import WORLD, Relation, Vocabulary, WorldTemplate, fill_place, plain_name

MOST_PATHS = 20_000
MOST_STEPS = 400_000
DEEPEST = 150

Path = Conditions
Goals = tuple[Term, ...]
Committed = Generator[Path, None, Conditions | None]


def unfold(program: Program, head: str, space: ConceptSpace, template: str = "", packed: bool = False) -> Formula:
    """Return the formula of a program, or raise `NoSymbols` where it cannot be found.

    With `packed`, worlds fill the slots of each group from the first on, without a gap.
    """
    vocabulary = Vocabulary(space)
    runner = Unfolder(program.complete(() if template else vocabulary.keys), vocabulary, facts=not template)
    try:
        if not template:
            return either(runner.proofs((head, WORLD)))
        cases = []
        for guards, term in open_worlds(space, template, packed):
            inside = either(runner.proofs((head, term)))
            if inside != Const(False):
                cases.append(conjunction(*guards, *([] if inside == TRUE else [inside])))
        return disjunction(*cases)
    except RecursionError:
        raise NoSymbols(f"{program.name}: the program goes too deep to be written as a formula") from None


class Unfolder:
    """Runs goals on unknown values and gives each path to success, its variables bound while it is looked at."""

    def __init__(self, program: Program, vocabulary: Vocabulary, facts: bool) -> None:
        self.program = program
        self.vocabulary = vocabulary
        self.relations: Mapping[Key, Relation] = vocabulary.by_key if facts else {}
        self.unifier = Unifier()
        self.steps = 0
        self.slots = {plain_name(slot.name): slot for slot in vocabulary.space.slots}

    def refuse(self, why: str) -> NoSymbols:
        """Return the error for a program that has no formula, with the reason."""
        return NoSymbols(f"{self.program.name} cannot be written as a formula: {why}")

    def proofs(self, goal: Term) -> list[Path]:
        """Return the paths that prove a goal."""
        paths = []
        for path in self.solve((goal,), (), 0):
            paths.append(path)
            if len(paths) > MOST_PATHS:
                raise self.refuse(f"there are more than {MOST_PATHS:,} ways to prove {show(goal)}")
        return paths

    def solve(self, goals: Goals, path: Path, depth: int) -> Iterator[Path]:
        """Give each path that extends this one and proves all goals."""
        if not goals:
            yield path
            return
        self.steps += 1
        if depth > DEEPEST or self.steps > MOST_STEPS:
            raise self.refuse("it may recurse for ever, or there are too many ways through it")
        for longer in self.goal(deref(goals[0]), path, depth):
            yield from self.solve(goals[1:], longer, depth)

    def under(self, conditions: Conditions | None, path: Path) -> Path | None:
        """Return a path with more conditions, None if they cannot all hold."""
        if conditions is None:
            return None
        return simplify((*path, *conditions)) if conditions else path

    def goal(self, goal: Term, path: Path, depth: int) -> Iterator[Path]:
        """Give each path that proves one goal, its variables bound as long as it is looked at."""
        mark = len(self.unifier.trail)
        yield from self._goal(goal, path, depth)
        self.unifier.undo(mark)

    def _goal(self, goal: Term, path: Path, depth: int) -> Iterator[Path]:
        if type(goal) is Variable:
            raise self.refuse("a goal is an unbound variable")
        key = key_of(goal)
        if key in self.program.clauses:
            return self._clauses(goal, path, depth)
        if key in self.relations:
            return self._facts(self.relations[key], goal, path)
        name, arguments = key[0], goal[1:] if type(goal) is tuple else ()
        match name, len(arguments):
            case ",", 2:
                return self.solve(tuple(chain_of(goal, ",")), path, depth)
            case ";", 2:
                return self._either(goal, path, depth)
            case "->", 2:
                return self._if(arguments[0], arguments[1], "fail", path, depth)
            case (("\\+" | "not"), 1):
                return self._extend(self._negated(arguments[0], depth), path)
            case "forall", 2:
                return self._extend(self._negated((",", arguments[0], ("\\+", arguments[1])), depth), path)
            case "once", 1:
                return self._if(arguments[0], "true", "fail", path, depth)
            case (("true" | "otherwise"), 0):
                return iter([path])
            case (("fail" | "false"), 0):
                return iter(())
            case (("=" | "==" | "is" | "\\=" | "\\=="), 2):
                return self._extend(self.unifier.compared(name, *arguments), path)
        if name in COMPARE and len(arguments) == 2:
            return self._extend(comparison(name, arguments[0], arguments[1], self.unifier.tick), path)
        return self._library(key, arguments, path, depth)

    def _extend(self, conditions: Conditions | None, path: Path) -> Iterator[Path]:
        longer = self.under(conditions, path)
        if longer is not None:
            yield longer

    def _negated(self, goal: Term, depth: int) -> Conditions | None:
        paths = list(self.goal(goal, (), depth + 1))
        if () in paths:
            return None
        return tuple(opposite(conjunction(*path)) for path in paths)

    def _either(self, goal: Term, path: Path, depth: int) -> Iterator[Path]:
        first = deref(goal[1])
        if type(first) is tuple and first[0] == "->" and len(first) == 3:
            yield from self._if(first[1], first[2], goal[2], path, depth)
            return
        if type(first) is tuple and first[0] == "*->":
            raise self.refuse("'*->' is not understood here")
        yield from self.goal(first, path, depth)
        yield from self.goal(deref(goal[2]), path, depth)

    def _if(self, condition: Term, then: Term, otherwise: Term, path: Path, depth: int) -> Iterator[Path]:
        """Take the first way in which a condition holds: those before it must not."""
        missed = path
        for conditions in self.goal(deref(condition), (), depth + 1):
            longer = self.under(conditions, missed)
            if longer is not None:
                yield from self.goal(deref(then), longer, depth)
            after = self.under((opposite(conjunction(*conditions)),) if conditions else None, missed)
            if after is None:
                return
            missed = after
        yield from self.goal(deref(otherwise), missed, depth)

    def _clauses(self, goal: Term, path: Path, depth: int) -> Iterator[Path]:
        for clause in self.program.clauses[key_of(goal)]:
            mark = len(self.unifier.trail)
            head, body = rename_variables(clause)
            conditions = self.unifier.unify(goal, head)
            longer = self.under(conditions, path)
            if longer is not None:
                goals = chain_of(body, ",")
                if "!" not in goals:
                    yield from self.solve((body,), longer, depth + 1)
                else:
                    at = goals.index("!")
                    before, after = tuple(goals[:at]), tuple(goals[at + 1 :])
                    reached = self._committed(before, after, longer, depth + 1)
                    missed = yield from reached
                    later = self._past(path, conditions or (), missed)
                    if later is None:
                        self.unifier.undo(mark)
                        return
                    path = later
            self.unifier.undo(mark)

    def _past(self, path: Path, head: Conditions, missed: Conditions | None) -> Path | None:
        """Return the path of later clauses: the head of one with a cut did not fit, or its cut was not reached."""
        ways = [opposite(conjunction(*head))] if head else []
        if missed is not None:
            ways.append(conjunction(*missed))
        return self.under((disjunction(*ways),), path)

    def _committed(self, before: Goals, after: Goals, path: Path, depth: int) -> Committed:
        """Give the paths of a clause with a cut; return the conditions for not reaching it, None if there are none."""
        missed: Conditions = ()
        base = path
        for conditions in self.solve(before, (), depth) if before else iter([()]):
            mark = len(self.unifier.trail)
            longer = self.under(conditions, base)
            if longer is not None:
                if "!" in after:
                    raise self.refuse("a clause has two cuts")
                yield from self.solve(after, longer, depth)
            self.unifier.undo(mark)
            if not conditions:
                return None
            failed = opposite(conjunction(*conditions))
            missed = (*missed, failed)
            nearer = self.under((failed,), base)
            if nearer is None:
                return None
            base = nearer
        return missed

    def _facts(self, relation: Relation, goal: Term, path: Path) -> Iterator[Path]:
        """Give the paths of a goal about the world's facts."""
        for row, guards in self._rows(relation, goal):
            mark = len(self.unifier.trail)
            longer = self.under(guards, path)
            conditions = None if longer is None else self.unifier.unify(goal, row)
            longer = None if conditions is None else self.under(conditions, longer or ())
            if longer is not None:
                yield longer
            self.unifier.undo(mark)

    def _rows(self, relation: Relation, goal: Term) -> Iterator[tuple[Term, Conditions]]:
        space, name = self.vocabulary.space, relation.name
        if relation.what == "concept":
            yield (name, WORLD, symbol(relation.attribute, space)), ()
            return
        if relation.what == "before":
            for slots in space.groups.values():
                for first, second in combinations(slots, 2):
                    guards = (*self._there(first), *self._there(second))
                    yield (name, plain_name(first.name), plain_name(second.name)), guards
            return
        for place, slot in enumerate(space.groups[relation.group], 1):
            own = plain_name(slot.name)
            if relation.what == "has":
                yield (name, WORLD, own), self._there(slot)
            elif relation.what == "number":
                yield (name, own, place), self._there(slot)
            elif relation.attribute in slot.attributes:
                yield (name, own, symbol(slot.concept(relation.attribute), space)), self._there(slot)

    def _there(self, slot: Slot) -> Conditions:
        first = slot.concepts[0]
        return (Var(first).ne(ABSENT),) if self.vocabulary.space.concept(first).optional else ()

    def _library(self, key: Key, arguments: Sequence[Term], path: Path, depth: int) -> Iterator[Path]:
        """Give the paths of the few built-in predicates that need no known values."""
        match key:
            case ("member", 2):
                yield from self._among(arguments[0], list(items_of(arguments[1])), path)
            case ("memberchk", 2):
                yield from self._if(("member", *arguments), "true", "fail", path, depth)
            case ("length", 2):
                yield from self._extend(self.unifier.unify(arguments[1], len(list(items_of(arguments[0])))), path)
            case ("nth1" | "nth0", 3):
                pairs = [("-", place, item) for place, item in enumerate(items_of(arguments[1]), int(key[0][-1]))]
                yield from self._among(("-", arguments[0], arguments[2]), pairs, path)
            case ("sum_list", 2):
                total = sum_of(*(number(item, self.unifier.tick) for item in items_of(arguments[0])))
                yield from self._extend(self.unifier.bind(arguments[1], total), path)
            case ("aggregate_all", 3) if deref(arguments[0]) == "count":
                yield from self._counted(arguments[1], arguments[2], path, depth)
            case ("findall", 3):
                yield from self._gathered(arguments, path, depth)
            case _:
                raise self.refuse(f"{indicator(key)} is not understood here")

    def _among(self, term: Term, items: Sequence[Term], path: Path) -> Iterator[Path]:
        for item in items:
            mark = len(self.unifier.trail)
            yield from self._extend(self.unifier.unify(term, item), path)
            self.unifier.undo(mark)

    def _counted(self, goal: Term, result: Term, path: Path, depth: int) -> Iterator[Path]:
        answers = list(self.goal(deref(goal), (), depth + 1))
        sure = sum(1 for conditions in answers if not conditions)
        open_ = [conjunction(*conditions) for conditions in answers if conditions]
        value = Sym(sum_of(Count(tuple(open_)), *([Const(sure)] if sure else []))) if open_ else sure
        yield from self._extend(self.unifier.unify(result, value), path)

    def _gathered(self, arguments: Sequence[Term], path: Path, depth: int) -> Iterator[Path]:
        """Give a path for each list that a `findall` can give: each of its answers is there or not."""
        template, goal, result = arguments
        answers = [
            (conditions, _copied(template, self.unifier.tick)) for conditions in self.goal(deref(goal), (), depth + 1)
        ]
        if sum(1 for conditions, _ in answers if conditions) > 8:
            raise self.refuse("a findall has too many answers that depend on the world")
        chosen: list[tuple[Path, list[Term]]] = [(path, [])]
        for conditions, item in answers:
            nearer = []
            for before, items in chosen:
                with_it, without = self.under(conditions, before), None
                if conditions:
                    without = self.under((opposite(conjunction(*conditions)),), before)
                nearer += [(longer_path, [*items, item]) for longer_path in (with_it,) if longer_path is not None]
                nearer += [(longer_path, items) for longer_path in (without,) if longer_path is not None]
            chosen = nearer
        for longer, items in chosen:
            mark = len(self.unifier.trail)
            yield from self._extend(self.unifier.unify(result, as_list(items)), longer)
            self.unifier.undo(mark)


def _copied(term: Term, tick: Tick) -> Term:
    tick()
    term = deref(term)
    if type(term) is not tuple:
        return term
    return (term[0], *[_copied(part, tick) for part in term[1:]])


def rename_variables(clause: Clause) -> tuple[Term, Term]:
    """Return the head and the body of a clause with new variables."""
    fresh: dict[int, Variable] = {}

    def copy(term: Term) -> Term:
        if type(term) is Variable:
            return fresh.setdefault(id(term), Variable())
        return (term[0], *[copy(part) for part in term[1:]]) if type(term) is tuple else term

    return copy(clause.head), copy(clause.body)


def open_worlds(space: ConceptSpace, template: str, packed: bool) -> Iterator[tuple[list[Formula], Term]]:
    """Give, for each choice of present slots, the conditions for it and the term of a world with unknown values."""
    optional = {
        group: [slot for slot in slots if space.concept(slot.concepts[0]).optional]
        for group, slots in space.groups.items()
    }
    if not packed and sum(len(slots) for slots in optional.values()) > 8:
        raise NoSymbols("too many objects may be absent to write the program as a formula")
    for choice in product(*(_choices(slots, packed) for slots in optional.values())):
        there = {slot.name for slots in choice for slot in slots}
        guards = [
            Var(slot.concepts[0]).ne(ABSENT) if slot.name in there else Var(slot.concepts[0]).eq(ABSENT)
            for slots in optional.values()
            for slot in slots
        ]
        gone = {slot.name for slots in optional.values() for slot in slots} - there
        yield guards, _OpenForm(space, template, frozenset(gone)).build(())


def _choices(slots: Sequence[Slot], packed: bool) -> list[tuple[Slot, ...]]:
    if packed:
        return [tuple(slots[:number]) for number in range(len(slots) + 1)]
    return [some for number in range(len(slots) + 1) for some in combinations(slots, number)]


class _OpenForm(WorldTemplate):
    """A template whose values are left open."""

    def __init__(self, space: ConceptSpace, template: str, gone: frozenset[str]) -> None:
        super().__init__(space, template)
        object.__setattr__(self, "gone", gone)

    def _value(self, name: str, slot: Slot | None, renamed: dict[Term, Term]) -> Callable[[Sequence[int]], Term]:
        super()._value(name, slot, renamed)
        value = symbol(name if slot is None else slot.concept(name), self.space, renamed)
        return lambda row: value

    def _member(self, slot: Slot, number: int, template: Term) -> Callable[[Sequence[int]], Term]:
        if slot.name in self.gone:  # type: ignore[attr-defined]
            return lambda row: None
        return self._part(fill_place(template, number), slot)

"""Clauses and predicates: what is where in a clause's environment, how its head is matched, how clauses are tried."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from assay.prolog.reader import Clause
from assay.prolog.store import Store
from assay.prolog.terms import Key, PrologError, Term, Variable, deref, free_vars

Env = list[Any]
Rest = Any
Run = Callable[[Env, Rest], Any]
Make = Callable[[Run], Run]
Step = Callable[[Env], Any]
CUT = object()
"""What a cut inside a condition returns."""
LARGEST_INDEX = 1_000_000
"""The most entries that clauses without a first argument may take in an index."""
SMALL = 8
"""Fewer facts than this are looked through one by one."""


def done(env: Env, rest: Rest) -> Any:
    """End a clause: go on with what remains."""
    return rest[0](rest[1], rest[2])


def _stop(env: Env, rest: Rest) -> Any:
    return True


STOP: Rest = (_stop, None, None)
"""Nothing remains to be proved."""

Arguments = tuple[Term, ...]
Ready = tuple[tuple[Any, ...], tuple[Step, ...], Run]
"""A compiled clause: constants and empty places that follow the arguments, tests of the head, and the body."""


class ClauseEnvironment:
    """A clause's environment: arguments first, then constants and variables."""

    def __init__(self, store: Store, head: Term, where: str, live: bool) -> None:
        self.store = store
        self.where = where
        self.live = live
        self.template: list[Any] = []
        self.constants: dict[tuple[type, Any], int] = {}
        self.slots: dict[int, int] = {}
        self.bound_variables: set[int] = set()
        self.fixed: dict[int, bool] = {}
        self.held: list[Term] = []
        """The terms whose numbers are known in `fixed`: kept, so that no other gets the same number."""
        self.arguments = head[1:] if type(head) is tuple else ()
        self.arity = len(self.arguments)
        self.matchers = self._head()

    def error(self, why: object) -> PrologError:
        """Return an error that says where; one that stops the whole rule says enough."""
        if isinstance(why, PrologError) and "was stopped at" in str(why):
            return why
        return PrologError(f"{self.where}: {why}")

    # places in the environment

    def place(self, value: Any = None) -> int:
        """Return a new place that holds this value when the clause begins."""
        self.template.append(value)
        return self.arity + len(self.template) - 1

    def constant(self, value: Term) -> int:
        """Return the place of a constant."""
        if type(value) is tuple or type(value) is Variable:
            return self.place(value)
        key = type(value), value
        if key not in self.constants:
            self.constants[key] = self.place(value)
        return self.constants[key]

    def slot(self, variable: Variable) -> int:
        """Return the place of a variable."""
        if id(variable) not in self.slots:
            self.slots[id(variable)] = self.place()
        return self.slots[id(variable)]

    def is_fixed(self, term: Term) -> bool:
        """Return whether a term is the same in every use of the clause."""
        if self.live or type(term) is not tuple:
            return self.live or type(term) is not Variable
        if id(term) not in self.fixed:
            self._look_through(term)
        return self.fixed[id(term)]

    def _look_through(self, term: Term) -> None:
        """Note of each compound in a term whether it holds variables; parts come before what holds them."""
        waiting: list[tuple[Term, bool]] = [(term, False)]
        while waiting:
            part, parts_known = waiting.pop()
            if parts_known:
                inside = [self.fixed[id(p)] if type(p) is tuple else type(p) is not Variable for p in part[1:]]
                self.fixed[id(part)] = all(inside)
                self.held.append(part)
            elif id(part) not in self.fixed:
                waiting.append((part, True))
                waiting.extend((inner, False) for inner in part[1:] if type(inner) is tuple)

    # the head

    def _head(self) -> list[Step]:
        tests: list[Step] = []
        for place, argument in enumerate(self.arguments):
            if type(argument) is Variable and id(argument) not in self.slots:
                self.slots[id(argument)] = place
                self.bound_variables.add(id(argument))
        for place, argument in enumerate(self.arguments):
            if type(argument) is Variable:
                if self.slots[id(argument)] != place:
                    tests.append(self._same(place, self.slots[id(argument)]))
            else:
                tests.append(_at(place, self._matcher(argument)))
        return tests

    def _same(self, left: int, right: int) -> Step:
        unify = self.store.unify
        return lambda env: unify(env[left], env[right])

    def _matcher(self, pattern: Term) -> Callable[[Term, Env], bool]:
        """Return a test of a value against a pattern, which binds on both sides."""
        if type(pattern) is not tuple:
            return _match_constant(pattern, self.store.trail)
        if self.is_fixed(pattern):
            unify = self.store.unify
            return lambda value, env: unify(value, pattern)
        before = set(self.bound_variables)
        stores, checks = [], []
        for place, part in enumerate(pattern[1:], 1):
            if type(part) is Variable and id(part) not in self.bound_variables:
                stores.append((place, self.slot(part)))
                self.bound_variables.add(id(part))
            elif type(part) is Variable:
                checks.append((place, self._known(self.slot(part))))
            else:
                checks.append((place, self._matcher(part)))
        after, self.bound_variables = self.bound_variables, before
        build = self.builder(pattern)
        self.bound_variables = after | self.bound_variables
        return _match_compound(pattern, stores, checks, build, self.store.trail)

    def _known(self, slot: int) -> Callable[[Term, Env], bool]:
        unify = self.store.unify
        return lambda value, env: unify(value, env[slot])

    # terms in bodies

    def builder(self, term: Term) -> Step:
        """Return a function that builds a term from the environment."""
        if self.is_fixed(term):
            return lambda env: term
        if type(term) is Variable:
            slot = self.slot(term)
            if id(term) in self.bound_variables:
                return lambda env: env[slot]
            self.bound_variables.add(id(term))
            return _fresh(slot)
        steps: list[Step] = []
        places = [self.operand(part, steps) for part in term[1:]]
        get = itemgetter(self.constant(term[0]), *places)
        if not steps:
            return get

        def build(env: Env) -> Term:
            for step in steps:
                step(env)
            return get(env)

        return build

    def operand(self, term: Term, steps: list[Step]) -> int:
        """Return the place of a term, adding the steps that put it there."""
        if type(term) is Variable and not self.live:
            slot = self.slot(term)
            if id(term) not in self.bound_variables:
                self.bound_variables.add(id(term))
                steps.append(_fresh(slot))
            return slot
        if self.is_fixed(term):
            return self.constant(term)
        build, slot = self.builder(term), self.place()

        def put(env: Env) -> None:
            env[slot] = build(env)

        steps.append(put)
        return slot

    def arguments_of(self, goal: Term) -> Callable[[Env], tuple[Term, ...]]:
        """Return a function that gives the arguments of a goal."""
        if type(goal) is not tuple:
            return lambda env: ()
        steps: list[Step] = []
        places = [self.operand(part, steps) for part in goal[1:]]
        if len(places) == 1:
            only = places[0]
            if not steps:
                return lambda env: (env[only],)
            get: Callable[[Env], tuple[Term, ...]] = lambda env: (env[only],)  # noqa: E731
        else:
            get = itemgetter(*places)
            if not steps:
                return get
        if len(steps) == 1:
            only_step = steps[0]

            def run_step(env: Env) -> tuple[Term, ...]:
                only_step(env)
                return get(env)

            return run_step

        def run_steps(env: Env) -> tuple[Term, ...]:
            for step in steps:
                step(env)
            return get(env)

        return run_steps

    def introduce(self, term: Term) -> Step | None:
        """Return a step that sets the variables of a term that were not seen yet, or None if there are none."""
        if self.live:
            return None
        fresh = [self.slot(variable) for variable in free_vars(term) if id(variable) not in self.bound_variables]
        self.bound_variables.update(id(variable) for variable in free_vars(term))
        if not fresh:
            return None

        def set_all(env: Env) -> None:
            for slot in fresh:
                env[slot] = Variable()

        return set_all


def _at(place: int, matcher: Callable[[Term, Env], bool]) -> Step:
    return lambda env: matcher(env[place], env)


def _fresh(slot: int) -> Step:
    def make(env: Env) -> Variable:
        variable = env[slot] = Variable()
        return variable

    return make


def _match_constant(constant: Term, trail: list[Variable]) -> Callable[[Term, Env], bool]:
    kind = type(constant)

    def match(value: Term, env: Env) -> bool:
        if value is constant:
            return True
        while type(value) is Variable:
            if value.ref is None:
                value.ref = constant
                trail.append(value)
                return True
            value = value.ref
        return type(value) is kind and bool(value == constant)

    return match


def _match_compound(
    pattern: tuple[Term, ...],
    stores: list[tuple[int, int]],
    checks: list[tuple[int, Callable[[Term, Env], bool]]],
    build: Step,
    trail: list[Variable],
) -> Callable[[Term, Env], bool]:
    name, size = pattern[0], len(pattern)

    def match(value: Term, env: Env) -> bool:
        while type(value) is Variable:
            if value.ref is None:
                value.ref = build(env)
                trail.append(value)
                return True
            value = value.ref
        if type(value) is not tuple or len(value) != size or value[0] != name:
            return False
        for place, slot in stores:
            env[slot] = value[place]
        for place, check in checks:  # noqa: SIM110 (a generator would cost as much as the test)
            if not check(value[place], env):
                return False
        return True

    return match


class Predicate:
    """Clauses of one name, the first argument's index, and how they are called."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.clauses: list[Ready] = []
        self.index: dict[Any, list[Ready]] | None = None
        self.open: list[Ready] = []

    def load(self, compiled: Sequence[tuple[Clause, Ready]]) -> None:
        """Set the compiled clauses, and index them by their first argument where it differs."""
        self.clauses = [ready for _, ready in compiled]
        if self.key[1] == 0 or len(compiled) < 2:
            return
        firsts = [_kind_of(clause.head[1]) for clause, _ in compiled]
        keys = {first for first in firsts if first is not None}
        if not keys or len(keys) * firsts.count(None) > LARGEST_INDEX:
            return
        self.open, self.index = [], {}
        for first, ready in zip(firsts, self.clauses, strict=True):
            if first is None:
                for clauses in (self.open, *self.index.values()):
                    clauses.append(ready)
            else:
                self.index.setdefault(first, [*self.open]).append(ready)

    def caller(self, store: Store, arguments: Callable[[Env], Arguments], following: Run) -> Run:
        """Return the function of a goal that calls this predicate."""
        trail, undo = store.trail, store.undo
        left, look = store.meter.left, store.meter.look
        last, predicate = following is done, self

        def run(env: Env, rest: Rest) -> Any:
            values = arguments(env)
            left[0] -= 1
            if left[0] < 0:
                look()
            clauses = predicate.clauses
            if predicate.index is not None:
                first = values[0]
                while type(first) is Variable and first.ref is not None:
                    first = first.ref
                if type(first) is tuple:
                    clauses = predicate.index.get((first[0], len(first)), predicate.open)
                elif type(first) is not Variable:
                    clauses = predicate.index.get(first, predicate.open)
            after = rest if last else (following, env, rest)
            if len(clauses) == 1:
                template, tests, body = clauses[0]
                inside = [*values, *template]
                for test in tests:
                    if not test(inside):
                        return None
                result = body(inside, after)
                return None if result is inside else result
            mark = len(trail)
            for template, tests, body in clauses:
                inside = [*values, *template]
                for test in tests:
                    if not test(inside):
                        break
                else:
                    result = body(inside, after)
                    if result is not None:
                        return None if result is inside else result
                if len(trail) > mark:
                    undo(mark)
            return None

        return run


class FactTable(Predicate):
    """A predicate whose facts are those of the world at hand: rows of atoms and numbers."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.rows: Sequence[Arguments] = ()
        self.first: dict[Term, list[Arguments]] | None = None

    def fill(self, rows: Sequence[Arguments]) -> None:
        """Set the facts."""
        self.rows = rows
        self.first = None

    def starting(self, value: Term) -> Sequence[Arguments]:
        """Return the rows that begin with this value, and perhaps others."""
        if len(self.rows) < SMALL or type(value) is tuple:
            return self.rows
        if self.first is None:
            self.first = {}
            for row in self.rows:
                self.first.setdefault(row[0], []).append(row)
        return self.first.get(value, ())

    def caller(self, store: Store, arguments: Callable[[Env], Arguments], following: Run) -> Run:
        """Return the function of a goal that looks up facts."""
        trail, undo = store.trail, store.undo
        left, look = store.meter.left, store.meter.look
        table, places = self, range(self.key[1])

        def run(env: Env, rest: Rest) -> Any:
            left[0] -= 1
            if left[0] < 0:
                look()
            values = [deref(argument) for argument in arguments(env)]
            rows = table.rows
            if values and type(values[0]) is not Variable:
                rows = table.starting(values[0])
            mark = len(trail)
            for row in rows:
                for place in places:
                    value, fact = values[place], row[place]
                    if value is fact:
                        continue
                    if type(value) is Variable:
                        if value.ref is None:
                            value.ref = fact
                            trail.append(value)
                            continue
                        value = value.ref
                    if value != fact or type(value) is not type(fact):
                        break
                else:
                    result = following(env, rest)
                    if result is not None:
                        return result
                if len(trail) > mark:
                    undo(mark)
            return None

        return run


def _kind_of(term: Term) -> Any:
    """Return the index key of a term: a constant, a name and arity, None for a variable."""
    if type(term) is Variable:
        return None
    return (term[0], len(term)) if type(term) is tuple else term

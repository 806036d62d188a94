"""The embedded Prolog interpreter: a compiled program that proves goals, within limits."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from assay.prolog.compiler import CompiledClause
from assay.prolog.environment import STOP, Env, Rest, Run, done
from assay.prolog.program import Program, library
from assay.prolog.reader import Clause
from assay.prolog.store import Meter, ProofLimits, Store
from assay.prolog.terms import Key, PrologError, Term, Variable, deref, indicator, key_of, show

Ready = tuple[tuple[Any, ...], tuple[Callable[[Env], Any], ...], Run]
Arguments = tuple[Term, ...]
FRAMES = 2
"""Python frames that one goal may take."""
LARGEST_INDEX = 1_000_000
"""The most entries that clauses without a first argument may take in an index."""
SMALL = 8
"""Fewer facts than this are looked through one by one."""


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

    def caller(self, machine: "Machine", arguments: Callable[[Env], Arguments], following: Run) -> Run:
        """Return the function of a goal that calls this predicate."""
        trail, undo = machine.store.trail, machine.store.undo
        left, look = machine.meter.left, machine.meter.look
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

    def caller(self, machine: "Machine", arguments: Callable[[Env], Arguments], following: Run) -> Run:
        """Return the function of a goal that looks up facts."""
        trail, undo = machine.store.trail, machine.store.undo
        left, look = machine.meter.left, machine.meter.look
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


class Machine:
    """A compiled program; `tables` are the predicates whose facts come with each world."""

    def __init__(self, program: Program, tables: Iterable[Key] = (), limits: ProofLimits | None = None) -> None:
        self.limits = limits or ProofLimits()
        self.meter = Meter(self.limits, program.name)
        self.store = Store(self.meter)
        keys = [key for key in tables if key not in program.clauses]
        self.tables: Mapping[Key, FactTable] = {key: FactTable(key) for key in keys}
        whole = program.complete(self.tables)  # refuses what nobody defines, before anything runs
        self.program = whole
        self.predicates: dict[Key, Predicate] = dict(self.tables)
        for key in (*whole.declared, *whole.clauses):
            self.predicates.setdefault(key, Predicate(key))
        with self._deep():
            for key, clauses in whole.clauses.items():
                name = whole.name if key in program.clauses else "library"
                self.predicates[key].load([(clause, self._ready(clause, name)) for clause in clauses])

    def _ready(self, clause: Clause, name: str) -> Ready:
        where = f"{name} line {clause.line}"
        try:
            return CompiledClause(self, clause.head, clause.body, where).parts()
        except RecursionError:
            raise PrologError(f"{where}: a term is too long, or nested too deep") from None

    def query(self, name: str, arity: int) -> Callable[[Arguments], bool]:
        """Return a function that says whether a goal with these arguments can be proved."""
        key = (name, arity)
        if key not in self.predicates:
            raise PrologError(f"{self.program.name} defines no {indicator(key)}, which decides the label")
        goal_arguments: list[Arguments] = [()]
        run = self.predicates[key].caller(self, lambda env: goal_arguments[0], done)
        meter, store, rule = self.meter, self.store, f"{self.program.name} ({indicator(key)})"

        def ask(arguments: Arguments) -> bool:
            goal_arguments[0] = arguments
            meter.rule = rule
            meter.start()
            try:
                return run([], STOP) is True
            except RecursionError:
                raise self.too_deep() from None
            finally:
                store.undo(0)

        return ask

    @contextmanager
    def running(self, worlds: int = 1) -> Iterator[None]:
        """Allow proofs as deep as the limits say, and start the clock for so many worlds."""
        with self._deep():
            self.meter.restart(worlds)
            yield

    @contextmanager
    def _deep(self) -> Iterator[None]:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, FRAMES * self.limits.depth + 1000))
        try:
            yield
        finally:
            sys.setrecursionlimit(before)

    def too_deep(self) -> PrologError:
        """Return the error of a proof that goes too deep."""
        return self.meter.limit_error(f"the depth limit of {self.limits.depth:,} goals")

    def has_predicate(self, key: Key) -> bool:
        """Return whether a predicate has clauses or facts, loading it from the library if it is there."""
        if key not in self.predicates and key in library():
            self.predicates[key] = Predicate(key)
            clauses = library()[key]
            self.predicates[key].load([(clause, self._ready(clause, "library")) for clause in clauses])
        return key in self.predicates

    def dynamic(self, arguments: Callable[[Env], Arguments], following: Run, where: str) -> Run:
        """Return the function of `call/N`, whose goal is known only when it runs."""
        last = following is done

        def run(env: Env, rest: Rest) -> Any:
            goal, *more = arguments(env)
            goal = deref(goal)
            if type(goal) not in (str, tuple):
                raise PrologError(f"{where}: call/{len(more) + 1} wants a goal, not {show(goal)}")
            if more:
                goal = (*goal, *more) if type(goal) is tuple else (goal, *more)
            after = rest if last else (following, env, rest)
            return self.call_goal(goal, where, after)

        return run

    def call_goal(self, goal: Term, where: str, after: Rest) -> Any:
        """Run a goal that was built by the program."""
        key = key_of(goal)
        if self.has_predicate(key):
            run = self.predicates[key].caller(self, lambda env: goal[1:] if type(goal) is tuple else (), done)
            return run([], after)
        self.store.step()
        template, _, body = CompiledClause(self, "call", goal, where, live=True).parts()
        inside = [*template]
        result = body(inside, after)
        return None if result is inside else result


def _kind_of(term: Term) -> Any:
    """Return the index key of a term: a constant, a name and arity, None for a variable."""
    if type(term) is Variable:
        return None
    return (term[0], len(term)) if type(term) is tuple else term

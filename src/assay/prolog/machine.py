"""The embedded Prolog interpreter: clauses compiled to Python closures, and goals proved within limits.

A goal becomes a function `run(env, rest)`: `env` holds the clause's arguments, constants and variables, `rest` is what
remains to be proved after the clause, as `(run, env, rest)`. It returns None where it fails, True where the proof is
complete, and the `env` of a clause whose alternatives a cut throws away. Variables that meet their first use are set,
not unified; calls are plain Python calls, so the depth of a proof is Python's own.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from assay.prolog import arithmetic
from assay.prolog.builtins import ANSWERS, TESTS
from assay.prolog.clauses import STOP, Arguments, Env, FactTable, Make, Predicate, Ready, Rest, Run, Step, done
from assay.prolog.control import Control
from assay.prolog.program import Program, library
from assay.prolog.reader import Clause
from assay.prolog.store import Meter, ProofLimits, Store
from assay.prolog.terms import Key, PrologError, Term, Tick, Variable, deref, indicator, key_of, show

FRAMES = 2
"""Python frames that one goal may take."""
COMPILED = 10
"""A compiled goal takes the memory of so many parts of a term."""


class CompiledClause(Control):
    """A clause as (constants and empty places that follow the arguments, tests of the head, body)."""

    def __init__(self, machine: "Machine", head: Term, body: Term, where: str, live: bool = False) -> None:
        """With `live`, variables are those of a running proof, and stay what they are."""
        super().__init__(machine.store, head, where, live)
        self.machine = machine
        self.run: Run = self.goal(body)(done)

    def parts(self) -> tuple[tuple[Any, ...], tuple[Step, ...], Run]:
        """Return the parts that the machine runs."""
        return tuple(self.template), tuple(self.matchers), self.run

    def goal(self, term: Term) -> Make:
        """Return how to make a goal's function."""
        if self.live:
            self.store.build(COMPILED)
        term = deref(term)
        if type(term) is Variable:
            term = ("call", term)
        key = key_of(term)
        if key in CONTROL_MAKERS:
            return CONTROL_MAKERS[key](self, term)
        if key[0] == "call" and key[1] > 1 and key not in self.machine.predicates:
            return self._call_more(term)
        if self.machine.has_predicate(key):
            return self._user(self.machine.predicates[key], self.arguments_of(term))
        if key[0] in arithmetic.COMPARE and key[1] == 2:
            return self._comparison(term)
        if key == ("is", 2):
            return self._is(term)
        if key == ("=", 2):
            return self._unify(term)
        if key in TESTS:
            return self._test(key, term)
        if key in ANSWERS:
            return self._answers(key, term)
        raise self.error(f"no predicate {indicator(key)}")

    # goals that need no control: calls of predicates, tests, generators, unification and arithmetic

    def _user(self, predicate: Predicate, arguments: Callable[[Env], tuple[Term, ...]]) -> Make:
        store = self.store
        return lambda following: predicate.caller(store, arguments, following)

    def _call_more(self, term: Term) -> Make:
        """Compile `call/N`, whose goal is known only when it runs."""
        arguments, machine, where = self.arguments_of(term), self.machine, self.where

        def make(following: Run) -> Run:
            last = following is done

            def run(env: Env, rest: Rest) -> Any:
                goal, *more = arguments(env)
                goal = deref(goal)
                if type(goal) not in (str, tuple):
                    raise PrologError(f"{where}: call/{len(more) + 1} wants a goal, not {show(goal)}")
                if more:
                    goal = (*goal, *more) if type(goal) is tuple else (goal, *more)
                after = rest if last else (following, env, rest)
                return machine.call_goal(goal, where, after)

            return run

        return make

    def _test(self, key: Key, term: Term) -> Make:
        test, arguments, store, error = TESTS[key], self.arguments_of(term), self.store, self.error

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                try:
                    holds = test(store, arguments(env))
                except PrologError as problem:
                    raise _located(problem, error, term) from None
                return following(env, rest) if holds else None

            return run

        return make

    def _answers(self, key: Key, term: Term) -> Make:
        answers, arguments, store, error = ANSWERS[key], self.arguments_of(term), self.store, self.error

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                store.step()
                mark = len(store.trail)
                try:
                    for _ in answers(store, arguments(env)):
                        result = following(env, rest)
                        if result is not None:
                            return result
                except PrologError as problem:
                    raise _located(problem, error, term) from None
                store.undo(mark)
                return None

            return run

        return make

    def _unify(self, term: Term) -> Make:
        arguments, unify = self.arguments_of(term), self.store.unify

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                left, right = arguments(env)
                return following(env, rest) if unify(left, right) else None

            return run

        return make

    def _comparison(self, term: Term) -> Make:
        left, right = self.number(term[1]), self.number(term[2])
        holds, error = arithmetic.COMPARE[term[0]], self.error

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                try:
                    truth = holds(left(env), right(env))
                except PrologError as problem:
                    raise _located(problem, error, term) from None
                return following(env, rest) if truth else None

            return run

        return make

    def _is(self, term: Term) -> Make:
        value = self.number(term[2])
        steps: list[Step] = []
        new = type(term[1]) is Variable and not self.live and id(term[1]) not in self.bound_variables
        place = self.operand(term[1], steps)
        unify, error = self.store.unify, self.error

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                try:
                    result = value(env)
                except PrologError as problem:
                    raise _located(problem, error, term) from None
                if new:
                    env[place] = result
                    return following(env, rest)
                for step in steps:
                    step(env)
                return following(env, rest) if unify(env[place], result) else None

            return run

        return make

    def number(self, term: Term) -> Step:
        """Return a function that gives the value of an arithmetic term."""
        term, tick = deref(term), self.store.step
        if type(term) in (int, float):
            return lambda env: term
        if type(term) is Variable:
            if not self.live and id(term) not in self.bound_variables:
                return lambda env: arithmetic.value_of(Variable(), tick)  # says that it is unbound, if it comes to that
            return _value_at(self.operand(term, []), tick)
        if type(term) is not tuple:
            try:
                known = arithmetic.value_of(term, tick)
            except PrologError as problem:
                raise self.error(problem) from None
            return lambda env: known
        return self._applied(term)

    def _applied(self, term: Term) -> Step:
        if term[0] == "." and len(term) == 3:
            if deref(term[2]) == "[]":
                return self.number(term[1])
            build, tick = self.builder(term), self.store.step  # its tail may be empty when it runs
            return lambda env: arithmetic.value_of(build(env), tick)
        try:
            function = arithmetic.function_of(term[0], len(term) - 1)
        except PrologError as problem:
            raise self.error(problem) from None
        if len(term) == 3 and term[0] in ("+", "*"):
            return self._chain(term, function)
        values = [self.number(part) for part in term[1:]]
        if len(values) == 2:
            left, right = values
            return lambda env: arithmetic.apply_function(function, [left(env), right(env)])
        only = values[0]
        return lambda env: arithmetic.apply_function(function, [only(env)])

    def _chain(self, term: Term, function: Callable[..., Any]) -> Step:
        """Return the value of a sum or product, however long, without going deeper."""
        operator, operands = term[0], []
        while type(term) is tuple and len(term) == 3 and term[0] == operator:
            operands.append(term[2])
            term = deref(term[1])
        values = [self.number(part) for part in (term, *reversed(operands))]
        return lambda env: arithmetic.chained(function, [value(env) for value in values])


def _located(problem: PrologError, error: Callable[[object], PrologError], term: Term) -> PrologError:
    """Return an error with the place it came from, unless it names one already."""
    if getattr(problem, "located", False) or "was stopped at" in str(problem):
        return problem
    located = error(f"{problem}, in '{show(term)}'")
    located.located = True  # type: ignore[attr-defined]
    return located


def _value_at(place: int, tick: Tick) -> Step:
    value_of = arithmetic.value_of

    def value(env: Env) -> Any:
        term = env[place]
        return term if type(term) is int else value_of(term, tick)

    return value


CONTROL_MAKERS: dict[Key, Callable[[Control, Term], Make]] = {
    (",", 2): Control.conjunction, (";", 2): Control.disjunction, ("->", 2): Control.if_then,
    ("*->", 2): Control.if_then, ("\\+", 1): Control.negation, ("not", 1): Control.negation, ("!", 0): Control.cut,
    ("once", 1): Control.once, ("ignore", 1): Control.ignore, ("forall", 2): Control.forall,
    ("findall", 3): Control.findall, ("aggregate_all", 3): Control.aggregate, ("bagof", 3): Control.bagof,
    ("setof", 3): Control.bagof, ("call", 1): Control.call,
}  # fmt: skip


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
        run = self.predicates[key].caller(self.store, lambda env: goal_arguments[0], done)
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

    def call_goal(self, goal: Term, where: str, after: Rest) -> Any:
        """Run a goal that was built by the program."""
        key = key_of(goal)
        if self.has_predicate(key):
            run = self.predicates[key].caller(self.store, lambda env: goal[1:] if type(goal) is tuple else (), done)
            return run([], after)
        self.store.step()
        template, _, body = CompiledClause(self, "call", goal, where, live=True).parts()
        inside = [*template]
        result = body(inside, after)
        return None if result is inside else result

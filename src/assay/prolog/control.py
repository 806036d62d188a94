"""Control: conjunction, disjunction, cut, if-then-else, negation, and all that collects answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from assay.prolog import arithmetic
from assay.prolog.clauses import CUT, STOP, ClauseEnvironment, Env, Make, Rest, Run, Step, done
from assay.prolog.store import Store
from assay.prolog.terms import Key, PrologError, Term, Variable, as_list, chain_of, deref, free_vars, key_of, show


class Control(ClauseEnvironment, ABC):
    """Makes the functions of control goals; `local` says that a cut belongs to a condition."""

    local = False

    @abstractmethod
    def goal(self, term: Term) -> Make:
        """Return how to make a goal's function."""

    def conjunction(self, term: Term) -> Make:
        """Compile `a, b`."""
        makers = [self.goal(part) for part in chain_of(term, ",")]

        def make(following: Run) -> Run:
            for maker in reversed(makers):
                following = maker(following)
            return following

        return make

    def branches(self, terms: Sequence[Term]) -> tuple[Step | None, list[Make]]:
        """Compile terms of which one is run; variables that are new to them are set before."""
        begin = self.introduce(("f", *terms))
        return begin, [self.inner(term, local=self.local) for term in terms]

    def inner(self, term: Term, local: bool) -> Make:
        """Compile a part where a cut is local to a condition, or is not."""
        outer, self.local = self.local, local
        make = self.goal(term)
        self.local = outer
        return make

    def cut(self, term: Term) -> Make:
        """Compile `!`: what fails after it throws the clause's alternatives away."""
        local = self.local

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                result = following(env, rest)
                if result is None:
                    return CUT if local else env
                return result

            return run

        return make

    def disjunction(self, term: Term) -> Make:
        """Compile `a ; b`, and `if -> then ; else`."""
        first = deref(term[1])
        if type(first) is tuple and len(first) == 3 and first[0] in ("->", "*->"):
            return self._if(first[0], first[1], first[2], term[2])
        options = chain_of(term, ";")
        plain = []
        for place, option in enumerate(options):
            if type(option) is tuple and option[0] in ("->", "*->") and len(option) == 3 and place < len(options) - 1:
                rest = options[place + 1 :]
                chained = rest[-1]
                for branch in reversed(rest[:-1]):
                    chained = (";", branch, chained)
                plain.append((";", option, chained))
                break
            plain.append(option)
        begin, makers = self.branches(plain)
        store = self.store

        def make(following: Run) -> Run:
            runs = [branch(following) for branch in makers]

            def run(env: Env, rest: Rest) -> Any:
                if begin is not None:
                    begin(env)
                mark = len(store.trail)
                for branch in runs:
                    result = branch(env, rest)
                    if result is not None:
                        return result
                    store.undo(mark)
                return None

            return run

        return make

    def _if(self, arrow: str, condition: Term, then: Term, otherwise: Term) -> Make:
        if arrow == "*->" and "!" in _atoms(condition):
            raise self.error("a cut inside the condition of '*->' is not understood; use '->'")
        begin = self.introduce(("f", condition, then, otherwise))
        test = self.inner(condition, local=True)
        chosen, other = self.inner(then, self.local), self.inner(otherwise, self.local)
        return self._soft(begin, test, chosen, other) if arrow == "*->" else self._hard(begin, test, chosen, other)

    def _hard(self, begin: Step | None, test: Make, then: Make, otherwise: Make) -> Make:
        store = self.store
        condition = test(done)

        def make(following: Run) -> Run:
            chosen, other = then(following), otherwise(following)

            def run(env: Env, rest: Rest) -> Any:
                if begin is not None:
                    begin(env)
                mark = len(store.trail)
                if condition(env, STOP) is True:
                    return chosen(env, rest)
                store.undo(mark)
                return other(env, rest)

            return run

        return make

    def _soft(self, begin: Step | None, test: Make, then: Make, otherwise: Make) -> Make:
        store = self.store

        def make(following: Run) -> Run:
            chosen, other = then(following), otherwise(following)

            def go_on(env: Env, rest: Rest) -> Any:
                flag, after = rest
                flag.append(True)
                return chosen(env, after)

            condition = test(go_on)

            def run(env: Env, rest: Rest) -> Any:
                if begin is not None:
                    begin(env)
                mark = len(store.trail)
                flag: list[bool] = []
                result = condition(env, (flag, rest))
                if result is not None or flag:
                    return result
                store.undo(mark)
                return other(env, rest)

            return run

        return make

    def if_then(self, term: Term) -> Make:
        """Compile an if-then without an else."""
        return self._if(term[0], term[1], term[2], "fail")

    def negation(self, term: Term) -> Make:
        r"""Compile `\+ a`."""
        begin = self.introduce(term[1])
        inner = self.inner(term[1], local=True)(done)
        store = self.store

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                if begin is not None:
                    begin(env)
                mark = len(store.trail)
                holds = inner(env, STOP) is True
                store.undo(mark)
                return None if holds else following(env, rest)

            return run

        return make

    def once(self, term: Term) -> Make:
        """Compile `once(a)`."""
        return self._if("->", term[1], "true", "fail")

    def ignore(self, term: Term) -> Make:
        """Compile `ignore(a)`."""
        return self._if("->", term[1], "true", "true")

    def forall(self, term: Term) -> Make:
        """Compile `forall(a, b)`: there is no `a` without `b`."""
        return self.negation(("\\+", (",", term[1], ("\\+", term[2]))))

    def collector(self, template: Term, goal: Term) -> Callable[[Env], list[Term]]:
        """Return a function that gives a copy of the template for each answer of a goal."""
        begin = self.introduce(("f", template, goal))
        build = self.builder(template)
        inner = self.inner(goal, local=True)
        store = self.store

        def keep(env: Env, answers: Rest) -> Any:
            store.build()
            answers.append(store.copy(build(env)))
            return None

        prove = inner(keep)

        def collect(env: Env) -> list[Term]:
            if begin is not None:
                begin(env)
            answers: list[Term] = []
            mark = len(store.trail)
            prove(env, answers)
            store.undo(mark)
            return answers

        return collect

    def findall(self, term: Term) -> Make:
        """Compile `findall`."""
        return self._gathered(self.collector(term[1], term[2]), lambda store, answers: as_list(answers), term[3])

    def aggregate(self, term: Term) -> Make:
        """Compile `aggregate_all`."""
        what = deref(term[1])
        key = key_of(what) if type(what) in (str, tuple) else ("", 0)
        if key not in AGGREGATES:
            raise self.error(
                f"aggregate_all/3 knows count, count(X), sum(X), max(X), min(X), bag(X), set(X), not {show(what)}"
            )
        template = what[1] if type(what) is tuple else "x"
        return self._gathered(self.collector(template, term[2]), AGGREGATES[key], term[3])

    def _gathered(
        self, collect: Callable[[Env], list[Term]], result: Callable[[Store, list[Term]], Term], answer: Term
    ) -> Make:
        steps: list[Step] = []
        place, store, error = self.operand(answer, steps), self.store, self.error

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                answers = collect(env)
                for step in steps:
                    step(env)
                try:
                    value = result(store, answers)
                except PrologError as problem:
                    raise error(problem) from None
                return following(env, rest) if value is not None and store.unify(env[place], value) else None

            return run

        return make

    def bagof(self, term: Term) -> Make:
        """Compile `bagof` and `setof`, which try each value of the variables that are free in the goal."""
        goal, hidden = deref(term[2]), [deref(term[1])]
        while type(goal) is tuple and goal[0] == "^" and len(goal) == 3:
            hidden.append(goal[1])
            goal = deref(goal[2])
        inside = {id(variable) for part in hidden for variable in free_vars(part)}
        free = [variable for variable in free_vars(goal) if id(variable) not in inside]
        witness: Term = ("v", *free) if free else "v"
        collect = self.collector(("-", witness, term[1]), goal)
        build = self.builder(witness)
        steps: list[Step] = []
        place, store, distinct = self.operand(term[3], steps), self.store, term[0] == "setof"

        def make(following: Run) -> Run:
            def run(env: Env, rest: Rest) -> Any:
                groups = _groups(store, collect(env), distinct)
                for step in steps:
                    step(env)
                mark = len(store.trail)
                for value, members in groups:
                    if store.unify(build(env), value) and store.unify(env[place], as_list(members)):
                        proof = following(env, rest)
                        if proof is not None:
                            return proof
                    store.undo(mark)
                return None

            return run

        return make

    def call(self, term: Term) -> Make:
        """Compile `call(a)`; a goal that is known is compiled as it stands."""
        inner = deref(term[1])
        if type(inner) is not Variable and not self.live and "!" not in _atoms(inner):
            return self.goal(inner)
        return self._call_more(term)

    @abstractmethod
    def _call_more(self, term: Term) -> Make:
        """Compile a call whose goal is known only when it runs."""


def _groups(store: Store, pairs: list[Term], distinct: bool) -> list[tuple[Term, list[Term]]]:
    groups: list[tuple[Term, list[Term]]] = []
    for pair in sorted(pairs, key=lambda pair: store.order(pair[1])):
        if groups and store.compare(groups[-1][0], pair[1]) == 0:
            groups[-1][1].append(pair[2])
        else:
            groups.append((pair[1], [pair[2]]))
    return [(value, store.in_order(members, True) if distinct else members) for value, members in groups]


def _atoms(term: Term) -> set[str]:
    atoms, waiting, seen = set(), [term], set[int]()
    while waiting:
        part = deref(waiting.pop())
        if type(part) is tuple:
            if id(part) in seen:
                continue
            seen.add(id(part))
            waiting.extend(part[1:])
        elif type(part) is str:
            atoms.add(part)
    return atoms


def _numbers(store: Store, terms: list[Term]) -> list[Any]:
    return [arithmetic.value_of(item, store.step) for item in terms]


AGGREGATES: dict[Key, Callable[[Store, list[Term]], Term]] = {
    ("count", 0): lambda store, answers: len(answers), ("count", 1): lambda store, answers: len(answers),
    ("sum", 1): lambda store, answers: arithmetic.total_of(_numbers(store, answers)),
    ("max", 1): lambda store, answers: max(_numbers(store, answers), default=None),
    ("min", 1): lambda store, answers: min(_numbers(store, answers), default=None),
    ("bag", 1): lambda store, answers: as_list(answers),
    ("set", 1): lambda store, answers: as_list(store.in_order(answers, True)),
}  # fmt: skip

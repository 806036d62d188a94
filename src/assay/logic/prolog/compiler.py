"""Clauses compiled to Python closures.

A goal becomes a function `run(env, rest)`: `env` holds the clause's arguments, constants and variables, `rest` is what
remains to be proved after the clause, as `(run, env, rest)`. It returns None where it fails, True where the proof is
complete, and the `env` of a clause whose alternatives a cut throws away. Variables that meet their first use are set,
not unified; calls are plain Python calls, so the depth of a proof is Python's own.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assay.logic.prolog import arithmetic
from assay.logic.prolog.builtins import ANSWERS, TESTS
from assay.logic.prolog.control import Control
from assay.logic.prolog.environment import Make, Run, Step, done
from assay.logic.prolog.terms import Key, Term, Variable, deref, key_of, predicate_name

if TYPE_CHECKING:
    from assay.logic.prolog.machine import Machine


class CompiledClause(Control):
    """A clause as (constants and empty places that follow the arguments, tests of the head, body)."""

    def __init__(self, machine: "Machine", head: Term, body: Term, where: str, live: bool = False) -> None:
        """With `live`, variables are those of a running proof, and stay what they are."""
        super().__init__(machine, head, where, live)
        self.run: Run = self.goal(body)(done)

    def parts(self) -> tuple[tuple[Any, ...], tuple[Step, ...], Run]:
        """Return the parts that the machine runs."""
        return tuple(self.template), tuple(self.matchers), self.run

    def goal(self, term: Term) -> Make:
        """Return how to make a goal's function."""
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
        raise self.error(f"no predicate {predicate_name(key)}")


CONTROL_MAKERS: dict[Key, Callable[[Control, Term], Make]] = {
    (",", 2): Control.conjunction, (";", 2): Control.disjunction, ("->", 2): Control.if_then,
    ("*->", 2): Control.if_then, ("\\+", 1): Control.negation, ("not", 1): Control.negation, ("!", 0): Control.cut,
    ("once", 1): Control.once, ("ignore", 1): Control.ignore, ("forall", 2): Control.forall,
    ("findall", 3): Control.findall, ("aggregate_all", 3): Control.aggregate, ("bagof", 3): Control.bagof,
    ("setof", 3): Control.bagof, ("call", 1): Control.call,
}  # fmt: skip

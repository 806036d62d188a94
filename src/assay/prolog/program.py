"""A program: its clauses by predicate, read and checked before anything runs.

It may use a library that is written in Prolog itself, and predicates that a task defines for its users' programs; a
program's own definitions come first.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

from assay.base import suggestion
from assay.prolog.builtins import ANSWERS, CONTROL, IN_LISTS, TESTS
from assay.prolog.reader import Clause, Sentence, sentences
from assay.prolog.terms import (
    Key,
    PrologError,
    Term,
    Variable,
    chain_of,
    deref,
    indicator,
    items_of,
    key_of,
    show,
)

BUILT_IN: frozenset[Key] = frozenset(TESTS) | frozenset(ANSWERS) | CONTROL
GOALS_OF: dict[Key, tuple[int, ...]] = {
    (",", 2): (1, 2), (";", 2): (1, 2), ("->", 2): (1, 2), ("*->", 2): (1, 2), ("\\+", 1): (1,), ("not", 1): (1,),
    ("findall", 3): (2,), ("forall", 2): (1, 2), ("once", 1): (1,), ("ignore", 1): (1,), ("aggregate_all", 3): (2,),
    ("bagof", 3): (2,), ("setof", 3): (2,), ("^", 2): (2,), ("call", 1): (1,),
}  # fmt: skip
"""Which arguments of the control predicates are goals."""
CALLED: dict[str, tuple[int, int]] = {
    "maplist": (0, -1), "include": (0, 1), "exclude": (0, 1), "partition": (0, 1), "foldl": (0, 3),
}  # fmt: skip
"""Predicates whose first argument is a goal that lacks arguments: so many, or all others (-1)."""
LIBRARIES = ("lists", "apply", "aggregate", "pairs")
FORBIDDEN = frozenset({
    "shell", "open", "close", "consult", "load_files", "halt", "read", "write", "writeln", "print", "format", "nl",
    "tab", "assert", "asserta", "assertz", "retract", "see", "tell", "exec", "process_create", "delete_file", "system",
    "getenv", "setenv", "thread_create", "load_foreign_library",
})  # fmt: skip


@dataclass(frozen=True)
class Program:
    """Clauses by predicate in the order of the text, and what the program is called in messages."""

    name: str
    clauses: Mapping[Key, tuple[Clause, ...]]
    declared: frozenset[Key] = frozenset()

    @cached_property
    def called_predicates(self) -> frozenset[Key]:
        """The predicates that are called and neither defined here nor built in, libraries not yet looked at."""
        return frozenset(key for clauses in self.clauses.values() for clause in clauses for key, _ in calls(clause))

    def complete(self, known: Collection[Key] = ()) -> "Program":
        """Return the program with the library predicates it uses; raise if it calls what nobody defines.

        `known` are predicates that the facts of worlds will define.
        """
        clauses = dict(self.clauses)
        waiting = list(self.clauses)
        while waiting:
            for clause in clauses[waiting.pop()]:
                for key, term in calls(clause):
                    if key in clauses or key in BUILT_IN or key in known or key in self.declared:
                        continue
                    if key not in library():
                        raise self.unknown(key, clause, term, known)
                    clauses[key] = library()[key]
                    waiting.append(key)
        return Program(self.name, MappingProxyType(clauses), self.declared)

    def unknown(self, key: Key, clause: Clause, term: Term, known: Collection[Key]) -> PrologError:
        """Return the error about a predicate that nobody defines."""
        names = {indicator(k) for k in (*self.clauses, *BUILT_IN, *known, *library()) if not k[0].startswith("$")}
        hint = suggestion(indicator(key), names)
        hint = hint if "did you mean" in hint else ""
        if key[0] in FORBIDDEN:
            hint = "; a rule only decides, it cannot read, write or change anything"
        return PrologError(f"{self.name} line {clause.line}: no predicate {indicator(key)} in {show(term)!r}{hint}")

    def __str__(self) -> str:
        return "\n".join(str(clause) for clauses in self.clauses.values() for clause in clauses) + "\n"


def calls(clause: Clause) -> Iterator[tuple[Key, Term]]:
    """Give each predicate that a clause calls, and the goal."""
    waiting = [clause.body]
    while waiting:
        goal = deref(waiting.pop())
        if type(goal) is Variable:
            continue
        key = key_of(goal)
        for place in GOALS_OF.get(key, ()):
            waiting.append(goal[place])
        yield key, goal
        yield from _called(goal, key)


def _called(goal: Term, key: Key) -> Iterator[tuple[Key, Term]]:
    """Give the goal that a predicate such as `maplist` completes and calls."""
    name, arity = key
    missing = arity - 1 if name == "call" and arity > 1 else None
    if name in CALLED and arity > 1:
        missing = arity - 1 if CALLED[name][1] < 0 else CALLED[name][1]
    if missing is None:
        return
    part = deref(goal[1])
    if type(part) in (str, tuple):
        name, present = key_of(part)
        if (name, present) not in GOALS_OF:
            yield (name, present + missing), goal


def read_program(text: str, name: str = "program") -> Program:
    """Read a program and refuse what no rule may hold.

    >>> print(read_program("p(X) :- X > 1, ( q ; \\\\+ r ). q. r."))
    p(X) :- X > 1,(q ; \\+ r).
    q.
    r.
    <BLANKLINE>
    """
    return _read(text, name, BUILT_IN - IN_LISTS)


def head_of(program: Program) -> str:
    """Return the predicate of one argument that is the label: the only one that no other clause calls, or the last."""
    ones = [key[0] for key in program.clauses if key[1] == 1]
    if not ones:
        raise PrologError(f"{program.name} defines no predicate of one argument, which would decide the label")
    free = [name for name in ones if (name, 1) not in program.called_predicates]
    return free[0] if len(free) == 1 else ones[-1]


def _read(text: str, name: str, fixed: Collection[Key]) -> Program:
    predicates: dict[Key, list[Clause]] = {}
    declared: set[Key] = set()
    for sentence in sentences(text, name):
        term = sentence.term
        if type(term) is tuple and term[0] in (":-", "?-") and len(term) == 2:
            declared.update(_declared(sentence, name))
            continue
        clause = _clause(sentence, name)
        key = key_of(clause.head)
        if key in fixed:
            raise PrologError(f"{name} line {clause.line}: {indicator(key)} is built in and cannot be defined anew")
        predicates.setdefault(key, []).append(clause)
    clauses = {key: tuple(definition) for key, definition in predicates.items()}
    return Program(name, MappingProxyType(clauses), frozenset(declared))


def _clause(sentence: Sentence, name: str) -> Clause:
    term, body = sentence.term, "true"
    if type(term) is tuple and term[0] == ":-" and len(term) == 3:
        term, body = term[1], term[2]
    where = f"{name} line {sentence.line}"
    if type(term) is tuple and term[0] == "-->":
        raise PrologError(f"{where}: grammar rules (-->) are not understood; write clauses with ':-'")
    if type(term) not in (str, tuple):
        raise PrologError(f"{where}: {show(term)} cannot be the head of a clause")
    if type(term) is tuple and term[0] == ":":
        raise PrologError(f"{where}: a module qualifier in {show(term)!r} is not allowed")
    _check_goal(body, where, sentence)
    return Clause(term, body, sentence.line, sentence.names)


def _check_goal(goal: Term, where: str, sentence: Sentence) -> None:
    waiting = [goal]
    while waiting:
        part = waiting.pop()
        if type(part) is Variable:
            continue
        if type(part) not in (str, tuple):
            raise PrologError(f"{where}: {show(part)} is no goal")
        if type(part) is tuple:
            if part[0] == ":" and len(part) == 3:
                raise PrologError(f"{where}: a module qualifier in {show(part)!r} is not allowed")
            waiting.extend(part[place] for place in GOALS_OF.get(key_of(part), ()))


def _declared(sentence: Sentence, name: str) -> Iterator[Key]:
    """Give the predicates that a directive declares; refuse directives that do something."""
    goal = sentence.term[1]
    head = goal[0] if type(goal) is tuple else goal
    if head in ("dynamic", "discontiguous") and len(goal) == 2:
        for part in chain_of(goal[1], ","):
            for item in items_of(part) if type(part) is tuple and part[0] == "." else [part]:
                if not (type(item) is tuple and item[0] == "/" and type(item[2]) is int):
                    raise PrologError(f"{name} line {sentence.line}: {show(item)} is no name/arity")
                yield (item[1], item[2])
        return
    if head == "use_module" and goal[1] in [("library", library) for library in LIBRARIES]:
        return
    raise PrologError(
        f"{name} line {sentence.line}: the directive ':- {show(goal)}' is not allowed; "
        "allowed are dynamic, discontiguous and use_module of library(lists), (apply), (aggregate), (pairs)"
    )


@cache
def library() -> Mapping[Key, tuple[Clause, ...]]:
    """Return the predicates of the library."""
    return _read(LIBRARY, "library", ()).clauses


LIBRARY = r"""
append([], L, L).
append([H|T], L, [H|R]) :- append(T, L, R).
append(Ls, L) :- '$joined'(Ls, L).
'$joined'([], []).
'$joined'([L|Ls], As) :- append(L, Ws, As), '$joined'(Ls, Ws).
select(X, [X|T], T).
select(X, [H|T], [H|R]) :- select(X, T, R).
selectchk(X, L, R) :- select(X, L, R), !.
select(X, Xs, Y, Ys) :- '$select4'(Xs, X, Y, Ys).
'$select4'([X|T], X, Y, [Y|T]).
'$select4'([X|T], X1, Y, [X|T2]) :- '$select4'(T, X1, Y, T2).
exclude(_, [], []).
exclude(P, [X|Xs], R) :- ( call(P, X) -> R = R1 ; R = [X|R1] ), exclude(P, Xs, R1).
include(_, [], []).
include(P, [X|Xs], R) :- ( call(P, X) -> R = [X|R1] ; R = R1 ), include(P, Xs, R1).
partition(_, [], [], []).
partition(P, [X|Xs], I, E) :- ( call(P, X) -> I = [X|I1], E = E1 ; I = I1, E = [X|E1] ), partition(P, Xs, I1, E1).
maplist(_, []).
maplist(G, [A|As]) :- call(G, A), maplist(G, As).
maplist(_, [], []).
maplist(G, [A|As], [B|Bs]) :- call(G, A, B), maplist(G, As, Bs).
maplist(_, [], [], []).
maplist(G, [A|As], [B|Bs], [C|Cs]) :- call(G, A, B, C), maplist(G, As, Bs, Cs).
foldl(G, L, A0, A) :- '$foldl'(L, G, A0, A).
'$foldl'([], _, A, A).
'$foldl'([X|Xs], G, A0, A) :- call(G, X, A0, A1), '$foldl'(Xs, G, A1, A).
reverse(L, R) :- '$reverse'(L, [], R).
'$reverse'([], R, R).
'$reverse'([H|T], A, R) :- '$reverse'(T, [H|A], R).
last([X|Xs], Y) :- '$last'(Xs, X, Y).
'$last'([], X, X).
'$last'([X|Xs], _, Y) :- '$last'(Xs, X, Y).
nextto(X, Y, [X,Y|_]).
nextto(X, Y, [_|T]) :- nextto(X, Y, T).
permutation([], []).
permutation(L, [H|T]) :- select(H, L, R), permutation(R, T).
delete([], _, []).
delete([H|T], X, R) :- ( H \= X -> R = [H|R1] ; R = R1 ), delete(T, X, R1).
subtract([], _, []).
subtract([H|T], L, R) :- ( memberchk(H, L) -> R = R1 ; R = [H|R1] ), subtract(T, L, R1).
intersection([], _, []).
intersection([H|T], L, R) :- ( memberchk(H, L) -> R = [H|R1] ; R = R1 ), intersection(T, L, R1).
union([], L, L).
union([H|T], L, R) :- ( memberchk(H, L) -> R = R1 ; R = [H|R1] ), union(T, L, R1).
subset([], _).
subset([H|T], L) :- memberchk(H, L), subset(T, L).
sumlist(L, S) :- sum_list(L, S).
prefix([], _).
prefix([H|T], [H|R]) :- prefix(T, R).
pairs_keys_values([], [], []).
pairs_keys_values([K-V|T], [K|Ks], [V|Vs]) :- pairs_keys_values(T, Ks, Vs).
pairs_keys([], []).
pairs_keys([K-_|T], [K|Ks]) :- pairs_keys(T, Ks).
pairs_values([], []).
pairs_values([_-V|T], [V|Vs]) :- pairs_values(T, Vs).
"""


def with_predefined(text: str, predefined: str, known: Collection[Key] = (), name: str = "program") -> str:
    """Return a program, followed by the predefined predicates that it needs and does not define itself.

    >>> print(with_predefined("p(X) :- q(X).", "q(X) :- r(X). r(1). s(2)."))
    p(X) :- q(X).
    <BLANKLINE>
    q(X) :- r(X).
    r(1).

    Parameters
    ----------
    text
        The program of a user.
    predefined
        What a task defines for its users' programs.
    known
        Predicates that the facts of worlds will define.
    name
        What the program is called in messages.
    """
    program, shelf = read_program(text, name), read_program(predefined, "predefined")
    clauses = [str(clause) for clause in _needed(program, shelf, known)]
    return "\n".join([text, "", *clauses]) if clauses else text


def _needed(program: Program, shelf: Program, known: Collection[Key]) -> Iterator[Clause]:
    """Give the clauses that are needed; raise if the program calls what nobody defines."""
    there = {*program.clauses, *program.declared, *BUILT_IN, *known}
    waiting = [clause for clauses in program.clauses.values() for clause in clauses]
    while waiting:
        clause = waiting.pop(0)
        for key, term in calls(clause):
            if key in there or (key not in shelf.clauses and key in library()):
                continue
            if key not in shelf.clauses:
                raise program.unknown(key, clause, term, [*known, *shelf.clauses])
            there.add(key)
            waiting += shelf.clauses[key]
            yield from shelf.clauses[key]

"""The predicates that are written in Python: tests that hold or not, and generators of one answer after another."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

from assay.prolog.arithmetic import COMPARE, apply_function, total_of, value_of
from assay.prolog.store import Store
from assay.prolog.terms import (
    MOST_DIGITS,
    MOST_PARTS,
    NIL,
    PAIR,
    Key,
    PrologError,
    Term,
    Text,
    Variable,
    as_list,
    deref,
    free_vars,
    intern,
    show,
)  # fmt: skip

Arguments = tuple[Term, ...]
Test = Callable[[Store, Arguments], bool]
Answers = Callable[[Store, Arguments], Iterator[None]]
LETTERS = 50
"""So many letters of an atom take the memory of one part of a term."""


def _kind(*kinds: type) -> Test:
    return lambda _, args: type(deref(args[0])) in kinds


def _ordered(wanted: Callable[[int], bool]) -> Test:
    return lambda store, args: wanted(store.compare(args[0], args[1]))


def _is_list(store: Store, args: Arguments) -> bool:
    term = deref(args[0])
    while type(term) is tuple and term[0] == PAIR and len(term) == 3:
        store.step()
        term = deref(term[2])
    return bool(term == NIL)


def _not_unifiable(store: Store, args: Arguments) -> bool:
    mark = len(store.trail)
    same = store.unify(args[0], args[1])
    store.undo(mark)
    return not same


def _memberchk(store: Store, args: Arguments) -> bool:
    term, mark = deref(args[1]), len(store.trail)
    while type(term) is tuple and term[0] == PAIR:
        store.step()
        if store.unify(args[0], term[1]):
            return True
        store.undo(mark)
        term = deref(term[2])
    return type(term) is Variable and store.unify(term, (PAIR, args[0], Variable()))


def _numbers(store: Store, args: Arguments) -> list[int | float]:
    return [value_of(item, store.step) for item in store.items(args[0])]


def _extreme(pick: Callable[[Any], Any]) -> Test:
    def test(store: Store, args: Arguments) -> bool:
        numbers = _numbers(store, args)
        return bool(numbers) and store.unify(args[1], pick(numbers))

    return test


def _extreme_member(sign: int) -> Test:
    def test(store: Store, args: Arguments) -> bool:
        items = list(store.items(args[1]))
        if not items:
            return False
        best = items[0]
        for item in items[1:]:
            best = item if store.compare(item, best) * sign > 0 else best
        return store.unify(args[0], best)

    return test


def _sorted(distinct: bool) -> Test:
    return lambda store, args: store.unify(args[1], as_list(store.in_order(list(store.items(args[0])), distinct)))


def _sort4(store: Store, args: Arguments) -> bool:
    place, order = deref(args[0]), deref(args[1])
    if type(place) is not int or place < 0 or order not in ("@<", "@=<", "@>", "@>="):
        raise PrologError(f"sort/4 wants a place from 0 and one of @<, @=<, @>, @>=, not {show(place)}, {show(order)}")
    items = list(store.items(args[2]))
    for item in items:
        if place and not (type(deref(item)) is tuple and len(deref(item)) > place):
            raise PrologError(f"sort/4: {show(item)} has no argument {place}")
    by = store.order
    keyed = sorted(items, key=lambda item: by(deref(item)[place] if place else item), reverse=order in ("@>", "@>="))
    if order in ("@<", "@>"):
        keys = [deref(item)[place] if place else item for item in keyed]
        keyed = [item for at, item in enumerate(keyed) if at == 0 or store.compare(keys[at - 1], keys[at])]
    return store.unify(args[3], as_list(keyed))


def _keysort(store: Store, args: Arguments) -> bool:
    return _sort4(store, (1, "@=<", args[0], args[1]))


def _list_to_set(store: Store, args: Arguments) -> bool:
    distinct: list[Term] = []
    for item in store.items(args[0]):
        if all(store.compare(item, other) for other in distinct):
            distinct.append(item)
    return store.unify(args[1], as_list(distinct))


def _functor(store: Store, args: Arguments) -> bool:
    term = deref(args[0])
    if type(term) is tuple:
        return store.unify(args[1], term[0]) and store.unify(args[2], len(term) - 1)
    if type(term) is not Variable:
        return store.unify(args[1], term) and store.unify(args[2], 0)
    name, arity = deref(args[1]), deref(args[2])
    if type(arity) is not int or not 0 <= arity <= 1000 or type(name) in (Variable, tuple):
        raise PrologError("functor/3 wants a term, or a name and a number of arguments")
    store.build(arity)
    return store.unify(term, (name, *[Variable() for _ in range(arity)]) if arity else name)


def _univ(store: Store, args: Arguments) -> bool:
    term = deref(args[0])
    if type(term) is tuple:
        return store.unify(args[1], as_list(term))
    if type(term) is not Variable:
        return store.unify(args[1], as_list([term]))
    cells = [deref(item) for item in store.items(args[1])]
    if not cells or (len(cells) > 1 and type(cells[0]) is not str):
        raise PrologError("=.. wants a term, or a list that begins with a name")
    return store.unify(term, tuple(cells) if len(cells) > 1 else cells[0])


def _succ(store: Store, args: Arguments) -> bool:
    left, right = deref(args[0]), deref(args[1])
    if type(left) is int and left >= 0:
        return store.unify(right, left + 1)
    if type(right) is int and right >= 0 and type(left) is Variable:
        return right > 0 and store.unify(left, right - 1)
    raise PrologError("succ/2 wants a whole number from 0")


def _plus(store: Store, args: Arguments) -> bool:
    left, right, total = (deref(part) for part in args)
    if type(total) is Variable:
        return store.unify(total, apply_function(operator.add, _values(store, left, right)))
    if type(right) is Variable:
        return store.unify(right, apply_function(operator.sub, _values(store, total, left)))
    return store.unify(left, apply_function(operator.sub, _values(store, total, right)))


def _values(store: Store, *terms: Term) -> list[int | float]:
    return [value_of(term, store.step) for term in terms]


def _text_of(term: Term) -> str:
    term = deref(term)
    if type(term) in (Variable, tuple):
        raise PrologError(f"a text or number is wanted, not {show(term)}")
    if type(term) is int and term.bit_length() > 3 * MOST_DIGITS:
        raise PrologError(f"a number of more than {MOST_DIGITS:,} digits is not written out")
    return str(term)


def _atom_length(store: Store, args: Arguments) -> bool:
    return store.unify(args[1], len(_text_of(args[0])))


def _atom_chars(store: Store, args: Arguments) -> bool:
    term = deref(args[0])
    if type(term) is not Variable:
        text = _text_of(term)
        store.build(len(text))
        return store.unify(args[1], as_list(intern(letter) for letter in text))
    parts = [_text_of(item) for item in store.items(args[1])]
    store.build(sum(map(len, parts)) // LETTERS)
    return store.unify(term, intern("".join(parts)))


def _atom_number(store: Store, args: Arguments) -> bool:
    term = deref(args[0])
    if type(term) is Variable:
        return store.unify(term, intern(_text_of(args[1])))
    text = _text_of(term)
    if len(text) > MOST_DIGITS:
        raise PrologError(f"a number of more than {MOST_DIGITS:,} digits is not read")
    try:
        return store.unify(args[1], int(text) if text.lstrip("-").isdigit() else float(text))
    except ValueError:
        return False


TESTS: dict[Key, Test] = {
    ("\\=", 2): _not_unifiable,
    ("==", 2): _ordered(lambda sign: sign == 0), ("\\==", 2): _ordered(lambda sign: sign != 0),
    ("@<", 2): _ordered(lambda sign: sign < 0), ("@>", 2): _ordered(lambda sign: sign > 0),
    ("@=<", 2): _ordered(lambda sign: sign <= 0), ("@>=", 2): _ordered(lambda sign: sign >= 0),
    ("compare", 3): lambda store, args: store.unify(args[0], "=><"[store.compare(args[1], args[2])]),
    ("var", 1): _kind(Variable), ("nonvar", 1): lambda _, args: type(deref(args[0])) is not Variable,
    ("atom", 1): _kind(str), ("number", 1): _kind(int, float), ("integer", 1): _kind(int), ("float", 1): _kind(float),
    ("atomic", 1): _kind(str, int, float, Text), ("compound", 1): _kind(tuple), ("string", 1): _kind(Text),
    ("callable", 1): _kind(str, tuple), ("is_list", 1): _is_list,
    ("ground", 1): lambda _, args: not free_vars(args[0]),
    ("memberchk", 2): _memberchk,
    ("sum_list", 2): lambda store, args: store.unify(args[1], total_of(_numbers(store, args))),
    ("max_list", 2): _extreme(max), ("min_list", 2): _extreme(min),
    ("max_member", 2): _extreme_member(1), ("min_member", 2): _extreme_member(-1),
    ("msort", 2): _sorted(False), ("sort", 2): _sorted(True), ("sort", 4): _sort4, ("keysort", 2): _keysort,
    ("list_to_set", 2): _list_to_set,
    ("functor", 3): _functor, ("=..", 2): _univ, ("copy_term", 2): lambda s, args: s.unify(args[1], s.copy(args[0])),
    ("succ", 2): _succ, ("plus", 3): _plus,
    ("atom_length", 2): _atom_length, ("atom_chars", 2): _atom_chars, ("atom_number", 2): _atom_number,
    ("true", 0): lambda *_: True, ("otherwise", 0): lambda *_: True,
    ("fail", 0): lambda *_: False, ("false", 0): lambda *_: False,
}  # fmt: skip


def _member(store: Store, args: Arguments) -> Iterator[None]:
    term, mark = deref(args[1]), len(store.trail)
    while type(term) is tuple and term[0] == PAIR:
        store.step()
        if store.unify(args[0], term[1]):
            yield
        store.undo(mark)
        term = deref(term[2])
    while type(term) is Variable:  # an open list grows for ever, until a limit stops it
        tail = Variable()
        store.step()
        if store.unify(term, (PAIR, args[0], tail)):
            yield
        store.undo(mark)
        store.unify(term, (PAIR, Variable(), tail))
        mark, term = len(store.trail), tail


def _between(store: Store, args: Arguments) -> Iterator[None]:
    low, high, term = value_of(args[0], store.step), deref(args[1]), deref(args[2])
    last = None if type(high) is str and high in ("inf", "infinite") else value_of(high, store.step)
    if type(low) is not int or type(last) not in (int, type(None)):
        raise PrologError("between/3 wants whole numbers")
    if type(term) is int:
        if low <= term and (last is None or term <= last):
            yield
        return
    if type(term) is not Variable:
        raise PrologError(f"between/3: {show(term)} is no whole number")
    while last is None or low <= last:
        store.step()
        mark = len(store.trail)
        store.unify(term, low)
        yield
        store.undo(mark)
        low += 1


def _length(store: Store, args: Arguments) -> Iterator[None]:
    term, wanted, number = deref(args[0]), deref(args[1]), 0
    while type(term) is tuple and term[0] == PAIR and len(term) == 3:
        store.step()
        term, number = deref(term[2]), number + 1
    if term == NIL:
        if store.unify(wanted, number):
            yield
        return
    if type(term) is not Variable:
        return
    if type(wanted) is int:
        if wanted >= number:
            if wanted - number > MOST_PARTS:
                raise PrologError(f"a list of more than {MOST_PARTS:,} items is too long")
            store.build(wanted - number)
            store.unify(term, as_list(Variable() for _ in range(wanted - number)))
            yield
        return
    more = 0
    while True:
        store.build(more + 1)
        mark = len(store.trail)
        store.unify(term, as_list(Variable() for _ in range(more)))
        if store.unify(wanted, number + more):
            yield
        store.undo(mark)
        more += 1


def _nth(first: int) -> Answers:
    def answers(store: Store, args: Arguments) -> Iterator[None]:
        wanted, term, number = deref(args[0]), deref(args[1]), first
        if type(wanted) not in (int, Variable):
            raise PrologError(f"nth{first}/3: {show(wanted)} is no whole number")
        while type(term) is tuple and term[0] == PAIR:
            store.step()
            mark = len(store.trail)
            if store.unify(wanted, number) and store.unify(args[2], term[1]):
                yield
            store.undo(mark)
            if wanted == number:
                return
            term, number = deref(term[2]), number + 1

    return answers


def _arg(store: Store, args: Arguments) -> Iterator[None]:
    place, term = deref(args[0]), deref(args[1])
    if type(term) is not tuple:
        raise PrologError(f"arg/3 wants a compound term, not {show(term)}")
    for number in [place] if type(place) is int else range(1, len(term)):
        store.step()
        mark = len(store.trail)
        if 1 <= number < len(term) and store.unify(place, number) and store.unify(args[2], term[number]):
            yield
        store.undo(mark)


def _repeat(store: Store, args: Arguments) -> Iterator[None]:
    while True:
        store.step()
        yield


ANSWERS: dict[Key, Answers] = {
    ("member", 2): _member, ("between", 3): _between, ("length", 2): _length, ("nth0", 3): _nth(0),
    ("nth1", 3): _nth(1), ("arg", 3): _arg, ("repeat", 0): _repeat,
}  # fmt: skip

CONTROL: frozenset[Key] = frozenset({
    (",", 2), (";", 2), ("->", 2), ("*->", 2), ("\\+", 1), ("not", 1), ("!", 0), ("findall", 3), ("forall", 2),
    ("once", 1), ("ignore", 1), ("aggregate_all", 3), ("bagof", 3), ("setof", 3), ("^", 2),
    *(("call", arity) for arity in range(1, 9)), ("is", 2), ("=", 2), *((name, 2) for name in COMPARE),
})  # fmt: skip
"""What the compiler itself takes apart."""

IN_LISTS: frozenset[Key] = frozenset({
    ("member", 2), ("memberchk", 2), ("sum_list", 2), ("max_list", 2), ("min_list", 2), ("max_member", 2),
    ("min_member", 2), ("nth0", 3), ("nth1", 3), ("list_to_set", 2),
})  # fmt: skip
"""Library predicates, which a program may define anew; the other built-in ones it may not."""

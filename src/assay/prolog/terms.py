"""Prolog terms: atoms are Python strings, numbers are numbers, compounds are tuples `(name, argument, ...)`.

A list is `(".", head, tail)`, ended by the atom `[]`. Deep terms must not be compared, hashed or printed by Python
itself, which would use the machine's stack: the functions here do it. A term may share parts, so that it is far larger
than its memory, and may be cyclic: what walks through one counts its steps, or looks at no part twice.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from assay.base import AssayError

Term = Any
Key = tuple[str, int]
Tick = Callable[[], None]
"""What is called with every step of work, and raises where there are too many."""

NIL = "[]"
PAIR = "."
CURLY = "{}"
MOST_PARTS = 1_000_000
"""The parts that a list, a chain of operators or a written term may have; a cyclic one has no end."""
MOST_DIGITS = 4_000
"""Python writes no longer numbers in decimal."""
SOLO_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*\Z|[+\-*/\\^<>=~:.?@#&$]+\Z|\[\]\Z|!\Z|;\Z|\{\}\Z", re.ASCII)


class PrologError(AssayError):
    """A Prolog text that cannot be read, or a rule that cannot be run; the message says where."""


class Variable:
    """A variable: unbound while `ref` is None."""

    __slots__ = ("ref",)

    def __init__(self) -> None:
        self.ref: Term = None


class Text(str):
    """A double-quoted text, which is no atom."""

    __slots__ = ()


PREFIX: dict[str, tuple[int, str]] = {
    ":-": (1200, "fx"), "?-": (1200, "fx"), "dynamic": (1150, "fx"), "discontiguous": (1150, "fx"),
    "table": (1150, "fx"), "initialization": (1150, "fx"), "\\+": (900, "fy"), "-": (200, "fy"), "+": (200, "fy"),
    "\\": (200, "fy"),
}  # fmt: skip
INFIX: dict[str, tuple[int, str]] = {
    ":-": (1200, "xfx"), "-->": (1200, "xfx"), ";": (1100, "xfy"), "|": (1100, "xfy"), "->": (1050, "xfy"),
    "*->": (1050, "xfy"), ",": (1000, "xfy"), ":=": (990, "xfx"), "=": (700, "xfx"), "\\=": (700, "xfx"),
    "==": (700, "xfx"), "\\==": (700, "xfx"), "@<": (700, "xfx"), "@>": (700, "xfx"), "@=<": (700, "xfx"),
    "@>=": (700, "xfx"), "=..": (700, "xfx"), "is": (700, "xfx"), "=:=": (700, "xfx"), "=\\=": (700, "xfx"),
    "<": (700, "xfx"), ">": (700, "xfx"), "=<": (700, "xfx"), ">=": (700, "xfx"), "as": (700, "xfx"),
    ":": (200, "xfy"), "+": (500, "yfx"), "-": (500, "yfx"), "/\\": (500, "yfx"), "\\/": (500, "yfx"),
    "xor": (500, "yfx"), "*": (400, "yfx"), "/": (400, "yfx"), "//": (400, "yfx"), "mod": (400, "yfx"),
    "rem": (400, "yfx"), "div": (400, "yfx"), "rdiv": (400, "yfx"), "divmod": (400, "yfx"), "<<": (400, "yfx"),
    ">>": (400, "yfx"), "/=": (700, "xfx"), "**": (200, "xfx"), "^": (200, "xfy"),
}  # fmt: skip


def deref(term: Term) -> Term:
    """Follow a bound variable to what it stands for."""
    while type(term) is Variable:
        if term.ref is None:
            return term
        term = term.ref
    return term


def as_list(items: Iterable[Term], tail: Term = NIL) -> Term:
    """Return a Prolog list of these items."""
    term = tail
    for item in reversed(list(items)):
        term = (PAIR, item, term)
    return term


def items_of(term: Term) -> Iterator[Term]:
    """Give the items of a proper list, or raise."""
    term, left = deref(term), MOST_PARTS
    while type(term) is tuple and term[0] == PAIR and len(term) == 3:
        left -= 1
        if left < 0:
            raise _too_many("a list", "items")
        yield term[1]
        term = deref(term[2])
    if term != NIL:
        kind = "an unbound variable" if type(term) is Variable else show(term)
        raise PrologError(f"a list is wanted, not one that ends in {kind}")


def key_of(term: Term) -> Key:
    """Return the name and the number of arguments of an atom or compound."""
    return (term[0], len(term) - 1) if type(term) is tuple else (term, 0)


def indicator(key: Key) -> str:
    """Write a predicate's name as Prolog books do: `member/2`; the first part of a long one."""
    return f"{show(key[0])}/{key[1]}"


def chain_of(term: Term, operator: str, most: int = MOST_PARTS) -> list[Term]:
    """Return the operands of a chain `a, b, c` of one right-associative operator."""
    operands = []
    term = deref(term)
    while type(term) is tuple and len(term) == 3 and term[0] == operator:
        operands.append(deref(term[1]))
        if len(operands) > most:
            raise _too_many(f"a chain of '{operator}'", "parts", most)
        term = deref(term[2])
    return [*operands, term]


def _too_many(what: str, parts: str, most: int = MOST_PARTS) -> PrologError:
    return PrologError(f"{what} has more than {most:,} {parts}; it may be cyclic")


def join_terms(terms: Iterable[Term], operator: str, empty: Term) -> Term:
    """Return the terms chained by a right-associative operator."""
    chain = list(terms)
    joined = chain.pop() if chain else empty
    for term in reversed(chain):
        joined = (operator, term, joined)
    return joined


def free_vars(term: Term) -> list[Variable]:
    """Return the unbound variables of a term, in order of first appearance."""
    variables: dict[int, Variable] = {}
    waiting, seen = [term], set[int]()
    while waiting:
        part = deref(waiting.pop())
        if type(part) is Variable:
            variables.setdefault(id(part), part)
        elif type(part) is tuple and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(reversed(part[1:]))
    return list(variables.values())


def quoted_atom(name: str) -> str:
    """Write an atom, in quotes where it needs them.

    >>> quoted_atom("red"), quoted_atom("Red one")
    ('red', "'Red one'")
    """
    if SOLO_ATOM.match(name) and name != ".":
        return name
    text = name.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return "'" + "".join(c if c.isprintable() else f"\\x{ord(c):x}\\" for c in text) + "'"


class TermWriter:
    """Writes terms with operators and lists, the variables by name; what is beyond `most` parts as `...`."""

    def __init__(self, names: dict[int, str] | None = None, most: int = MOST_PARTS) -> None:
        self.names = dict(names or {})
        self.next_letter = 0
        self.left = most

    def name(self, variable: Variable) -> str:
        """Return a variable's name, a new one for a new variable."""
        if id(variable) not in self.names:
            names, number = set(self.names.values()), self.next_letter
            while (fresh := _letters(number)) in names:
                number += 1
            self.next_letter = number + 1
            self.names[id(variable)] = fresh
        return self.names[id(variable)]

    def write(self, term: Term, most: int = 1200) -> str:
        """Return the text of a term that fits where operators up to this priority may stand."""
        term = deref(term)
        self.left -= 1
        if self.left < 0:
            return "..."
        if type(term) is Variable:
            return self.name(term)
        if type(term) is Text:
            return '"' + term.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        if type(term) is str:
            text = quoted_atom(term)
            return f"({text})" if max(_priority(term)) > most else text
        if type(term) is not tuple:
            return _number(term)
        return self._compound(term, most)

    def _compound(self, term: tuple[Term, ...], most: int) -> str:
        name = term[0]
        if name == PAIR and len(term) == 3:
            return self._list(term)
        if name == CURLY and len(term) == 2:
            return "{" + self.write(term[1]) + "}"
        if len(term) == 3 and name in INFIX and name != "|":
            text = self._infix(term)
            return f"({text})" if INFIX[name][0] > most else text
        if len(term) == 2 and name in PREFIX and name not in ("-", "+"):
            level, kind = PREFIX[name]
            text = f"{name} {self._operand(term[1], level if kind == 'fy' else level - 1)}"
            return f"({text})" if level > most else text
        return f"{quoted_atom(name)}({','.join(self.write(part, 999) for part in term[1:])})"

    def _infix(self, term: Term) -> str:
        """Write a chain of one operator, however long, without going deeper."""
        name = term[0]
        level, kind = INFIX[name]
        shown_name = "," if name == "," else f" {quoted_atom(name)} "
        if kind == "xfy":
            operands = self._chain(term, name)
            texts = [self._operand(operand, level - 1) for operand in operands[:-1]]
            return shown_name.join([*texts, self._operand(operands[-1], level)])
        operands = [term[2]]
        left = deref(term[1])
        while kind == "yfx" and type(left) is tuple and len(left) == 3 and left[0] == name:
            if len(operands) > self.left:
                left = "..."
                break
            operands.append(left[2])
            left = deref(left[1])
        texts = [self._operand(left, level if kind == "yfx" else level - 1)]
        return shown_name.join([*texts, *(self._operand(operand, level - 1) for operand in reversed(operands))])

    def _chain(self, term: Term, name: str) -> list[Term]:
        """Return the operands of a chain, the first ones of a very long one."""
        operands: list[Term] = []
        while type(term) is tuple and len(term) == 3 and term[0] == name and len(operands) <= self.left:
            operands.append(term[1])
            term = deref(term[2])
        return [*operands, term]

    def _operand(self, term: Term, most: int) -> str:
        """Write an operand; an operator that is one stands in brackets, or it would be taken for what it does."""
        return self.write(term, -1 if type(deref(term)) is str and max(_priority(deref(term))) else most)

    def _list(self, term: Term) -> str:
        cells = []
        while type(term) is tuple and term[0] == PAIR and len(term) == 3 and self.left >= 0:
            cells.append(self.write(term[1], 999))
            term = deref(term[2])
        return f"[{','.join(cells)}{'' if term == NIL else '|' + self.write(term, 999)}]"


def _priority(name: str) -> tuple[int, int]:
    return PREFIX.get(name, (0, ""))[0], INFIX.get(name, (0, ""))[0]


def _number(term: Term) -> str:
    if isinstance(term, float):
        text = repr(term)
        if text in ("inf", "-inf", "nan"):
            return {"inf": "inf", "-inf": "-inf", "nan": "nan"}[text]
        mantissa, _, exponent = text.partition("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + (f"e{exponent}" if exponent else "")
    if not isinstance(term, int):  # a value that is not known yet
        return str(term)
    return str(term) if term.bit_length() < 3 * MOST_DIGITS else hex(term)


def _letters(number: int) -> str:
    return chr(65 + number % 26) + (str(number // 26) if number >= 26 else "")


def show(term: Term, most: int = 60) -> str:
    """Write a term for a message, the first part of a long one."""
    text = TermWriter(most=2 * most).write(term)
    return text if len(text) <= most else text[: most - 3] + "..."


def intern(name: str) -> str:
    """Return the one copy of an atom, so that equal atoms are mostly the same object."""
    return sys.intern(str(name))

"""DIMACS: the text form of clauses, with comments that say which literal is which value."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.base import DataError
from assay.logic.concepts import Value

Clause = tuple[int, ...]


@dataclass(frozen=True)
class CNF:
    """Clauses over variables 1..n, and the meaning of some literals as (name, value)."""

    variables: int
    clauses: tuple[Clause, ...]
    meanings: Mapping[int, tuple[str, Value]] = field(default_factory=dict)

    def to_dimacs(self) -> str:
        """Return the DIMACS text; a comment `c LITERAL NAME = VALUE` says what a literal means."""
        comments = [f"c {literal} {name} = {value!r}" for literal, (name, value) in self.meanings.items()]
        projection = sorted({abs(literal) for literal in self.meanings})
        projected = [f"c p show {' '.join(map(str, projection))} 0"] if projection else []
        lines = [" ".join(map(str, (*clause, 0))) for clause in self.clauses]
        return "\n".join([*comments, *projected, f"p cnf {self.variables} {len(self.clauses)}", *lines]) + "\n"


def parse_dimacs(text: str) -> CNF:
    """Read a DIMACS CNF; comments of any kind are allowed, and those that `to_dimacs` writes are understood.

    >>> parse_dimacs("c hello\\np cnf 2 1\\n1 -2 0\\n").clauses
    ((1, -2),)
    """
    header: tuple[int, int] | None = None
    numbers: list[int] = []
    meanings: dict[int, tuple[str, Value]] = {}
    for place, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if words[0] == "%":  # the trailer of SATLIB's files: '%', then a line '0' that is no clause
            break
        if words[0] == "c":
            meanings.update(_meaning(line))
        elif words[0] == "p":
            header = _header(words, place)
        else:
            numbers.extend(_literals(words, place))
    if header is None:
        raise DataError("DIMACS text has no line 'p cnf VARIABLES CLAUSES'")
    return CNF(header[0], _clauses(numbers, *header), meanings)


def _header(words: list[str], place: int) -> tuple[int, int]:
    if len(words) != 4 or words[1] != "cnf" or not (words[2].isdecimal() and words[3].isdecimal()):
        raise DataError(f"DIMACS line {place}: expected 'p cnf VARIABLES CLAUSES', found {' '.join(words)!r}")
    return int(words[2]), int(words[3])


def _literals(words: list[str], place: int) -> list[int]:
    try:
        return [int(word) for word in words]
    except ValueError:
        raise DataError(f"DIMACS line {place}: literals are whole numbers, found {' '.join(words)!r}") from None


def _meaning(line: str) -> dict[int, tuple[str, Value]]:
    """Read `c LITERAL NAME = VALUE`; any other comment means nothing."""
    words = line.split(maxsplit=4)
    if len(words) < 5 or words[3] != "=" or not words[1].removeprefix("-").isdecimal():
        return {}
    try:
        value = ast.literal_eval(words[4])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        value = words[4]
    return {int(words[1]): (words[2], value if isinstance(value, (bool, int, str)) else words[4])}


def _clauses(numbers: list[int], variables: int, expected: int) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    current: list[int] = []
    for number in numbers:
        if number:
            current.append(number)
        else:
            clauses.append(tuple(current))
            current = []
    if current:
        raise DataError("DIMACS text ends inside a clause; each clause ends with 0")
    if len(clauses) != expected:
        raise DataError(f"DIMACS header announces {expected} clauses, the text has {len(clauses)}")
    largest = max((abs(literal) for clause in clauses for literal in clause), default=0)
    if largest > variables:
        raise DataError(f"DIMACS header announces {variables} variables, the text uses {largest}")
    return tuple(clauses)

"""Formulas as numbers: evaluation over arrays of concept codes, a million rows at a time."""

from collections.abc import Callable
from functools import reduce
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import ABSENT, ABSENT_NUMBER, ConceptSpace, Value
from assay.logic import formula as f
from assay.logic.formula import Formula
from assay.logic.ground import Shape, grounded, largest_number, shape_of
from assay.logic.traverse import children, names_in, walk

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def evaluate(formula: Formula, space: ConceptSpace, codes: Codes) -> Array:
    """Return the value of the formula in each row: truth values, numbers, or symbols as Python strings.

    >>> from assay.concepts import digits
    >>> evaluate(f.Var("a") + f.Var("b"), digits(["a", "b"]), np.array([[3, 4], [9, 9]])).tolist()
    [7, 18]
    """
    if codes.ndim != 2 or codes.shape[1] != len(space):
        raise ValueError(f"codes must have {len(space)} columns, got shape {codes.shape}")
    evaluator = Evaluator(space, formula)
    return evaluator(codes)


class Evaluator:
    """A formula made ready for arrays: checked, grounded, with symbols as numbers."""

    def __init__(self, space: ConceptSpace, formula: Formula) -> None:
        self.space = space
        self.shape: Shape = shape_of(formula, space)
        self.formula = grounded(formula, space)
        self.big = largest_number(formula, space) >= 2**62
        self.words = self._vocabulary(list(walk(self.formula)))
        self.columns = {name: self._column(name) for name in names_in(self.formula)}

    def _vocabulary(self, parts: list[Formula]) -> dict[str, int]:
        words = [v for c in self.space.concepts if c.kind == "symbol" for v in c.values]
        for part in parts:
            if isinstance(part, f.Const):
                words.append(part.value)
            elif isinstance(part, f.Member):
                words.extend(value for row in part.rows for value in row)
        distinct = dict.fromkeys(word for word in words if isinstance(word, str) and word != ABSENT)
        return {ABSENT: ABSENT_NUMBER} | {word: place for place, word in enumerate(distinct)}

    def number(self, value: Value) -> int:
        """Return the number that stands for a value inside arrays."""
        return self.words[value] if isinstance(value, str) else int(value)

    def _column(self, name: str) -> tuple[int, Array | None]:
        """Return where a concept's codes are, and the table from codes to numbers unless they are the same."""
        concept = self.space.concept(name)
        numbers = [self.number(value) for value in concept.values]
        plain = numbers == list(range(len(numbers))) and not self.big
        kind: Any = object if self.big else np.int64
        return self.space.place(name), None if plain else np.array(numbers, dtype=kind)

    def __call__(self, codes: Codes) -> Array:
        """Return the value of the formula in each row."""
        found = np.asarray(self.run(self.formula, codes))
        if self.shape.kind == "symbol":
            words = {number: word for word, number in self.words.items()}
            return np.array([words[int(number)] for number in np.broadcast_to(found, len(codes))], dtype=object)
        kind: Any = bool if self.shape.kind == "bool" else object if self.big else np.int64
        if found.shape == (len(codes),) and found.dtype == kind and found.base is None:
            return found
        return np.array(np.broadcast_to(found, len(codes)), dtype=kind)

    def run(self, formula: Formula, codes: Codes) -> Any:
        """Return the array, or the one number, that a part of the formula gives."""
        match formula:
            case f.Const(value):
                return self.number(value)
            case f.Var(name):
                return self._values(name, codes)
            case f.Not(body):
                return np.logical_not(self._truth(body, codes))
            case f.And(parts):
                return reduce(np.logical_and, (self._truth(part, codes) for part in parts))
            case f.Or(parts):
                return reduce(np.logical_or, (self._truth(part, codes) for part in parts))
            case f.Xor(parts):
                return reduce(np.logical_xor, (self._truth(part, codes) for part in parts), False)
            case f.Implies(premise, conclusion):
                return np.logical_or(np.logical_not(self._truth(premise, codes)), self._truth(conclusion, codes))
            case f.Iff(left, right):
                return np.equal(self._truth(left, codes), self._truth(right, codes))
            case f.Compare(operator, left, right):
                return COMPARE[operator](self.run(left, codes), self.run(right, codes))
            case f.If(condition, then, otherwise):
                either = self._whole(self.run(then, codes)), self._whole(self.run(otherwise, codes))
                return np.where(self._truth(condition, codes), *either)
        return self.combined(formula, [self.run(part, codes) for part in children(formula)])

    def _truth(self, formula: Formula, codes: Codes) -> Any:
        return np.asarray(self.run(formula, codes), dtype=bool)

    def _values(self, name: str, codes: Codes) -> Array:
        place, table = self.columns[name]
        column = codes[:, place]
        if table is not None:
            return table[column]
        return column if column.dtype == np.int64 else column.astype(np.int64)

    def combined(self, formula: Formula, parts: list[Any]) -> Any:
        """Return what a part of the formula gives when the parts inside it give these arrays or numbers."""
        parts = [self._whole(part) for part in parts]
        match formula:
            case f.Sum() | f.Count():
                return reduce(np.add, parts, 0)
            case f.Minus():
                return -parts[0]
            case f.Product():
                return reduce(np.multiply, parts)
            case f.Divide("//"):
                return np.floor_divide(*parts)
            case f.Divide("%"):
                return np.mod(*parts)
            case f.Function("abs"):
                return np.abs(parts[0])
            case f.Function("pow"):
                return np.power(parts[0], np.maximum(parts[1], 0))  # below 0 only where absent, and then masked
            case f.Function("min"):
                return reduce(np.minimum, parts)
            case f.Function("max"):
                return reduce(np.maximum, parts)
            case f.AllEqual():
                return reduce(np.logical_and, (np.equal(one, other) for one, other in pairwise(parts)), True)
            case f.AllDifferent():
                return reduce(np.logical_and, (np.not_equal(one, other) for one, other in combinations(parts, 2)), True)
            case f.Member(_, rows):
                return self._among(parts, rows)
        raise TypeError(f"cannot evaluate {type(formula).__name__}")

    def _whole(self, part: Any) -> Any:
        """Return truth values as numbers, in the width in use."""
        return np.asarray(part).astype(object if self.big else np.int64, copy=False)

    def _among(self, parts: list[Any], rows: tuple[tuple[Value, ...], ...]) -> Any:
        wanted = {tuple(self.number(value) for value in row) for row in rows}
        if len(parts) == 1:
            return np.isin(np.asarray(parts[0]), [row[0] for row in sorted(wanted)])
        stacked = np.stack(np.broadcast_arrays(*parts), axis=-1)
        rows_found = stacked.reshape(-1, len(parts))
        which: Array = np.arange(len(rows_found))
        if not self.big:  # numpy does not sort rows of Python's numbers
            rows_found, which = np.unique(rows_found, axis=0, return_inverse=True)
        inside = np.array([tuple(row) in wanted for row in rows_found.tolist()], dtype=bool)
        return inside[which.ravel()].reshape(stacked.shape[:-1])

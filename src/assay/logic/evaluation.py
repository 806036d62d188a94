"""Formulas as numbers: evaluation over arrays of concept codes, a million rows at a time.

A formula becomes a sequence of steps: a shared subformula is computed once, and freed after its last use.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.logic import formula as f
from assay.logic.build import children, names_in, walk
from assay.logic.concepts import ABSENT, ABSENT_NUMBER, ConceptSpace, Value
from assay.logic.formula import Formula
from assay.logic.ground import FormulaShape, check_formula, program_runner

ROWS = 32_768
"""How many rows are computed at a time: few enough to stay near the processor."""
NARROW = 127
"""Concepts with more values than this do not fit the narrow columns."""

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


Make = Callable[[list[Any], Codes], Any]
"""Return what a part gives, from what the parts inside it give and from the codes."""
BYTE = 255
"""The largest number in one byte."""


@dataclass(frozen=True)
class PreparedPart:
    """A part of a formula, ready to be computed: the parts that it needs, and the function to apply.

    With `fold`, the parts inside are taken in one by one, the first two to begin with, so that none must wait.
    """

    inside: tuple[Formula, ...]
    make: Make
    fold: bool = False


@dataclass(frozen=True)
class Step:
    """One computation: the numbers of the steps that it needs, those needed no more after it, and how."""

    inside: tuple[int, ...]
    done: tuple[int, ...]
    make: Make


class Plan:
    """Some formulas as steps; a step comes after all that it needs."""

    def __init__(self, formulas: Sequence[Formula], prepare: Callable[[Formula], PreparedPart]) -> None:
        self.prepare = prepare
        self.numbers: dict[Formula, int] = {}
        self.computations: list[tuple[tuple[int, ...], Make]] = []
        self.results = tuple(self._number(formula) for formula in formulas)
        self.steps = self._steps()

    def _number(self, formula: Formula) -> int:
        """Return the number of a part, giving one to it and to all inside it."""
        if formula not in self.numbers:
            ready = self.prepare(formula)
            if ready.fold and len(ready.inside) > 1:
                self.numbers[formula] = self._folded(ready)
            else:
                inside = tuple(self._number(part) for part in ready.inside)
                self.numbers[formula] = self._added(inside, ready.make)
        return self.numbers[formula]

    def _folded(self, ready: PreparedPart) -> int:
        so_far = self._number(ready.inside[0])
        for part in ready.inside[1:]:
            so_far = self._added((so_far, self._number(part)), ready.make)
        return so_far

    def _added(self, inside: tuple[int, ...], make: Make) -> int:
        self.computations.append((inside, make))
        return len(self.computations) - 1

    def _steps(self) -> list[Step]:
        last = {needed: place for place, (inside, _) in enumerate(self.computations) for needed in inside}
        done: dict[int, list[int]] = {}
        for needed, place in last.items():
            if needed not in self.results:
                done.setdefault(place, []).append(needed)
        return [Step(inside, tuple(done.get(n, ())), make) for n, (inside, make) in enumerate(self.computations)]

    def run(self, codes: Codes) -> list[Any]:
        """Return the array, or the one number, that each formula gives."""
        values: list[Any] = [None] * len(self.steps)
        for number, step in enumerate(self.steps):
            values[number] = step.make([values[needed] for needed in step.inside], codes)
            for over in step.done:
                values[over] = None
        return [values[number] for number in self.results]


class ColumnCount:
    """How often some tests of single concepts hold, added up column by column.

    For each concept, `weights` tells how many of its tests each code passes.
    """

    def __init__(self, weights: dict[int, Array]) -> None:
        most = sum(int(weight.max()) for weight in weights.values())
        self.kind: Any = np.uint8 if most <= BYTE else np.int64
        self.parts = [(place, _run(weight), weight.astype(self.kind)) for place, weight in weights.items()]

    def __call__(self, inside: list[Any], codes: Codes) -> Array:
        """Return how many tests each row passes."""
        total, mask, other = np.zeros(len(codes), self.kind), *np.empty((2, len(codes)), dtype=bool)
        for place, run, weight in self.parts:
            column = codes[:, place]
            if run is None:
                total += weight[column]
                continue
            first, last = run
            if first == last:
                np.equal(column, first, out=mask)
            else:
                np.logical_and(
                    np.greater_equal(column, first, out=mask), np.less_equal(column, last, out=other), out=mask
                )
            np.add(total, mask.view(np.uint8), out=total)
        return total


def _run(weight: Array) -> tuple[int, int] | None:
    """Return the first and the last code of the one run that counts once, None if it is not as simple as that."""
    places = np.flatnonzero(weight)
    if not len(places) or weight.max() > 1 or places[-1] - places[0] >= len(places):
        return None
    return int(places[0]), int(places[-1])


def evaluate(formula: Formula, space: ConceptSpace, codes: Codes) -> Array:
    """Return the value of the formula in each row: truth values, numbers, or symbols as Python strings.

    >>> from assay.logic.concepts import digits
    >>> evaluate(f.Var("a") + f.Var("b"), digits(["a", "b"]), np.array([[3, 4], [9, 9]])).tolist()
    [7, 18]

    Parameters
    ----------
    formula
        What to compute.
    space
        The concepts, one for each column.
    codes
        A row a world; numbers of values, not values.
    """
    if codes.ndim != 2 or codes.shape[1] != len(space):
        raise ValueError(f"codes must have {len(space)} columns, got shape {codes.shape}")
    evaluator = Evaluator(space, formula)
    return evaluator(codes)


class Evaluator:
    """A formula prepared for arrays: checked, grounded, with symbols as numbers."""

    def __init__(self, space: ConceptSpace, formula: Formula) -> None:
        self.space = space
        checked = check_formula(formula, space)
        self.shape: FormulaShape = checked.shape
        self.formula = checked.flat
        self.big = checked.largest >= 2**62
        self.words = self._vocabulary(list(walk(self.formula)))
        self.columns = {name: self._column(name) for name in names_in(self.formula)}
        self.tests: dict[tuple[f.Operator, str, Value], Array] = {}
        self.plans: dict[tuple[Formula, ...], Plan] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the plans, which are quickly made again, when the evaluator is sent to another process."""
        return {**self.__dict__, "plans": {}}

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
        return self.together([self.formula], codes)[0]

    def together(self, formulas: Sequence[Formula], codes: Codes) -> list[Array]:
        """Return what each of some parts of the formula gives in each row, what they share computed once."""
        kind: Any = self.kind
        results: list[Array] = [np.empty(len(codes), dtype=kind) for _ in formulas]
        plan = self._plan(tuple(formulas))
        for start in range(0, len(codes), ROWS):
            rows = slice(start, start + ROWS)
            for whole, part in zip(results, plan.run(self._narrow(codes[rows])), strict=True):
                whole[rows] = part
        return [self._decoded(whole) for whole in results]

    def _plan(self, formulas: tuple[Formula, ...]) -> Plan:
        if formulas not in self.plans:
            self.plans[formulas] = Plan(formulas, self._prepared)
        return self.plans[formulas]

    @property
    def kind(self) -> Any:
        """The kind of array that holds the formula's values."""
        return bool if self.shape.kind == "bool" else object if self.big else np.int64

    def _narrow(self, codes: Codes) -> Codes:
        """Return the codes with each column in one piece, in as few bytes as hold them."""
        kind = np.int8 if max(self.space.sizes) <= NARROW else codes.dtype
        return np.ascontiguousarray(codes.T, dtype=kind).T

    def _decoded(self, numbers: Array) -> Array:
        if self.shape.kind != "symbol":
            return numbers
        words = {number: word for word, number in self.words.items()}
        return np.array([words[int(number)] for number in numbers], dtype=object)

    def run(self, formula: Formula, codes: Codes) -> Any:
        """Return the array, or the one number, that a part of the formula gives."""
        return self._plan((formula,)).run(codes)[0]

    def _prepared(self, formula: Formula) -> PreparedPart:
        """Return what must be known before a part of the formula, and how it follows."""
        match formula:
            case f.Const(value):
                number = self.number(value)
                return PreparedPart((), lambda inside, codes: number)
            case f.Var(name):
                return PreparedPart((), lambda inside, codes: self._values(name, codes))
            case f.Compare(operator, f.Var(name), f.Const(value)):
                return PreparedPart((), self._tested(operator, name, value))
            case f.Count(parts) if all(_is_test(part) for part in parts):
                return PreparedPart((), ColumnCount(self._weights(parts)))
        fold = isinstance(formula, (f.And, f.Or, f.Xor))
        return PreparedPart(children(formula), lambda inside, codes: self.apply(formula, inside), fold)

    def apply(self, formula: Formula, inside: list[Any]) -> Any:
        """Return what a part of the formula gives when the parts inside it give these arrays or numbers."""
        if self.big and isinstance(formula, (f.Not, f.And, f.Or, f.Xor, f.Implies)):
            inside = [np.asarray(part, dtype=bool) for part in inside]  # numpy knows no logic of Python's numbers
        match formula:
            case f.Not():
                return np.logical_not(inside[0])
            case f.And():
                return np.asarray(reduce(np.logical_and, inside), dtype=bool)
            case f.Or():
                return np.asarray(reduce(np.logical_or, inside), dtype=bool)
            case f.Xor():
                return np.asarray(reduce(np.logical_xor, inside or [False]), dtype=bool)
            case f.Implies():
                return np.logical_or(np.logical_not(inside[0]), inside[1])
            case f.Iff():
                return np.equal(*(np.asarray(part, dtype=bool) for part in inside))
            case f.Compare(operator):
                return COMPARE[operator](*inside)
            case f.If():
                return np.where(np.asarray(inside[0], dtype=bool), self._whole(inside[1]), self._whole(inside[2]))
            case f.Count():
                return _counted(inside)
        return self._computed(formula, [self._whole(part) for part in inside])

    def _weights(self, parts: Sequence[Formula]) -> dict[int, Array]:
        """Return for each concept that is tested how many of the tests each of its codes passes."""
        weights: dict[int, Array] = {}
        for part in parts:
            match part:
                case f.Compare(operator, f.Var(name), f.Const(value)):
                    truths = self._truths(operator, name, value)
                case f.Member((f.Var(name),), rows):
                    truths = np.any([self._truths("==", name, row[0]) for row in rows], axis=0)
            place = self.columns[name][0]
            weights[place] = weights.get(place, 0) + truths.astype(np.int64)
        return weights

    def _tested(self, operator: f.Operator, name: str, value: Value) -> Make:
        """Return how to compare a concept with a value by its codes alone."""
        place, truths = self.columns[name][0], self._truths(operator, name, value)
        if truths.sum() == 1:
            only = int(truths.argmax())
            return lambda inside, codes: codes[:, place] == only
        return lambda inside, codes: truths[codes[:, place]]

    def _truths(self, operator: f.Operator, name: str, value: Value) -> Array:
        """Return for each code of a concept whether its value stands in this relation to another."""
        key = operator, name, value
        if key not in self.tests:
            numbers = [self.number(own) for own in self.space.concept(name).values]
            wide: Any = object if self.big else np.int64
            self.tests[key] = np.asarray(COMPARE[operator](np.array(numbers, wide), self.number(value)), dtype=bool)
        return self.tests[key]

    def _values(self, name: str, codes: Codes) -> Array:
        place, table = self.columns[name]
        column = codes[:, place]
        if table is not None:
            return table[column]
        return column if column.dtype == np.int64 else column.astype(np.int64)

    def _computed(self, formula: Formula, parts: list[Any]) -> Any:
        """Return what a part gives that computes with numbers or looks them up."""
        match formula:
            case f.Sum():
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
                return reduce(np.logical_and, (np.equal(a, b) for a, b in pairwise(parts)), True)
            case f.AllDifferent():
                return reduce(np.logical_and, (np.not_equal(a, b) for a, b in combinations(parts, 2)), True)
            case f.Member(_, rows):
                return self._among(parts, rows)
            case f.Oracle():
                return self._ask_program(formula, parts)
        raise TypeError(f"cannot evaluate {type(formula).__name__}")

    def _ask_program(self, formula: f.Oracle, parts: list[Any]) -> Array:
        """Return the answers of a Prolog program for worlds given as numbers."""
        rows = np.stack(np.broadcast_arrays(*[np.atleast_1d(part) for part in parts]), axis=1)
        concepts = [self.space.concept(name) for name in names_in(formula)]
        numbers = {concept.name: [self.number(value) for value in concept.values] for concept in concepts}
        return program_runner(formula, self.space).ask(rows, numbers)

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


def _is_test(part: Formula) -> bool:
    """Return whether a part compares a concept with values."""
    if isinstance(part, f.Member):
        return len(part.terms) == 1 and isinstance(part.terms[0], f.Var) and len(part.rows) > 0
    return isinstance(part, f.Compare) and isinstance(part.left, f.Var) and isinstance(part.right, f.Const)


def _counted(parts: list[Any]) -> Any:
    """Return how many truth values are true, added up byte by byte."""
    if not all(isinstance(part, np.ndarray) and part.dtype == bool for part in parts):
        return sum((np.asarray(part).astype(np.int64) for part in parts), start=np.int64(0))
    total: Any = 0
    for start in range(0, len(parts), BYTE):
        some = parts[start : start + BYTE]
        counts = np.zeros(np.broadcast_shapes(*(part.shape for part in some)), dtype=np.uint8)
        for part in some:
            counts += part.view(np.uint8)
        total = counts if len(parts) <= BYTE else total + counts.astype(np.int64)
    return total

"""Arithmetic of `is` and of the comparisons, on whole numbers and floats as in SWI-Prolog."""

import math
import operator
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain
from typing import Any

from assay.base import suggestion
from assay.prolog.terms import PrologError, Term, Tick, Variable, deref, show

Number = int | float
BITS = 200_000
"""The longest whole number that may come out."""


def _whole(*numbers: Number) -> None:
    for number in numbers:
        if type(number) is not int:
            raise PrologError(f"a whole number is wanted, not {show(number)}")


def _short(number: Number) -> Number:
    if type(number) is int and number.bit_length() > BITS:
        raise PrologError(f"a number grows beyond {BITS:,} bits")
    return number


def _not_zero(number: Number) -> None:
    if number == 0:
        raise PrologError("division by zero")


def _divided(left: Number, right: Number) -> Number:
    _not_zero(right)
    whole = type(left) is int and type(right) is int and left % right == 0
    return left // right if whole else left / right


def _whole_division(divide: Callable[[Number, Number], Number]) -> Callable[[Number, Number], Number]:
    """Return a division that refuses fractions and zero."""

    def apply(left: Number, right: Number) -> Number:
        _whole(left, right)
        _not_zero(right)
        return divide(left, right)

    return apply


def _quotient(left: Number, right: Number) -> Number:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _power(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        if right < 0:
            if left in (1, -1):
                return int(left ** (right % 2))
            raise PrologError(f"{show(left)} to the power {show(right)} is no whole number")
        if left.bit_length() * right > BITS and left not in (0, 1, -1):
            raise PrologError(f"a number grows beyond {BITS:,} bits")
        return int(left**right)
    return _real(lambda: float(left) ** float(right))


def _real(compute: Callable[[], Any]) -> float:
    try:
        number = compute()
    except (ValueError, OverflowError, ZeroDivisionError):
        raise PrologError("an arithmetic function has no value here") from None
    if isinstance(number, complex) or math.isnan(number) or math.isinf(number):
        raise PrologError("an arithmetic function has no value here")
    return float(number)


def _shifted(left: Number, right: Number) -> Number:
    _whole(left, right)
    if left and right + int(left).bit_length() > BITS:
        raise PrologError(f"a number grows beyond {BITS:,} bits")
    return int(left) << int(right) if right >= 0 else int(left) >> min(int(-right), 2 * BITS)


def _bits(function: Callable[[int, int], int]) -> Callable[[Number, Number], Number]:
    def apply(left: Number, right: Number) -> Number:
        _whole(left, right)
        return function(int(left), int(right))

    return apply


def _nearest(number: Number) -> Number:
    return number if type(number) is int else int(math.floor(abs(number) + 0.5) * (1 if number >= 0 else -1))


TWO: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add, "-": operator.sub, "*": lambda a, b: _short(a * b), "/": _divided,
    "//": _whole_division(_quotient), "div": _whole_division(operator.floordiv), "mod": _whole_division(operator.mod),
    "rem": _whole_division(lambda a, b: a - b * _quotient(a, b)), "min": min, "max": max,
    "**": _power, "^": _power, ">>": lambda a, b: _shifted(a, -b), "<<": _shifted, "/\\": _bits(operator.and_),
    "\\/": _bits(operator.or_), "xor": _bits(operator.xor), "gcd": _bits(math.gcd),
    "atan2": lambda a, b: _real(lambda: math.atan2(a, b)), "copysign": lambda a, b: math.copysign(a, b),
}  # fmt: skip
ONE: dict[str, Callable[[Number], Number]] = {
    "-": operator.neg, "+": operator.pos, "abs": abs, "sign": lambda a: type(a)((a > 0) - (a < 0)),
    "sqrt": lambda a: _real(lambda: math.sqrt(a)), "float": float, "integer": _nearest, "round": _nearest,
    "truncate": int, "floor": math.floor, "ceiling": math.ceil, "exp": lambda a: _real(lambda: math.exp(a)),
    "log": lambda a: _real(lambda: math.log(a)), "log2": lambda a: _real(lambda: math.log2(a)),
    "sin": lambda a: _real(lambda: math.sin(a)), "cos": lambda a: _real(lambda: math.cos(a)),
    "tan": lambda a: _real(lambda: math.tan(a)), "atan": lambda a: _real(lambda: math.atan(a)),
    "\\": lambda a: _bits(lambda x, _: ~x)(a, 0), "succ": lambda a: a + 1,
}  # fmt: skip
NONE: dict[str, Number] = {"pi": math.pi, "e": math.e, "inf": math.inf, "max_tagged_integer": (1 << 60) - 1}
COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "<": operator.lt, ">": operator.gt, "=<": operator.le, ">=": operator.ge, "=:=": operator.eq, "=\\=": operator.ne,
}  # fmt: skip


def function_of(name: str, arity: int) -> Callable[..., Number]:
    """Return the arithmetic function of this name, or raise."""
    function = {1: ONE, 2: TWO}.get(arity, {}).get(name)  # type: ignore[attr-defined]
    if function is None:
        hint = suggestion(name, {1: ONE, 2: TWO}.get(arity, {}))  # type: ignore[arg-type]
        raise PrologError(f"no arithmetic function {name}/{arity}{hint if 'did you mean' in hint else ''}")
    return function  # type: ignore[no-any-return]


def value_of(term: Term, tick: Tick) -> Number:
    """Return the number that an arithmetic term stands for."""
    tick()
    term = deref(term)
    kind = type(term)
    if kind is int or kind is float:
        return term  # type: ignore[no-any-return]
    if kind is Variable:
        raise PrologError("an unbound variable in arithmetic; it needs a value first")
    if kind is tuple:
        if term[0] == "." and len(term) == 3 and deref(term[2]) == "[]":
            return value_of(term[1], tick)
        function = function_of(term[0], len(term) - 1)
        return apply_function(function, [value_of(part, tick) for part in term[1:]])
    if kind is str and term in NONE:
        return NONE[term]
    raise PrologError(f"{show(term)} is no number")


def apply_function(function: Callable[..., Number], arguments: list[Number]) -> Number:
    """Return a function's value, or raise in one line."""
    try:
        return _short(function(*arguments))
    except (TypeError, ValueError, OverflowError) as error:
        raise PrologError(f"arithmetic fails: {error}") from None


def chained(function: Callable[..., Number], numbers: Iterable[Number]) -> Number:
    """Return `a + b + c` of however many numbers, by any such function, or raise in one line."""
    try:
        return _short(reduce(function, numbers))
    except (TypeError, ValueError, OverflowError) as error:
        raise PrologError(f"arithmetic fails: {error}") from None


def total_of(numbers: Iterable[Number]) -> Number:
    """Return the sum of numbers, or raise in one line."""
    return chained(operator.add, chain((0,), numbers))

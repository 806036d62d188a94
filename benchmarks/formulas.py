"""Evaluating formulas: arrays of codes against sympy, one row at a time as rsbench does, and lambdified."""

import numpy as np
import sympy

from assay.base import rng_for
from assay.logic import bits, digits, evaluate, parse
from benchmarks.timing import Result, rate

ROWS = 1_000_000


def run() -> list[Result]:
    results = []
    cases = [("a + b", digits(["a", "b"]), "a + b"), ("3-bit XOR", bits(["a", "b", "c"]), "Xor(a, b, c)")]
    for what, space, text in cases:
        formula = parse(text)
        codes = rng_for(0, "bench", what).integers(min(space.sizes), size=(ROWS, len(space)))
        symbols = sympy.symbols(space.names)
        expression = sympy.sympify(text, locals=dict(zip(space.names, symbols, strict=True)))
        rows = [[bool(v) if space.concepts[0].kind == "bool" else int(v) for v in row] for row in codes[:200]]
        columns = [
            codes[:, i].astype(bool) if space.concepts[0].kind == "bool" else codes[:, i] for i in range(len(space))
        ]
        fast = sympy.lambdify(symbols, expression, "numpy")

        def ours(formula=formula, space=space, codes=codes) -> int:
            return len(evaluate(formula, space, codes))

        def substituted(expression=expression, symbols=symbols, rows=rows) -> int:
            return len([expression.subs(dict(zip(symbols, row, strict=True))) for row in rows])

        def lambdified(fast=fast, columns=columns) -> int:
            return len(np.asarray(fast(*columns)))

        found = rate(ours)
        results.append(Result(what, "rows", found, rate(substituted), "sympy subs, row by row"))
        results.append(Result(what, "rows", found, rate(lambdified), "sympy lambdify on arrays"))
    return results

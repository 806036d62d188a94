"""Which registered tasks stand for their family in the quick tests; the others are tried by `make test-slow`."""

import pytest

from assay.tasks import TASKS

COUSINS = {
    *("mnadd-half", "mnadd-evenodd", "kand-logic-and", "kand-logic-pairs", "sudoku", "sudoku-paper"),
    *("clevr", "clevr-many", "bdd-oia", "blocks", "trains-numerical", "trains-complex", "trains-ood"),
    *("chess", "chess-sane", "valued", "sudoku-solve-mini", "raven-small", "raven-biased", "bongard-small"),
}
"""Tasks of a family that another task stands for, and those whose pictures are large."""


FEW = {name for name in TASKS if name not in ("mnlogic", "robots", "sudoku-mini", "trains", "clevr-small")}
"""All but a few."""


def tasks(slow=COUSINS):
    """Return all registered tasks as parameters of a test, some of them marked as slow."""
    return [pytest.param(name, marks=pytest.mark.slow if name in slow else ()) for name in sorted(TASKS)]

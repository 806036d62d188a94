"""Comparisons of error rates within equal cells, where whole worlds are exchanged, not examples.

Examples of one world share their errors, so that many examples of a few worlds are little evidence. The null hypothesis
is that within a cell the worlds of one side err as those of the other. The statistic is the number of errors on one
side beyond those that its cells have on average; its chance comes from exchanging worlds within cells.
"""

from dataclasses import dataclass

import numpy as np

from assay.base import Array, distinct_rows, rng_for
from assay.metrics import wilson

DRAWS, ENOUGH = 2000, 10
"""How often worlds are exchanged at most, and after how many sums as large it is over."""
FEW = 25
"""Below so many worlds on a side the chance is by permutations, from there on by their normal limit."""


@dataclass(frozen=True)
class Difference:
    """How much more often one side errs than the other in equal cells, and the chance of as much by luck."""

    by: float
    chance: float
    rows: int
    """How many examples of that side lie in cells that both sides have."""
    share: float
    """The share of that side's examples that lie in such cells."""


def in_common(side: Array, cells: Array) -> Array:
    """Return which examples lie in cells that both sides have.

    >>> in_common(np.array([True, False, True]), np.array([0, 0, 1])).tolist()
    [True, True, False]
    """
    _, cell = np.unique(cells, return_inverse=True)
    count = int(cell.max()) + 1 if len(cell) else 0
    return np.asarray(((np.bincount(cell, side, count) > 0) & (np.bincount(cell, ~side, count) > 0))[cell])


def difference_within(errors: Array, side: Array, cells: Array, worlds: Array, least: float = -1.0) -> Difference:
    """Compare errors on a side with the others, cell by cell; worlds are exchanged as wholes.

    The chance is asked only of differences of at least `least`; that of a smaller one is taken for 1.

    >>> errors, side = np.array([0, 0, 0, 1] * 20), np.array([0, 0, 1, 1] * 20, dtype=bool)
    >>> found = difference_within(errors, side, np.zeros(80), np.arange(80))
    >>> round(found.by, 2), found.chance < 0.01
    (0.5, True)
    """
    both = in_common(side, cells)
    share = float(both[side].mean()) if side.any() else 0.0
    if not both.any():
        return Difference(0.0, 1.0, 0, 0.0)
    errors, side, worlds = np.asarray(errors[both], dtype=float), side[both], worlds[both]
    _, cell = np.unique(cells[both], return_inverse=True)
    count = int(cell.max()) + 1
    unit = distinct_rows(np.stack([cell, worlds, side], axis=1).astype(np.int64))
    sizes, wrong = np.bincount(unit.which), np.bincount(unit.which, errors)
    of, new = cell[unit.first], side[unit.first]
    old_rate = np.bincount(of, wrong * ~new, count) / np.maximum(1, np.bincount(of, sizes * ~new, count))
    excess = float((wrong * new - sizes * new * old_rate[of]).sum())
    by = excess / float(sizes[new].sum())
    if by < least:
        return Difference(by, 1.0, int(side.sum()), share)
    chance = _chance(wrong - sizes * _pooled(of, wrong, sizes, count), new, of, count)
    return Difference(by, chance, int(side.sum()), share)


def _pooled(cell: Array, wrong: Array, sizes: Array, count: int) -> Array:
    return np.asarray((np.bincount(cell, wrong, count) / np.maximum(1, np.bincount(cell, sizes, count)))[cell])


def _chance(residual: Array, side: Array, cell: Array, count: int) -> float:
    """Return the chance of as large a sum of residuals on a side where its units are drawn at random in each cell."""
    observed = float(residual[side].sum())
    units, chosen = np.bincount(cell, minlength=count), np.bincount(cell, side, count)
    mean = np.bincount(cell, residual, count) / np.maximum(1, units)
    spread = np.bincount(cell, residual**2, count) - units * mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(units > 1, chosen * (units - chosen) / (units * (units - 1)) * spread, 0.0)
    variance, expected = float(parts.sum()), float((chosen * mean).sum())
    if variance <= 0:
        return 1.0
    if min(int(side.sum()), int((~side).sum())) >= FEW:
        from scipy.special import ndtr

        return float(ndtr(-(observed - expected) / np.sqrt(variance)))
    rng, order = rng_for(0, "within cells", len(side)), np.argsort(cell, kind="stable")
    more = 0
    for draw in range(DRAWS):
        mixed = np.zeros(len(side), dtype=bool)
        mixed[order] = side[np.lexsort((rng.random(len(side)), cell))]
        more += float(residual[mixed].sum()) >= observed - 1e-9
        if more == ENOUGH:  # the chance is large, and known well enough
            return more / (draw + 1)
    return (more + 1) / (DRAWS + 1)


@dataclass(frozen=True)
class Matches:
    """How many labels are right, and how many would be if they were drawn anew within cells."""

    right: int
    expected: float
    chance: float


def matches_within(truth: Array, predicted: Array, cells: Array) -> Matches:
    """Compare right answers with those that a shuffling among rows of equal cells would leave; normal limit.

    >>> truth = np.array([0, 1] * 40)
    >>> matches_within(truth, truth, np.zeros(80)).expected
    40.0
    """
    _, cell = np.unique(cells, return_inverse=True)
    count = int(cell.max()) + 1
    units = np.bincount(cell, minlength=count).astype(float)
    values = np.unique(np.concatenate([truth, predicted]))
    true = np.stack([np.bincount(cell, truth == v, count) for v in values], axis=1)
    said = np.stack([np.bincount(cell, predicted == v, count) for v in values], axis=1)
    together = (true * said).sum(axis=1)
    expected = together / units
    # the variance of the number of agreements of two columns of which one is permuted
    pairs = units * (units - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        same = ((true * (true - 1)) * (said * (said - 1))).sum(axis=1)
        mixed = together**2 - (true**2 * said).sum(axis=1) - (true * said**2).sum(axis=1) + together
        other = mixed - ((true * (true - 1)) * (said * (said - 1))).sum(axis=1)
        variance = np.where(units > 1, (same + other) / pairs + expected - expected**2, 0.0)
    right, total = int((truth == predicted).sum()), float(np.maximum(variance, 0).sum())
    if total <= 0:
        return Matches(right, float(expected.sum()), 1.0)
    from scipy.special import ndtr

    return Matches(right, float(expected.sum()), float(ndtr(-(right - 0.5 - float(expected.sum())) / np.sqrt(total))))


def rises(before: Array, after: Array, level: float, drop: float, fewest: int) -> bool:
    """Return whether a share is clearly higher after than before, by `drop` or more."""
    if min(len(before), len(after)) < fewest or after.mean() - before.mean() < drop:
        return False
    counts = int(after.sum()), int(before.sum())
    low, high = wilson(counts[0], len(after))[0], wilson(counts[1], len(before))[1]
    return bool(
        hypergeometric_tail(counts[0], sum(counts), len(after), len(after) + len(before)) <= level and low > high
    )


def hypergeometric_tail(drawn: int, marked: int, draws: int, total: int) -> float:
    """Return the chance of at least so many marked among draws without replacement.

    >>> round(hypergeometric_tail(2, 2, 2, 4), 4)
    0.1667
    """
    from scipy.special import gammaln

    def log_choose(n: Array | int, k: Array | int) -> Array:
        return np.asarray(gammaln(np.add(n, 1.0)) - gammaln(np.add(k, 1.0)) - gammaln(np.subtract(n, k) + 1.0))

    ways = np.arange(max(drawn, draws - (total - marked)), min(draws, marked) + 1)
    logs = log_choose(marked, ways) + log_choose(total - marked, draws - ways) - log_choose(total, draws)
    return float(min(1.0, np.exp(logs).sum()))

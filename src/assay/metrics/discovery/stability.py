"""Stability: do several seeds find the same units?"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from assay.base import Array

STILL = 1e-9
"""Units that vary by less than this part of the largest are still: they say nothing."""


def live_units(units: Array) -> Array:
    """Return the numbers of the units that vary."""
    deviations = units.std(axis=0)
    return np.flatnonzero(deviations > STILL * max(float(deviations.max(initial=0)), 1e-30))


def agreement(first: Array, second: Array) -> float:
    """Return the mean correlation, in size, of the units of two seeds when each is matched with one of the other.

    Units of the larger set that find no partner count as 0; units that do not vary are left out.

    >>> numbers = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]])
    >>> round(agreement(numbers, -numbers[:, ::-1]), 6)
    1.0
    """
    from scipy.optimize import linear_sum_assignment

    rows = [units[:, live_units(units)] for units in (first, second)]
    most = max(part.shape[1] for part in rows)
    if min(part.shape[1] for part in rows) == 0:
        return 0.0
    scaled = [(part - part.mean(axis=0)) / part.std(axis=0) for part in rows]
    correlations = np.abs(scaled[0].T @ scaled[1]) / len(first)
    return float(correlations[linear_sum_assignment(-correlations)].sum() / most)


def stability(units: Sequence[Array]) -> float:
    """Return the agreement of all pairs of seeds, averaged; NaN for one seed."""
    pairs = [agreement(first, second) for first, second in combinations(units, 2)]
    return float(np.mean(pairs)) if pairs else np.nan

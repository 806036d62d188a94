"""Mutual information in nats: by counting where both variables have few values, else by nearest neighbours.

The estimator for numbers beside classes is that of Ross (2014), in the family of Kraskov, Stoegbauer and Grassberger:
how many points of any class lie within the distance of the k-th neighbour of the same class.
"""

from dataclasses import dataclass

import numpy as np

from assay.base import Array, rng_for

NEIGHBOURS = 5
PRECISION = 0.01
"""Numbers get noise of this size, drawn from the seed: what differs by less counts as equal."""


def entropy(codes: Array) -> float:
    """Return the entropy of values.

    >>> round(entropy(np.array([0, 1, 0, 1])), 4)
    0.6931
    """
    shares = np.unique(codes, return_counts=True)[1] / max(1, len(codes))
    return float(-(shares * np.log(shares)).sum())


def mutual_information(first: Array, second: Array) -> float:
    """Return the mutual information of two columns of values, by counting.

    >>> round(mutual_information(np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0])), 4)
    0.6931
    """
    both = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)[1].ravel()
    return max(0.0, entropy(first) + entropy(second) - entropy(both))


@dataclass(frozen=True)
class Blur:
    """The size of the noise that is added to numbers, and its seed."""

    seed: int = 0
    precision: float = PRECISION

    def __call__(self, numbers: Array, *purpose: object) -> Array:
        """Return the numbers with noise that depends on the seed and the purpose alone."""
        noise = rng_for(self.seed, "blur", *purpose).uniform(-0.5, 0.5, numbers.shape)
        return np.asarray(numbers + self.precision * noise)


def mutual_information_knn(numbers: Array, codes: Array, blur: Blur, *purpose: object) -> float:
    """Return the mutual information of rows of numbers and a column of values, by nearest neighbours."""
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    points = blur(np.asarray(numbers, dtype=np.float64).reshape(len(codes), -1), *purpose)
    radius, near, sizes = np.zeros(len(codes)), np.zeros(len(codes)), np.zeros(len(codes))
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if len(rows) > 1:
            near[rows], sizes[rows] = min(NEIGHBOURS, len(rows) - 1), len(rows)
            distances = np.asarray(cKDTree(points[rows]).query(points[rows], k=[int(near[rows[0]]) + 1], p=np.inf)[0])
            radius[rows] = np.nextafter(distances[:, 0], 0)
    used = sizes > 0  # a class of one example has no neighbour
    if not used.any():
        return 0.0
    tree = cKDTree(points[used])
    within = tree.query_ball_point(points[used], radius[used], p=np.inf, return_length=True)
    value = digamma(used.sum()) + digamma(near[used]).mean() - digamma(sizes[used]).mean() - digamma(within).mean()
    return max(0.0, float(value))

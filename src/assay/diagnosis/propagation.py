"""The probability of a label when its concepts are uncertain, computed and not sampled.

For independent concepts it is a sum over all worlds. A rule needs one sweep over its decision diagram. A logistic head
over many concepts is cut into two halves: E s(X + Y) = sum over the worlds x of one half of p(x) F(x), where F(x) =
sum over y of p(y) s(x + y) is as smooth as the logistic function s. F is computed at Chebyshev points and interpolated;
how far that can be off is known beforehand, and the points are as many as make it less than `ERROR`. Any other head is
asked about every world.
"""

import math
from collections.abc import Sequence

import numpy as np

from assay.base import Array, TooLarge
from assay.contracts import LabelHead, LinearHead
from assay.diagnosis.interventions.label_heads import rule_head
from assay.logic import Knowledge

ERROR = 1e-9
MOST_HALF = 2**16
MOST_WORLDS = 2**20
CHUNK = 512


def through_and(concepts: Sequence[Array], wanted: Sequence[int] | None = None) -> Array:
    """Return how likely all concepts are to have the wanted value, by default the second.

    >>> through_and([np.array([[0.5, 0.5]]), np.array([[0.2, 0.8]])]).tolist()
    [0.4]
    """
    values = wanted or [1] * len(concepts)
    return np.asarray(np.prod([p[:, value] for p, value in zip(concepts, values, strict=True)], axis=0))


def through_rule(knowledge: Knowledge, concepts: Sequence[Array]) -> list[Array]:
    """Return the probabilities of each label that the rule gives."""
    return rule_head(knowledge)(list(concepts))


def through_linear(head: LinearHead, concepts: Sequence[Array], error: float = ERROR) -> list[Array]:
    """Return the expected label probabilities of a linear head, to within `error`; exact for labels of many values."""
    if not head.binary:
        return through_any(head, concepts)
    weights, bias = head.margins()
    probabilities = []
    for label in range(len(head.sizes)):
        chance = _expected_logistic([w[:, label] for w in weights], float(bias[label]), concepts, error)
        probabilities.append(np.stack([1 - chance, chance], axis=1))
    return probabilities


def through_any(head: LabelHead, concepts: Sequence[Array]) -> list[Array]:
    """Return the expected label probabilities of any head, by asking it about every world."""
    sizes = [p.shape[1] for p in concepts]
    worlds = math.prod(sizes)
    if worlds > MOST_WORLDS:
        raise TooLarge(
            f"{worlds:,} worlds of {len(sizes)} concepts are too many to ask a head about (at most {MOST_WORLDS:,})"
        )
    return [_average(table, concepts) for table in _of_every_world(head, sizes)]


def _of_every_world(head: LabelHead, sizes: Sequence[int]) -> list[Array]:
    codes = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
    parts = []
    for start in range(0, len(codes), 2**16):
        part = codes[start : start + 2**16]
        parts.append(head([np.eye(size)[part[:, place]] for place, size in enumerate(sizes)]))
    return [np.concatenate(same) for same in zip(*parts, strict=True)]


def _average(of_worlds: Array, concepts: Sequence[Array]) -> Array:
    """Return the expectation over worlds: over one half of the concepts by a matrix product, then the other."""
    rows, outputs = len(concepts[0]), of_worlds.shape[1]
    means = []
    for start in range(0, rows, CHUNK):
        part = [np.asarray(p[start : start + CHUNK], dtype=np.float64) for p in concepts]
        half = _half([p.shape[1] for p in part])
        first, second = _joint(part[:half]), _joint(part[half:])
        table = of_worlds.reshape(first.shape[1], -1)  # worlds of one half x (worlds of the other, outputs)
        mixed = (first @ table).reshape(len(first), second.shape[1], outputs)
        means.append((mixed * second[:, :, None]).sum(axis=1))
    return np.concatenate(means)


def _half(sizes: Sequence[int]) -> int:
    """Return where to cut concepts so that both halves have about as many worlds."""
    logs = np.cumsum(np.log(sizes))
    return max(1, min(len(sizes) - 1, int(np.abs(logs - logs[-1] / 2).argmin()) + 1)) if len(sizes) > 1 else 1


def _joint(concepts: Sequence[Array]) -> Array:
    """Return the probabilities of all worlds of some concepts: rows x worlds, the last concept fastest."""
    joint = np.ones((1, 1))
    for p in concepts:
        joint = (joint[:, :, None] * p[:, None, :]).reshape(len(p), -1)
    return joint


def _sums(weights: Sequence[Array]) -> Array:
    """Return what every world of some concepts adds up to, the last concept fastest."""
    sums = np.zeros(1)
    for w in weights:
        sums = (sums[:, None] + w[None, :]).ravel()
    return sums


def _expected_logistic(weights: Sequence[Array], bias: float, concepts: Sequence[Array], error: float) -> Array:
    sizes = [len(w) for w in weights]
    half = _half(sizes)
    x, y = _sums(weights[:half]), _sums(weights[half:]) + bias
    if max(len(x), len(y)) > MOST_HALF:
        raise TooLarge(
            f"{len(sizes)} concepts are too many for an exact logistic head: a half has more than {MOST_HALF:,} worlds"
        )
    points = chebyshev_points(float(np.ptp(x)) / 2, error)
    if points < len(x):
        nodes, onto = _interpolation(x, points)
    else:
        nodes, onto = x, None
    table = _logistic(y[:, None] + nodes[None, :])
    parts = []
    for start in range(0, len(concepts[0]), CHUNK):
        part = [np.asarray(p[start : start + CHUNK], dtype=np.float64) for p in concepts]
        first, second = _joint(part[:half]), _joint(part[half:])
        weighed = first if onto is None else first @ onto
        parts.append((weighed * (second @ table)).sum(axis=1))
    return np.concatenate(parts)


def chebyshev_points(half_width: float, error: float) -> int:
    """Return how many points interpolate a mixture of shifted logistic functions to within an error.

    The logistic function is analytic and at most 1 in size where the imaginary part is at most pi / 2. The ellipse of
    Bernstein of that half height around an interval of this half width has parameter r, and interpolation at n + 1
    Chebyshev points is off by at most 4 / ((r - 1) r^n).
    """
    if half_width == 0:
        return 1
    rise = math.pi / 2 / half_width
    r = rise + math.sqrt(rise * rise + 1)
    return max(2, math.ceil(math.log(4 / ((r - 1) * error)) / math.log(r)) + 1)


def _interpolation(x: Array, points: int) -> tuple[Array, Array]:
    """Return Chebyshev points (of the second kind) over the range of x, and the matrix that takes values there to x."""
    middle, half = (x.max() + x.min()) / 2, np.ptp(x) / 2
    nodes = middle + half * np.cos(np.pi * np.arange(points) / (points - 1))
    signs = np.where(np.arange(points) % 2, -1.0, 1.0)
    signs[[0, -1]] /= 2
    apart = x[:, None] - nodes[None, :]
    hit = apart == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = signs / apart
        shares /= shares.sum(axis=1, keepdims=True)
    met = hit.any(axis=1)
    shares[met] = hit[met]
    return nodes, shares


def _logistic(score: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(score / 2)))

"""Bounding volume hierarchies: a tree of boxes over a mesh's triangles, and one over a scene's instances.

A tree has rows of `nodes` (lowest and highest corner) and of `links`: a leaf has (first item, how many), an inner node
(its left child, 0); the right child follows the left one.
"""

import numpy as np

from assay.base import Array
from assay.render.engines.jit import kernel, subroutine

BINS, STACK = 12, 64
FAR = 1e30


def build_tree(low: Array, high: Array, most: int) -> tuple[Array, Array, Array]:
    """Return nodes, links and the order of the items, for items with these boxes and at most `most` in a leaf."""
    count = len(low)
    nodes, links, order = np.zeros((2 * count, 6)), np.zeros((2 * count, 2), np.int64), np.arange(count)
    todo = np.zeros((2 * count + 2, 3), np.int64)
    todo[0, 2] = count
    used = grow_tree(low, high, (low + high) / 2, nodes, links, order, todo, np.zeros((BINS + 1, 8)), most)
    return nodes[:used], links[:used], order


@kernel
def grow_tree(
    low: Array, high: Array, middle: Array, nodes: Array, links: Array, order: Array, todo: Array, bins: Array,
    most: int,
) -> int:  # fmt: skip
    """Fill in nodes, links and order; return how many nodes there are. `bins` is working space."""
    used, waiting = 1, 1
    while waiting > 0:
        waiting -= 1
        node, first, last = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        for axis in range(3):
            least, greatest = FAR, -FAR
            for k in range(first, last):
                least, greatest = min(least, low[order[k], axis]), max(greatest, high[order[k], axis])
            nodes[node, axis], nodes[node, 3 + axis] = least, greatest
        cut = first
        if last - first > most:
            cut = partition(low, high, middle, order, bins, first, last)
        if not first < cut < last:
            links[node, 0], links[node, 1] = first, last - first
            continue
        links[node, 0] = used
        todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = used, first, cut
        todo[waiting + 1, 0], todo[waiting + 1, 1], todo[waiting + 1, 2] = used + 1, cut, last
        waiting += 2
        used += 2
    return used


@subroutine
def partition(low: Array, high: Array, middle: Array, order: Array, bins: Array, first: int, last: int) -> int:
    """Sort items first..last of the order into two halves where rays cost least; return where the second begins."""
    best, best_axis, best_edge = FAR, -1, 0.0
    for axis in range(3):
        least, greatest = FAR, -FAR
        for k in range(first, last):
            least, greatest = min(least, middle[order[k], axis]), max(greatest, middle[order[k], axis])
        if greatest - least < 1e-12:
            continue
        step = (greatest - least) / BINS
        fill_bins(low, high, middle, order, bins, first, last, axis, least, step)
        place, cost = cheapest_cut(bins)
        if cost < best:
            best, best_axis, best_edge = cost, axis, least + step * (place + 1)
    i, j = first, last - 1
    while i <= j and best_axis >= 0:
        if middle[order[i], best_axis] < best_edge:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i if first < i < last else (first + last) // 2


@subroutine
def fill_bins(
    low: Array, high: Array, middle: Array, order: Array, bins: Array, first: int, last: int, axis: int,
    least: float, step: float,
) -> None:  # fmt: skip
    """Fill the bins along an axis: box (6 numbers) and count of the items in each."""
    for place in range(BINS):
        clear_bin(bins, place)
    for k in range(first, last):
        item = order[k]
        place = min(int((middle[item, axis] - least) / step), BINS - 1)
        bins[place, 6] += 1
        for a in range(3):
            bins[place, a] = min(bins[place, a], low[item, a])
            bins[place, 3 + a] = max(bins[place, 3 + a], high[item, a])


@subroutine
def clear_bin(bins: Array, place: int) -> None:
    """Empty one bin."""
    for a in range(3):
        bins[place, a], bins[place, 3 + a] = FAR, -FAR
    bins[place, 6] = 0


@subroutine
def cheapest_cut(bins: Array) -> tuple[int, float]:
    """Return after which bin to cut, and what that costs. The row after the last bin holds the box that grows."""
    clear_bin(bins, BINS + 0)
    for place in range(BINS - 1, 0, -1):
        bins[place, 7] = add_bin(bins, place)
    clear_bin(bins, BINS + 0)
    best, cut = FAR, 0
    for place in range(BINS - 1):
        cost = add_bin(bins, place) + bins[place + 1, 7]
        if cost < best and bins[BINS, 6] > 0:
            best, cut = cost, place
    return cut, best


@subroutine
def add_bin(bins: Array, place: int) -> float:
    """Let the growing box take in a bin; return its count times its face."""
    bins[BINS, 6] += bins[place, 6]
    for a in range(3):
        bins[BINS, a] = min(bins[BINS, a], bins[place, a])
        bins[BINS, 3 + a] = max(bins[BINS, 3 + a], bins[place, 3 + a])
    x, y, z = bins[BINS, 3] - bins[BINS, 0], bins[BINS, 4] - bins[BINS, 1], bins[BINS, 5] - bins[BINS, 2]
    if x < 0:
        return 0.0
    return bins[BINS, 6] * (x * y + y * z + z * x)


@subroutine
def box_entry(
    nodes: Array, k: int, ox: float, oy: float, oz: float, ix: float, iy: float, iz: float, most: float
) -> float:
    """Return how far along a ray (origin, one over its direction) node k begins, or `FAR` where it misses."""
    a, b = (nodes[k, 0] - ox) * ix, (nodes[k, 3] - ox) * ix
    near, far = min(a, b), max(a, b)
    a, b = (nodes[k, 1] - oy) * iy, (nodes[k, 4] - oy) * iy
    near, far = max(near, min(a, b)), min(far, max(a, b))
    a, b = (nodes[k, 2] - oz) * iz, (nodes[k, 5] - oz) * iz
    near, far = max(near, min(a, b)), min(far, max(a, b))
    if far < near or far < 0.0 or near > most:
        return FAR
    return near


@subroutine
def safe_inverse(x: float) -> float:
    """Return one over x, finite."""
    if abs(x) < 1e-20:
        return 1e20 if x >= 0 else -1e20
    return 1.0 / x

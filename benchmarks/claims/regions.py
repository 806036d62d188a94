"""Regions of the concepts in words, and comparisons of wrong labels within equal cells."""

import re
from collections.abc import Sequence

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import ConceptSpace

DRAWS = 400


def inside(where: str, space: ConceptSpace, codes: Codes) -> Array:
    """Return which worlds lie in a region that is told in words.

    >>> from assay.logic.concepts import bits
    >>> inside("a and not b or where not a", bits(["a", "b"]), np.array([[1, 0], [1, 1], [0, 1]])).tolist()
    [True, False, True]
    """
    parts = [
        [literal(text, space, codes) for text in part.split(" and ")]
        for part in re.split(r",? or where |, (?=\S)", where)
    ]
    return np.any([np.all(part, axis=0) for part in parts], axis=0)


def literal(text: str, space: ConceptSpace, codes: Codes) -> Array:
    """Return which worlds have what a part of such a region says."""
    if text == "everywhere":
        return np.ones(len(codes), dtype=bool)
    match = re.fullmatch(r"(?:(not) )?([\w.-]+?)(?: is (not |at most |above )?(\S+))?", text)
    if match is None or match[2] not in space.places:
        raise ValueError(f"no region in words: {text!r}")
    column = space.place(match[2])
    values = space.concepts[column].values
    own, known = codes[:, column], codes[:, column] >= 0
    if match[4] is None:
        return known & (own == values.index(not match[1]))
    code = [str(value) for value in values].index(match[4])
    return known & {None: own == code, "not ": own != code, "at most ": own <= code, "above ": own > code}[match[3]]


def difference(wrong: Array, side: Array, cells: Sequence[Array]) -> tuple[float, Array]:
    """Return by how much more often one side is wrong in cells that both sides have, and which rows these are."""
    number = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    count = number.max() + 1
    sizes = [np.bincount(number, part, count) for part in (side, ~side)]
    both = ((sizes[0] > 0) & (sizes[1] > 0))[number]
    if not both.any():
        return 0.0, both
    rate = np.bincount(number, wrong * ~side, count) / np.maximum(1, sizes[1])
    own = both & side
    return float((wrong[own] - rate[number[own]]).mean()), both


def chance(wrong: Array, side: Array, cells: Sequence[Array], units: Array) -> float:
    """Return how often as large a difference comes out when whole units are exchanged within cells at random."""
    by, both = difference(wrong, side, cells)
    if not both.any():
        return 1.0
    cell = np.unique(np.stack(cells, axis=1)[both], axis=0, return_inverse=True)[1].reshape(-1)
    unit = np.unique(np.stack([cell, units[both], side[both]], axis=1), axis=0, return_inverse=True, return_index=True)
    first, which = unit[1], unit[2].reshape(-1)
    rng, more = rng_for(0, "claims", "exchanged", len(wrong)), 0
    sides, of = side[both][first], cell[first]
    order = np.argsort(of, kind="stable")
    for _ in range(DRAWS):
        mixed = sides.copy()
        mixed[order] = sides[np.lexsort((rng.random(len(of)), of))]
        more += difference(wrong[both], mixed[which], [cell])[0] >= by - 1e-12
    return (more + 1) / (DRAWS + 1)

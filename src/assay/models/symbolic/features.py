"""Concepts as columns of numbers, for learners that take those."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from assay.arrays import Array
from assay.concepts import Concept, ConceptSpace

Encoding = Literal["numbers", "values", "both"]


def columns(space: ConceptSpace, probabilities: Sequence[Array], encoding: Encoding) -> Array:
    """Return a row of numbers for each example.

    `numbers`  a number as itself (its mean where uncertain), a truth value as 0 or 1, a symbol as a column a value
    `values`   the probability of each value of each concept
    """
    parts = [part for c, p in zip(space.concepts, probabilities, strict=True) for part in _columns(c, p, encoding)]
    return np.concatenate(parts, axis=1)


def _columns(concept: Concept, probabilities: Array, encoding: Encoding) -> list[Array]:
    ordered = not concept.optional and concept.kind != "symbol"
    if not ordered or encoding == "values":
        return [np.asarray(probabilities)]
    mean = probabilities @ np.array([float(value) for value in concept.values if not isinstance(value, str)])
    return [mean[:, None]] + ([np.asarray(probabilities)] if encoding == "both" else [])

"""Truth values of examples as packed bits, 64 to a word, as the searches for clauses and for programs hold them."""

import numpy as np

from assay.base import Array

WORD = 64


def pack_bits(truths: Array) -> Array:
    """Return truth values along the last axis as bits, 64 a word.

    >>> pack_bits(np.array([True, False, True])).tolist()
    [5]
    """
    bytes_ = np.packbits(truths, axis=-1, bitorder="little")
    short = -bytes_.shape[-1] % 8
    if short:
        bytes_ = np.concatenate([bytes_, np.zeros((*bytes_.shape[:-1], short), dtype=np.uint8)], axis=-1)
    return np.ascontiguousarray(bytes_).view(np.uint64)


def unpack_bits(words: Array, size: int) -> Array:
    """Return the truth values of so many examples, from their words."""
    bytes_ = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(bytes_, axis=-1, count=size, bitorder="little").astype(bool)


def count_bits(words: Array) -> Array:
    """Return how many bits are set along the last axis."""
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))

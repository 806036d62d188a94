"""The training examples of a symbolic learner, and truth values of examples as packed bits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes
from assay.logic import ConceptSpace, Knowledge, Label

WORD = 64


@dataclass(frozen=True)
class Examples:
    """Training examples: concepts as codes and as probabilities, and labels as codes (-1 where not annotated)."""

    knowledge: Knowledge
    codes: Codes
    probabilities: Sequence[Array]
    labels: Codes

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def space(self) -> ConceptSpace:
        """The concepts."""
        return self.knowledge.space

    def of_label(self, label: Label) -> "LabelExamples":
        """Return the examples for which one label is annotated."""
        column = self.labels[:, self.knowledge.label_names.index(label.name)]
        rows = np.flatnonzero(column >= 0)
        return LabelExamples(self.space, label, self.codes[rows], [p[rows] for p in self.probabilities], column[rows])


@dataclass(frozen=True)
class LabelExamples:
    """The examples for one label: concepts, and the label's code in each."""

    space: ConceptSpace
    label: Label
    codes: Codes
    probabilities: Sequence[Array]
    targets: Codes

    def __len__(self) -> int:
        return len(self.targets)

    def positive(self, code: int) -> Array:
        """Return in which examples the label has this value."""
        return np.asarray(self.targets == code)


def most_probable_codes(probabilities: Sequence[Array]) -> Codes:
    """Return the code of the most probable value of each concept."""
    return np.stack([values.argmax(axis=1) for values in probabilities], axis=1)


# -- truth values as bits, 64 a word -----------------------------------------------------------------------------------


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

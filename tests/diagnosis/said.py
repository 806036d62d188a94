"""What models say, written down: evidence from true worlds, the concepts that are said, and the labels."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import Concept, ConceptSpace, bits
from assay.logic.knowledge import NO_RULE, Knowledge, Label
from assay.metrics.evidence import Evidence

SIGNS = ConceptSpace(
    (
        Concept("shape", ("disc", "square", "ring")),
        Concept("colour", ("blue", "green", "red")),
        Concept("stripe", (False, True)),
        Concept("dots", (0, 1, 2, 3)),
        Concept("frame", (False, True)),
    )
)
"""Signs of five concepts, of which rules use some."""
SHAPE, COLOUR, STRIPE, DOTS, FRAME = range(5)


def rule(text: str, concepts: str | ConceptSpace = "abc") -> Knowledge:
    """Return a rule for one label `y`, over bits of these letters or over other concepts."""
    return Knowledge.of(bits(list(concepts)) if isinstance(concepts, str) else concepts, {"y": text})


def unruled(space: ConceptSpace, values: Sequence[object] = (False, True)) -> Knowledge:
    """Return what is known where no rule is: a label `y` of these values."""
    return Knowledge(space, (Label("y", NO_RULE, tuple(values)),))  # type: ignore[arg-type]


def worlds(space: ConceptSpace, count: int, rng: np.random.Generator) -> Codes:
    """Return worlds drawn evenly."""
    return rng.integers(0, np.array(space.sizes), size=(count, len(space)))


def every(space: ConceptSpace, times: int = 1) -> Codes:
    """Return every world so many times."""
    return np.tile(np.array(list(product(*map(range, space.sizes)))), (times, 1))


def evidence(
    knowledge: Knowledge,
    truth: Codes,
    said: Codes | None = None,
    predicted: Codes | None = None,
    labels: Codes | None = None,
    split: str = "test",
    sure: Sequence[Array | None] | None = None,
    odds: Sequence[Array | None] | None = None,
) -> Evidence:
    """Return the evidence of a model that says the truth, and the rule's labels, unless something else is given.

    `said` and `predicted` are its concepts and labels, `labels` those of the table; `sure` and `odds` are probabilities
    of concepts and labels.
    """
    said = truth if said is None else said
    labels = knowledge.labels_of(truth) if labels is None else labels
    if predicted is None:
        predicted = knowledge.labels_of(np.where(said >= 0, said, np.maximum(truth, 0)))
    sure = (None,) * len(knowledge.space) if sure is None else sure
    odds = (None,) * len(knowledge.labels) if odds is None else odds
    return Evidence(
        knowledge, split, labels, truth, np.asarray(predicted).reshape(labels.shape), said, tuple(odds), tuple(sure)
    )


def silent(truth: Codes) -> Codes:
    """Return the concepts of a model that says none."""
    return np.full_like(truth, -1)


def flipped(codes: Codes, rows: Array, column: int = 0, size: int = 2) -> Codes:
    """Return codes with the next value in some rows of a column."""
    other = codes.copy()
    other[rows, column] = (other[rows, column] + 1) % size
    return other


def some(count: int, share: float, rng: np.random.Generator) -> Array:
    """Return which of so many rows are drawn: exactly this share."""
    chosen = np.zeros(count, dtype=bool)
    chosen[rng.permutation(count)[: round(share * count)]] = True
    return chosen


def redrawn(codes: Codes, share: float, space: ConceptSpace, rng: np.random.Generator, columns: Sequence[int]) -> Codes:
    """Return codes of which each cell of some columns has, by this chance, another value."""
    other = codes.copy()
    for column in columns:
        rows = rng.random(len(codes)) < share
        other[rows, column] = (other[rows, column] + rng.integers(1, space.sizes[column], rows.sum())) % space.sizes[column]
    return other


def certain(codes: Codes, confidence: Array | float, size: int = 2) -> Array:
    """Return probabilities that give each code this confidence and share the rest alike."""
    confidence = np.broadcast_to(np.asarray(confidence, dtype=float), codes.shape)
    rest = (1 - confidence) / (size - 1)
    return np.where(codes[:, None] == np.arange(size), confidence[:, None], rest[:, None])

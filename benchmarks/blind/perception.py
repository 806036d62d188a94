"""Pictures as feature vectors, detectors trained on them, simulated perception, and heads by exact inference."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from assay.base import Array, Codes
from assay.logic import NO_RULE, Concept, ConceptSpace, Knowledge, Label, Value


def space_of(**concepts: Sequence[Value]) -> ConceptSpace:
    """Return a space of concepts by their values; an empty list means a truth value."""
    return ConceptSpace(tuple(Concept(name, tuple(values) or (False, True)) for name, values in concepts.items()))


def without_rule(space: ConceptSpace, values: Sequence[Value] = (False, True), name: str = "y") -> Knowledge:
    """Return knowledge of a label by no known rule."""
    return Knowledge(space, (Label(name, NO_RULE, tuple(values)),))


def draw(rng: np.random.Generator, space: ConceptSpace, n: int, **odds: float | Sequence[float]) -> Codes:
    """Draw worlds, concepts independent and uniform but for those with odds (of truth, or of each value)."""
    columns = []
    for concept, size in zip(space.concepts, space.sizes, strict=True):
        chance = odds.get(concept.name)
        weights = None if chance is None else [1 - chance, chance] if isinstance(chance, float) else list(chance)
        columns.append(rng.choice(size, n, p=weights))
    return np.stack(columns, axis=1).astype(np.int64)


@dataclass(frozen=True)
class Camera:
    """Renders worlds as feature vectors: one-hot values, mixed by a fixed rotation, with noise."""

    sizes: tuple[int, ...]
    mixing: Array
    noise: float

    @classmethod
    def of(cls, rng: np.random.Generator, space: ConceptSpace, noise: float, spare: int = 4) -> "Camera":
        """Return a camera with `spare` dimensions that show nothing."""
        width = sum(space.sizes) + spare
        return cls(space.sizes, np.linalg.qr(rng.normal(size=(width, width)))[0], noise)

    def __call__(self, rng: np.random.Generator, codes: Codes, noise: float | Array | None = None) -> Array:
        """Return one picture a world; noise may differ from row to row."""
        shown = np.concatenate([np.eye(size)[column] for column, size in zip(codes.T, self.sizes, strict=True)], axis=1)
        padded = np.pad(shown, ((0, 0), (0, len(self.mixing) - shown.shape[1])))
        level = np.asarray(self.noise if noise is None else noise, dtype=float)
        blur = rng.normal(size=padded.shape) * (level[:, None] if level.ndim else level)
        return np.asarray(padded @ self.mixing + blur)


@dataclass(frozen=True)
class Detectors:
    """One logistic detector a concept."""

    models: tuple[Any, ...]
    sizes: tuple[int, ...]

    @classmethod
    def fit(cls, pictures: Array, codes: Codes, sizes: tuple[int, ...]) -> "Detectors":
        """Train one detector a concept on annotated pictures."""
        return cls(
            tuple(quietly(LogisticRegression(C=10.0, max_iter=300), pictures, column) for column in codes.T), sizes
        )

    def __call__(self, pictures: Array) -> tuple[Array, ...]:
        """Return the probabilities of each concept's values; a value never seen in training has none."""
        return tuple(widen(model, pictures, size) for model, size in zip(self.models, self.sizes, strict=True))


def quietly(model: Any, features: Array, target: Array) -> Any:
    """Fit an estimator without its warnings of convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(features, target)


def widen(model: Any, features: Array, size: int) -> Array:
    """Return an estimator's probabilities, a column for every value that there is."""
    whole = np.zeros((len(features), size))
    whole[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(features)
    return whole


def top(probabilities: Sequence[Array]) -> Codes:
    """Return the most probable codes."""
    return np.stack([column.argmax(axis=1) for column in probabilities], axis=1).astype(np.int64)


def percept(rng: np.random.Generator, codes: Codes, sizes: Sequence[int], clarity: float | Array) -> tuple[Array, ...]:
    """Return calibrated probabilities: the posterior of each value given a Gaussian percept, values equally probable.

    Clarity is the distance of a value's mean from zero, in standard deviations; it may differ by row and column.
    """
    level = np.broadcast_to(np.asarray(clarity, dtype=float), codes.shape)
    columns = []
    for column, size in enumerate(sizes):
        shown = level[:, column, None] * np.eye(size)[codes[:, column]] + rng.normal(size=(len(codes), size))
        columns.append(softmax(level[:, column, None] * shown))
    return tuple(columns)


def softmax(scores: Array) -> Array:
    """Return the softmax of each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def sharp(rng: np.random.Generator, codes: Codes, sizes: Sequence[int], low: float = 0.8) -> tuple[Array, ...]:
    """Return probabilities that name these codes, each with a confidence drawn from `low` to 1."""
    columns = []
    for column, size in enumerate(sizes):
        sure = rng.uniform(max(low, 1 / size + 0.05), 1, len(codes))[:, None]
        hot = np.eye(size)[codes[:, column]]
        columns.append(hot * sure + (1 - hot) * (1 - sure) / (size - 1))
    return tuple(columns)


def misread(rng: np.random.Generator, codes: Codes, sizes: Sequence[int], rate: float | Sequence[float]) -> Codes:
    """Replace values by others, at random, at one rate or one a column."""
    rates = np.broadcast_to(np.asarray(rate, dtype=float), (len(sizes),))
    steps = np.stack([rng.integers(1, size, len(codes)) for size in sizes], axis=1)
    return np.where(rng.random(codes.shape) < rates, (codes + steps) % np.array(sizes), codes)


def exact(knowledge: Knowledge, probabilities: Sequence[Array]) -> tuple[Array, ...]:
    """Return each label's distribution by the rule, concepts independent with these probabilities."""
    worlds = knowledge.space.all_codes().astype(np.int64)
    labels = knowledge.labels_of(worlds)
    weights = np.ones((len(probabilities[0]), len(worlds)))
    for column, values in enumerate(probabilities):
        weights *= values[:, worlds[:, column]]
    return tuple(weights @ np.eye(len(label.values))[labels[:, i]] for i, label in enumerate(knowledge.labels))


def joined(probabilities: Sequence[Array]) -> Array:
    """Return the probabilities of all concepts as one table of features."""
    return np.concatenate(list(probabilities), axis=1)


def hot(codes: Codes, sizes: Sequence[int]) -> Array:
    """Return codes as one-hot features."""
    return np.concatenate([np.eye(size)[codes[:, column]] for column, size in enumerate(sizes)], axis=1)


def heads(make: Callable[[], Any], features: Array, labels: Codes) -> list[Any]:
    """Fit one estimator a label."""
    return [quietly(make(), features, column) for column in labels.T]


def predicted(models: Sequence[Any], features: Array) -> Codes:
    """Return what one estimator a label predicts."""
    return np.stack([model.predict(features) for model in models], axis=1).astype(np.int64)

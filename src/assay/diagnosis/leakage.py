"""Leakage: do a model's concepts carry more than concepts? Into the label (CTL), and from one concept to another (ICL).

CTL of a concept is max(0, I(predicted; label) - I(true; label)) / H(label), and ICL of a pair is max(0, what the two
predictions share - what the truths share), each divided by the geometric mean of the entropies; both averaged, as
the Concept Benchmark reports them. `hard` compares the predicted values. `soft` compares the predicted probabilities:
for CTL by nearest neighbours; for ICL what the probabilities of one tell of the other's true value.

Both look at one concept at a time, and are biased upwards by chance. The probe is not: it learns on one half and is
asked about the other how much better the label is told by true and predicted concepts than by the truth and the
rule. It is 0 where the rule uses every concept; what probabilities tell then is measured in `soft_leakage`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.information import PRECISION, Blur, entropy, shared, shared_by_neighbours
from assay.diagnosis.soft_leakage import soft_leaks
from assay.errors import DataError
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for

MOST_ROWS = 3000
MOST_PAIRS = 300
FEWEST_ROWS = 40
SMALLEST = 1e-6
FARTHEST = 8.0
"""Log-odds beyond this are taken for this."""


@dataclass(frozen=True)
class Measure:
    """Leakage by one kind of prediction: the mean over concepts, over pairs, and by a probe, as shares of H(label)."""

    ctl: float
    icl: float
    probe: float


@dataclass(frozen=True)
class Leakage:
    """Leakage of a model on a split; `soft` is None where it gives no probabilities."""

    split: str
    rows: int
    pairs: int
    hard: Measure
    soft: Measure | None
    by_concept: dict[str, float]
    """The CTL of each concept, by its probabilities if there are such."""
    beyond_value: dict[str, float]
    """How much the probabilities of each concept tell of a label where the concept's value is known and right."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def leakage(evidence: Evidence, seed: int = 0, precision: float = PRECISION) -> Leakage:
    """Return the leakage of a model on a split, the same in every run with the same seed.

    Probabilities that differ by less than the precision are taken for the same: a network's confidence depends a little
    on everything in the picture, and without this a difference in the tenth digit would count as fully told.
    """
    sizes, said = evidence.knowledge.space.sizes, evidence.predicted_concepts
    places = [p for p in evidence.answered if sizes[p] > 1 and (said[:, p] >= 0).all()]
    if not places:
        raise DataError("leakage needs concepts: the predictions say nothing of them, or not in every row")
    if len(evidence) < FEWEST_ROWS:
        raise DataError(f"split {evidence.split!r} has {len(evidence)} examples, leakage needs {FEWEST_ROWS} or more")
    rows = np.sort(rng_for(seed, "leakage", "rows").permutation(len(evidence))[:MOST_ROWS])
    held = evidence.take(rows)
    pairs = list(permutations(places, 2))
    chosen = rng_for(seed, "leakage", "pairs").permutation(len(pairs))[:MOST_PAIRS]
    found = _Found(held, places, [pairs[i] for i in np.sort(chosen)], Blur(seed, precision))
    hard = Measure(_mean(found.ctl(found.hard_task)), found.icl(found.hard_pair), found.probe(found.hard_features))
    soft, each = None, found.ctl(found.hard_task)
    if all(held.concept_probabilities[place] is not None for place in places):
        each = found.ctl(found.soft_task)
        soft = Measure(_mean(each), found.icl(found.soft_pair), found.probe(found.soft_features))
    names = held.knowledge.space.names
    by_concept = {names[p]: round(value, 6) for p, value in zip(places, each, strict=True)}
    return Leakage(held.split, len(held), len(found.pairs), hard, soft, by_concept, _beyond_value(held))


def _beyond_value(evidence: Evidence) -> dict[str, float]:
    found: dict[str, float] = {}
    for leak in soft_leaks(evidence):
        found[leak.concept] = round(max(found.get(leak.concept, 0.0), leak.strength), 6)
    return found


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0


@dataclass(frozen=True)
class _Found:
    """The evidence at hand, and how each number is found."""

    evidence: Evidence
    places: list[int]
    pairs: list[tuple[int, int]]
    blur: Blur

    def ctl(self, told: Callable[[int, int], float]) -> list[float]:
        """Return for each concept how much more of a label it tells than the truth would, averaged over labels."""
        labels, found = self.evidence.labels, []
        for place in self.places:
            each = []
            for label in range(labels.shape[1]):
                whole = entropy(labels[:, label])
                if whole > 0:
                    extra = told(place, label) - shared(self.evidence.concepts[:, place], labels[:, label])
                    each.append(max(0.0, extra) / whole)
            found.append(_mean(each))
        return found

    def hard_task(self, place: int, label: int) -> float:
        """Return what the predicted values of a concept tell of a label."""
        return shared(self.evidence.predicted_concepts[:, place], self.evidence.labels[:, label])

    def soft_task(self, place: int, label: int) -> float:
        """Return what the probabilities of a concept tell of a label."""
        return shared_by_neighbours(self.numbers(place), self.evidence.labels[:, label], self.blur, place, label)

    def numbers(self, place: int) -> Array:
        """Return the probabilities of a concept but for the first value, which follows from the others."""
        spread = self.evidence.concept_probabilities[place]
        if spread is None:
            raise DataError("soft leakage needs probabilities")
        return spread[:, 1:]

    def icl(self, told: Callable[[int, int], tuple[float, float]]) -> float:
        """Return the mean over pairs of concepts of how much more they share than the truths do."""
        codes, found = self.evidence.concepts, []
        for one, other in self.pairs:
            amount, whole = told(one, other)
            true = shared(codes[:, one], codes[:, other])
            among = np.sqrt(entropy(codes[:, one]) * entropy(codes[:, other]))
            extra = (amount / whole if whole > 0 else 0.0) - (true / among if among > 0 else 0.0)
            found.append(max(0.0, extra))
        return _mean(found)

    def hard_pair(self, one: int, other: int) -> tuple[float, float]:
        """Return what two predicted values share, and the mean of their entropies."""
        first, second = self.evidence.predicted_concepts[:, one], self.evidence.predicted_concepts[:, other]
        return shared(first, second), float(np.sqrt(entropy(first) * entropy(second)))

    def soft_pair(self, one: int, other: int) -> tuple[float, float]:
        """Return what the probabilities of one tell of the other's true value, and the mean of the true entropies."""
        codes = self.evidence.concepts
        whole = float(np.sqrt(entropy(codes[:, one]) * entropy(codes[:, other])))
        return shared_by_neighbours(self.numbers(one), codes[:, other], self.blur, "pair", one, other), whole

    def hard_features(self, true: bool) -> Array:
        """Return predicted values as columns of zeros and ones; or true ones in the same form."""
        codes = self.evidence.concepts if true else self.evidence.predicted_concepts
        return _ones(codes, self.evidence.knowledge.space.sizes, self.places)

    def soft_features(self, true: bool) -> Array:
        """Return probabilities, their log-odds, and how sure each concept is; or true values in the same form."""
        sizes, codes = self.evidence.knowledge.space.sizes, self.evidence.concepts
        held = [_ones(codes, sizes, [place]) if true else self.numbers(place) for place in self.places]
        sure = np.stack([np.maximum(one.max(axis=1, initial=0), 1 - one.sum(axis=1)) for one in held], axis=1)
        spread = np.concatenate(held, axis=1)
        return np.concatenate([spread, _log_odds(spread), _log_odds(sure)], axis=1)

    def probe(self, features: Callable[[bool], Array]) -> float:
        """Return by how much less predicted concepts leave open of labels than true ones in the same form would.

        Both stand beside the true concepts and the rule, so that a probe has the same number of columns either way.
        """
        evidence, found = self.evidence, []
        sizes = evidence.knowledge.space.sizes
        base = _ones(evidence.concepts, sizes, range(len(sizes)))
        for place in range(evidence.labels.shape[1]):
            labels, whole = evidence.labels[:, place], entropy(evidence.labels[:, place])
            halves = rng_for(self.blur.seed, "probe", place).permutation(len(labels)) % 2
            open_by = [
                _surprise(np.concatenate([base, self._rule(place), features(true)], axis=1), labels, halves)
                for true in (True, False)
            ]
            if whole > 0:
                found.append(max(0.0, open_by[0] - open_by[1]) / whole)
        return _mean(found)

    def _rule(self, place: int) -> Array:
        """Return what the rule says of a label: its value as zeros and ones, or how likely it is."""
        knowledge, codes = self.evidence.knowledge, self.evidence.concepts
        label = knowledge.labels[place]
        if label.odds is None:
            return _ones(knowledge.labels_of(codes)[:, [place]], [len(label.values)], [0])
        chance = np.clip(knowledge.chances(codes)[:, [place]], SMALLEST, 1 - SMALLEST)
        return np.asarray(np.log(chance / (1 - chance)))


def _log_odds(chances: Array) -> Array:
    safe = np.clip(chances, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.clip(np.log(safe / (1 - safe)), -FARTHEST, FARTHEST) / FARTHEST)


def _ones(codes: Codes, sizes: Any, places: Any) -> Array:
    """Return concepts as columns of zeros and ones, one for each value but the first."""
    return np.concatenate([np.eye(sizes[place])[codes[:, place]][:, 1:] for place in places], axis=1)


def _surprise(features: Array, labels: Codes, halves: Array) -> float:
    """Return the cross-entropy of labels by a logistic regression that learns on one half and is asked on the other."""
    from sklearn.linear_model import LogisticRegression

    total = 0.0
    for half in (0, 1):
        learn, ask = halves == half, halves != half
        classes = np.unique(labels[learn])
        chance = np.full((int(ask.sum()), int(labels.max()) + 1), SMALLEST)
        if len(classes) == 1:
            chance[:, classes[0]] = 1.0
        else:
            fit = LogisticRegression(max_iter=500).fit(features[learn], labels[learn])
            chance[:, fit.classes_] = np.maximum(fit.predict_proba(features[ask]), SMALLEST)
        total += -np.log(chance[np.arange(len(chance)), labels[ask]]).sum()
    return float(total / len(labels))

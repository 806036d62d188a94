"""Leakage: do predicted concepts carry more than the concepts? Into the label (CTL), and between concepts (ICL).

CTL of a concept is max(0, I(predicted; label) - I(true; label)) / H(label). ICL of a pair is max(0, I(predicted 1;
predicted 2) - I(true 1; true 2)), each divided by the geometric mean of the entropies. Both are averaged, as the
Concept Benchmark reports them. `hard` uses the predicted values, `soft` the predicted probabilities: for CTL by
nearest neighbours; for ICL as the information of one concept's probabilities about the other's true value.
Information is in nats; that of numbers and classes is estimated as Ross (2014) does, in the family of Kraskov,
Stoegbauer and Grassberger.

Both look at one concept at a time, and are biased upwards by chance. The probe is not: fitted on one half and
evaluated on the other, it compares how well labels are predicted from the true concepts and the rule with and
without the predicted concepts. It is 0 where the rule uses every concept.

*Soft* leaks are there also then: where a concept is predicted right, its probabilities should carry no more than its
value. Measured by ranks within each true value: the share of the variance of ranks that the label explains (epsilon
squared of the Kruskal-Wallis test), 0 without leakage, tested against chance.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from assay.base import Array, Codes, DataError, import_extra, join_first, mean_ranks, rng_for
from assay.diagnosis.views import SplitView
from assay.metrics import Evidence

NEIGHBOURS = 5
PRECISION = 0.01
"""Numbers get noise of this size, drawn from the seed: what differs by less counts as equal."""
LEAST = 0.1
"""The share of variance from which on a leak is reported."""
FEWEST = 30
MOST_TESTS = 20_000
MOST_ROWS = 3000
MOST_PAIRS = 300
FEWEST_ROWS = 40
SMALLEST = 1e-6
FARTHEST = 8.0
"""Log-odds beyond this are taken for this."""


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
class Jitter:
    """The size of the noise that is added to numbers, and its seed."""

    seed: int = 0
    precision: float = PRECISION

    def __call__(self, numbers: Array, *purpose: object) -> Array:
        """Return the numbers with noise that depends on the seed and the purpose alone."""
        noise = rng_for(self.seed, "blur", *purpose).uniform(-0.5, 0.5, numbers.shape)
        return np.asarray(numbers + self.precision * noise)


def mutual_information_knn(numbers: Array, codes: Array, blur: Jitter, *purpose: object) -> float:
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


@dataclass(frozen=True)
class SoftLeak:
    """A concept whose probabilities carry information about a label beyond the concept's value."""

    concept: str
    label: str
    strength: float
    chance: float
    """The p-value: how likely so much is without leakage."""


def soft_leaks(evidence: Evidence) -> list[SoftLeak]:
    """Return how much each concept's probabilities depend on each label where the concept is right."""
    space, labels = evidence.knowledge.space, evidence.knowledge.labels
    soft = [(i, p) for i, p in enumerate(evidence.concept_probabilities) if p is not None]
    tests = len(labels) * sum(p.shape[1] ** 2 for _, p in soft)
    leaks = []
    for place, probabilities in soft:
        right = evidence.predicted_concepts[:, place] == evidence.concepts[:, place]
        columns = probabilities if tests <= MOST_TESTS else probabilities.max(axis=1, keepdims=True)
        columns = columns[:, 1:] if columns.shape[1] == 2 else columns  # the first follows from the second
        rounded = np.round(columns / PRECISION)
        varying = [column for column in rounded.T if right.sum() >= FEWEST and np.ptp(column[right]) > 0]
        for number, label in enumerate(labels):
            results = [
                explained_ranks(column[right], evidence.labels[right, number], evidence.concepts[right, place])
                for column in varying
            ]
            strength, chance = max(results, default=(0.0, 1.0))
            leaks.append(SoftLeak(space.names[place], label.name, strength, min(1.0, chance * max(1, len(results)))))
    return leaks


def explained_ranks(numbers: Array, labels: Array, strata: Array) -> tuple[float, float]:
    """Return how much of the variance of ranks within strata the label explains, corrected for chance, and a p-value.

    >>> explained_ranks(np.arange(20.0), np.arange(20) // 10, np.zeros(20))[0] > 0.6
    True
    """
    from scipy.special import chdtrc  # `scipy.stats` takes a second to import

    between = total = statistic = 0.0
    freedom = 0
    for value in np.unique(strata):
        rows = strata == value
        ranks, classes = mean_ranks(numbers[rows]), np.unique(labels[rows], return_inverse=True)[1].ravel()
        variance = float(((ranks - ranks.mean()) ** 2).sum())
        kinds, count = int(classes.max()) + 1, len(ranks)
        if kinds < 2 or variance == 0:
            continue
        sums, sizes = np.bincount(classes, ranks), np.bincount(classes)
        explained = float((sums**2 / sizes).sum() - count * ranks.mean() ** 2)
        between += explained - (kinds - 1) * variance / (count - 1)  # what chance explains
        total += variance
        statistic += (count - 1) * explained / variance
        freedom += kinds - 1
    if not freedom:
        return 0.0, 1.0
    return max(0.0, between / total), float(chdtrc(freedom, statistic))


def describe_soft_leaks(view: SplitView) -> str:
    """Say whose probabilities depend on a label beyond the concept's value; no fault by itself."""
    judged = {c.concept for c in view.concepts if c.state in ("right", "noisy", "too few")}
    leaks = soft_leaks(view.evidence)
    strong = [x for x in leaks if x.concept in judged and x.strength >= LEAST and x.chance * len(leaks) <= view.level]
    if not strong:
        return ""
    strong.sort(key=lambda leak: -leak.strength)
    named = [f"{leak.concept} on {leak.label} ({100 * leak.strength:.0f} %)" for leak in strong]
    return (
        f"On {view.name}, the confidence in a concept depends on the label beyond the concept's value (share of the "
        f"ranks that the label explains where the concept is right): {join_first(named)}. By itself this is no fault."
    )


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
    """How much the probabilities of each concept depend on a label where the concept's value is known and right."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def leakage(evidence: Evidence, seed: int = 0, precision: float = PRECISION) -> Leakage:
    """Return the leakage of a model on a split, the same in every run with the same seed.

    Parameters
    ----------
    evidence
        What a model said beside the truth; examples with gaps in the truth are left out.
    seed
        Chooses rows and pairs of concepts where there are many, and the noise.
    precision
        Probabilities that differ by less count as equal: else a difference in the tenth digit were full information.
    """
    if not evidence.known.all():
        evidence = evidence.take(np.flatnonzero(evidence.known.all(axis=1)))
    sizes, predicted = evidence.knowledge.space.sizes, evidence.predicted_concepts
    places = [p for p in evidence.answered if sizes[p] > 1 and (predicted[:, p] >= 0).all()]
    if not places:
        raise DataError("leakage needs concepts: the predictions have none, or not in every row")
    if len(evidence) < FEWEST_ROWS:
        raise DataError(
            f"split {evidence.split!r} has {len(evidence)} examples whose concepts are known, leakage needs "
            f"{FEWEST_ROWS} or more"
        )
    rows = np.sort(rng_for(seed, "leakage", "rows").permutation(len(evidence))[:MOST_ROWS])
    sampled = evidence.take(rows)
    pairs = list(permutations(places, 2))
    chosen = rng_for(seed, "leakage", "pairs").permutation(len(pairs))[:MOST_PAIRS]
    on = _Measurement(sampled, places, [pairs[i] for i in np.sort(chosen)], Jitter(seed, precision))
    soft, each = None, on.ctl(on.hard_task)
    hard = Measure(_mean(each), on.icl(on.hard_pair), on.probe(on.hard_features))
    if all(sampled.concept_probabilities[place] is not None for place in places):
        each = on.ctl(on.soft_task)
        soft = Measure(_mean(each), on.icl(on.soft_pair), on.probe(on.soft_features))
    names = sampled.knowledge.space.names
    by_concept = {names[p]: round(value, 6) for p, value in zip(places, each, strict=True)}
    return Leakage(sampled.split, len(sampled), len(on.pairs), hard, soft, by_concept, _beyond_value(sampled))


def _beyond_value(evidence: Evidence) -> dict[str, float]:
    strengths: dict[str, float] = {}
    for leak in soft_leaks(evidence):
        strengths[leak.concept] = round(max(strengths.get(leak.concept, 0.0), leak.strength), 6)
    return strengths


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else 0.0


@dataclass(frozen=True)
class _Measurement:
    """The evidence, and how each number is computed from it."""

    evidence: Evidence
    places: list[int]
    pairs: list[tuple[int, int]]
    blur: Jitter

    def ctl(self, information: Callable[[int, int], float]) -> list[float]:
        """Return for each concept its information about a label beyond the true concept's, averaged over labels."""
        labels, means = self.evidence.labels, []
        for place in self.places:
            each = []
            for label in range(labels.shape[1]):
                whole = entropy(labels[:, label])
                if whole > 0:
                    extra = information(place, label) - mutual_information(
                        self.evidence.concepts[:, place], labels[:, label]
                    )
                    each.append(max(0.0, extra) / whole)
            means.append(_mean(each))
        return means

    def hard_task(self, place: int, label: int) -> float:
        """Return the mutual information of the predicted values of a concept and a label."""
        return mutual_information(self.evidence.predicted_concepts[:, place], self.evidence.labels[:, label])

    def soft_task(self, place: int, label: int) -> float:
        """Return the mutual information of the probabilities of a concept and a label."""
        return mutual_information_knn(self.numbers(place), self.evidence.labels[:, label], self.blur, place, label)

    def numbers(self, place: int) -> Array:
        """Return the probabilities of a concept but for the first value, which follows from the others."""
        probabilities = self.evidence.concept_probabilities[place]
        if probabilities is None:
            raise DataError("soft leakage needs probabilities")
        return probabilities[:, 1:]

    def icl(self, information: Callable[[int, int], tuple[float, float]]) -> float:
        """Return the mean over pairs of concepts of their mutual information beyond that of the true concepts."""
        codes, extras = self.evidence.concepts, []
        for first, second in self.pairs:
            amount, whole = information(first, second)
            true = mutual_information(codes[:, first], codes[:, second])
            among = np.sqrt(entropy(codes[:, first]) * entropy(codes[:, second]))
            extra = (amount / whole if whole > 0 else 0.0) - (true / among if among > 0 else 0.0)
            extras.append(max(0.0, extra))
        return _mean(extras)

    def hard_pair(self, first: int, second: int) -> tuple[float, float]:
        """Return the mutual information of two predicted concepts, and the mean of their entropies."""
        a, b = self.evidence.predicted_concepts[:, first], self.evidence.predicted_concepts[:, second]
        return mutual_information(a, b), float(np.sqrt(entropy(a) * entropy(b)))

    def soft_pair(self, first: int, second: int) -> tuple[float, float]:
        """Return the information of one's probabilities about the other's true value, and the mean true entropy."""
        codes = self.evidence.concepts
        whole = float(np.sqrt(entropy(codes[:, first]) * entropy(codes[:, second])))
        return mutual_information_knn(self.numbers(first), codes[:, second], self.blur, "pair", first, second), whole

    def hard_features(self, true: bool) -> Array:
        """Return predicted values as columns of zeros and ones; or true ones in the same form."""
        codes = self.evidence.concepts if true else self.evidence.predicted_concepts
        return _ones(codes, self.evidence.knowledge.space.sizes, self.places)

    def soft_features(self, true: bool) -> Array:
        """Return probabilities, their log-odds, and the confidence of each concept; or true values in the same form."""
        sizes, codes = self.evidence.knowledge.space.sizes, self.evidence.concepts
        columns = [_ones(codes, sizes, [place]) if true else self.numbers(place) for place in self.places]
        sure = np.stack([np.maximum(p.max(axis=1, initial=0), 1 - p.sum(axis=1)) for p in columns], axis=1)
        probabilities = np.concatenate(columns, axis=1)
        return np.concatenate([probabilities, _log_odds(probabilities), _log_odds(sure)], axis=1)

    def probe(self, features: Callable[[bool], Array]) -> float:
        """Return by how much predicted concepts lower the cross-entropy of labels, against true ones in the same form.

        Both stand beside the true concepts and the rule, so that a probe has the same number of columns either way.
        """
        evidence, gains = self.evidence, []
        sizes = evidence.knowledge.space.sizes
        base = _ones(evidence.concepts, sizes, range(len(sizes)))
        for place in range(evidence.labels.shape[1]):
            labels, whole = evidence.labels[:, place], entropy(evidence.labels[:, place])
            halves = rng_for(self.blur.seed, "probe", place).permutation(len(labels)) % 2
            open_by = [
                _cross_entropy(np.concatenate([base, self._rule(place), features(true)], axis=1), labels, halves)
                for true in (True, False)
            ]
            if whole > 0:
                gains.append(max(0.0, open_by[0] - open_by[1]) / whole)
        return _mean(gains)

    def _rule(self, place: int) -> Array:
        """Return what the rule says of a label: its value as zeros and ones, or its log-odds; nothing without one."""
        knowledge, codes = self.evidence.knowledge, self.evidence.concepts
        label = knowledge.labels[place]
        if not label.has_rule:
            return np.zeros((len(codes), 0))
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


def _cross_entropy(features: Array, labels: Codes, halves: Array) -> float:
    """Return the cross-entropy of labels by logistic regression, fitted on one half and evaluated on the other."""
    linear = import_extra("sklearn.linear_model", "the leakage probe")
    total = 0.0
    for half in (0, 1):
        fitted, judged = halves == half, halves != half
        classes = np.unique(labels[fitted])
        chance = np.full((int(judged.sum()), int(labels.max()) + 1), SMALLEST)
        if len(classes) == 1:
            chance[:, classes[0]] = 1.0
        else:
            fit = linear.LogisticRegression(max_iter=500).fit(features[fitted], labels[fitted])
            chance[:, fit.classes_] = np.maximum(fit.predict_proba(features[judged]), SMALLEST)
        total += -np.log(chance[np.arange(len(chance)), labels[judged]]).sum()
    return float(total / len(labels))

"""What a blind case is: a builder with the expectation beside it, and facts measured apart from any diagnosis."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import Knowledge
from assay.metrics import Evidence

WORDS = frozenset(
    ["sound", "spurious", "shortcut", "annotations", "leaking", "memorised", "shifted", "wrong rule", "missed region",
     "incomplete", "inconsistent", "noisy", "opaque", "boundary", "unidentified", "underfit", "too few", "no rule"]
)  # fmt: skip
MANY_WORLDS = 20_000
"""Up to so many worlds all are looked at to see which concepts the rule uses; of more, a sample."""


class CauseMissing(AssertionError):
    """The cause that a case claims did not occur in the data drawn."""


@dataclass(frozen=True)
class Answers:
    """What a model says of some examples; None where it says nothing of concepts, or gives no probabilities."""

    labels: Codes
    concepts: Codes | None = None
    label_probabilities: tuple[Array | None, ...] | None = None
    concept_probabilities: tuple[Array | None, ...] | None = None


@dataclass
class Draft:
    """A trial that is being put together: splits are added one by one, facts are checked."""

    knowledge: Knowledge
    training: Codes
    evidence: dict[str, Evidence] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)

    def add(self, split: str, concepts: Codes, labels: Codes, answers: Answers) -> Evidence:
        """Put the answers of a model beside the table of one split, and measure."""
        silent = np.full(concepts.shape, -1, dtype=np.int64)
        made = Evidence(
            self.knowledge,
            split,
            np.asarray(labels, dtype=np.int64),
            np.asarray(concepts, dtype=np.int64),
            np.asarray(answers.labels, dtype=np.int64),
            silent if answers.concepts is None else np.asarray(answers.concepts, dtype=np.int64),
            answers.label_probabilities or (None,) * labels.shape[1],
            answers.concept_probabilities or (None,) * concepts.shape[1],
        )
        self.evidence[split] = made
        self.facts |= {f"{split}.{name}": value for name, value in measure(made, self.training).items()}
        return made

    def need(self, condition: bool, cause: str) -> None:
        """Refuse the draw if the cause did not occur."""
        if not condition:
            raise CauseMissing(f"{cause}; measured: {self.facts}")

    def between(self, fact: str, low: float, high: float) -> None:
        """Refuse the draw if a measured fact is out of its range."""
        self.need(low <= self.facts[fact] <= high, f"{fact} is {self.facts[fact]:.3f}, not in {low} to {high}")


@dataclass(frozen=True)
class Trial:
    """A case as built from one seed: what to diagnose, what to expect, and what was measured."""

    name: str
    evidence: Mapping[str, Evidence]
    training: Codes
    accept: frozenset[str]
    forbidden: frozenset[str]
    why: str
    facts: Mapping[str, float]


@dataclass(frozen=True)
class Case:
    """A builder, with the words accepted as the first, the words that would be false anywhere, and the cause."""

    name: str
    builder: Callable[[int], Draft]
    accept: frozenset[str]
    forbidden: frozenset[str]
    why: str

    def build(self, seed: int = 0) -> Trial:
        """Train, draw and check."""
        draft = self.builder(seed)
        training = np.asarray(draft.training, dtype=np.int64)
        return Trial(self.name, draft.evidence, training, self.accept, self.forbidden, self.why, draft.facts)


CASES: dict[str, Case] = {}


def case(accept: str, why: str, forbidden: str = "") -> Callable[[Callable[[int], Draft]], Callable[[int], Draft]]:
    """Register a builder under its name; words are divided by '|'."""
    words, false = (frozenset(text.split("|")) - {""} for text in (accept, forbidden))
    if not words or not words | false <= WORDS or words & false:
        raise ValueError(f"expectation is not of the words of the verdict: {accept!r}, {forbidden!r}")

    def register(builder: Callable[[int], Draft]) -> Callable[[int], Draft]:
        if builder.__name__ in CASES:
            raise ValueError(f"two cases are named {builder.__name__!r}")
        CASES[builder.__name__] = Case(builder.__name__, builder, words, false, why)
        return builder

    return register


@cache
def used_concepts(knowledge: Knowledge) -> Array:
    """Return which concepts some label depends on; without a rule, all."""
    space = knowledge.space
    if not knowledge.has_rule:
        return np.ones(len(space), dtype=bool)
    if space.worlds <= MANY_WORLDS:
        grid = space.all_codes().astype(np.int64)
    else:
        rng = rng_for(0, "blind", "used concepts")
        grid = np.stack([rng.integers(0, size, MANY_WORLDS) for size in space.sizes], axis=1)
    labels = knowledge.labels_of(grid)
    flags = []
    for column, size in enumerate(space.sizes):
        changed = [grid.copy() for _ in range(size - 1)]
        for step, worlds in enumerate(changed, 1):
            worlds[:, column] = (worlds[:, column] + step) % size
        flags.append(any((knowledge.labels_of(worlds) != labels).any() for worlds in changed))
    return np.array(flags)


def measure(evidence: Evidence, training: Codes) -> dict[str, float]:
    """Return facts about one split, by counting alone."""
    knowledge, used = evidence.knowledge, used_concepts(evidence.knowledge)
    right = (evidence.predicted_labels == evidence.labels).all(axis=1)
    known = known_worlds(evidence.concepts, training)
    facts = {
        "n": float(len(evidence)),
        "label": float(right.mean()),
        "recall": _least_recall(evidence),
        "known": float(known.mean()),
        "label_known": _mean(right[known]),
        "label_new": _mean(right[~known]),
        "majority": max(float((evidence.labels == row).all(axis=1).mean()) for row in _distinct(evidence.labels)),
    }
    spoken = (evidence.predicted_concepts >= 0) & (evidence.concepts >= 0)
    hits = evidence.predicted_concepts == evidence.concepts
    rates = [_mean(hits[spoken[:, column], column]) for column in range(hits.shape[1])]
    facts["used"] = _mean(np.array(rates)[used])
    facts["used_least"] = float(np.min(np.array(rates)[used]))
    facts["unused"] = _mean(np.array(rates)[~used])
    read = (hits | (evidence.concepts < 0))[:, used].all(axis=1)
    facts["read"], facts["label_read"], facts["label_misread"] = (
        float(read.mean()),
        _mean(right[read]),
        _mean(right[~read]),
    )
    if knowledge.has_rule:
        facts |= _facts_of_rule(evidence)
    return facts


def _facts_of_rule(evidence: Evidence) -> dict[str, float]:
    whole = (evidence.concepts >= 0).all(axis=1)
    table = evidence.knowledge.labels_of(np.maximum(evidence.concepts, 0))
    wrong_table = (table != evidence.labels).any(axis=1) & whole
    differs = (evidence.predicted_labels != evidence.labels).any(axis=1) | (
        (evidence.predicted_concepts != evidence.concepts)
        & (evidence.predicted_concepts >= 0)
        & (evidence.concepts >= 0)
    )[:, used_concepts(evidence.knowledge)].any(axis=1)
    facts = {"contradicts": float(wrong_table.mean()), "contradicts_disputed": _mean(wrong_table[differs])}
    if (evidence.predicted_concepts >= 0).all():
        ruled = evidence.knowledge.labels_of(evidence.predicted_concepts)
        facts["rule"] = float((ruled == evidence.labels).all(axis=1).mean())
        facts["follows"] = float((ruled == evidence.predicted_labels).all(axis=1).mean())
    return facts


def known_worlds(concepts: Codes, training: Codes) -> Array:
    """Return which rows are worlds of the training set."""
    worlds = {row.tobytes() for row in np.ascontiguousarray(training.astype(np.int64))}
    return np.array([row.tobytes() in worlds for row in np.ascontiguousarray(concepts.astype(np.int64))])


def _least_recall(evidence: Evidence) -> float:
    recalls = [
        float((predicted[truth == value] == value).mean())
        for truth, predicted in zip(evidence.labels.T, evidence.predicted_labels.T, strict=True)
        for value in np.unique(truth)
    ]
    return min(recalls)


def _distinct(labels: Codes) -> Codes:
    return np.unique(labels, axis=0)


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")

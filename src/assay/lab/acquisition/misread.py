"""What the model of a round misreads: of the concepts in the rule, which cost the most labels, and which values.

Judged on the validation split, and where that has too few examples to tell, on the first split of the diagnosis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes
from assay.dataset import SplitData
from assay.diagnosis import ConceptState
from assay.lab.acquisition.situation import Situation
from assay.logic import Knowledge
from assay.metrics import Evidence, confusion

JUDGED = "valid"
MISSED = 0.05
"""The share of a value's examples that may be misread before the value counts as confused."""


@dataclass(frozen=True)
class MisreadConcept:
    """A concept in the rule that is read wrong."""

    column: int
    state: ConceptState
    label_errors: float
    """The share of training examples whose label its confusions would change if the other concepts were right."""
    confused: tuple[int, ...]
    """The values, as codes, that are misread or predicted in place of others, the most errors first."""

    @property
    def own_values(self) -> bool:
        """Whether its predictions are explained by its own values, as `assay count` supposes."""
        return self.state.map is None or self.state.map.kind == "own"


def misread_concepts(situation: Situation) -> list[MisreadConcept]:
    """Return the concepts in the rule that the diagnosis calls wrong: those that cost the most labels come first."""
    states, knowledge = situation.diagnosis.concepts, situation.training.knowledge
    first = next(iter(states))
    judged = JUDGED if JUDGED in states else first
    found: list[MisreadConcept] = []
    for column, (state, other) in enumerate(zip(states[judged], states[first], strict=True)):
        split, state = (first, other) if state.state == "too few" else (judged, state)
        if state.used and state.is_wrong:
            counts = _confusion(situation.evidence(split), column)
            errors = _label_errors(knowledge, situation.training, column, counts)
            found.append(MisreadConcept(column, state, errors, _confused(counts)))
    return sorted(found, key=lambda one: (-one.label_errors, one.state.accuracy))


def shares(misread: Sequence[MisreadConcept]) -> list[float]:
    """Return how much of a round each concept gets: as many label errors as it causes, or none, as many wrong answers.

    A misreading that changes no label in any world waits until those that do are repaired.
    """
    harm = [one.label_errors for one in misread]
    return harm if sum(harm) else [1 - one.state.accuracy for one in misread]


def _confusion(evidence: Evidence, column: int) -> Array:
    """Return how often each true value of a concept (row) was predicted as each value."""
    size = evidence.knowledge.space.sizes[column]
    return confusion(evidence.concepts[:, column], evidence.predicted_concepts[:, column], size)[:, :-1]


def _confused(counts: Array) -> tuple[int, ...]:
    """Return the values that are misread more often than tolerated, and those that are predicted in their place."""
    errors = counts - np.diag(np.diag(counts))
    wrong = errors.sum(axis=1) > MISSED * counts.sum(axis=1)
    taken = errors[wrong].sum(axis=0) > MISSED * errors[wrong].sum()
    involved = errors.sum(axis=0) + errors.sum(axis=1)
    codes = np.flatnonzero(wrong | taken)
    return tuple(codes[np.argsort(-involved[codes], kind="stable")].tolist())


def _label_errors(knowledge: Knowledge, data: SplitData, column: int, counts: Array) -> float:
    """Return the share of worlds whose label changes if a concept is read as its confusions say, the others right.

    The worlds are those of training, whose concepts are known from the labels only in part; like `assay count`, this
    looks at which worlds there are, not at which picture shows which.
    """
    if not knowledge.has_rule:
        return 0.0
    worlds: Codes = data.concepts[(data.concepts >= 0).all(axis=1)]
    labels, total = knowledge.labels_of(worlds), 0.0
    rates = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for code in range(counts.shape[1]):
        changed = worlds.copy()
        changed[:, column] = code
        moved = (knowledge.labels_of(changed) != labels).any(axis=1)
        total += float(rates[worlds[:, column], code] @ moved)
    return total / max(1, len(worlds))

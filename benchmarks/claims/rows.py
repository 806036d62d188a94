"""A split counted again from its arrays: by numpy and the rule alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, lgamma, log, sqrt

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import Knowledge
from assay.metrics import Evidence

MOST_WORLDS, SAMPLED = 60_000, 1500
"""Up to so many worlds all are looked at to see what the rule uses; of more, a sample."""
MOST_JOINT, DRAWS = 4096, 3000
"""Up to so many worlds the probability of a label is a sum over all; of more, a sample is drawn for each example."""
Z = 1.959964
STRICT = 0.001
"""The chance by which something is excluded for one of many values."""
SILENT = -2


def wilson(hits: float, of: float, z: float = Z) -> tuple[float, float]:
    """Return an interval of a share by Wilson's formula, by default that of 95 %.

    >>> [round(x, 3) for x in wilson(45, 50)]
    [0.786, 0.957]
    """
    if of <= 0:
        return 0.0, 1.0
    share = hits / of
    middle, half = share + z * z / (2 * of), z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - half) / (1 + z * z / of)), min(1.0, (middle + half) / (1 + z * z / of))


def clearly_below(hits: int, of: int, share: float, chance: float = 0.025) -> bool:
    """Return whether so few hits are unlikely at this share, by the binomial distribution.

    >>> clearly_below(0, 2, 0.88), clearly_below(0, 2, 0.88, 0.001)
    (True, False)
    """
    if not of:
        return False
    logs = [
        lgamma(of + 1) - lgamma(k + 1) - lgamma(of - k + 1) + k * log(share) + (of - k) * log(1 - share)
        for k in range(hits + 1)
    ]
    return sum(exp(x) for x in logs) <= chance


def numbered(codes: Codes) -> Array:
    """Return a number for each row, equal for equal rows."""
    return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1) if len(codes) else np.zeros(0, dtype=int)


def among(codes: Codes, others: Codes) -> Array:
    """Return which rows are among others."""
    known = {row.tobytes() for row in np.ascontiguousarray(others, dtype=np.int64)}
    return np.array([row.tobytes() in known for row in np.ascontiguousarray(codes, dtype=np.int64)], dtype=bool)


def changed_once(knowledge: Knowledge, codes: Codes, possible: bool = True) -> Array:
    """Return for each world, concept and label whether changing the concept alone gives a (possible) world with another."""
    labels = knowledge.labels_of(codes)
    moved = np.zeros((len(codes), len(knowledge.space), labels.shape[1]), dtype=bool)
    for column, size in enumerate(knowledge.space.sizes):
        for value in range(size):
            other = codes.copy()
            other[:, column] = value
            can_be = np.asarray(knowledge.can_be(other), dtype=bool)[:, None] if possible else True
            moved[:, column] |= (knowledge.labels_of(other) != labels) & can_be
    return moved


def some_worlds(knowledge: Knowledge, seen: Codes) -> Codes:
    """Return all worlds, or those that were seen, further ones mixed of them, and random ones."""
    space = knowledge.space
    if space.worlds <= MOST_WORLDS:
        worlds = space.all_codes().astype(np.int64)
    else:
        whole = np.unique(seen[(seen >= 0).all(axis=1)], axis=0)
        rng = rng_for(0, "claims", "worlds", len(whole))
        mixed = np.stack([rng.permutation(column) for column in whole.T], axis=1)
        random = np.stack([rng.integers(0, size, SAMPLED) for size in space.sizes], axis=1)
        worlds = np.concatenate([whole[rng.permutation(len(whole))[:SAMPLED]], mixed[:SAMPLED], random])
    return worlds


def not_used_rightly(knowledge: Knowledge, used: Sequence[int], seen: Codes) -> str:
    """Return why some concepts are not those that the rule uses; nothing if they may be.

    A change of a used concept alone alters some label; without the others, labels of possible worlds are as they are.
    """
    if not knowledge.has_rule:
        return "" if len(used) == len(knowledge.space) else "without a rule every concept may be used"
    every = some_worlds(knowledge, seen)
    worlds = every[np.asarray(knowledge.can_be(every), dtype=bool)]
    moved = np.zeros((2, len(knowledge.space)), dtype=bool)
    for which, own in enumerate((worlds, every)):
        for start in range(0, len(own), 20_000):
            moved[which] |= changed_once(knowledge, own[start : start + 20_000], which == 0).any(axis=(0, 2))
    names, chosen = knowledge.space.names, np.isin(np.arange(len(knowledge.space)), list(used))
    left_out, idle = np.flatnonzero(moved[0] & ~chosen), np.flatnonzero(chosen & ~moved[1])
    if len(left_out) or len(idle):
        return f"used though not said so: {[names[i] for i in left_out]}; not used: {[names[i] for i in idle]}"
    both = np.concatenate([worlds[:, list(used)], knowledge.labels_of(worlds)], axis=1)
    known = len(np.unique(both, axis=0)) == len(np.unique(worlds[:, list(used)], axis=0))
    return "" if known else "worlds that agree in the used concepts have different labels"


@dataclass(frozen=True, eq=False)
class Rows:
    """A split: what is true, what is predicted, and what the rule says of both. Arrays of labels have a column each."""

    evidence: Evidence
    used: tuple[int, ...]
    training: Codes

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def knowledge(self) -> Knowledge:
        """The rule."""
        return self.evidence.knowledge

    @property
    def true(self) -> Codes:
        """The annotated concepts."""
        return self.evidence.concepts

    @property
    def said(self) -> Codes:
        """The predicted concepts, -1 where nothing is predicted."""
        return self.evidence.predicted_concepts

    @cached_property
    def labels(self) -> Codes:
        """The labels to be expected."""
        return self.evidence.labels

    @property
    def answers(self) -> Codes:
        """The predicted labels."""
        return self.evidence.predicted_labels

    @cached_property
    def wrong(self) -> Array:
        """Which labels are wrong."""
        return self.answers != self.labels

    @cached_property
    def right(self) -> Array:
        """Which examples have every label right."""
        return ~self.wrong.any(axis=1)

    @cached_property
    def known(self) -> Array:
        """Which examples have every used concept annotated."""
        return (self.true[:, list(self.used)] >= 0).all(axis=1)

    @cached_property
    def complete(self) -> Array:
        """Which of these have every used concept predicted too."""
        return self.known & (self.said[:, list(self.used)] >= 0).all(axis=1)

    @cached_property
    def read(self) -> Array:
        """Which examples have every used concept right."""
        columns = list(self.used)
        return self.known & (self.said[:, columns] == self.true[:, columns]).all(axis=1)

    @cached_property
    def misread(self) -> Array:
        """Which examples have every used concept predicted, and some wrong."""
        return self.complete & ~self.read

    def answered(self, column: int) -> Array:
        """Return which examples have a concept annotated and predicted."""
        return (self.true[:, column] >= 0) & (self.said[:, column] >= 0)

    def misread_of(self, columns: Sequence[int]) -> Array:
        """Return which examples have one of these concepts predicted wrong."""
        return np.any([self.answered(c) & (self.said[:, c] != self.true[:, c]) for c in columns], axis=0)

    def by_rule(self, concepts: Codes) -> Codes:
        """Return the labels that the rule gives for concepts, -2 in examples that are not complete."""
        labels = np.full(self.labels.shape, SILENT)
        if self.knowledge.has_rule and self.complete.any():
            filled = np.where(concepts >= 0, concepts, np.maximum(self.true, 0))
            labels[self.complete] = self.knowledge.labels_of(filled[self.complete])
        return labels

    @cached_property
    def implied(self) -> Codes:
        """The labels that the rule gives for the predicted concepts."""
        return self.by_rule(self.said)

    @cached_property
    def implied_right(self) -> Array:
        """Which examples have predicted concepts for which the rule gives the right labels."""
        return (self.implied == self.labels).all(axis=1)

    @cached_property
    def by_table(self) -> Codes:
        """The labels that the rule gives for the annotated concepts; the annotated ones where these are not known."""
        labels = self.labels.copy()
        if self.knowledge.has_rule and self.known.any():
            labels[self.known] = self.knowledge.labels_of(np.maximum(self.true[self.known], 0))
        return labels

    @cached_property
    def contradicts(self) -> Array:
        """Which examples have annotated concepts that contradict an annotated label."""
        return (self.by_table != self.labels).any(axis=1)

    @cached_property
    def new(self) -> Array | None:
        """Which examples have a world that training does not show; None where some concept is not known."""
        if (self.true < 0).any() or not len(self.training):
            return None
        return ~among(self.true, self.training)

    @cached_property
    def near(self) -> Array:
        """Which examples a change of one concept brings across the boundary of each label; none where not known."""
        near = np.zeros(self.labels.shape, dtype=bool)
        whole = (self.true >= 0).all(axis=1)
        if self.knowledge.has_rule and whole.any():
            worlds, which = np.unique(self.true[whole], axis=0, return_inverse=True)
            near[whole] = changed_once(self.knowledge, worlds).any(axis=1)[which.reshape(-1)]
        return near

    # -- labels by the rule over probabilities -------------------------------------------------------------------------

    @cached_property
    def chances(self) -> tuple[Array, ...] | None:
        """For each label the probability of each value by the rule over the concepts' probabilities."""
        parts = [self.evidence.concept_probabilities[column] for column in self.used]
        if not parts or any(part is None for part in parts) or not self.knowledge.has_rule:
            return None
        sizes = [part.shape[1] for part in parts]
        return self._summed(parts, sizes) if int(np.prod(sizes, dtype=float)) <= MOST_JOINT else self._drawn(parts)

    @cached_property
    def tolerance(self) -> float:
        """How far these probabilities may be off."""
        sizes = [self.knowledge.space.sizes[column] for column in self.used]
        return 1e-6 if np.prod(sizes, dtype=float) <= MOST_JOINT else 4 * 0.5 / sqrt(DRAWS)

    def _summed(self, parts: Sequence[Array], sizes: Sequence[int]) -> tuple[Array, ...]:
        worlds = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
        labels = self.knowledge.labels_of(self._whole(worlds))
        joint = np.ones((len(self), 1))
        for part in parts:
            joint = (joint[:, :, None] * part[:, None, :]).reshape(len(self), -1)
        return tuple(
            np.stack([joint[:, labels[:, place] == value].sum(axis=1) for value in range(len(label.values))], axis=1)
            for place, label in enumerate(self.knowledge.labels)
        )

    def _drawn(self, parts: Sequence[Array]) -> tuple[Array, ...]:
        rng, rows = rng_for(0, "claims", "drawn", len(self)), len(self)
        chances = tuple(np.zeros((rows, len(label.values))) for label in self.knowledge.labels)
        doubtful = np.flatnonzero(np.prod([part.max(axis=1) for part in parts], axis=0) < 0.5)
        for place, chance in enumerate(chances):
            chance[np.arange(rows), np.maximum(self.implied[:, place], 0)] = 1
        for row in doubtful.tolist():
            drawn = [rng.choice(part.shape[1], DRAWS, p=part[row] / part[row].sum()) for part in parts]
            labels = self.knowledge.labels_of(self._whole(np.stack(drawn, axis=1)))
            for place, chance in enumerate(chances):
                chance[row] = np.bincount(labels[:, place], minlength=chance.shape[1]) / DRAWS
        return chances

    def _whole(self, worlds: Codes) -> Codes:
        whole = np.zeros((len(worlds), len(self.knowledge.space)), dtype=np.int64)
        whole[:, list(self.used)] = worlds
        return whole

    def probable(self, labels: Codes, surely: bool) -> Array:
        """Return which labels the rule makes most probable; those that may be, or those that surely are."""
        if self.chances is None:
            return self.implied == labels
        columns = []
        for place, chance in enumerate(self.chances):
            own = np.take_along_axis(chance, np.maximum(labels[:, [place]], 0), axis=1)[:, 0]
            rest = chance.copy()
            np.put_along_axis(rest, np.maximum(labels[:, [place]], 0), -1, axis=1)
            margin = own - rest.max(axis=1)
            columns.append(margin > self.tolerance if surely else margin >= -self.tolerance)
        return np.stack(columns, axis=1) & self.complete[:, None]

    def follows(self, surely: bool) -> Array:
        """Return which examples have labels that the rule gives for the predicted values, or makes most probable."""
        return ((self.implied == self.answers) | self.probable(self.answers, surely)).all(axis=1)

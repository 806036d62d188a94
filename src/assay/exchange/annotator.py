"""An annotator as a function of the truth: noise in labels and concepts, missing values, and what is annotated at all.

Every draw is a uniform number for one entry, compared with a chance: with the same seed, what is flipped at 10 % is
also flipped at 20 %, and neither depends on what else is asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes, ConfigError, SeededPermutation, UnknownName, rng_for, suggestion
from assay.exchange.annotation import Annotation, Rate, rate_of
from assay.logic import Concept, Knowledge, Value, free_names, listing

ONE_HOT = "one_hot"
"""The tag of constraints that say that exactly one, or at most one, of some concepts is true."""


@dataclass(frozen=True)
class Given:
    """What is given for the rows of a split: label codes, and concept codes with -1 where missing."""

    labels: Codes
    concepts: Codes


@dataclass(frozen=True)
class Annotator:
    """Annotates labels and concepts of one split, by the settings of an annotation."""

    knowledge: Knowledge
    annotation: Annotation
    split: str

    def __call__(self, before: Given, true: Codes) -> Given:
        """Return what is given after labels, then concepts, were made noisy, some hidden, and some shown."""
        concepts = self.subjective_concepts(self.noisy_concepts(before.concepts))
        concepts = np.where(self.gaps(true), -1, concepts)
        return Given(self.noisy_labels(before.labels), np.where(self.shown_mask(true), concepts, -1))

    def draws(self, what: str, name: str, rows: int) -> Array:
        """Return a number from 0 to 1 for each row."""
        return rng_for(self.annotation.seed, "annotate", self.split, what, name).random(rows)

    def noisy_labels(self, labels: Codes) -> Codes:
        """Return the labels with noise."""
        noisy = labels.copy()
        for place, label in enumerate(self.knowledge.labels):
            matrix = symmetric(len(label.values), rate_of(self.annotation.label_noise, label.name))
            matrix = apply_flips(matrix, self.annotation.label_flips.get(label.name, {}), label.values, label.name)
            noisy[:, place] = sample_codes(labels[:, place], matrix, self.draws("label", label.name, len(labels)))
        return noisy

    def noisy_concepts(self, concepts: Codes) -> Codes:
        """Return the concepts with noise; what is missing stays missing."""
        noisy = concepts.copy()
        for place, concept in enumerate(self.knowledge.space.concepts):
            draws = self.draws("concept", concept.name, len(concepts))
            noisy[:, place] = sample_codes(concepts[:, place], self._matrix(concept), draws)
        return noisy

    def _matrix(self, concept: Concept) -> Array:
        annotation = self.annotation
        matrix = symmetric(len(concept.values), rate_of(annotation.concept_noise, concept.name, self._group(concept)))
        up, down = (
            rate_of(rate, concept.name, self._group(concept)) for rate in (annotation.noise_01, annotation.noise_10)
        )
        if concept.values == (False, True):
            matrix = matrix @ np.array([[1 - up, up], [down, 1 - down]])
        elif any(
            isinstance(rate, Mapping) and concept.name in rate for rate in (annotation.noise_01, annotation.noise_10)
        ):
            raise ConfigError(
                f"noise_01, noise_10: concept {concept.name!r} is not true or false, it has the values "
                f"{listing(concept.values)}; give concept_flips"
            )
        return apply_flips(matrix, annotation.concept_flips.get(concept.name, {}), concept.values, concept.name)

    def _group(self, concept: Concept) -> str:
        return next(group.name for group in self.knowledge.space.encoders if concept.name in group.concepts)

    def subjective_concepts(self, concepts: Codes) -> Codes:
        """Return the concepts where, in each group, another than the one that is true may be given as true."""
        changed = concepts.copy()
        for group in self.groups() if self.annotation.subjective_noise else ():
            places = np.array([self.knowledge.space.place(name) for name in group])
            one_hot = (changed[:, places] >= 0).all(axis=1) & (changed[:, places].sum(axis=1) == 1)
            draws = self.draws("subjective", " ".join(group), len(changed))
            rows = np.flatnonzero(one_hot & (draws < self.annotation.subjective_noise))
            true_place = changed[np.ix_(rows, places)].argmax(axis=1)
            step = 1 + np.floor(draws[rows] / self.annotation.subjective_noise * (len(places) - 1)).astype(np.int64)
            changed[np.ix_(rows, places)] = np.eye(len(places), dtype=np.int64)[(true_place + step) % len(places)]
        return changed

    def groups(self) -> list[list[str]]:
        """Return the groups of true-or-false concepts of which one is true."""
        tagged = [c for c in self.knowledge.constraints if ONE_HOT in c.tags]
        groups = self.annotation.subjective_groups or [list(free_names(c.formula)) for c in tagged]
        for group in groups:
            wrong = [name for name in group if self.knowledge.space.concept(name).values != (False, True)]
            if wrong or len(group) < 2:
                raise ConfigError(f"subjective_groups: {listing(group)} are not two or more true-or-false concepts")
        if not groups:
            raise ConfigError("subjective_noise needs subjective_groups, such as [[is_round, is_square]]")
        return groups

    def gaps(self, true: Codes) -> Array:
        """Return where a concept is missing; under `mnar` that depends on its true value."""
        missing = np.zeros(true.shape, dtype=bool)
        for place, concept in enumerate(self.knowledge.space.concepts):
            chance: Array | float = rate_of(self.annotation.missing, concept.name, self._group(concept))
            if not chance:
                continue
            if self.annotation.mechanism == "mnar":
                more, less = self.annotation.missing_factors
                chance = np.clip(chance * np.where(self._present(concept)[true[:, place]], more, less), 0, 1)
            missing[:, place] = self.draws("missing", concept.name, len(true)) < chance
        return missing

    def _present(self, concept: Concept) -> Array:
        """Return for each value whether it says that something is there."""
        if self.annotation.present is not None:
            return np.array([value in self.annotation.present for value in concept.values])
        if concept.nothing_code < 0:
            raise ConfigError(
                f"mechanism mnar: no value of concept {concept.name!r} says that nothing is there "
                f"({listing(concept.values)}); give present"
            )
        return np.asarray(np.arange(len(concept.values)) != concept.nothing_code)

    def shown_mask(self, true: Codes) -> Array:
        """Return which concept of which row is annotated at all."""
        annotation, mask = self.annotation, np.ones(true.shape, dtype=bool)
        if annotation.shown_examples is not None:
            order = SeededPermutation(max(1, len(true)), annotation.seed, "annotate", self.split, "shown").deal(
                np.arange(len(true))
            )
            mask &= (order < annotation.shown_examples)[:, None]
        for place, concept in enumerate(self.knowledge.space.concepts):
            if annotation.shown_concepts is not None and concept.name not in annotation.shown_concepts:
                mask[:, place] = False
            if annotation.shown_values is not None:
                mask[:, place] &= np.isin(true[:, place], _codes(concept, annotation.shown_values))
        return mask


def _codes(concept: Concept, values: Sequence[Value]) -> list[int]:
    return [concept.codes[type(value), value] for value in values if (type(value), value) in concept.codes]


def symmetric(values: int, chance: float) -> Array:
    """Return the chance of each value for each, all others as likely as one another.

    >>> symmetric(3, 0.2).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    if values == 1:
        return np.ones((1, 1))
    return np.where(np.eye(values, dtype=bool), 1 - chance, chance / (values - 1))


def apply_flips(
    matrix: Array, flips: Mapping[Value, Mapping[Value, float]], values: Sequence[Value], name: str
) -> Array:
    """Return the chances after a second annotator changed what the first gave."""
    second = np.eye(len(values))
    for value, to in flips.items():
        row = _place(value, values, name)
        for other, chance in to.items():
            second[row, _place(other, values, name)] += chance
            second[row, row] -= chance
    return np.asarray(matrix @ second)


def _place(value: Value, values: Sequence[Value], name: str) -> int:
    for place, known in enumerate(values):
        if type(known) is type(value) and known == value:
            return place
    raise UnknownName(f"{name!r} has no value {value!r}; it has: {listing(values)}")


def sample_codes(codes: Codes, matrix: Array, draws: Array) -> Codes:
    """Return the codes drawn by the chances of each row of the matrix; the value itself takes what is left.

    >>> sample_codes(np.array([0, 1, -1]), np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0.2, 0.9, 0.2])).tolist()
    [1, 1, -1]
    """
    leave = matrix.copy()
    np.fill_diagonal(leave, 0.0)
    edges = np.cumsum(leave, axis=1)[np.maximum(codes, 0)]
    place = (draws[:, None] >= edges).sum(axis=1)
    return np.where((codes >= 0) & (place < len(matrix)), np.minimum(place, len(matrix) - 1), codes)


def refuse_unknown(annotation: Annotation, knowledge: Knowledge) -> None:
    """Refuse unknown names and values: a typo would silently change nothing."""
    space = knowledge.space
    concepts = {*space.names, *(group.name for group in space.encoders)}
    for key in ("concept_noise", "noise_01", "noise_10", "missing"):
        rate: Rate = getattr(annotation, key)
        _check_names(key, rate if isinstance(rate, Mapping) else (), concepts)
    _check_names("concept_flips", annotation.concept_flips, space.names)
    _check_names("shown_concepts", annotation.shown_concepts or (), space.names)
    _check_names(
        "subjective_groups", (name for group in annotation.subjective_groups or () for name in group), space.names
    )
    rate = annotation.label_noise
    _check_names("label_noise", rate if isinstance(rate, Mapping) else (), knowledge.label_names)
    _check_names("label_flips", annotation.label_flips, knowledge.label_names)
    values = {(type(value), value) for concept in space.concepts for value in concept.values}
    for key in ("shown_values", "present"):
        for value in getattr(annotation, key) or ():
            if (type(value), value) not in values:
                raise UnknownName(f"{key}: no concept has the value {value!r}")


def _check_names(key: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in set(known):
            raise UnknownName(f"{key}: no {'label' if 'label' in key else 'concept'} {name!r}{suggestion(name, known)}")

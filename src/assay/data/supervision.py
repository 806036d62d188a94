"""What an annotator makes of the truth: noise in labels and concepts, gaps, and what is shown at all. Arrays only.

Every draw is a uniform number for one entry, compared with a chance: with the same seed, what is flipped at 10 % is
also flipped at 20 %, and neither depends on what else is asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import Concept, Value, listing
from assay.data.annotation import Annotation, Rate, rate_of
from assay.errors import ConfigError, UnknownName, suggestion
from assay.logic.knowledge import Knowledge
from assay.logic.traverse import free_names
from assay.seeds import Deck, rng_for

ONE_HOT = "one_hot"
"""The tag of constraints that say that exactly one, or at most one, of some concepts is true."""


@dataclass(frozen=True)
class Given:
    """What is given for the rows of a split: label codes, and concept codes with -1 where missing."""

    labels: Codes
    concepts: Codes


@dataclass(frozen=True)
class Annotator:
    """Gives labels and concepts of one split as asked."""

    knowledge: Knowledge
    asked: Annotation
    split: str

    def __call__(self, given: Given, true: Codes) -> Given:
        """Return what is given after labels, then concepts, were made noisy, some hidden, and some shown."""
        concepts = self.subjective(self.noisy(given.concepts))
        concepts = np.where(self.gaps(true), -1, concepts)
        return Given(self.noisy_labels(given.labels), np.where(self.shown(true), concepts, -1))

    def draws(self, what: str, name: str, rows: int) -> Array:
        """Return a number from 0 to 1 for each row."""
        return rng_for(self.asked.seed, "annotate", self.split, what, name).random(rows)

    def noisy_labels(self, labels: Codes) -> Codes:
        """Return the labels with noise."""
        made = labels.copy()
        for place, label in enumerate(self.knowledge.labels):
            matrix = symmetric(len(label.values), rate_of(self.asked.label_noise, label.name))
            matrix = flipped(matrix, self.asked.label_flips.get(label.name, {}), label.values, label.name)
            made[:, place] = moved(labels[:, place], matrix, self.draws("label", label.name, len(labels)))
        return made

    def noisy(self, concepts: Codes) -> Codes:
        """Return the concepts with noise; what is missing stays missing."""
        made = concepts.copy()
        for place, concept in enumerate(self.knowledge.space.concepts):
            draws = self.draws("concept", concept.name, len(concepts))
            made[:, place] = moved(concepts[:, place], self._matrix(concept), draws)
        return made

    def _matrix(self, concept: Concept) -> Array:
        asked = self.asked
        matrix = symmetric(len(concept.values), rate_of(asked.concept_noise, concept.name, self._group(concept)))
        up, down = (rate_of(rate, concept.name, self._group(concept)) for rate in (asked.noise_01, asked.noise_10))
        if concept.values == (False, True):
            matrix = matrix @ np.array([[1 - up, up], [down, 1 - down]])
        elif any(isinstance(rate, Mapping) and concept.name in rate for rate in (asked.noise_01, asked.noise_10)):
            raise ConfigError(
                f"noise_01, noise_10: concept {concept.name!r} is not true or false, it has the values "
                f"{listing(concept.values)}; give concept_flips"
            )
        return flipped(matrix, asked.concept_flips.get(concept.name, {}), concept.values, concept.name)

    def _group(self, concept: Concept) -> str:
        return next(group.name for group in self.knowledge.space.encoders if concept.name in group.concepts)

    def subjective(self, concepts: Codes) -> Codes:
        """Return the concepts where, in each group, another than the one that is true may be given as true."""
        made = concepts.copy()
        for group in self.groups() if self.asked.subjective_noise else ():
            places = np.array([self.knowledge.space.place(name) for name in group])
            one = (made[:, places] >= 0).all(axis=1) & (made[:, places].sum(axis=1) == 1)
            draws = self.draws("subjective", " ".join(group), len(made))
            rows = np.flatnonzero(one & (draws < self.asked.subjective_noise))
            held = made[np.ix_(rows, places)].argmax(axis=1)
            step = 1 + np.floor(draws[rows] / self.asked.subjective_noise * (len(places) - 1)).astype(np.int64)
            made[np.ix_(rows, places)] = np.eye(len(places), dtype=np.int64)[(held + step) % len(places)]
        return made

    def groups(self) -> list[list[str]]:
        """Return the groups of true-or-false concepts of which one is true."""
        tagged = [c for c in self.knowledge.constraints if ONE_HOT in c.tags]
        found = self.asked.subjective_groups or [list(free_names(c.formula)) for c in tagged]
        for group in found:
            wrong = [name for name in group if self.knowledge.space.concept(name).values != (False, True)]
            if wrong or len(group) < 2:
                raise ConfigError(f"subjective_groups: {listing(group)} are not two or more true-or-false concepts")
        if not found:
            raise ConfigError("subjective_noise needs subjective_groups, such as [[is_round, is_square]]")
        return found

    def gaps(self, true: Codes) -> Array:
        """Return where a concept is missing; under `mnar` that depends on its true value."""
        found = np.zeros(true.shape, dtype=bool)
        for place, concept in enumerate(self.knowledge.space.concepts):
            chance: Array | float = rate_of(self.asked.missing, concept.name, self._group(concept))
            if not chance:
                continue
            if self.asked.mechanism == "mnar":
                more, less = self.asked.missing_factors
                chance = np.clip(chance * np.where(self._present(concept)[true[:, place]], more, less), 0, 1)
            found[:, place] = self.draws("missing", concept.name, len(true)) < chance
        return found

    def _present(self, concept: Concept) -> Array:
        """Return for each value whether it says that something is there."""
        if self.asked.present is not None:
            return np.array([value in self.asked.present for value in concept.values])
        if concept.nothing_code < 0:
            raise ConfigError(
                f"mechanism mnar: no value of concept {concept.name!r} says that nothing is there "
                f"({listing(concept.values)}); give present"
            )
        return np.asarray(np.arange(len(concept.values)) != concept.nothing_code)

    def shown(self, true: Codes) -> Array:
        """Return which concept of which row is shown."""
        asked, mask = self.asked, np.ones(true.shape, dtype=bool)
        if asked.shown_examples is not None:
            order = Deck(max(1, len(true)), asked.seed, "annotate", self.split, "shown").deal(np.arange(len(true)))
            mask &= (order < asked.shown_examples)[:, None]
        for place, concept in enumerate(self.knowledge.space.concepts):
            if asked.shown_concepts is not None and concept.name not in asked.shown_concepts:
                mask[:, place] = False
            if asked.shown_values is not None:
                mask[:, place] &= np.isin(true[:, place], _codes(concept, asked.shown_values))
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


def flipped(matrix: Array, flips: Mapping[Value, Mapping[Value, float]], values: Sequence[Value], name: str) -> Array:
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


def moved(codes: Codes, matrix: Array, draws: Array) -> Codes:
    """Return the codes drawn by the chances of each row of the matrix; the value itself takes what is left.

    >>> moved(np.array([0, 1, -1]), np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0.2, 0.9, 0.2])).tolist()
    [1, 1, -1]
    """
    leave = matrix.copy()
    np.fill_diagonal(leave, 0.0)
    edges = np.cumsum(leave, axis=1)[np.maximum(codes, 0)]
    place = (draws[:, None] >= edges).sum(axis=1)
    return np.where((codes >= 0) & (place < len(matrix)), np.minimum(place, len(matrix) - 1), codes)


def refuse_strangers(asked: Annotation, knowledge: Knowledge) -> None:
    """Refuse a name or a value that there is not: a slip of the pen would change nothing, silently."""
    space = knowledge.space
    concepts = {*space.names, *(group.name for group in space.encoders)}
    for key in ("concept_noise", "noise_01", "noise_10", "missing"):
        rate: Rate = getattr(asked, key)
        _known(key, rate if isinstance(rate, Mapping) else (), concepts)
    _known("concept_flips", asked.concept_flips, space.names)
    _known("shown_concepts", asked.shown_concepts or (), space.names)
    _known("subjective_groups", (name for group in asked.subjective_groups or () for name in group), space.names)
    rate = asked.label_noise
    _known("label_noise", rate if isinstance(rate, Mapping) else (), knowledge.label_names)
    _known("label_flips", asked.label_flips, knowledge.label_names)
    values = {(type(value), value) for concept in space.concepts for value in concept.values}
    for key in ("shown_values", "present"):
        for value in getattr(asked, key) or ():
            if (type(value), value) not in values:
                raise UnknownName(f"{key}: no concept has the value {value!r}")


def _known(key: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in set(known):
            raise UnknownName(f"{key}: no {'label' if 'label' in key else 'concept'} {name!r}{suggestion(name, known)}")

"""Diagnoses of random predictors and of kept cases, with what they were made of."""

from collections.abc import Iterator, Mapping

import numpy as np

from assay.base import Array
from assay.diagnosis import Counterfactuals, Effects, Thresholds, diagnose, read_thresholds
from assay.metrics import mean_score
from benchmarks.claims.predictors import random_predictor
from benchmarks.claims.told import Told
from benchmarks.trained.kept import Case, Changes, kept_cases, read_case

FEW = {"verdict.resamples": 6}
"""Enough for the sentence on certainty."""


def random_ones(start: int, count: int) -> Iterator[Told]:
    """Yield diagnoses of random predictors."""
    thresholds = read_thresholds(FEW)
    for seed in range(start, start + count):
        drawn = random_predictor(seed)
        found = diagnose(drawn.evidence, drawn.training, thresholds=thresholds)
        yield Told(drawn.name, drawn.evidence, drawn.training, found)


def kept(half: str | None = None, most: int | None = None) -> Iterator[Told]:
    """Yield diagnoses of the zoo of trained models, or of one half of it."""
    cases = (read_case(path) for path in kept_cases())
    chosen = [case for case in cases if half in (None, case.header["half"])]
    for case in chosen[:most]:
        yield diagnosed(case, read_thresholds(FEW))


def diagnosed(case: Case, thresholds: Thresholds) -> Told:
    """Return the diagnosis of a kept case."""
    effects = None if case.pairs is None else effects_of(case.pairs)
    found = diagnose(case.evidence, case.training, effects=effects, thresholds=thresholds)
    return Told(case.name, case.evidence, case.training, found, case.pairs)


def effects_of(changes: Changes) -> Counterfactuals:
    """Return what changes of single concepts did to a model."""
    values, names = _values(changes), np.array(changes.concepts)
    by_concept = {name: _effects(values, names == name) for name in dict.fromkeys(changes.concepts)}
    return Counterfactuals("pairs", len(names), _effects(values, np.ones(len(names), dtype=bool)), by_concept)


def _values(changes: Changes) -> Mapping[str, Array]:
    """Return for each pair the shares of labels that follow, that stay, and so on; NaN where there is none."""
    before, after, space = changes.before, changes.after, changes.before.knowledge.space
    moved, differs = before.labels != after.labels, before.concepts != after.concepts
    right = (before.predicted_labels == before.labels) & (after.predicted_labels == after.labels)
    own = np.arange(len(space))[None, :] == np.array([space.place(name) for name in changes.concepts])[:, None]
    spoken = (before.predicted_concepts >= 0) & (after.predicted_concepts >= 0)
    return {
        "follows": _shares(right, moved),
        "stays": _shares(before.predicted_labels == after.predicted_labels, ~moved),
        "noticed": _shares(after.predicted_concepts == after.concepts, own & spoken),
        "untouched": _shares(before.predicted_concepts == after.predicted_concepts, ~differs & spoken),
    }


def _shares(true: Array, of: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray((true & of).sum(axis=1) / of.sum(axis=1))


def _effects(values: Mapping[str, Array], rows: Array) -> Effects:
    parts = {name: found[rows & ~np.isnan(found)] for name, found in values.items()}
    return Effects(**{name: mean_score(name, part) for name, part in parts.items()})

"""The diagnosis of a run, or of a predictions file that anyone wrote."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.arrays import Codes, distinct_rows
from assay.contracts import PAIRS
from assay.data import Dataset
from assay.diagnosis.counterfactual import Counterfactuals, counterfactuals
from assay.diagnosis.identifiability import Identifiability, identifiability
from assay.diagnosis.reliance import reliance_of
from assay.diagnosis.rule_relation import describe_learned_rules
from assay.diagnosis.thresholds import DEFAULTS, Thresholds, Verdict
from assay.diagnosis.verdict import Diagnosis, diagnose
from assay.errors import DataError
from assay.logic import Knowledge
from assay.metrics import gather_from
from assay.predictions import Predictions, read_predictions
from assay.runs import RunFolder, under_rule

_TAUGHT: dict[str, Identifiability | None] = {}
"""What the dataset that was last looked at can teach."""


def diagnose_run(
    run: RunFolder, dataset: Dataset, taught: Identifiability | None = None, thresholds: Thresholds = DEFAULTS
) -> Diagnosis:
    """Return the diagnosis of a run, or of a predictions file; `taught` where it is known from another run."""
    predictions = run.all_predictions(dataset.knowledge, dataset.sizes)
    if run.predictions(PAIRS).exists():
        predictions[PAIRS] = read_predictions(run.predictions(PAIRS), dataset.knowledge, dataset.sizes)
    found = diagnose_predictions(dataset, predictions, taught, thresholds)
    rules = describe_learned_rules(run, dataset.knowledge)
    return replace(found, notes=(*found.notes, *rules)) if rules else found


def diagnose_predictions(
    dataset: Dataset,
    predictions: Mapping[str, Predictions],
    taught: Identifiability | None = None,
    thresholds: Thresholds = DEFAULTS,
) -> Diagnosis:
    """Return the diagnosis of predictions by split, with those for counterfactual worlds under `pairs`."""
    judged = {split: found for split, found in predictions.items() if split != PAIRS}
    if not judged:
        raise DataError("there are no predictions to judge, but for counterfactual worlds; predict for 'test' too")
    evidence = {split: gather_from(dataset, found) for split, found in judged.items()}
    about = {**provenance(dataset), **next(iter(judged.values())).about}
    worlds = training_worlds(dataset)
    effects, why_not = effects_of(dataset, predictions, worlds)
    known = taught if taught is not None else taught_by(dataset, worlds)
    level = thresholds.of(Verdict).level / max(1, len(evidence))
    reliance, not_judged = reliance_of(dataset, predictions, level, thresholds)
    found = diagnose(evidence, worlds, about, effects, known, reliance, thresholds)
    return replace(found, notes=(*found.notes, *(why for why in (why_not, not_judged) if why)))


def diagnose_under_rule(
    run: RunFolder, dataset: Dataset, rule: Knowledge, thresholds: Thresholds = DEFAULTS
) -> Diagnosis:
    """Return the diagnosis of a run's concepts under another rule; what changes of concepts do is left out."""
    judged = run.all_predictions(dataset.knowledge, dataset.sizes)
    evidence = {split: under_rule(gather_from(dataset, found), rule) for split, found in judged.items()}
    about = {**provenance(dataset), **next(iter(judged.values())).about}
    worlds = training_worlds(dataset)
    return diagnose(evidence, worlds, about, None, identifiability(rule, worlds), thresholds=thresholds)


def taught_by(dataset: Dataset, worlds: Codes | None = None) -> Identifiability | None:
    """Return what the training labels of a dataset can teach, its training worlds perhaps known; counted once."""
    if dataset.fingerprint not in _TAUGHT:
        _TAUGHT.clear()  # a study goes from dataset to dataset
        known = training_worlds(dataset) if worlds is None else worlds
        _TAUGHT[dataset.fingerprint] = identifiability(dataset.knowledge, known)
    return _TAUGHT[dataset.fingerprint]


def effects_of(
    dataset: Dataset, predictions: Mapping[str, Predictions], training: Codes | None = None
) -> tuple[Counterfactuals | None, str]:
    """Return what changes of single concepts did, if there are predictions for such worlds; or why it is not known.

    Pairs with values that no world of `training` shows are told apart.
    """
    if PAIRS not in predictions:
        return None, ""
    if dataset.pairs is None:
        return None, f"What changing one concept does is left out: {dataset.why_no_pairs}."
    original = str(dataset.pairs.split)
    if original not in predictions:
        return None, f"What changing one concept does is left out: there are no predictions for split {original!r}."
    return counterfactuals(dataset, predictions[original], predictions[PAIRS], training), ""


def provenance(dataset: Dataset) -> dict[str, Any]:
    """Return what every number about a dataset is traced by."""
    return {
        "task": dataset.name,
        "fingerprint": dataset.fingerprint,
        "data_seed": dataset.manifest.seed,
        "versions": dataset.manifest.versions,
    }


def training_worlds(dataset: Dataset) -> Codes | None:
    """Return the distinct worlds that training showed, those that are wholly known, or None if there are none."""
    names = [name for name in dataset.split_names if name.startswith("train")]
    if not names:
        return None
    codes = np.concatenate([dataset.symbols(name, styles=False).concepts for name in names])
    worlds = codes[distinct_rows(codes).first]
    whole = worlds[(worlds >= 0).all(axis=1)]
    return whole if len(whole) else None

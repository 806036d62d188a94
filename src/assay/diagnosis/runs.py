"""The diagnosis of a run, or of a predictions file that anyone wrote."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.arrays import Codes
from assay.data.dataset import Dataset
from assay.data.manifest import PAIRS
from assay.diagnosis.counterfactual import Counterfactuals, counterfactuals
from assay.diagnosis.identifiability import Identifiability, identifiability
from assay.diagnosis.rule_relation import describe_learned_rules
from assay.diagnosis.verdict import Diagnosis, diagnose
from assay.metrics.evidence import gather_from
from assay.predictions import Predictions, read_predictions
from assay.runs.folder import RunFolder


def diagnose_run(run: RunFolder, dataset: Dataset, taught: Identifiability | None = None) -> Diagnosis:
    """Return the diagnosis of a run, or of a predictions file; `taught` where it is known from another run."""
    predictions = run.all_predictions(dataset.knowledge)
    evidence = {split: gather_from(dataset, found) for split, found in predictions.items()}
    about = {**provenance(dataset), **next(iter(predictions.values())).about}
    effects, why_not = effects_of(run, dataset, predictions)
    known = taught if taught is not None else taught_by(dataset)
    found = diagnose(evidence, training_worlds(dataset), about, effects, known)
    more = [*([why_not] if why_not else []), *describe_learned_rules(run, dataset.knowledge)]
    return replace(found, notes=(*found.notes, *more)) if more else found


def taught_by(dataset: Dataset) -> Identifiability | None:
    """Return what the training labels of a dataset can teach."""
    return identifiability(dataset.knowledge, training_worlds(dataset))


def effects_of(
    run: RunFolder, dataset: Dataset, predictions: Mapping[str, Predictions]
) -> tuple[Counterfactuals | None, str]:
    """Return what changes of single concepts did to a run, if it answered for such worlds; or why that is not known."""
    path = run.predictions(PAIRS)
    if not path.exists():
        return None, ""
    if dataset.pairs is None:
        return None, f"What changing one concept does is left out: {dataset.why_no_pairs}."
    original = dataset.pairs["split"]
    if original not in predictions:
        return None, f"What changing one concept does is left out: there are no predictions for split {original!r}."
    changed = read_predictions(path, dataset.knowledge)
    return counterfactuals(dataset, predictions[original], changed), ""


def provenance(dataset: Dataset) -> dict[str, Any]:
    """Return what every number about a dataset is traced by."""
    return {
        "task": dataset.name,
        "fingerprint": dataset.fingerprint,
        "data_seed": dataset.manifest["seed"],
        "versions": dataset.manifest["versions"],
    }


def training_worlds(dataset: Dataset) -> Codes | None:
    """Return the concept codes that training showed, those that are wholly known, or None if there are none."""
    names = [name for name in dataset.split_names if name.startswith("train")]
    if not names:
        return None
    codes = np.concatenate([dataset.symbols(name).concepts for name in names])
    whole = codes[(codes >= 0).all(axis=1)]
    return whole if len(whole) else None

"""The diagnosis of a run, or of a predictions file that anyone wrote."""

from typing import Any

import numpy as np

from assay.arrays import Codes
from assay.data.dataset import Dataset
from assay.diagnosis.verdict import Diagnosis, diagnose
from assay.metrics.evidence import Evidence, gather_from
from assay.runs import RunFolder


def evidence_of(run: RunFolder, dataset: Dataset) -> dict[str, Evidence]:
    """Return the evidence of a run on every split that it has predictions for, test first."""
    found = run.all_predictions(dataset.knowledge)
    return {split: gather_from(dataset, predictions) for split, predictions in found.items()}


def diagnose_run(run: RunFolder, dataset: Dataset) -> Diagnosis:
    """Return the diagnosis of a run, or of a predictions file."""
    predictions = run.all_predictions(dataset.knowledge)
    evidence = {split: gather_from(dataset, found) for split, found in predictions.items()}
    about = {**provenance(dataset), **next(iter(predictions.values())).about}
    return diagnose(evidence, training_worlds(dataset), about)


def provenance(dataset: Dataset) -> dict[str, Any]:
    """Return what every number about a dataset is traced by."""
    return {
        "task": dataset.name,
        "fingerprint": dataset.fingerprint,
        "data_seed": dataset.manifest["seed"],
        "versions": dataset.manifest["versions"],
    }


def training_worlds(dataset: Dataset) -> Codes | None:
    """Return the concept codes that training showed, or None if there is no training split."""
    names = [name for name in dataset.split_names if name.startswith("train")]
    return np.concatenate([dataset.symbols(name).concepts for name in names]) if names else None

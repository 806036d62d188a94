"""The evidence of a run: its predictions beside the truth."""

from assay.dataset import Dataset
from assay.metrics import Evidence, gather_from
from assay.runs.folder import RunFolder


def evidence_of(run: RunFolder, dataset: Dataset) -> dict[str, Evidence]:
    """Return the evidence of a run on every split that it has predictions for, test first."""
    found = run.all_predictions(dataset.knowledge, dataset.sizes)
    return {split: gather_from(dataset, predictions) for split, predictions in found.items()}

"""What is written into a run's folder, whoever trained: predictions for counterfactual pairs, and last the record."""

from collections.abc import Callable, Mapping
from typing import Any

from assay.data.dataset import Dataset, SplitData
from assay.data.manifest import to_json
from assay.data.pairs import pairs_of
from assay.data.rebuild import task_of
from assay.errors import DataError
from assay.files import write_atomically
from assay.predictions import Predictions
from assay.runs.folder import RUN, RunFolder


def split_for(dataset: Dataset, name: str) -> str:
    """Return the split of this name, or the first stage of it where the dataset has stages."""
    if name in dataset or f"{name}_1" not in dataset:
        return name
    return f"{name}_1"


def check_dataset(run: RunFolder, dataset: Dataset) -> None:
    """Refuse a dataset that is not the one that a run was trained on."""
    trained_on = run.about()["data"]["fingerprint"]
    if dataset.fingerprint != trained_on:
        raise DataError(
            f"{str(run.folder)!r} was trained on a dataset with fingerprint {trained_on}, "
            f"{str(dataset.folder)!r} has {dataset.fingerprint}"
        )


def write_pairs(predict: Callable[[SplitData], Predictions], dataset: Dataset, run: RunFolder) -> str:
    """Write the predictions for the counterfactual pairs of the test split, and say how many, or why there are none."""
    split = split_for(dataset, "test")
    if split not in dataset:
        return "none: the dataset has no test split"
    try:
        pairs = pairs_of(dataset, split, task_of(dataset))
        predictions = predict(pairs.data)
    except DataError as error:
        return f"none: {error}"
    predictions.write(run.pairs(split), dataset.knowledge)
    return f"{len(pairs)} of split {split}"


def write_record(run: RunFolder, dataset: Dataset, about: Mapping[str, Any]) -> None:
    """Write that a run is finished: what was trained on what; a folder without it holds no run."""
    write_atomically(run.folder / RUN, to_json({**about, "data": dataset.place(run.folder)}))

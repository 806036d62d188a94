"""What is written into a run's folder, whoever trained: predictions for counterfactual pairs, and last the record."""

from collections.abc import Callable, Mapping
from typing import Any

from assay.base import DataError, remove_leftovers, write_atomically
from assay.contracts import PAIRS, Predictions, to_json
from assay.dataset import Dataset, SplitData
from assay.runs.folder import RUN, RunFolder
from assay.runs.seals import sealed


def split_for(dataset: Dataset, name: str) -> str:
    """Return the split of this name, or the first stage of it where the dataset has stages."""
    if name in dataset or f"{name}_1" not in dataset:
        return name
    return f"{name}_1"


def check_dataset(run: RunFolder, dataset: Dataset) -> None:
    """Refuse a dataset that is not the one that a run was trained on."""
    trained_on = run.record.data.fingerprint
    if dataset.fingerprint != trained_on:
        raise DataError(
            f"{str(run.folder)!r} was trained on a dataset with fingerprint {trained_on}, "
            f"{str(dataset.folder)!r} has {dataset.fingerprint}; for other data: assay predict RUN DATA -o FOLDER"
        )


def write_pairs(predict: Callable[[SplitData], Predictions], dataset: Dataset, run: RunFolder) -> str:
    """Write the predictions for the split of counterfactual worlds, and say how many, or why there are none."""
    if dataset.pairs is None:
        return f"none: {dataset.why_no_pairs}"
    try:
        predictions = predict(dataset[PAIRS])
    except DataError as error:
        return f"none: {error}"
    predictions.write(run.predictions(PAIRS), dataset.knowledge)
    return f"{len(predictions.index)} of split {dataset.pairs.split}"


def write_record(run: RunFolder, dataset: Dataset, about: Mapping[str, Any]) -> None:
    """Write that a run is finished: what was trained on what; a folder without it holds no run."""
    remove_leftovers(run.folder)
    record = {**about, "data": dataset.place(run.folder)}
    write_atomically(run.folder / RUN, to_json(sealed(record, run.folder)))

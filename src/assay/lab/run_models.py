"""The models of runs, ready for interventions or to be looked into: by a run, a folder of runs, a predictions file."""

import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.base import Array, Codes, ConfigError, DataError
from assay.contracts import IntervenableModel, Predictions, model_from_predictions, read_predictions
from assay.dataset import Dataset, SplitData
from assay.diagnosis import Answering
from assay.runs import RunFolder, check_dataset

if TYPE_CHECKING:
    from assay.models import Model


def answering_for(folder: Path, dataset: Dataset, split: str) -> tuple[Answering, dict[str, Any]]:
    """Return a function from a split to the model of a run on it, and the facts of the run.

    Parameters
    ----------
    folder
        The run's folder.
    dataset
        What it was trained on.
    split
        The split whose rows are asked about.
    """
    if folder.is_file():
        return _by_file(folder, dataset, split)
    record = RunFolder(folder).record
    check_dataset(RunFolder(folder), dataset)
    from assay.models import load_model

    trained_on = str(record.config.get("device", "auto"))
    model = load_model(folder, "cpu" if trained_on == "cpu" else "auto")  # a policy asks for millions of answers
    known = {"model": record.model, "seed": record.seed, "config": record.config}
    return model.intervene, known


def _by_file(path: Path, dataset: Dataset, split: str) -> tuple[Answering, dict[str, Any]]:
    """Return any model by its predictions: its labels follow from its concepts by the rule."""
    predictions = read_predictions(path, dataset.knowledge)
    if predictions.fingerprint != dataset.fingerprint or predictions.split != split:
        raise DataError(f"{str(path)!r} is for other data, or another split than {split!r}")

    def answering(data: SplitData) -> IntervenableModel:
        if data.name != predictions.split or not np.array_equal(data.index, predictions.index):
            raise ConfigError(
                f"a predictions file answers for split {predictions.split!r} as it is, whole and in order"
            )
        return model_from_predictions(predictions, dataset.knowledge)

    return answering, dict(predictions.about)


class RunModels:
    """The models of runs, as the viewer asks them; each is loaded once, and asked by one thread at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()  # who looks into a layer hooks into the network, and would hear others' pictures

    def predict(self, run: Path, data: SplitData, do: Mapping[str, Codes] | None) -> Predictions:
        """Return the predictions of a run's model for rows, with some concepts set."""
        with self._turn:
            return _model(run).predict(data, do)

    def answering(self, run: Path, dataset: Dataset, split: str) -> Answering:
        """Return the model of a run, or of a predictions file, ready for interventions; it is loaded for them alone."""
        return answering_for(run, dataset, split)[0]

    def layers(self, run: Path, data: SplitData) -> list[str]:
        """Return the names of the layers of a run's network, in the order in which it calls them."""
        from assay.models import layer_names

        with self._turn:
            return layer_names(_model(run), data)

    def activations(self, run: Path, data: SplitData, layer: str) -> Array:
        """Return what a layer gives for the pictures of rows, a row of features each."""
        from assay.models import layer_features

        with self._turn:
            return layer_features(_model(run), data, layer)


@lru_cache(maxsize=8)
def _model(run: Path) -> "Model":
    from assay.models import load_model

    return load_model(run)

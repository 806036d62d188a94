"""Models that can be asked: given to the viewer from outside, since it knows no torch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from assay.base import Array, Codes
from assay.contracts import Predictions
from assay.dataset import Dataset, SplitData
from assay.diagnosis import Answering


class LiveModels(Protocol):
    """The models of runs, by the folders of the runs."""

    def predict(self, run: Path, data: SplitData, do: Mapping[str, Codes] | None) -> Predictions:
        """Return the predictions of a run's model for rows, with some concepts set."""

    def answering(self, run: Path, dataset: Dataset, split: str) -> Answering:
        """Return the model of a run, or of a predictions file, ready for interventions."""

    def layers(self, run: Path, data: SplitData) -> list[str]:
        """Return the names of the layers of a run's network, in the order in which it calls them."""

    def activations(self, run: Path, data: SplitData, layer: str) -> Array:
        """Return what a layer gives for the pictures of rows, a row of features each."""

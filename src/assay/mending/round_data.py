"""The dataset that a round is trained on: a copy with what was bought, or the dataset itself where nothing was."""

from pathlib import Path

import numpy as np

from assay.arrays import Codes
from assay.data.annotate import annotate
from assay.data.annotation import MENDING, Annotation
from assay.data.dataset import Dataset, SplitData
from assay.mending.holdings import Holdings


def write_labels(dataset: Dataset, holdings: Holdings, keeps_valid: bool, folder: Path) -> Dataset:
    """Write a copy of a dataset whose annotated concepts are those that were bought, and open it.

    Validation keeps its annotated concepts only if the first run learned from some; else it has none either.
    """
    train, valid = dataset["train"], dataset["valid"]
    given = {"train": _by_index(train, holdings.concepts)}
    if not keeps_valid:
        given["valid"] = _by_index(valid, np.full(valid.concepts.shape, -1))
    annotate(dataset, Annotation(splits=list(given)), folder, given, MENDING)
    return Dataset.open(folder)


def _by_index(data: SplitData, codes: Codes) -> Codes:
    """Return codes in the places of the examples' numbers, as annotations by a machine are given."""
    placed = np.full((1 + int(data.index.max(initial=-1)), codes.shape[1]), -1)
    placed[data.index] = codes
    return placed

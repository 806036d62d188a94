"""What `assay intervene` finds its models by: a run, a folder of runs, or a predictions file."""

from pathlib import Path
from typing import Any

import numpy as np

from assay.data.dataset import Dataset, SplitData
from assay.diagnosis.interventions.intervenable import IntervenableModel, model_from_predictions
from assay.diagnosis.interventions.manipulation import Answering
from assay.errors import ConfigError, DataError
from assay.metrics.evidence import gather_from
from assay.predictions import read_predictions
from assay.runs.folder import RUN, RunFolder
from assay.runs.writing import check_dataset


def runs_in(folder: Path) -> list[Path]:
    """Return the runs that a path stands for: itself, or those in its folders, such as seeds."""
    if folder.is_file() or (folder / RUN).exists():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{RUN}"))
    if not found:
        raise DataError(f"{str(folder)!r} holds no finished run and is no predictions file")
    return found


def answering_for(folder: Path, dataset: Dataset, split: str) -> tuple[Answering, dict[str, Any]]:
    """Return what puts the model of a run before a split, and what is known of the run."""
    if folder.is_file():
        return _by_file(folder, dataset, split)
    about = RunFolder(folder).about()
    check_dataset(RunFolder(folder), dataset)
    from assay.models.core.runs import load_model

    model = load_model(folder)
    known = {key: about[key] for key in ("model", "seed", "config")}
    return model.intervene, known


def _by_file(path: Path, dataset: Dataset, split: str) -> tuple[Answering, dict[str, Any]]:
    """Return a model of any make by its predictions: its labels follow from its concepts by the rule."""
    said = read_predictions(path, dataset.knowledge)
    if said.fingerprint != dataset.fingerprint or said.split != split:
        raise DataError(f"{str(path)!r} is for other data, or another split than {split!r}")

    def answering(data: SplitData) -> IntervenableModel:
        if data.name != said.split or not np.array_equal(data.index, said.index):
            raise ConfigError(f"a predictions file answers for split {said.split!r} as it is, whole and in order")
        return model_from_predictions(said, dataset.knowledge)

    return answering, dict(said.about)


def accuracy_of(path: Path, dataset: Dataset, split: str) -> float:
    """Return how right a run or a predictions file is about the labels of a split."""
    found = RunFolder(path).all_predictions(dataset.knowledge)
    if split not in found:
        raise DataError(f"{str(path)!r} has no predictions for split {split!r}")
    evidence = gather_from(dataset, found[split])
    return float((evidence.predicted_labels == evidence.labels).mean())

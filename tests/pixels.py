"""Three black or white pixels and a rule over them: data that every model learns in a moment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from assay.base import Settings
from assay.dataset import Dataset, make, recipe_from
from assay.models import MODELS, NeuralModel, TrainSpec, train_run

torch.set_num_threads(1)  # where tests run side by side, threads that wait for a core make a step 50 times as long

TASK = {"pixels": True, "k": 3, "formula": "a and b or c", "prop_in_distribution": 1.0}
SIZES = {"train": 256, "valid": 64, "test": 64, "hard": 32}
QUICK = {"learning_rate": 0.01, "batch_size": 32, "epochs": 12, "device": "cpu"}
NETWORKS = [name for name in MODELS if MODELS[name].is_network]
LEARNS = {
    "blackbox": ("blackbox", {}),
    "joint": ("cbm", {"mode": "joint", "epochs": 20}),
    "joint-mlp": ("cbm", {"mode": "joint", "head": "mlp"}),
    "sequential": ("cbm", {"mode": "sequential", "epochs": 20}),
    "independent": ("cbm", {"mode": "independent", "epochs": 20}),
    "dpl": ("dpl", {}),
    "dpl-entropy": ("dpl", {"entropy_weight": 0.1}),
    "dpl-shown": ("dpl", {"concept_weight": 1.0, "supervised_share": 0.5}),
    "dpl-drawing": ("dpl", {"reconstruction_weight": 1.0}),
    "dpl-further": ("dpl", {"further_labels": {"both": "a and c", "many": "a + b + c"}}),
    "ltn": ("ltn", {"concept_weight": 0.1}),
    "ltn-or": ("ltn", {"exists": "or", "concept_weight": 0.1, "last_p": 6.0}),
    "bears": ("bears", {"members": 2, "diversity": 0.01, "concept_weight": 0.2}),
}


def pixels(folder: Path, **settings: Any) -> Dataset:
    """Make the data, with these settings changed."""
    make(recipe_from("mnlogic", Settings({**TASK, "splits": SIZES, **settings})), folder)
    return Dataset.open(folder)


def trained(
    model: str, dataset: Dataset, folder: Path, settings: Mapping[str, Any] | None = None, seed: int = 0
) -> NeuralModel:
    """Train a model and keep its run."""
    return train_run(TrainSpec(model, Settings({**QUICK, **(settings or {})}), seed), dataset, folder)

"""What it changes to train concept models as their authors' code does, where ours does otherwise by default.

`python -m benchmarks.concept_models [PAGE]` prints the table; with the name of a page it also writes it there, between
two markers (15 minutes on one core). Robots of 32 pixels; the same data and seeds for each row. Each model is trained
until it reads most concepts, and `probcbm` no longer: with more epochs it reads all of them, attention or not.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of small networks wait for one another; before torch reads it

import numpy as np
from scipy import stats

from assay.base import Array, Settings
from assay.dataset import Dataset, make, recipe_from
from benchmarks.pages import publish
from benchmarks.timing import Result

BEGIN, END = "<!-- authors: begin -->", "<!-- authors: end -->"
SEEDS = 3
EPOCHS = {"cem": 30, "ecbm": 30, "probcbm": 6}
SIZES = {"train": 1500, "valid": 200, "test": 400, "hard": 0}
ROWS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("cem", {}),
    ("cem", {"intervened_by": "batch"}),
    ("ecbm", {}),
    ("ecbm", {"perturbed_by": "batch"}),
    ("ecbm", {"reads": "picture"}),
    ("probcbm", {}),
    ("probcbm", {"attention": True}),
)
"""Models and settings; `attention` is of the stand-in of `benchmarks.attention`, whose features keep positions."""


def measured(data: Dataset, model: str, settings: Mapping[str, Any], seed: int) -> Array:
    """Return the accuracy of labels, of concepts, and of labels after every second concept was set to the truth."""
    from assay.models import MODELS
    from benchmarks.attention import AttendingProbCBM, AveragedProbCBM

    own_settings = {"epochs": EPOCHS[model], "device": "cpu", **settings}
    kind = AttendingProbCBM if own_settings.pop("attention", False) else AveragedProbCBM
    network = (MODELS[model] if model != "probcbm" else kind)(data, settings=own_settings, seed=seed)
    network.fit(data["train"], data["valid"])
    test = data["test"]
    given = {place: test.concepts[:, place] for place in range(1, len(data.knowledge.space), 2)}
    own, told = network.answers(test, {}), network.answers(test, given)
    labels = [np.mean(said.labels[0].argmax(axis=1) == test.labels[:, 0]) for said in (own, told)]
    concepts = [np.mean(said.argmax(axis=1) == test.concepts[:, i]) for i, said in enumerate(own.concepts)]
    return np.array([labels[0], np.mean(concepts), labels[1]])


def _sign_flip(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the p of the exact paired permutation test."""
    pairs, mean = (ours, theirs), lambda a, b, axis: np.mean(a - b, axis=axis)
    return float(stats.permutation_test(pairs, mean, permutation_type="samples", n_resamples=np.inf).pvalue)


def written(seeds: int = SEEDS) -> str:
    """Return the table."""
    with tempfile.TemporaryDirectory() as folder:
        make(recipe_from("robots", Settings({"splits": SIZES})), Path(folder) / "data")
        data = Dataset.open(Path(folder) / "data")
        numbers = {
            (model, *settings.items()): np.stack([measured(data, model, settings, seed) for seed in range(seeds)])
            for model, settings in ROWS
        }
    lines = ["| model | labels | concepts | labels, half of the concepts set | p |", "| --- | --- | --- | --- | --- |"]
    for (model, *settings), values in numbers.items():
        name = " ".join([f"`{model}`", *(f"`{key}: {value}`" for key, value in settings)])
        cells = [f"{values[:, i].mean():.3f} ± {values[:, i].std(ddof=1):.3f}" for i in range(3)]
        apart = [f"{_sign_flip(values[:, i], numbers[(model,)][:, i]):.2f}" for i in range(3)] if settings else []
        lines.append(f"| {name} | {' | '.join(cells)} | {', '.join(apart)} |")
    return "\n".join(lines)


def run() -> list[Result]:
    print(written(2), end="\n\n")
    return []


def main() -> None:
    publish(written(), BEGIN, END)


if __name__ == "__main__":
    main()

"""The viewer on 100,000 samples: a page, a filter, a picture, each from a cold start, against the second asked for."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.make import make
from assay.data.recipe import recipe_from
from assay.predictions import Answer, Predictions
from assay.seeds import rng_for
from assay.viewer.samples import Query, page_of
from assay.viewer.state import State
from benchmarks.timing import Result

SAMPLES = 100_000
TARGET = 1.0
REPEATS = 3


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(recipe_from("mnlogic", Settings({"k": 3, "splits": {"train": SAMPLES}})), folder / "data")
        _answer(Dataset.open(folder / "data"), folder / "run.parquet")
        near_errors = Query(tags=(("y", "*near"),), run="run", outcome="wrong")
        works: dict[str, Callable[[State], object]] = {
            "first page": lambda state: page_of(state, "data", "train", Query()),
            "filter: label": lambda state: page_of(state, "data", "train", Query(labels=(("y", "1"),))),
            "filter: near the boundary and wrong": lambda state: page_of(state, "data", "train", near_errors),
            "picture": lambda state: state.table("data", "train").file("image", SAMPLES - 1),
        }
        given = [folder / "data", folder / "run.parquet"]
        return [_result(what, given, work) for what, work in works.items()]


def _result(what: str, given: list[Path], work: Callable[[State], object]) -> Result:
    """Time the work in a viewer that has read nothing yet."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        work(State.open(given))
        taken.append(time.process_time() - start)
    return Result(f"{what} of {SAMPLES:,}", "times", 1 / float(np.median(taken)), 1 / TARGET, f"target: {TARGET:g} s")


def _answer(dataset: Dataset, path: Path) -> None:
    """Write answers for every sample, right in most."""
    data, rng = dataset.symbols("train"), rng_for(0, "benchmark", "viewer")
    codes = {"y": data.labels[:, 0], **dict(zip(dataset.knowledge.space.names, data.concepts.T, strict=True))}
    spread = {name: _spread(column, rng) for name, column in codes.items()}
    label = {"y": spread.pop("y")}
    Predictions(dataset.fingerprint, "train", data.index, label, spread).write(path, dataset.knowledge)


def _spread(column: np.ndarray, rng: np.random.Generator) -> Answer:
    sure = rng.uniform(0.3, 1.0, len(column))
    return Answer.of(np.where(np.arange(2) == column[:, None], sure[:, None], 1 - sure[:, None]))

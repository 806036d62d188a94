"""The viewer on 100,000 samples and ten runs: each page from a cold start, against the seconds that it may take."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.asking import Asking

import assay
from assay.base import Settings, rng_for
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset, make, recipe_from
from benchmarks.timing import Result

SAMPLES, RUNS = 100_000, 10
REPEATS = 3
Work = Callable[[Asking], object]


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as name:
        given = write_samples(Path(name))
        return [_result(what, given, work, target) for what, (work, target) in _pages().items()]


def write_samples(folder: Path) -> list[Path]:
    """Write the dataset and ten predictions files for it, and return where they are."""
    make(recipe_from("mnlogic", Settings({"k": 3, "splits": {"train": SAMPLES}})), folder / "data")
    given = [folder / "data", *(folder / f"run{number}.parquet" for number in range(RUNS))]
    for number, path in enumerate(given[1:]):
        _answer(Dataset.open(folder / "data"), path, number)
    return given


def _pages() -> dict[str, tuple[Work, float]]:
    """Return what is asked of the server for each page, and in how many seconds it must be there."""
    train, runs = "data/data/train.json", [("run", f"run{number}") for number in range(RUNS)]
    near_errors = [("tag", "y:*near"), ("run", "run0"), ("outcome", "wrong")]
    return {
        "home": (lambda viewer: viewer.get("shelf.json"), 1.0),
        "samples: first page": (lambda viewer: viewer.get(train), 1.0),
        "samples: label": (lambda viewer: viewer.get(train, [("label", "y:1")]), 1.0),
        "samples: near the boundary and wrong": (lambda viewer: viewer.get(train, near_errors), 1.0),
        "samples: a cell of the reading map": (
            lambda viewer: viewer.get(train, [("run", "run0"), ("reads", "a:0:1")]),
            1.0,
        ),
        "picture": (lambda viewer: viewer.ask(f"/api/data/data/train/{SAMPLES - 1}/image.png"), 1.0),
        "run page": (
            lambda viewer: (viewer.get("runs/data/run0.json"), viewer.get("runs/data/run0/train/reading.json")),
            2.0,
        ),
        "compare ten runs": (lambda viewer: viewer.get("data/data/train/compare.json", runs), 5.0),
        "verdict, in the background": (lambda viewer: viewer.get("runs/data/run0/verdict.json"), 30.0),
    }


def _result(what: str, given: list[Path], work: Work, target: float) -> Result:
    """Time the work in a viewer that has read nothing yet."""
    taken = []
    for _ in range(REPEATS):
        viewer = assay.view(*given)
        asking = Asking(viewer.url)
        start = time.process_time()
        work(asking)
        taken.append(time.process_time() - start)
        viewer.stop()
    return Result(f"{what} of {SAMPLES:,}", "times", 1 / float(np.median(taken)), 1 / target, f"target: {target:g} s")


def _answer(dataset: Dataset, path: Path, seed: int) -> None:
    """Write answers for every sample, right in most."""
    data, rng = dataset.symbols("train"), rng_for(seed, "benchmark", "viewer")
    codes = {"y": data.labels[:, 0], **dict(zip(dataset.knowledge.space.names, data.concepts.T, strict=True))}
    spread = {name: _spread(column, rng) for name, column in codes.items()}
    label = {"y": spread.pop("y")}
    Predictions(dataset.fingerprint, "train", data.index, label, spread).write(path, dataset.knowledge)


def _spread(column: np.ndarray, rng: np.random.Generator) -> Prediction:
    sure = rng.uniform(0.3, 1.0, len(column))
    return Prediction.of(np.where(np.arange(2) == column[:, None], sure[:, None], 1 - sure[:, None]))

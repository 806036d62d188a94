"""Continual learning: a model is trained stage by stage and scored on every stage after each.

What a stage leaves lies in `stages/1`, `stages/2`, ... of the run's folder, its scores written last, so that a killed
run goes on with the stage that it was in.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import DataError, write_atomically
from assay.contracts import to_json
from assay.dataset import Dataset
from assay.metrics import gather, score, stage_metrics
from assay.models.core.model import Epoch, Model, Report
from assay.runs import STAGES, RunFolder

MEASURED = ("label_accuracy", "label_f1", "concept_f1")
"""What is measured on the test split of each stage."""
Scores = dict[str, list[float]]


def count_stages(dataset: Dataset) -> int:
    """Return how many stages a dataset has; 0 if it has none."""
    count = 0
    while f"train_{count + 1}" in dataset:
        count += 1
    return count


def fit_stages(
    model: Model, dataset: Dataset, run: RunFolder, report: Report, keep: Callable[[int], None]
) -> dict[str, Any]:
    """Train a model on each stage in turn and return the scores on all stages after each, and what they amount to.

    `keep` is called with the number of a stage before it begins.
    """
    count = count_stages(dataset)
    rows: list[Scores] = []
    history: list[Epoch] = []
    for number in range(1, count + 1):
        folder = run.folder / STAGES / str(number)
        known = _read(folder / "scores.json")
        if known is not None:
            model.restore(folder, "cpu")
            rows.append(known["scores"])
            history += [Epoch(**epoch) for epoch in known["history"]]
            continue
        keep(number)
        valid = f"valid_{number}" if f"valid_{number}" in dataset else "valid"
        model.fit(dataset[f"train_{number}"], dataset[valid], report)
        own = [replace(epoch, phase=f"stage {number}, {epoch.phase}") for epoch in model.history]
        history += own
        rows.append(_scores(model, dataset, count))
        folder.mkdir(parents=True, exist_ok=True)  # a stranger's model finds a folder to save into
        model.save(folder)
        record = {"scores": rows[-1], "history": [asdict(epoch) for epoch in own]}
        write_atomically(folder / "scores.json", to_json(record))
    model.history = history
    amounts = {name: stage_metrics(np.array([row[name] for row in rows])).to_dict() for name in rows[0]}
    return {"after_each": rows, **amounts}


def _scores(model: Model, dataset: Dataset, count: int) -> Scores:
    """Return each metric on the test split of every stage; none of concepts for a model without them."""
    names = [name for name in MEASURED if model.has_concepts or not name.startswith("concept")]
    splits = [dataset[f"test_{number}"] for number in range(1, count + 1)]
    found = [score(gather(data, model.predict(data)), names) for data in splits]
    return {name: [own[name].value for own in found] for name in names}


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a finished stage left."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise DataError(f"{str(path)!r} is damaged; delete the folder of this stage") from None
    return record

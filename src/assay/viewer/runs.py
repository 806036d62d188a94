"""A run by itself: what was trained, on what, and how it learned."""

import json
from collections.abc import Mapping
from typing import Any

from assay.base import Array, DataError
from assay.runs import RunFolder
from assay.viewer.folders import ServedDataset, ServedRun, inside
from assay.viewer.state import State
from assay.viewer.units import units_page

HISTORY = "history.json"
EPOCH = ("number", "phase", "loss", "score", "best")
ABOUT = ("config", "parameters", "device", "machine", "versions", "pairs", "probe", "discovery")


def run_facts(served: ServedDataset) -> list[dict[str, Any]]:
    """Return the runs of a dataset: keys, names, and the splits that they have predictions for."""
    short, order = served.short_names(), [split.name for split in served.splits]
    return [
        {
            "key": run.key,
            "name": run.name,
            "title": run.title,
            "short": short[run.key],
            "model": run.model,
            "seed": run.seed,
            "splits": [split for split in order if split in run.answers],
            "live": run.live,
        }
        for run in served.runs.values()
    ]


def run_page(state: State, key: str, run: str, pictures: Mapping[str, Array] | None = None) -> dict[str, Any]:
    """Return what is known of a run without judging it: its settings, its learning curve, and discovered units.

    `pictures` are the rows of each split whose pictures can be shown; by default all.
    """
    served = state.shelf[key].run(run)
    about = RunFolder(served.folder).about() if served.live else {}
    known = {name: about[name] for name in ABOUT if name in about}
    return {"about": known, "epochs": epochs_of(served), "units": units_page(state, key, run, pictures)}


def epochs_of(run: ServedRun) -> list[dict[str, Any]]:
    """Return the epochs of a run's training: loss, validation score, and whether it was the best so far."""
    path = run.folder / HISTORY
    if not run.live or not path.is_file():
        return []
    try:
        epochs = json.loads(inside(run.folder, HISTORY).read_text(encoding="utf-8"))["epochs"]
        return [{name: epoch.get(name) for name in EPOCH} for epoch in epochs]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{HISTORY} of {run.name!r} cannot be read") from None

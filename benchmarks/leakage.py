"""Leakage of concept bottlenecks whose concepts are complete or not, by every measure and with true concepts set.

`python -m benchmarks.leakage [PAGE]` prints the table; with the name of a page it also writes it there, between two
markers. Three pixels with the rule `a and b or c`, encoders that see the whole picture; without `c` the concepts do not
determine the label.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of small networks wait for one another; before torch reads it

import numpy as np

from assay.base import Array, Settings, validate
from assay.dataset import Dataset, make, recipe_from
from assay.diagnosis import leakage
from assay.exchange import Annotation, annotate
from assay.metrics import gather_from
from benchmarks.pages import publish

BEGIN, END = "<!-- leakage: begin -->", "<!-- leakage: end -->"
TASK = {"pixels": True, "k": 3, "formula": "a and b or c", "prop_in_distribution": 1.0,
        "splits": {"train": 256, "valid": 64, "test": 512, "hard": 0, "pairs": 0}}  # fmt: skip
SETS: Mapping[str, Mapping[str, Any]] = {
    "complete": {"regions": False},
    "incomplete": {"regions": False, "drop": ["c"]},
}
MODES: Mapping[str, Mapping[str, Any]] = {
    "independent, hard": {"mode": "independent", "hard": True},
    "independent, soft": {"mode": "independent"},
    "joint, soft": {"mode": "joint"},
    "joint, soft, weight 0.1": {"mode": "joint", "concept_weight": 0.1},
}
TRAINING = {"device": "cpu", "backbone": "mlp", "learning_rate": 0.01, "batch_size": 32, "epochs": 60, "patience": 60}
SEEDS = 3


def measured(data: Dataset, settings: Mapping[str, Any], seed: int) -> Array:
    """Return soft and hard CTL, ICL and probe, the label accuracy, and that with true concepts set."""
    from assay.models import MODELS, bypass

    model = MODELS["cbm"](data, settings={**TRAINING, **settings}, seed=seed)
    model.fit(data["train"], data["valid"])
    found = leakage(gather_from(data, model.predict(data["test"])), seed).to_dict()
    leaks = [found[kind][key] for kind in ("soft", "hard") for key in ("ctl", "icl", "probe")]
    passed = bypass(model, data["test"], seed).to_dict()
    return np.array([*leaks, passed["accuracy"], passed["true"]])


def written(seeds: int = SEEDS) -> str:
    """Return the table, means over seeds."""
    kinds = [f"{kind} {name}" for kind in ("soft", "hard") for name in ("CTL", "ICL", "probe")]
    lines = [f"| concepts | `cbm` | {' | '.join(kinds)} | accuracy | true concepts set |", "| --- " * 10 + "|"]
    with tempfile.TemporaryDirectory() as folder:
        make(recipe_from("mnlogic", Settings(TASK)), Path(folder) / "data")
        for concepts, changes in SETS.items():
            annotate(
                Dataset.open(Path(folder) / "data"),
                validate(Annotation, Settings({**changes, "splits": ["train", "valid", "test"]})),
                Path(folder) / concepts,
            )
            data = Dataset.open(Path(folder) / concepts)
            for name, settings in MODES.items():
                values = np.mean([measured(data, settings, seed) for seed in range(seeds)], axis=0)
                lines.append(f"| {concepts} | {name} | {' | '.join(f'{value:.2f}' for value in values)} |")
    return "\n".join(lines)


def main() -> None:
    publish(written(), BEGIN, END)


if __name__ == "__main__":
    main()

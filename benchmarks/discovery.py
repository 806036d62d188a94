"""Discovered concepts against the true ones: four tasks, eight methods and a random baseline, three seeds each.

`python -m benchmarks.discovery docs/discovery.md` prints the table and writes it into the page, between two markers. A
small black box is trained on each task; units are sought in what its label head reads, by `slots` in the pictures.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of small networks wait for one another; before torch reads it

from assay.config import Settings
from assay.data.dataset import Dataset
from assay.data.make import make
from assay.data.recipe import recipe_from
from assay.metrics.evidence import gather_from
from assay.metrics.score import score
from assay.models.core.runs import Order, train_run
from assay.models.discovery.discovering import Discovered, DiscoveryPlan, discover
from assay.runs.folder import RunFolder
from benchmarks.pages import publish

BEGIN, END = "<!-- discovery: begin -->", "<!-- discovery: end -->"
SEEDS = (0, 1, 2)
METHODS: Mapping[str, Mapping[str, Any]] = {
    "sae-topk": {},
    "sae-l1": {},
    "pca": {},
    "ica": {},
    "nmf": {},
    "kmeans": {},
    "posthoc-cbm": {},
    "slots": {"steps": 300},
    "random-directions": {},
    "random": {},
}
COLUMNS = {
    "f1": "F1",
    "information": "MI",
    "purity": "purity",
    "completeness": "labels",
    "disentanglement": "D",
    "dci_completeness": "C",
    "informativeness": "I",
    "mig": "MIG",
    "stability": "stability",
}
SETTINGS: Mapping[str, Any] = {"device": "cpu", "repetitions": 2}
SPLITS = {"train": 1500, "valid": 500, "test": 500, "hard": 0}


@dataclass(frozen=True)
class Setup:
    """A task with its settings, and how its black box is trained."""

    task: str
    settings: Mapping[str, Any]
    epochs: int


SETUPS = (
    Setup("mnadd", {}, 20),
    Setup("kand-logic", {"side": 32}, 12),
    Setup("clevr-small", {"quality": "draft", "width": 64, "height": 48}, 15),
    Setup("robots", {}, 15),
)


def run_setup(setup: Setup, folder: Path) -> list[str]:
    """Return the rows of one task."""
    start = time.perf_counter()
    make(recipe_from(setup.task, Settings({**setup.settings, "splits": SPLITS})), folder / "data")
    data = Dataset.open(folder / "data")
    train_run(Order("blackbox", Settings({"epochs": setup.epochs, "device": "cpu"}), 0), data, folder / "run")
    predictions = RunFolder(folder / "run").all_predictions(data.knowledge)["test"]
    accuracy = score(gather_from(data, predictions), ["label_accuracy"])["label_accuracy"].value
    print(f"{setup.task}: black box {accuracy:.3f}, {time.perf_counter() - start:.0f} s", flush=True)
    rows = []
    for method, settings in METHODS.items():
        source = "input" if method == "slots" else str(folder / "run")
        plan = DiscoveryPlan.of(method, source, Settings({**SETTINGS, **settings}), SEEDS)
        found = discover(plan, data)
        rows.append(_row(f"`{setup.task}` ({accuracy:.2f})" if not rows else "", method, found))
        print(f"{rows[-1]} {time.perf_counter() - start:.0f} s", flush=True)
    return rows


def _row(task: str, method: str, found: Discovered) -> str:
    """Return one row: scores with chance, and how the learned rule relates to the true one."""
    summary = found.summary()
    cells = [_cell(summary[name], name in ("f1", "stability")) for name in COLUMNS]
    agreements = [d.rule.agreement for d in found.discoveries if d.rule.agreement is not None]
    equal = sum(d.rule.is_equal is True for d in found.discoveries)
    rule = f"{100 * sum(agreements) / len(agreements):.0f} %, {equal} of {len(found.discoveries)}"
    truth = found.rule_from_truth
    best = "equal" if truth.is_equal else f"{100 * (truth.agreement or 0):.0f} %"
    return f"| {task} | `{method}` | {' | '.join(cells)} | {rule} | {best} |"


def _cell(row: Mapping[str, float], chance: bool) -> str:
    """Return a mean, and where it helps the value of chance."""
    return f"{row['mean']:.2f} ({row['chance']:.2f})" if chance else f"{row['mean']:.2f}"


def main() -> None:
    """Print the table, and put it into the pages that were named."""
    head = f"| task (black box) | method | {' | '.join(COLUMNS.values())} | rule, equal | from true concepts |"
    lines = [head, f"| {' | '.join(['---'] * (len(COLUMNS) + 4))} |"]
    for setup in SETUPS:
        with tempfile.TemporaryDirectory() as folder:
            lines += run_setup(setup, Path(folder))
    publish("\n".join(lines), BEGIN, END)


if __name__ == "__main__":
    main()

"""Discovered concepts against the true ones: four tasks, eight methods and a random baseline, three seeds each.

`python -m benchmarks.discovery rows FOLDER [TASK...]` writes the rows of tasks into a folder, a file for each, and
`python -m benchmarks.discovery table docs/discovery.md` puts those of `benchmarks/records/discovery` into the page. A
black box is trained on each task; units are sought in what its label head reads, by `slots` in the pictures.
"""

import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of small networks wait for one another; before torch reads it

from assay.base import Settings
from assay.dataset import Dataset, make, recipe_from
from assay.metrics import gather_from, score
from assay.models import Discovered, DiscoveryPlan, TrainSpec, discover, train_run
from assay.runs import RunFolder
from benchmarks.pages import write_between

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
SETTINGS: Mapping[str, Any] = {"repetitions": 2}
SPLITS = {"valid": 500, "test": 500, "hard": 0, "pairs": 0}
RECORDS = Path(__file__).parent / "records" / "discovery"


@dataclass(frozen=True)
class Setup:
    """A task with its settings, and how its black box is trained."""

    task: str
    settings: Mapping[str, Any]
    train: int
    training: Mapping[str, Any]


DEEP = {"backbone": "resnet-small", "epochs": 40, "patience": 15}
SETUPS = (
    Setup("mnadd", {}, 1500, {"epochs": 20}),
    Setup("kand-logic", {"side": 32}, 6000, DEEP),
    Setup("clevr-small", {"quality": "draft", "width": 64, "height": 48}, 6000, DEEP),
    Setup("robots", {}, 1500, {"epochs": 15}),
)


def run_setup(setup: Setup, folder: Path) -> list[str]:
    """Return the rows of one task."""
    start = time.perf_counter()
    splits = {**SPLITS, "train": setup.train}
    make(recipe_from(setup.task, Settings({**setup.settings, "splits": splits})), folder / "data", os.cpu_count() or 1)
    data = Dataset.open(folder / "data")
    train_run(TrainSpec("blackbox", Settings(dict(setup.training)), 0), data, folder / "run")
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


def write_rows(folder: Path, tasks: Sequence[str]) -> None:
    """Write the rows of tasks, by default of all, a file for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for setup in SETUPS:
        if setup.task in (tasks or [setup.task]):
            with tempfile.TemporaryDirectory() as name:
                (folder / f"{setup.task}.md").write_text("\n".join(run_setup(setup, Path(name))) + "\n")


def table() -> str:
    """Return the table of all rows that were kept."""
    head = f"| task (black box) | method | {' | '.join(COLUMNS.values())} | rule, equal | from true concepts |"
    files = [RECORDS / f"{setup.task}.md" for setup in SETUPS]
    rows = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    return "\n".join([head, f"| {' | '.join(['---'] * (len(COLUMNS) + 4))} |", *rows])


if __name__ == "__main__":
    if sys.argv[1] == "rows":
        write_rows(Path(sys.argv[2]), sys.argv[3:])
    else:
        write_between(sys.argv[2:], BEGIN, END, table())

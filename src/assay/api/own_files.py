"""Files of your own: templates to begin with, and whether what they define keeps the laws of its kind."""

import csv
import io
import re
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.api.catalogue import registry_of
from assay.base import ConfigError, load_file, split_reference, write_atomically, write_folder

if TYPE_CHECKING:
    from assay.api.arguments import Data
    from assay.testing import LawOutcome

ROWS = {"train": 144, "test": 108}
SIDE = 12
BETWEEN = {"metric": "_", "finding": " "}
"""What stands between the words of a registered name; a dash elsewhere."""


def new(kind: Literal["task", "model", "metric", "finding", "data"], name: str, output: Path | str = Path()) -> Path:
    """Write a commented template of a task, a model, a metric, a finding or a data folder, and return where it is.

    It works as it is: `assay.check` passes on the file at once, `assay.audit` on the folder.

    Parameters
    ----------
    kind
        What to begin.
    name
        Its name, such as `my-task`; the file is `my_task.py`, or a folder.
    output
        The folder to write into.
    """
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())
    if not words or not words[0][0].isalpha() or not re.fullmatch(r"[\w-]+", name, re.ASCII):
        raise ConfigError(f"{name!r} is no name; give letters, digits, '-' and '_', such as my-{kind}")
    path = Path(output) / ("_".join(words) + ("" if kind == "data" else ".py"))
    if path.exists():
        raise ConfigError(f"{str(path)!r} is there already; choose another name, or delete it")
    registered = BETWEEN.get(kind, "-").join(words)
    registry = registry_of(f"{kind}s")
    if registry is not None and registered in registry:
        raise ConfigError(f"there is a {kind} named {registered!r}; choose another name")
    names = {
        "name": path.name if kind == "data" else registered,
        "Class": "".join(map(str.capitalize, words)),
        "Title": " ".join(words).capitalize(),
        "file": path.name,
    }
    if kind == "data":
        with write_folder(path) as half:
            _write_data(half, names)
    else:
        _write(path, kind, names)
    return path


def _write(path: Path, template: str, names: dict[str, str]) -> None:
    text = files("assay.api").joinpath("templates", f"{template}.template").read_text(encoding="utf-8")
    write_atomically(path, text.format(**names).encode())


def _write_data(folder: Path, names: dict[str, str]) -> None:
    """Write a small folder of pictures with a table of concepts and a rule."""
    import numpy as np

    from assay.base import rng_for
    from assay.render import encode_png

    rng, table = rng_for(0, "new data"), io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["file", "split", "concept_left", "concept_right", "label_brighter"])
    for split, size in ROWS.items():
        for number in range(size):
            left, right = divmod(number % 9, 3)
            file = f"pictures/{split}-{number:03}.png"
            grey = np.repeat([80 * left, 80 * right], SIDE)[None, :] + rng.integers(0, 60, size=(SIDE, 2 * SIDE))
            write_atomically(folder / file, encode_png(grey.astype(np.uint8)))
            rows.writerow([file, split, left, right, left > right])
    write_atomically(folder / "concepts.csv", table.getvalue().encode())
    _write(folder / "rule.yaml", "rule", names)
    _write(folder / "README.md", "data", names)


def check(file: Path | str, data: "Data | None" = None) -> "dict[str, list[LawOutcome]]":
    """Hold the tasks, models, metrics and findings of a Python file to the laws of their kind, and return each outcome.

    Such as that rendering draws no random numbers, that the same seed gives the same answers, or that a finding has the
    numbers that it states.

    Parameters
    ----------
    file
        `FILE.py`, or `FILE.py:Name` for one thing in it.
    data
        A small dataset to try models on; by default one of the file's own task, or of a sample task.
    """
    from assay.diagnosis import FINDINGS
    from assay.metrics import METRICS
    from assay.models import MODELS
    from assay.tasks import TASKS
    from assay.testing import check_finding, check_metric, check_task

    path, wanted = split_reference(str(file)) or (Path(file), None)
    loaded = load_file(path)
    chosen = {
        registry.kind: [
            registry.resolve(f"{path}:{name}")
            for name, entry in registry.defined_in(loaded).items()
            if wanted in (None, name, getattr(entry.load(), "__name__", None))
        ]
        for registry in (TASKS, MODELS, METRICS, FINDINGS)
    }
    if not any(chosen.values()):
        about = "task, model, metric or finding" + ("" if wanted is None else f" named {wanted!r}")
        raise ConfigError(f"{path.name} defines no {about}; see docs/extend.md, or begin with: assay new task NAME")
    outcomes = {name: check_task(TASKS[name]()) for name in chosen["task"]}
    outcomes |= _check_models(chosen["model"], data, next(iter(TASKS.defined_in(loaded)), None))
    outcomes |= {name: check_metric(METRICS[name]) for name in chosen["metric"]}
    return outcomes | {name: check_finding(FINDINGS[name]) for name in chosen["finding"]}


def _check_models(names: list[str], data: "Data | None", task: str | None) -> "dict[str, list[LawOutcome]]":
    """Try models on a dataset, or else on a small one of the file's own task, or of a sample task."""
    if not names:
        return {}
    from assay.api.arguments import open_dataset
    from assay.tasks import TASKS
    from assay.testing import TwoSquares, check_model, small_dataset

    with tempfile.TemporaryDirectory() as folder:
        if data is not None:
            dataset = open_dataset(data)
        else:
            dataset = small_dataset(TwoSquares() if task is None else TASKS[task](), Path(folder) / "data")
        return {name: check_model(name, dataset) for name in names}

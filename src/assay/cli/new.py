"""`assay new`: a commented file to start from, for a task, a model, a metric, a finding or data of your own."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.base import ConfigError
from assay.cli.console import say

ROWS = {"train": 144, "test": 108}
SIDE = 12
NEXT = {**dict.fromkeys(("task", "model", "metric", "finding"), "assay check"), "data": "assay audit"}
BETWEEN = {"metric": "_", "finding": " "}
"""What stands between the words of a registered name; a dash elsewhere."""


def new(
    kind: Annotated[Literal["task", "model", "metric", "finding", "data"], typer.Argument(help="What to begin.")],
    name: Annotated[str, typer.Argument(help="Its name, such as my-task; the file is my_task.py, or a folder.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")] = Path(),
) -> None:
    """Write a commented template of a task, a model, a metric, a finding or a data folder.

    It works as it is: `assay check` passes on the file at once, `assay audit` on the folder.
    """
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())
    if not words or not words[0][0].isalpha() or not re.fullmatch(r"[\w-]+", name, re.ASCII):
        raise ConfigError(f"{name!r} is no name; give letters, digits, '-' and '_', such as my-{kind}")
    path = output / ("_".join(words) + ("" if kind == "data" else ".py"))
    if path.exists():
        raise ConfigError(f"{str(path)!r} is there already; choose another name, or delete it")
    _refuse_taken(kind, _registered(kind, words))
    names = {
        "name": path.name if kind == "data" else _registered(kind, words),
        "Class": "".join(map(str.capitalize, words)),
        "Title": " ".join(words).capitalize(),
        "file": path.name,
    }
    if kind == "data":
        from assay.base import write_folder

        with write_folder(path) as half:
            _write_data(half, names)
    else:
        _write(path, kind, names)
    say(f"{path}  next: {NEXT[kind]} {path}")


def _registered(kind: str, words: list[str]) -> str:
    return BETWEEN.get(kind, "-").join(words)


def _refuse_taken(kind: str, name: str) -> None:
    from assay.cli.list import registry_of

    registry = registry_of(f"{kind}s")
    if registry is not None and name in registry:
        raise ConfigError(f"there is a {kind} named {name!r}; choose another name")


def _write(path: Path, template: str, names: dict[str, str]) -> None:
    from assay.base import write_atomically

    text = files("assay.cli").joinpath("templates", f"{template}.template").read_text(encoding="utf-8")
    write_atomically(path, text.format(**names).encode())


def _write_data(folder: Path, names: dict[str, str]) -> None:
    """Write a small folder of pictures with a table of concepts and a rule."""
    import csv
    import io

    import numpy as np

    from assay.base import rng_for, write_atomically
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

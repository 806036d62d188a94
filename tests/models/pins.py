"""What models compute, in a few numbers each, for every kind of model and most of their settings.

A folder with `test_pins.py` has cases by name, and `measure`, which returns plain data for one; what it returned once is
in `pins.json` beside it. `python -m tests.models.pins [FOLDER ...]` measures anew, all folders or these: after a change
that should alter what a model computes. Words and whole numbers must be the same, others nearly: processors add up in
different orders.
"""

import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

HERE, FILE = Path(__file__).parent, "pins.json"
PERIOD = 23
"""After how many places the weights of places begin again."""


def summary(*parts: Any) -> list[float]:
    """Return the means of some numbers, of their sizes, and of both when each number counts by its place."""
    arrays = [part.detach().cpu().numpy() if isinstance(part, torch.Tensor) else np.asarray(part) for part in parts]
    numbers = np.concatenate([array.astype(np.float64).ravel() for array in arrays])
    if not len(numbers):
        return []
    weights = (1 + np.arange(len(numbers)) % PERIOD) / PERIOD
    sums = (numbers.mean(), np.abs(numbers).mean(), (weights * numbers).mean(), (weights * np.abs(numbers)).mean())
    return [float(f"{total:.6g}") for total in sums]


def flatten(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of plain data with its path."""
    if isinstance(data, Mapping):
        for key in data:
            yield from flatten(data[key], f"{path}/{key}")
    elif isinstance(data, (list, tuple)):
        yield f"{path}/length", len(data)
        for place, part in enumerate(data):
            yield from flatten(part, f"{path}/{place}")
    else:
        yield path, data


def require_pins(file: str, name: str, measured: Any) -> None:
    """Fail where something is computed otherwise than when it was measured; `file` is that of the test."""
    known = dict(flatten(json.loads((Path(file).parent / FILE).read_text(encoding="utf-8"))[name]))
    found = dict(flatten(measured))
    assert list(found) == list(known)
    same = {
        path: known[path] == (pytest.approx(value, rel=1e-3, abs=1e-4) if isinstance(value, float) else value)
        for path, value in found.items()
    }
    other = {path: (found[path], known[path]) for path in found if not same[path]}
    few = dict(list(other.items())[:4])
    assert not other, f"{name} gives {few}; if it should, measure it anew: python -m tests.models.pins"


def main(folders: list[str]) -> None:
    """Measure and write down what is computed in all folders, or in some."""
    for path in sorted(HERE.rglob("test_pins.py")):
        parts = path.relative_to(HERE).parent.parts
        if folders and "/".join(parts) not in folders:
            continue
        module = importlib.import_module(".".join(["tests.models", *parts, "test_pins"]))
        lines = [f"{json.dumps(name)}: {json.dumps(module.measure(name))}" for name in module.CASES]
        (path.parent / FILE).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

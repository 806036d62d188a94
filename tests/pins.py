"""Pinned outputs: what a part of Assay computes and writes for small fixed inputs, kept beside its tests.

A module `pinned.py` in a folder of tests has `CASES`, functions that return plain data; `pinned.json` is what they
returned, and `test_pinned.py` compares. `python -m tests.pins FOLDER [CASE ...]` measures anew, which is right only
where what is computed should change.
"""

import importlib
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from assay.errors import AssayError

HERE, FILE = Path(__file__).parent, "pinned.json"
LONGEST = 24
"""Arrays of more numbers are pinned by sums, in which each number counts by its place."""
SHORT = 60
"""Plain data of so many letters is no longer than its digest."""
TRAINED = ("probe",)
"""The names of numbers that a fitted model gives."""
Cases = Mapping[str, Callable[[Path], Any]]
"""By name: what returns the outputs, given an empty folder."""


def leaves(data: Any) -> Iterator[float]:
    """Yield all that is in plain data as numbers; words count by their letters."""
    if isinstance(data, Mapping):
        for key in data:
            yield from leaves(key)
            yield from leaves(data[key])
    elif isinstance(data, str):
        yield from map(ord, data)
    elif isinstance(data, (list, tuple, np.ndarray)):
        for part in data:
            yield from leaves(part)
    else:
        yield -1.0 if data is None else float(data)


def summary(data: Any) -> list[float]:
    """Return how many numbers plain data has, their sum, and their sum when each counts by its place."""
    numbers = np.array([*leaves(data)], dtype=np.float64)
    weights = 1 + np.arange(len(numbers)) % 97
    return [len(numbers), *(round(float(total), 3) for total in (numbers.sum(), numbers @ weights))]


def flatten(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of plain data with its path."""
    if isinstance(data, Mapping):
        for key in data:
            yield from flatten(data[key], f"{path}/{key}")
    elif isinstance(data, (list, tuple)):
        for place, part in enumerate(data):
            yield from flatten(part, f"{path}/{place}")
    else:
        yield path, data


def plain(data: Any) -> Any:
    """Return outputs as JSON has them: dataclasses by field, long arrays by shape and sums, no NaN."""
    if isinstance(data, np.ndarray):
        if data.size <= LONGEST:
            return plain(data.tolist())
        return [str(data.shape), *summary(np.nan_to_num(data.astype(float), nan=-7.0).ravel())]
    if isinstance(data, np.generic):
        return plain(data.item())
    if isinstance(data, float):
        return float(f"{data:.8g}") if math.isfinite(data) else str(data)
    if isinstance(data, Mapping):
        return {word(key): plain(part) for key, part in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(part) for part in data]
    if isinstance(data, (set, frozenset)):
        return sorted(plain(part) for part in data)
    if is_dataclass(data) and not isinstance(data, type):
        return {field.name: plain(getattr(data, field.name)) for field in fields(data)}
    return data if data is None or isinstance(data, (bool, int, str)) else str(data)


def word(key: Any) -> str:
    """Return a key as text."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def without(data: Any, *keys: str) -> Any:
    """Return plain data without the values of some keys, wherever they are."""
    if isinstance(data, Mapping):
        return {key: without(part, *keys) for key, part in data.items() if key not in keys}
    return [without(part, *keys) for part in data] if isinstance(data, list) else data


def digest(data: Any) -> list[Any]:
    """Return plain data in four numbers: the checksum of its keys, texts and whole numbers; fractions by sums."""
    leaves = [*flatten(plain(data))]
    fractions = [value for _, value in leaves if isinstance(value, float)]
    rest = [f"{path}={value!r}" for path, value in leaves if not isinstance(value, float)]
    weights = 1 + np.arange(len(fractions)) % 97
    return [f"{crc32(chr(10).join(rest).encode()):08x}", len(leaves), sum(fractions), float(weights @ fractions or 0)]


def digests(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digest of each part of plain data, and short parts as they are."""
    short = {key: len(json.dumps(part)) < SHORT for key, part in plain(data).items()}
    return {key: part if short[key] else digest(part) for key, part in plain(data).items()}


def refusal(ask: Callable[[], Any], *folders: Path) -> str:
    """Return the words in which something is refused, or that it is not."""
    try:
        ask()
    except (AssayError, ValueError, TypeError) as error:
        text = f"{type(error).__name__}: {error}"
        for folder in folders:
            text = text.replace(str(folder), "FOLDER")
        return text
    return "not refused"


def require_pinned(folder: str, name: str, outputs: Any) -> None:
    """Fail where outputs are not those that were pinned."""
    known = json.loads((HERE / folder / FILE).read_text(encoding="utf-8"))[name]
    before, now = dict(flatten(known)), dict(flatten(plain(outputs)))
    gone = [path for path in before if path not in now][:3]
    more = [path for path in now if path not in before][:3]
    assert not gone and not more, f"{name}: no longer there {gone}, new {more}"
    assert list(now) == list(before), f"{name}: in another order"
    other = {path: (value, before[path]) for path, value in now.items() if not same(value, before[path], path)}
    few = dict(list(other.items())[:3])
    assert not other, f"{name}: {len(other)} differ, as {few}; if they should: python -m tests.pins {folder}"


def same(value: Any, known: Any, path: str) -> bool:
    """Return whether two values are equal, numbers up to rounding; what is trained may differ more."""
    numbers = [isinstance(one, (int, float)) and not isinstance(one, bool) for one in (value, known)]
    rel, near = (1e-3, 1e-4) if path.rpartition("/")[2] in TRAINED else (1e-6, 1e-9)
    return bool(value == (pytest.approx(known, rel=rel, abs=near) if all(numbers) else known))


def main(folder: str, *names: str) -> None:
    """Measure all cases of a folder, or some, and write them down."""
    cases: Cases = importlib.import_module(f"tests.{folder.replace('/', '.')}.pinned").CASES
    path = HERE / folder / FILE
    known = json.loads(path.read_text(encoding="utf-8")) if names else {}
    lines = []
    for name, measure in cases.items():
        with tempfile.TemporaryDirectory() as scratch:
            outputs = known[name] if names and name not in names else plain(measure(Path(scratch)))
        lines.append(f"{json.dumps(name)}: {json.dumps(outputs, ensure_ascii=False)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

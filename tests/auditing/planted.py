"""Small data to plant defects in: a task of four grey squares, and a folder with a table and pictures."""

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.auditing import Audit, AuditedDataset, audit, audited_dataset, open_imported
from assay.base import Entry, rng_for
from assay.contracts import fingerprint, to_json
from assay.dataset import Dataset
from assay.logic import Knowledge, bits
from assay.render import Layout, Picture, encode_png
from assay.tasks import TASKS, Column, Task
from assay.worlds import Style, World
from tests.conftest import write

SIDE = 8
SIZES = {"train": 240, "valid": 60, "test": 200, "hard": 40}
Row = dict[str, Any]


def failed(data: AuditedDataset) -> set[str]:
    """Return the names of the checks that fail."""
    return {finding.check for finding in audit(data).failed}


def finding(data: AuditedDataset, check: str) -> tuple[str, str]:
    """Return the outcome of one check, and its text."""
    (found,) = audit(data, [check]).results
    return found.status, found.text


# -- a task ------------------------------------------------------------------------------------------------------------


class Squares(Task):
    """Four noisy squares, dark or light: is one of the first two light, but not both?"""

    name = "squares"
    sizes: ClassVar[dict[str, int]] = {"train": 240, "valid": 60, "test": 200}
    pools: ClassVar[dict[str, str]] = {"train": "train", "valid": "valid", "test": "test"}
    rule: ClassVar[str] = "a ^ b"

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge.of(bits(["a", "b", "c", "d"]), {"y": self.rule})

    @cached_property
    def layout(self) -> Layout:
        return Layout(4 * SIDE, SIDE)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        return {"noise": rng.integers(80, size=4 * SIDE).tolist()}

    def is_true(self, codes: Sequence[int]) -> bool:
        return bool(self.knowledge.labels_of(np.array([codes]))[0, 0])

    def drawn(self, world: World) -> Sequence[int]:
        """Return what the squares show."""
        return world.codes

    def render(self, world: World) -> Picture:
        light = np.repeat(self.drawn(world), SIDE) * 100
        rows = [light + np.roll(world.style["noise"], 5 * row) for row in range(SIDE)]
        return Picture(np.array(rows, dtype=np.uint8), text=self.describe(world))

    def describe(self, world: World) -> str:
        return ""


class Described(Squares):
    """The same, in words as well."""

    name = "described"

    @property
    def columns(self) -> tuple[Column, ...]:
        return ("image", "text")

    def describe(self, world: World) -> str:
        return " ".join(f"{name} is {'light' if value else 'dark'}." for name, value in world.values.items())


def made(task: type[Task], folder: Path, patch: pytest.MonkeyPatch, **sizes: int) -> Dataset:
    """Register a task for the time of a test, and make its data."""
    patch.setitem(TASKS.entries, task.name, Entry(task.name, "planted", task))
    return write(folder, task.name, splits={**SIZES, **sizes})


def examined_task(task: type[Task], folder: Path, patch: pytest.MonkeyPatch, **sizes: int) -> AuditedDataset:
    """Return the data of a task, ready for the audit."""
    return audited_dataset(made(task, folder, patch, **sizes))


def rewritten(
    dataset: Dataset, folder: Path, split: str, change: Callable[[pa.Table], pa.Table], **about: Any
) -> Dataset:
    """Return a copy of a dataset with the rows of one split changed, and what its manifest says of the split."""
    shutil.copytree(dataset.folder, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    held = next(one for one in manifest["splits"] if one["name"] == split)
    (shard,) = held["shards"]
    buffer = io.BytesIO()
    pq.write_table(change(pq.read_table(folder / shard["file"])), buffer)
    (folder / shard["file"]).write_bytes(buffer.getvalue())
    shard.update(bytes=len(buffer.getvalue()), sha256=hashlib.sha256(buffer.getvalue()).hexdigest())
    held.update(about)
    manifest["fingerprint"] = fingerprint(manifest)
    (folder / "manifest.json").write_bytes(to_json(manifest))
    return Dataset.open(folder)


# -- a folder ----------------------------------------------------------------------------------------------------------


def rows(count: int = 360) -> list[Row]:
    """Return a table that nothing is wrong with: three bits, the XOR of two of them, 200 rows to train and the rest to test."""
    rng = rng_for(0, "planted")
    made = []
    for row in range(count):
        a, b, c = (bool(bit) for bit in rng.integers(2, size=3))
        split = "train" if row < 200 else "test"
        made.append(
            {
                **{"file": f"pictures/{row}.png", "split": split, "concept_a": a, "concept_b": b, "concept_c": c},
                **{"label_y": a != b, "nuisance_font": ["serif", "sans", "script"][rng.integers(3)]},
                **{"nuisance_tilt": round(float(rng.normal()), 3), "source": f"{split}{row};{split}{row + 1000}"},
                "text": f"a is {a}, b is {b}, c is {c}.",
            }
        )
    return made


def picture(row: Row, number: int) -> np.ndarray:
    """Return a noisy picture of three pairs of squares, of which the left or the right is light: as bright either way."""
    noise = rng_for(0, "picture", number).integers(80, size=(SIDE, 6 * SIDE))
    truths = [row["concept_a"], row["concept_b"], row["concept_c"]]
    light = np.repeat([bit for truth in truths for bit in (truth, not truth)], SIDE) * 100
    return (noise + light[None, :]).astype(np.uint8)


RULE = "labels:\n  y: a ^ b\n"


def folder_of(
    folder: Path, table: list[Row], rule: str | None = RULE, draw: Callable[[Row, int], np.ndarray] | None = picture
) -> Path:
    """Write a table as CSV, its pictures, and the rule."""
    (folder / "pictures").mkdir(parents=True)
    for number, row in enumerate(table):
        if draw is not None:
            (folder / row["file"]).write_bytes(encode_png(draw(row, number)))
    if draw is None:
        table = [{key: value for key, value in row.items() if key != "file"} for row in table]
    with (folder / "concepts.csv").open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    if rule is not None:
        (folder / "rule.yaml").write_text(rule)
    return folder


def audited(folder: Path) -> Audit:
    """Return the audit of a folder."""
    return audit(open_imported(folder))

"""What a manifest says of a dataset that was drawn, and where it is read."""

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from assay.base import VERSION, DataError, Folder
from assay.contracts import FORMAT, Manifest, ShardRecord, parse_manifest

if TYPE_CHECKING:  # who reads a dataset needs no task
    from assay.dataset.recipe import Recipe

NAME = "manifest.json"
PLAN = ".plan.json"
CODE = "code"
"""The name and hash of the user's file that has the task; the fingerprint does not cover it, the data speaks for it."""
CONFOUND = "confound"
"""The confounders of a dataset, beside the settings of its task."""


def versions() -> dict[str, str]:
    """Return the versions that decide bytes and numbers."""
    return {
        "assay": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


def manifest_of(
    recipe: "Recipe",
    shards: Mapping[str, Sequence[ShardRecord]],
    labels: Mapping[str, Any],
    boundary: Mapping[str, Any],
) -> Manifest:
    """Return the manifest of a dataset whose shards are all written."""
    task, plan = recipe.task, recipe.to_dict()
    splits = [
        {
            **split,
            "labels": labels[split["name"]],
            "boundary": boundary[split["name"]],
            "shards": list(shards[split["name"]]),
        }
        for split in plan["splits"]
    ]
    made = {split.name for split in recipe.splits}
    body = {
        "format": FORMAT,
        "task": plan["task"],
        "summary": task.summary,
        "drawn": task.how_drawn,
        "seed": recipe.seed,
        "shard_rows": plan["shard_rows"],
        "knowledge": task.knowledge.to_dict(),
        "layout": task.layout.to_dict(),
        "columns": list(task.columns),
        "backbones": task.backbones(),
        "sources": plan["sources"],
        "local": recipe.local,
        "splits": splits,
        "left_out": [split.name for split in task.splits() if split.name not in made],
        "versions": versions(),
    }
    code = {CODE: plan[CODE]} if CODE in plan else {}
    return Manifest.of({**body, **code})


def pairs_split(names: Sequence[str]) -> str | None:
    """Return the split whose worlds are changed: `test`, or its first stage."""
    return next((name for name in ("test", "test_1") if name in names), None)


def read_manifest(folder: Folder) -> Manifest:
    """Read and check a manifest."""
    if not folder.is_dir():
        raise DataError(f"no dataset folder {str(folder)!r}")
    path = folder / NAME
    if not path.is_file():
        hint = (
            "it is half made; run the same 'assay make' again" if (folder / PLAN).exists() else "make one: assay make"
        )
        raise DataError(f"{str(folder)!r} has no {NAME}: {hint}")
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError:  # not UTF-8
        text = ""
    return parse_manifest(text, str(path))

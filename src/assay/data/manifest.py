"""The manifest: what a dataset is, where it came from, and the hash of every file."""

import hashlib
import json
import platform
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from assay.data.remote import Folder
from assay.distribution import VERSION
from assay.errors import DataError

if TYPE_CHECKING:  # who reads a dataset needs no task
    from assay.data.recipe import Recipe
    from assay.data.shard import ShardRecord

FORMAT = 1
SPLIT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
NAME = "manifest.json"
SHARD = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
"""The name of a shard's file, in the folder of its split; a manifest can name no other place."""
PLAN = ".plan.json"
CODE = "code"
"""The name and hash of the user's file that has the task; the fingerprint does not cover it, the data speaks for it."""
CONFOUND = "confound"
"""The confounders of a dataset, beside the settings of its task."""
PAIRS = "pairs"
"""The split of counterfactual worlds. The fingerprint does not cover it, because it follows from the rest."""


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
    shards: Mapping[str, Sequence["ShardRecord"]],
    labels: Mapping[str, Any],
    boundary: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the manifest of a dataset whose shards are all written."""
    task, plan = recipe.task, recipe.to_dict()
    splits = [
        {
            **split,
            "labels": labels[split["name"]],
            "boundary": boundary[split["name"]],
            "shards": [shard.to_dict() for shard in shards[split["name"]]],
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
    return {**body, **code, "fingerprint": fingerprint(body)}


def fingerprint(body: Mapping[str, Any]) -> str:
    """Return 32 hex digits that stand for the data and the rule: all but the words, backbones and versions.

    Shards count by what they hold, not by the bytes of their files, which other versions of Parquet pack otherwise.
    """
    decisive = ("format", "task", "seed", "shard_rows", "knowledge", "layout", "sources")
    splits = [{**split, "shards": [_held(shard) for shard in split["shards"]]} for split in body["splits"]]
    text = json.dumps([*(body[key] for key in decisive), splits], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def with_fingerprint(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest as it reads back from its file, with the fingerprint of what it says now."""
    plain: dict[str, Any] = json.loads(to_json(body))
    return {**plain, "fingerprint": fingerprint(plain)}


def _held(shard: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands for a shard: its content, or its file in a manifest of before contents were written."""
    packing = ("sha256", "bytes") if "content" in shard else ()
    return {key: value for key, value in shard.items() if key not in packing}


def all_shards(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the record of every shard, those of counterfactual worlds last."""
    parts = [*manifest["splits"], *([manifest[PAIRS]] if PAIRS in manifest else [])]
    return [shard for part in parts for shard in part["shards"]]


def pairs_split(names: Sequence[str]) -> str | None:
    """Return the split whose worlds are changed: `test`, or its first stage."""
    return next((name for name in ("test", "test_1") if name in names), None)


def to_json(data: Mapping[str, Any]) -> bytes:
    """Return plain data as JSON, the same bytes for the same data."""
    return (json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def read_manifest(folder: Folder) -> dict[str, Any]:
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
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found = data["format"], data["fingerprint"], fingerprint(data)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{str(path)!r} is damaged; delete the folder and make it again") from None
    if found[0] != FORMAT:
        raise DataError(f"{str(path)!r} is of format {found[0]}, this assay reads format {FORMAT}")
    if found[1] != found[2]:
        raise DataError(
            f"{str(path)!r} does not match its fingerprint; it was changed by hand; delete the folder, make it again"
        )
    _refuse_strays(path, data)
    return data


def _refuse_strays(path: Any, manifest: Mapping[str, Any]) -> None:
    """Refuse names by which a stranger's manifest would read or write outside of its folder."""
    try:
        files = [str(shard["file"]) for shard in all_shards(manifest)]
        names = [str(split["name"]) for split in manifest["splits"]]
    except (KeyError, TypeError):
        raise DataError(f"{str(path)!r} is damaged; delete the folder and make it again") from None
    for file in files:
        if not SHARD.fullmatch(file):
            raise DataError(
                f"{str(path)!r} names the file {file!r}, which lies outside of its folder; it is not opened"
            )
    for name in names:
        if not SPLIT_NAME.fullmatch(name):
            raise DataError(f"{str(path)!r} has a split with the odd name {name!r}; it is not opened")

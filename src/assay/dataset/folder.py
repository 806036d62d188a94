"""The folder of a dataset: its manifest, which says what there is, and copies of remote folders on this machine.

Copies of remote datasets on this machine: fetched when first asked for, shard by shard, each checked by its hash.
"""

import hashlib
import os
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

from assay.base import VERSION, DataError, Folder, RemotePath, refuse_outward, write_atomically
from assay.contracts import Manifest, ShardRecord, parse_manifest, to_json

NAME = "manifest.json"
PLAN = ".plan.json"
CODE = "code"
"""The name and hash of the user's file that has the task; the fingerprint does not cover it, the data speaks for it."""


def versions() -> dict[str, str]:
    """Return the versions that decide bytes and numbers."""
    return {
        "assay": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


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


AT_ONCE = 8


def cache_folder() -> Path:
    """Return where copies are kept: `$ASSAY_CACHE`, or `assay` in the user's cache folder."""
    folder = os.environ.get("ASSAY_CACHE")
    return Path(folder) if folder else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"


def open_copy(origin: RemotePath) -> tuple[Path, Manifest]:
    """Read the manifest of a remote dataset; return the folder of its copy, which may hold no shard yet, and it."""
    refuse_outward(origin)
    manifest = read_manifest(origin)
    folder = cache_folder() / "datasets" / manifest.fingerprint
    write_atomically(folder / NAME, to_json(manifest.to_dict()))
    return folder, manifest


def fetch(origin: RemotePath, folder: Path, shards: Sequence[ShardRecord]) -> None:
    """Fetch the shards that the copy lacks, some at once; what an earlier call fetched is kept."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda shard: _fetch(origin, folder, shard), shards))


def _fetch(origin: RemotePath, folder: Path, shard: ShardRecord) -> None:
    path = folder / shard.file
    if path.is_file() and path.stat().st_size == shard.bytes and _hash(path.read_bytes()) == shard.sha256:
        return
    data = (origin / shard.file).read_bytes()
    if _hash(data) != shard.sha256:
        raise DataError(f"shard {str(origin / shard.file)!r} does not match its hash: it is damaged")
    write_atomically(path, data)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

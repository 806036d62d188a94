"""The folder of a dataset: its manifest, which says what there is, and copies of remote folders on this machine.

What is copied is fetched when it is first asked for, shard by shard, each checked by its hash.
"""

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pyarrow as pa

from assay.base import (
    VERSION,
    AssayError,
    DataError,
    Folder,
    RemotePath,
    refuse_outward,
    write_atomically,
    write_folder,
)
from assay.contracts import Manifest, ShardRecord, to_json

NAME = "manifest.json"
PLAN = ".plan.json"
"""What is being made, in a folder that has no manifest yet."""
AT_ONCE = 8
"""How many shards are fetched at a time."""
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
    return Manifest.parse(text, str(path))


def replace_dataset(folder: Path, replaces: Callable[[Manifest], bool]) -> AbstractContextManager[Path]:
    """Give an empty folder to fill, which then gets its name; a dataset with such a manifest may be there already."""

    def is_same(there: Path) -> bool:
        try:
            return replaces(read_manifest(there))
        except AssayError:
            return False

    return write_folder(folder, is_same)


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

"""Copies of remote datasets on this machine: fetched when first asked for, shard by shard, each checked by its hash."""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assay.base import DataError, RemotePath, refuse_outward, write_atomically
from assay.contracts import Manifest, ShardRecord, to_json
from assay.dataset.manifest import NAME, read_manifest

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

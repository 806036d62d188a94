"""Make a dataset: in parallel, with progress, so that a killed run goes on where it stopped.

Shards do not depend on one another nor on the number of workers, so any way of making them gives the same bytes. The
manifest is written last: a folder without one does not load.
"""

import json
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.data.card import card
from assay.data.columns import BOUNDARY, LABEL, from_column
from assay.data.croissant import croissant
from assay.data.manifest import NAME, PLAN, manifest_of, read_manifest, to_json
from assay.data.recipe import Recipe
from assay.data.remote import Folder, RemotePath, folder_at
from assay.data.shard import ShardJob, ShardRecord, ShardWriter, jobs, record
from assay.errors import ConfigError, DataError, RunFailed
from assay.files import write_atomically
from assay.processes import deaf

Progress = Callable[[int], None]

_writer: ShardWriter | None = None


class Pool(Protocol):
    """Whoever makes shards, wherever: machines that see the folder."""

    def shards(
        self, recipe: Recipe, folder: Folder, todo: dict[ShardJob, str | None]
    ) -> Iterator[tuple[ShardJob, ShardRecord]]:
        """Make shards, each unless it is there, with this hash if one is known, and give their records as they come."""


def make(
    recipe: Recipe,
    folder: Folder | str,
    workers: int = 1,
    progress: Progress = lambda rows: None,
    pool: Pool | None = None,
) -> dict[str, Any]:
    """Write the dataset of a recipe and return its manifest; go on if part of it is there."""
    folder = folder_at(folder)
    todo = jobs(recipe)
    writer = ShardWriter(recipe)
    writer.task.ready()
    sources = writer.sources  # built before any file is written, so that a rule that cannot serve leaves no folder
    held = _begin(recipe, folder) if sources else None
    hashes = {shard["file"]: shard["sha256"] for split in held["splits"] for shard in split["shards"]} if held else {}
    if pool is not None:
        return _pooled(writer, folder, {job: hashes.get(job.file) for job in todo}, progress, pool, held)
    if isinstance(folder, RemotePath) and not folder.shared:
        workers = 1
    done = {job: found for job in todo if (found := _finished(folder, job, hashes.get(job.file))) is not None}
    progress(sum(shard.rows for shard in done.values()))
    left = [job for job in todo if job not in done]
    if held and not left:
        return held
    made = _parallel(recipe, folder, left, workers) if workers > 1 and len(left) > 1 else _serial(writer, folder, left)
    for job, shard in made:
        done[job] = shard
        progress(shard.rows)
    return _finish(recipe, folder, {job: done[job] for job in todo})


def _pooled(
    writer: ShardWriter,
    folder: Folder,
    todo: dict[ShardJob, str | None],
    progress: Progress,
    pool: Pool,
    held: dict[str, Any] | None,
) -> dict[str, Any]:
    """Let a pool look after every shard: what is there is read where it is made, not here."""
    if isinstance(folder, RemotePath) and not folder.shared:
        raise ConfigError(f"{str(folder)!r} is seen by this process only; a cluster needs a folder that all nodes see")
    there = {job for job in todo if (folder / job.file).is_file()}
    progress(sum(len(writer.places(job)) for job in there))
    done: dict[ShardJob, ShardRecord] = {}
    for job, shard in pool.shards(writer.recipe, folder, todo):
        done[job] = shard
        progress(0 if job in there else shard.rows)
    if held and all(done[job].sha256 == sha256 for job, sha256 in todo.items()):
        return held
    return _finish(writer.recipe, folder, {job: done[job] for job in todo})


def ensure_shard(writer: ShardWriter, job: ShardJob, folder: Folder, sha256: str | None) -> ShardRecord:
    """Return the record of a shard that is there and whole, or else make it."""
    if not (folder / PLAN).exists() and not (folder / NAME).exists():
        raise RunFailed(f"a node does not see {str(folder)!r}; give a folder that all nodes share, or an object store")
    return _finished(folder, job, sha256) or writer.write(job, folder)


def _begin(recipe: Recipe, folder: Folder) -> dict[str, Any] | None:
    """Claim the folder; return the manifest if it already holds exactly this dataset."""
    plan = json.loads(to_json(recipe.to_dict()))
    try:
        if (folder / NAME).exists():
            held = read_manifest(folder)
            if _plan_of(held) == plan:
                return held
            raise DataError(f"{str(folder)!r} holds another dataset; choose another folder or delete it")
        if (folder / PLAN).exists():
            if not _says(folder / PLAN, plan):
                raise DataError(f"{str(folder)!r} holds part of another dataset; choose another folder or delete it")
            return None
        if folder.exists() and (not folder.is_dir() or any(not p.name.startswith(PLAN) for p in folder.iterdir())):
            raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot use folder {str(folder)!r}: {error.strerror}") from None
    write_atomically(folder / PLAN, to_json(plan))
    return None


def _says(path: Folder, plan: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == plan)
    except ValueError:
        return False


def _plan_of(manifest: dict[str, Any]) -> dict[str, Any]:
    kept = ("task", "seed", "shard_rows", "sources")
    made = ("labels", "boundary", "shards")
    splits = [{k: v for k, v in split.items() if k not in made} for split in manifest["splits"]]
    return {**{key: manifest[key] for key in kept}, "splits": splits}


def _finished(folder: Folder, job: ShardJob, sha256: str | None) -> ShardRecord | None:
    """Return the record of a shard that an earlier run finished, unless it is damaged."""
    if not (folder / job.file).is_file():
        return None
    try:
        found = record(folder, job)
    except (OSError, ValueError):
        return None
    return found if sha256 in (None, found.sha256) else None


def _serial(writer: ShardWriter, folder: Folder, left: Iterable[ShardJob]) -> Iterator[tuple[ShardJob, ShardRecord]]:
    for job in left:
        yield job, writer.write(job, folder)


def _start(recipe: Recipe) -> None:
    global _writer
    _writer = ShardWriter(recipe)


def _work(job: ShardJob, folder: Folder) -> ShardRecord:
    if _writer is None:
        raise RunFailed("a worker was not set up")
    return _writer.write(job, folder)


def _parallel(
    recipe: Recipe, folder: Folder, left: list[ShardJob], workers: int
) -> Iterator[tuple[ShardJob, ShardRecord]]:
    context = multiprocessing.get_context("spawn")
    count = min(workers, len(left))
    with ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(recipe,)) as pool:
        try:
            with deaf():
                futures = {pool.submit(_work, job, folder): job for job in left}
            with _remembered() as interrupts:
                for future in as_completed(futures):
                    if interrupts:
                        raise KeyboardInterrupt
                    yield futures[future], future.result()
        except BrokenProcessPool:
            raise RunFailed("a worker died (killed, or out of memory); run the same command again to go on") from None
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)  # waits for the shards under way, and no others
            raise


@contextmanager
def _remembered() -> Iterator[list[int]]:
    """Remember Ctrl-C: one that is raised inside a callback of the interpreter's own is dropped there."""
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def hear(number: int, frame: Any) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


def default_workers(recipe: Recipe) -> int:
    """Return how many workers pay: starting one costs a second or two."""
    rows = sum(split.size for split in recipe.splits)
    return max(1, min(os.cpu_count() or 1, int(rows * recipe.task.seconds / 2)))


def _finish(recipe: Recipe, folder: Folder, done: dict[ShardJob, ShardRecord]) -> dict[str, Any]:
    """Write the card and the Croissant file, then the manifest, then take the plan away, and what a killed run left."""
    shards = {s.name: [record for job, record in done.items() if job.split == s.name] for s in recipe.splits}
    labels = {name: _label_counts(recipe, folder, records) for name, records in shards.items()}
    places = {name: _boundary_counts(recipe, folder, records) for name, records in shards.items()}
    manifest = manifest_of(recipe, shards, labels, places)
    write_atomically(folder / "croissant.json", to_json(croissant(manifest)))
    write_atomically(folder / "README.md", card(manifest).encode())
    write_atomically(folder / NAME, to_json(manifest))
    for leftover in (folder / PLAN, *folder.rglob(".*.tmp")):
        leftover.unlink(missing_ok=True)
    return manifest


def _label_counts(recipe: Recipe, folder: Folder, records: list[ShardRecord]) -> dict[str, dict[str, int]]:
    """Return how often each label takes each value in a split, as read back from disk."""
    labels = recipe.task.knowledge.labels
    counts = {label.name: np.zeros(len(label.values), dtype=np.int64) for label in labels}
    for shard in records:
        table = _columns(folder / shard.file, [LABEL + label.name for label in labels])
        for label in labels:
            codes = from_column(table[LABEL + label.name], label.values, shard.file)
            counts[label.name] += np.bincount(codes, minlength=len(label.values))
    return {
        label.name: {str(v): int(n) for v, n in zip(label.values, counts[label.name], strict=True) if n}
        for label in labels
    }


def _columns(path: Folder, names: list[str]) -> pa.Table:
    with path.open("rb") as handle:
        return pq.ParquetFile(handle).read(columns=names)


def _boundary_counts(recipe: Recipe, folder: Folder, records: list[ShardRecord]) -> dict[str, dict[str, int]]:
    """Return how many examples of a split are of each variant and each near-boundary type, and how many are far."""
    names = recipe.task.knowledge.label_names
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for shard in records:
        table = _columns(folder / shard.file, [BOUNDARY + name for name in names])
        for name in names:
            counts[name].update(tag for text in table[BOUNDARY + name].to_pylist() for tag in text.split("; "))
    return {name: dict(sorted(found.items())) for name, found in counts.items()}

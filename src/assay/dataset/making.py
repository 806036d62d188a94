"""Make a dataset: in parallel, with progress, so that a killed run goes on where it stopped.

Shards do not depend on one another nor on the number of workers, so any way of making them gives the same bytes. The
manifest is written last: a folder without one does not load.
"""

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import (
    ConfigError,
    DataError,
    Folder,
    RemotePath,
    RunFailed,
    begin_worker,
    block_interrupts,
    folder_at,
    refuse_outward,
    remove_leftovers,
    write_atomically,
)
from assay.contracts import BOUNDARY, FORMAT, LABEL, PAIRS, Manifest, PairsRecord, ShardRecord, to_json
from assay.dataset.cards import write_description
from assay.dataset.dataset import Dataset
from assay.dataset.folder import CODE, NAME, PLAN, pairs_split, read_manifest, versions
from assay.dataset.pairs import TRAINING, choose_changes, concept_columns, pairs_jobs, shown_by, shown_in
from assay.dataset.recipe import MOST_PAIRS, Recipe
from assay.dataset.shard import ShardJob, ShardWriter, finished_shard, split_counts, write_shard
from assay.dataset.split import SplitData
from assay.logic import parse
from assay.tasks import Task

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
) -> Manifest:
    """Write the dataset of a recipe and return its manifest; go on if part of it is there.

    Parameters
    ----------
    recipe
        All that decides the bytes.
    folder
        The folder or address; it may hold part of this dataset.
    workers
        The number of processes, if no pool makes the shards.
    progress
        Is first told how many examples were there, then how many more are done, and again.
    pool
        Makes the shards elsewhere, on machines that see the folder.
    """
    folder = folder_at(folder)
    writer = ShardWriter(recipe)
    writer.task.check_ready()
    sources = writer.sources  # built before any file is written, so that a rule that cannot serve leaves no folder
    held = _begin(recipe, folder) if sources else None
    hashes = {shard.file: shard.sha256 for shard in held.shards} if held is not None else {}
    whole = held is not None and _pairs_are_whole(held, recipe, folder)
    there = held.pairs.size if held is not None and whole else 0
    drawing = ShardBuilder(writer, folder, workers, progress, pool, hashes, there)
    records = drawing.draw(writer.jobs)
    _require_there(folder, [job.file for job in records], recipe)
    unchanged = held is not None and _are_listed(records.values(), held)
    if held is not None and unchanged and whole:
        return held
    manifest = held if held is not None and unchanged else _manifest(recipe, folder, records)
    manifest = _finish(folder, manifest.but(pairs=_pairs(manifest, drawing)))
    _require_there(folder, [shard.file for shard in manifest.shards], recipe)
    return manifest


def _require_there(folder: Folder, files: Sequence[str], recipe: Recipe) -> None:
    """Fail if somebody deleted what was written; the same command may go on with what is left."""
    if isinstance(folder, Path) and not all((folder / file).is_file() for file in files):
        (folder / NAME).unlink(missing_ok=True)
        write_atomically(folder / PLAN, to_json(recipe.to_dict()))
        raise RunFailed(f"files in {str(folder)!r} were deleted while it was made; run the same command again")


@dataclass
class ShardBuilder:
    """Draws shards: here, in several processes, or by a pool; what is there and whole is kept."""

    writer: ShardWriter
    folder: Folder
    workers: int
    progress: Progress
    pool: Pool | None
    hashes: dict[str, str]
    """Of the shards that are known from a manifest."""
    there: int
    """How many counterfactual worlds were there before anything was drawn."""
    begun: bool = False

    def draw(self, todo: Sequence[ShardJob]) -> dict[ShardJob, ShardRecord]:
        """Return the records of shards, in their order, when all are written."""
        done = self._by_pool(todo) if self.pool else self._here(todo)
        return {job: done[job] for job in todo}

    def _here(self, todo: Sequence[ShardJob]) -> dict[ShardJob, ShardRecord]:
        writer, folder = self.writer, self.folder
        wanted = {job: self.hashes.get(job.file) for job in todo}
        done = {job: shard for job, sha256 in wanted.items() if (shard := finished_shard(folder, job, sha256))}
        self._report(sum(shard.rows for shard in done.values()))
        left = [job for job in todo if job not in done]
        workers = 1 if isinstance(folder, RemotePath) and not folder.shared else self.workers
        several = workers > 1 and len(left) > 1
        shards = _parallel(writer.recipe, folder, left, workers) if several else _serial(writer, folder, left)
        for job, shard in shards:
            done[job] = shard
            self.progress(shard.rows)
        return done

    def _by_pool(self, todo: Sequence[ShardJob]) -> dict[ShardJob, ShardRecord]:
        """Let a pool look after every shard: what is there is read where it is made, not here."""
        folder, pool = self.folder, self.pool
        if isinstance(folder, RemotePath) and not folder.shared:
            raise ConfigError(
                f"{str(folder)!r} is seen by this process only; a cluster needs a folder that all nodes see"
            )
        there = {job for job in todo if (folder / job.file).is_file()}
        self._report(sum(job.rows(self.writer) for job in there))
        done: dict[ShardJob, ShardRecord] = {}
        wanted = {job: self.hashes.get(job.file) for job in todo}
        for job, shard in pool.shards(self.writer.recipe, folder, wanted) if pool else ():
            done[job] = shard
            self.progress(0 if job in there else shard.rows)
        return done

    def _report(self, rows: int) -> None:
        if rows or not self.begun:
            self.progress(rows if self.begun else rows + self.there)
        self.begun = True


def _are_listed(records: Iterable[ShardRecord], held: Manifest) -> bool:
    """Return whether a manifest says of shards what they are, also of their content where it does at all."""
    listed = {shard.file: shard.to_dict() for shard in held.shards}
    entries = [(record.to_dict(), listed.get(record.file)) for record in records]
    return all(said is not None and {**entry, **said} == entry for entry, said in entries)


def _pairs_are_whole(held: Manifest, recipe: Recipe, folder: Folder) -> bool:
    """Return whether a finished dataset has the counterfactual worlds that are asked for."""
    part = held.pairs
    if part.asked != recipe.most_pairs:
        return False
    found = [finished_shard(folder, ShardJob(PAIRS, i), shard.sha256) for i, shard in enumerate(part.shards)]
    return None not in found


def _pairs(manifest: Manifest, drawing: ShardBuilder) -> PairsRecord:
    """Draw the counterfactual worlds of the test split; return the manifest's entry, or why there are none."""
    recipe, folder = drawing.writer.recipe, drawing.folder
    parts = manifest.splits_by_name
    split = pairs_split(list(parts))
    entry = PairsRecord(asked=recipe.most_pairs, split=split, size=0, shards=[])
    try:
        if split is None:
            raise DataError("the dataset has no test split")
        if not recipe.most_pairs:
            raise DataError("none were asked for")
        task = recipe.task
        concepts = concept_columns(task.space)
        training = [shard for name in parts if name.startswith(TRAINING) for shard in parts[name].shards]
        shown = shown_in((_columns(folder / shard.file, concepts) for shard in training), task, recipe.seed)
        names = ["index", *concepts, "style"]
        table = pa.concat_tables([_columns(folder / shard.file, names) for shard in parts[split].shards])
        data = SplitData(split, manifest.fingerprint, task.knowledge, task.layout, table, parse(parts[split].where))
        changes = choose_changes(data, task, recipe.seed, recipe.most_pairs, shown)
        records = drawing.draw(pairs_jobs(changes, recipe.shard_rows))
    except DataError as error:
        return entry.but(none=str(error))
    return entry.but(size=len(changes), shards=[*records.values()])


def refresh_pairs(
    dataset: Dataset, task: Task, count: int | None = None, progress: Progress = lambda rows: None
) -> Manifest:
    """Draw the counterfactual worlds of a finished dataset anew, or as many as asked, and return its manifest.

    Parameters
    ----------
    dataset
        The dataset, on this machine.
    task
        Its task, built again.
    count
        How many; by default as many as before.
    progress
        Is told how many more are drawn.
    """
    if dataset.origin is not None:
        raise DataError(f"{str(dataset.origin)!r} lies elsewhere; refresh its counterfactual worlds where it lies")
    manifest, folder, split = dataset.manifest, dataset.folder, pairs_split(dataset.split_names)
    known = MOST_PAIRS if manifest.pairs.asked is None else manifest.pairs.asked
    asked = known if count is None else count
    if split is None:
        raise DataError(f"{str(folder)!r} has no test split")
    changes = choose_changes(dataset.symbols(split), task, manifest.seed, asked, shown_by(dataset, task))
    part = PairsRecord(asked=asked, split=split, size=0, shards=[])
    write_description(folder, manifest.but(pairs=part.but(none="they are half drawn; run: assay pairs DATA")))
    shards = []
    for job in pairs_jobs(changes, manifest.shard_rows):
        shards.append(write_shard(job.drawn_by(task), job, folder))
        progress(len(job.changes))
    return _finish(folder, manifest.but(pairs=part.but(size=len(changes), shards=shards)))


def _begin(recipe: Recipe, folder: Folder) -> Manifest | None:
    """Claim the folder; return the manifest if it already holds exactly this dataset."""
    plan = json.loads(to_json(recipe.to_dict()))
    refuse_outward(folder)
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
        if folder.exists() and (not folder.is_dir() or any(PLAN not in p.name for p in folder.iterdir())):
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


def _plan_of(manifest: Manifest) -> dict[str, Any]:
    body, kept = manifest.to_dict(), ("task", "seed", "shard_rows", "sources")
    made = ("labels", "boundary", "shards")
    splits = [{k: v for k, v in split.items() if k not in made} for split in body["splits"]]
    code = {CODE: body[CODE]} if CODE in body else {}
    return {**{key: body[key] for key in kept}, **code, "splits": splits}


def _serial(writer: ShardWriter, folder: Folder, left: Iterable[ShardJob]) -> Iterator[tuple[ShardJob, ShardRecord]]:
    for job in left:
        yield job, writer.write(job, folder)


def _start(recipe: Recipe, parent: int) -> None:
    global _writer
    begin_worker(parent)
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
    with ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(recipe, os.getpid())) as pool:
        try:
            with block_interrupts():
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
    """Remember Ctrl-C and SIGTERM: one that is raised inside a callback of the interpreter's own is dropped there."""
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def hear(number: int, frame: Any) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def default_workers(recipe: Recipe) -> int:
    """Return how many workers pay: starting one costs a second or two."""
    rows = sum(split.size for split in recipe.splits) + recipe.pairs
    return max(1, min(os.cpu_count() or 1, int(rows * recipe.task.seconds / 2)))


def _manifest(recipe: Recipe, folder: Folder, done: dict[ShardJob, ShardRecord]) -> Manifest:
    """Return the manifest of a dataset whose shards are all written, but for its counterfactual worlds."""
    task, plan = recipe.task, recipe.to_dict()
    names = [kind + name for name in task.knowledge.label_names for kind in (LABEL, BOUNDARY)]
    for split in plan["splits"]:
        split["shards"] = [shard for job, shard in done.items() if job.split == split["name"]]
        split |= split_counts(task.knowledge, (_columns(folder / shard.file, names) for shard in split["shards"]))
    made = {split.name for split in recipe.splits}
    more = {
        "format": FORMAT,
        "summary": task.summary,
        "drawn": task.sampling_note,
        "knowledge": task.knowledge.to_dict(),
        "layout": task.layout.to_dict(),
        "columns": list(task.columns),
        "backbones": task.backbones(),
        "local": recipe.local,
        "left_out": [split.name for split in task.splits() if split.name not in made],
        "versions": versions(),
    }
    return Manifest.of({**plan, **more})


def _finish(folder: Folder, manifest: Manifest) -> Manifest:
    """Write what describes the dataset, then take the plan away, and what a killed run left."""
    write_description(folder, manifest)
    listed = {shard.file for shard in manifest.pairs.shards}
    surplus = [path for path in (folder / PAIRS).rglob("*.parquet") if f"{PAIRS}/{path.name}" not in listed]
    for leftover in (folder / PLAN, *surplus):
        leftover.unlink(missing_ok=True)
    if isinstance(folder, Path):
        remove_leftovers(folder)
    else:
        folder.remove_leftovers()
    return manifest


def _columns(path: Folder, names: list[str]) -> pa.Table:
    with path.open("rb") as handle:
        return pq.ParquetFile(handle).read(columns=names)

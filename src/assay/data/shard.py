"""One shard of one split: a pure function of the recipe, the split and the shard's number."""

import hashlib
import io
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.arrays import Array, Codes
from assay.concepts import Value
from assay.data.columns import CONCEPT, DTYPES, LABEL, kind_of_values, numbers, strings, to_column
from assay.data.recipe import SHARD_ROWS, Recipe
from assay.errors import DataError, KnowledgeError
from assay.logic.knowledge import Knowledge
from assay.render.png import png
from assay.seeds import Streams
from assay.worlds.source import WorldSource
from assay.worlds.split import Split
from assay.worlds.world import World

COMPACT = json.JSONEncoder(separators=(",", ":"))
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest says of a shard."""

    file: str
    rows: int
    bytes: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class ShardJob:
    """Which shard: the split and its number."""

    split: str
    number: int

    @property
    def file(self) -> str:
        """The path inside the dataset's folder."""
        return f"{self.split}/part-{self.number:05d}.parquet"


def jobs(splits: tuple[Split, ...]) -> list[ShardJob]:
    """Return all shards of all splits, in order."""
    return [ShardJob(s.name, number) for s in splits for number in range(-(-s.size // SHARD_ROWS))]


class Writer:
    """Makes shards of a recipe; each worker process has one."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.task = recipe.task
        self.splits = {split.name: split for split in recipe.splits}

    @cached_property
    def sources(self) -> dict[str, WorldSource]:
        """The worlds of each split."""
        task, seed = self.task, self.recipe.seed
        return {
            name: WorldSource(task.knowledge, split, seed, task.name, task.version)
            for name, split in self.splits.items()
        }

    def places(self, job: ShardJob) -> Array:
        """Return the places of the split that a shard holds."""
        start = job.number * SHARD_ROWS
        return np.arange(start, min(start + SHARD_ROWS, self.splits[job.split].size))

    def worlds(self, split: Split, places: Array) -> tuple[Codes, list[World]]:
        """Return the worlds at these places, with their styles drawn."""
        task = self.task
        codes = self.sources[split.name].codes(places)
        streams = Streams(self.recipe.seed, task.name, task.version, split.name)
        self._check_held_out(split, codes)
        made = []
        for place, row in zip(places.tolist(), codes.tolist(), strict=True):
            made.append(World(task.space, tuple(row), task.style(streams[place], row, split.pool)))
        return codes, made

    def _check_held_out(self, split: Split, codes: Codes) -> None:
        for other in split.disjoint_from:
            if self.sources[other].contains(codes).any():
                raise KnowledgeError(f"split {split.name!r} says it shares no world with {other!r}, but it does")

    def table(self, job: ShardJob) -> pa.Table:
        """Return the rows of a shard."""
        split, places = self.splits[job.split], self.places(job)
        codes, worlds = self.worlds(split, places)
        images = [png(self.task.render(world).image) for world in worlds]
        names = [f"{split.name}-{place}.png" for place in places.tolist()]
        parts = [strings(images, pa.binary()), strings(names, pa.string())]
        pictures = pa.StructArray.from_arrays(parts, fields=list(IMAGE))
        columns = {"index": numbers(places), "image": pictures, **columns_of(self.task.knowledge, codes)}
        styles = [COMPACT.encode(dict(world.style)) for world in worlds]
        columns["style"] = strings(styles, pa.string())
        metadata = {"huggingface": json.dumps({"info": {"features": features(self.task.knowledge)}})}
        return pa.table(columns).replace_schema_metadata(metadata)

    def write(self, job: ShardJob, folder: Path) -> ShardRecord:
        """Make a shard, write it under a temporary name, and rename it."""
        buffer = io.BytesIO()
        pq.write_table(self.table(job), buffer, compression="zstd")
        path = folder / job.file
        write_atomically(path, buffer.getvalue())
        return record(folder, job)


def columns_of(knowledge: Knowledge, codes: Codes) -> dict[str, pa.Array]:
    """Return the concept columns and the label columns of worlds."""
    labels = knowledge.labels_of(codes)
    if (labels < 0).any():
        raise KnowledgeError("a label is absent in some world; let the rule give a value for every world")
    concepts = {CONCEPT + c.name: to_column(codes[:, i], c.values) for i, c in enumerate(knowledge.space.concepts)}
    named = {LABEL + label.name: to_column(labels[:, i], label.values) for i, label in enumerate(knowledge.labels)}
    return {**concepts, **named}


def features(knowledge: Knowledge) -> dict[str, Any]:
    """Return the columns as Hugging Face `datasets` describes them, so that it decodes the images."""

    def value(dtype: str) -> dict[str, str]:
        return {"dtype": dtype, "_type": "Value"}

    def typed(values: tuple[Value, ...]) -> dict[str, str]:
        return value(DTYPES[kind_of_values(values)])

    concepts = {CONCEPT + concept.name: typed(concept.values) for concept in knowledge.space.concepts}
    labels = {LABEL + label.name: typed(label.values) for label in knowledge.labels}
    return {"index": value("int64"), "image": {"_type": "Image"}, **concepts, **labels, "style": value("string")}


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is either wholly there or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise DataError(f"cannot write {str(path)!r}: {error.strerror}") from None


def record(folder: Path, job: ShardJob) -> ShardRecord:
    """Return the record of a shard that is on disk."""
    data = (folder / job.file).read_bytes()
    rows = pq.read_metadata(io.BytesIO(data)).num_rows
    return ShardRecord(job.file, rows, len(data), hashlib.sha256(data).hexdigest())

"""One shard of one split: a pure function of the recipe, the split and the shard's number.

A shard's file differs in its bytes where another version of Parquet or zlib compresses it. Its content does not: the
names and types of its columns, their values, and for pictures as this program writes them their pixels.
"""

import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import Array, Codes, Folder, KnowledgeError, RunFailed, write_atomically
from assay.contracts import (
    BOUNDARY,
    CONCEPT,
    DTYPES,
    LABEL,
    SUBCONCEPT,
    ShardRecord,
    from_column,
    kind_of_values,
    numbers,
    strings,
    to_column,
)
from assay.dataset.folder import NAME, PLAN
from assay.dataset.recipe import Recipe
from assay.logic import Knowledge, Value
from assay.render import ObjectBox, Picture, encode_png, packed_pixels
from assay.tasks import Column, Task
from assay.worlds import Source, Split, World, labels_of

PIXELS_AT_ONCE = 4_000_000
"""How many pixels of pictures are in memory at a time, before they are encoded."""
MOST_BYTES = 200_000_000
"""A picture that unpacks to more, which no one may open, stands by its file in the content of its shard."""
COMPACT = json.JSONEncoder(separators=(",", ":"))
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
CORNERS = ("left", "top", "right", "bottom")
THINGS = pa.list_(pa.struct([("name", pa.string()), *((corner, pa.int64()) for corner in CORNERS)]))


@dataclass(frozen=True)
class ShardJob:
    """Which shard: the split and its number."""

    split: str
    number: int

    @property
    def file(self) -> str:
        """The path inside the dataset's folder."""
        return f"{self.split}/part-{self.number:05d}.parquet"

    def rows(self, writer: "ShardWriter") -> int:
        """Return how many rows the shard has."""
        return len(writer.places(self))

    def fits(self, record: ShardRecord) -> bool:
        """Return whether a shard that was found is of the size that is asked for, as far as that can vary."""
        return True

    def table(self, writer: "ShardWriter") -> pa.Table:
        """Return the rows of the shard."""
        split, places = writer.splits[self.split], writer.places(self)
        return table_of(writer.task, writer.worlds(split, places), file_names(split.name, places), places)


class ShardWriter:
    """Makes shards of a recipe; each worker process has one."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.task = recipe.task
        self.splits = {split.name: split for split in recipe.splits}
        self._sources = dict[str, Source]()

    @property
    def jobs(self) -> list[ShardJob]:
        """All shards of all splits, in order."""
        rows = self.recipe.shard_rows
        return [ShardJob(s.name, number) for s in self.recipe.splits for number in range(-(-s.size // rows))]

    @property
    def sources(self) -> dict[str, Source]:
        """The worlds of each split."""
        return {name: self.source(name) for name in self.splits}

    def source(self, name: str) -> Source:
        """Return the worlds of a split, prepared when first asked for: a worker may never write the hard ones."""
        if name not in self._sources:
            self._sources[name] = self.task.source_for(self.splits[name], self.recipe.seed)
        return self._sources[name]

    def places(self, job: ShardJob) -> Array:
        """Return the places of the split that a shard holds."""
        start, rows = job.number * self.recipe.shard_rows, self.recipe.shard_rows
        return np.arange(start, min(start + rows, self.splits[job.split].size))

    def worlds(self, split: Split, places: Array) -> list[World]:
        """Return the worlds at these places, with their styles drawn."""
        worlds = self.source(split.name).worlds(places)
        self._check_held_out(split, np.array([world.codes for world in worlds], dtype=np.int64))
        return worlds

    def _check_held_out(self, split: Split, codes: Codes) -> None:
        for other in split.disjoint_from:
            if self.source(other).contains(codes).any():
                raise KnowledgeError(f"split {split.name!r} says it shares no world with {other!r}, but it does")

    def write(self, job: ShardJob, folder: Folder) -> ShardRecord:
        """Make a shard, write it under a temporary name, and rename it."""
        return write_shard(job.table(self), job, folder)

    def ensure(self, job: ShardJob, folder: Folder, sha256: str | None) -> ShardRecord:
        """Return the record of a shard that is there and whole, or else make it."""
        if not (folder / PLAN).exists() and not (folder / NAME).exists():
            raise RunFailed(
                f"a node does not see {str(folder)!r}; give a folder that all nodes share, or an object store"
            )
        return finished_shard(folder, job, sha256) or self.write(job, folder)


def write_shards(split: str, tables: Iterable[pa.Table], folder: Folder, first: int = 0) -> list[ShardRecord]:
    """Write tables as the shards of a split, one after another, and return their records.

    Parameters
    ----------
    split
        The name of the split.
    tables
        The rows of each shard.
    folder
        The folder of the dataset.
    first
        The number of the first shard, where others are there.
    """
    return [write_shard(table, ShardJob(split, number), folder) for number, table in enumerate(tables, first)]


def write_shard(table: pa.Table, job: ShardJob, folder: Folder) -> ShardRecord:
    """Write the rows of a shard so that its file is either wholly there or not at all; return its record."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_atomically(folder / job.file, buffer.getvalue())
    return _record(folder, job)


def finished_shard(folder: Folder, job: ShardJob, sha256: str | None) -> ShardRecord | None:
    """Return the record of a shard that an earlier run finished, None if it is damaged or not there."""
    if not (folder / job.file).is_file():
        return None
    try:
        found = _record(folder, job)
    except (OSError, ValueError):
        return None
    return found if sha256 in (None, found.sha256) and job.fits(found) else None


def _record(folder: Folder, job: ShardJob) -> ShardRecord:
    """Return the record of a shard that is on disk."""
    data = (folder / job.file).read_bytes()
    table = pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)
    digest = hashlib.sha256(data).hexdigest()
    return ShardRecord(file=job.file, rows=len(table), bytes=len(data), sha256=digest, content=content_of(table))


def split_counts(knowledge: Knowledge, tables: Iterable[pa.Table]) -> dict[str, dict[str, dict[str, int]]]:
    """Return how often each label takes each value in a split, and how many examples have each boundary tag."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in knowledge.label_names}
    tags: dict[str, Counter[str]] = {name: Counter() for name in knowledge.label_names}
    for table in tables:
        for label in knowledge.labels:
            codes = from_column(table[LABEL + label.name], label.values, label.name)
            counts[label.name].update(str(label.values[code]) for code in codes.tolist())
            texts = table[BOUNDARY + label.name].to_pylist() if BOUNDARY + label.name in table.column_names else []
            tags[label.name].update(tag for text in texts for tag in text.split("; "))
    return {"labels": dict(map(_sorted, counts.items())), "boundary": dict(map(_sorted, tags.items()))}


def _sorted(named: tuple[str, Counter[str]]) -> tuple[str, dict[str, int]]:
    return named[0], dict(sorted(named[1].items()))


def file_names(split: str, places: Array) -> list[str]:
    """Return the names of the pictures at these places of a split."""
    return [f"{split}-{place}.png" for place in places.tolist()]


def table_of(
    task: Task, worlds: Sequence[World], names: Sequence[str], places: Array, pictures: bool = True
) -> pa.Table:
    """Return the rows of worlds: the number and file name of each, how it looks, its concepts, labels and style.

    Parameters
    ----------
    task
        Draws the pictures.
    worlds
        The worlds, a row each.
    names
        The file name of each picture.
    places
        The number of each row in its split.
    pictures
        Whether pictures are drawn, or the symbols written alone.
    """
    codes = np.array([world.codes for world in worlds], dtype=np.int64)
    pictures_shown = _draw(task, worlds, names) if pictures else {}
    styles = [COMPACT.encode(dict(world.style)) for world in worlds]
    columns = {"index": numbers(places), **pictures_shown, **columns_of(task.knowledge, codes, worlds)}
    columns |= _subconcept_columns(task, worlds, codes)
    columns["style"] = strings(styles, pa.string())
    metadata = {"huggingface": json.dumps({"info": {"features": features(task.knowledge, task.columns)}})}
    return pa.table(columns).replace_schema_metadata(metadata)


def _draw(task: Task, worlds: Sequence[World], names: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns that show worlds, drawn so many at a time that few large pictures are in memory."""
    step = max(1, PIXELS_AT_ONCE // max(1, task.layout.width * task.layout.height))
    starts = range(0, len(worlds), step) if len(worlds) else [0]
    pieces = [(worlds[start : start + step], names[start : start + step]) for start in starts]
    parts = [picture_columns(task.columns, task.render_all(some), own) for some, own in pieces]
    return {column: pa.concat_arrays([part[column] for part in parts]) for column in parts[0]}


def picture_columns(
    columns: Sequence[Column], pictures: Sequence[Picture], names: Sequence[str]
) -> dict[str, pa.Array]:
    """Return the columns that show what worlds look like."""
    arrays: dict[str, pa.Array] = {}
    for column in columns:
        if column == "text":
            arrays[column] = strings([picture.text for picture in pictures], pa.string())
        elif column == "things":
            arrays[column] = pa.array([[_thing(thing) for thing in picture.things] for picture in pictures], THINGS)
        else:
            files = [encode_png(getattr(picture, column)) for picture in pictures]
            paths = [name if column == "image" else f"{column}-{name}" for name in names]
            parts = [strings(files, pa.binary()), strings(paths, pa.string())]
            arrays[column] = pa.StructArray.from_arrays(parts, fields=list(IMAGE))
    return arrays


def _thing(thing: ObjectBox) -> dict[str, Any]:
    box = thing.box
    return {"name": thing.name, "left": box.left, "top": box.top, "right": box.right, "bottom": box.bottom}


def columns_of(knowledge: Knowledge, codes: Codes, worlds: Sequence[World]) -> dict[str, pa.Array]:
    """Return the concept columns and the label columns of worlds, and where each world lies in each label's rule.

    Parameters
    ----------
    knowledge
        The concepts and the rule.
    codes
        The concept codes, a row a world.
    worlds
        The worlds, whose styles decide labels that are left to chance.
    """
    labels = labels_of(knowledge, codes, worlds)
    if (labels < 0).any():
        raise KnowledgeError("a label is absent in some world; let the rule give a value for every world")
    concepts = {CONCEPT + c.name: to_column(codes[:, i], c.values) for i, c in enumerate(knowledge.space.concepts)}
    named = {LABEL + label.name: to_column(labels[:, i], label.values) for i, label in enumerate(knowledge.labels)}
    pairs = zip(knowledge.label_names, knowledge.boundaries, strict=True)
    tags = {BOUNDARY + name: strings(boundary.tags(codes), pa.string()) for name, boundary in pairs}
    return {**concepts, **named, **tags}


def _subconcept_columns(task: Task, worlds: Sequence[World], concepts: Codes) -> dict[str, pa.Array]:
    """Return the columns of the finer concepts, where there are any, which must give the concepts."""
    finer = task.knowledge.subconcepts
    if finer is None or not worlds:
        return {}
    codes, places = task.subconcepts_of(worlds), [task.space.place(name) for name in finer.label_names]
    if not np.array_equal(finer.labels_of(codes), concepts[:, places]):
        raise KnowledgeError("the subconcepts of some world do not give its concepts")
    return {SUBCONCEPT + c.name: to_column(codes[:, i], c.values) for i, c in enumerate(finer.space.concepts)}


def features(knowledge: Knowledge, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the columns as Hugging Face `datasets` describes them, so that it decodes the images."""

    def value(dtype: str) -> dict[str, str]:
        return {"dtype": dtype, "_type": "Value"}

    def typed(values: tuple[Value, ...]) -> dict[str, str]:
        return value(DTYPES[kind_of_values(values)])

    concepts = {CONCEPT + concept.name: typed(concept.values) for concept in knowledge.space.concepts}
    labels = {LABEL + label.name: typed(label.values) for label in knowledge.labels}
    parts = () if knowledge.subconcepts is None else knowledge.subconcepts.space.concepts
    finer = {SUBCONCEPT + concept.name: typed(concept.values) for concept in parts}
    corners = {corner: value("int64") for corner in CORNERS}
    kinds: dict[Column, Any] = {
        "image": {"_type": "Image"},
        "instances": {"_type": "Image"},
        "parts": {"_type": "Image"},
        "depth": {"_type": "Image"},
        "text": value("string"),
        "things": [{"name": value("string"), **corners}],
    }
    pictures = {column: kinds[column] for column in columns}
    tags = {BOUNDARY + label.name: value("string") for label in knowledge.labels}
    return {"index": value("int64"), **pictures, **concepts, **labels, **tags, **finer, "style": value("string")}


def content_of(table: pa.Table) -> str:
    """Return the hash of what the rows of a shard hold, column by column in the order of their names.

    >>> one = pa.table({"index": pa.array([0, 1]), "style": pa.array(["{}", None])})
    >>> content_of(one) == content_of(one.select(["style", "index"]))
    True
    >>> content_of(one) == content_of(one.slice(0, 1))
    False
    """
    whole = hashlib.sha256()
    for name in sorted(table.column_names):
        column = table.column(name)
        whole.update(json.dumps([name, str(column.type), len(column)]).encode())
        whole.update(_hash(column))
    return whole.hexdigest()


def _hash(column: pa.ChunkedArray) -> bytes:
    cells = column.to_pylist()
    if not pa.types.is_struct(column.type):
        return hashlib.sha256(json.dumps(cells).encode()).digest()
    digest = hashlib.sha256(json.dumps([cell["path"] for cell in cells]).encode())
    for cell in cells:
        digest.update(_hash_picture(cell["bytes"]))
    return digest.digest()


def _hash_picture(file: Any) -> bytes:
    """Return the hash of a picture's header and pixels, or of its whole file where another program wrote it."""
    found = packed_pixels(file)
    if found is None:
        return hashlib.sha256(file).digest()
    head, packed = found
    unpacker = zlib.decompressobj()
    try:
        rows = unpacker.decompress(packed, MOST_BYTES)
    except zlib.error:
        return hashlib.sha256(file).digest()
    return hashlib.sha256(head + rows if unpacker.eof else file).digest()

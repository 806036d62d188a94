"""A dataset, read: the rule, and each split's concepts, labels, styles and pictures."""

import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.arrays import Array, Codes
from assay.concepts import Value, listing
from assay.data.cache import fetch, open_copy
from assay.data.columns import CONCEPT, GIVEN, LABEL, PAIR_CONCEPT, PAIR_ROW, from_column, plain_numbers
from assay.data.manifest import PAIRS, all_shards, read_manifest
from assay.data.remote import Folder, RemotePath, folder_at
from assay.errors import DataError, UnknownName, suggestion
from assay.logic.formula import TRUE, Formula
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse
from assay.render.picture import Box, Layout, ObjectBox
from assay.worlds.world import LUCK, World


@dataclass(frozen=True)
class SplitData:
    """One split in memory; pictures are decoded when first asked for."""

    name: str
    fingerprint: str
    knowledge: Knowledge
    layout: Layout
    table: pa.Table
    where: Formula

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def index(self) -> Array:
        """The number of each example inside the split."""
        return np.concatenate([plain_numbers(chunk) for chunk in self.table["index"].chunks])

    @cached_property
    def concepts(self) -> Codes:
        """The true concepts, as codes: a row an example, a column a concept; -1 where imported data does not know."""
        space = self.knowledge.space
        columns = [from_column(self.table[CONCEPT + c.name], c.values, c.name) for c in space.concepts]
        return np.stack(columns, axis=1)

    @cached_property
    def labels(self) -> Codes:
        """The true labels, as codes: a row an example, a column a label."""
        columns = [from_column(self.table[LABEL + x.name], x.values, x.name) for x in self.knowledge.labels]
        return np.stack(columns, axis=1)

    @cached_property
    def given_concepts(self) -> Codes:
        """The concepts that models learn from: as an annotator gave them, -1 where missing, or else the true ones."""
        space = self.knowledge.space
        return self._given(CONCEPT, [(c.name, c.values) for c in space.concepts], self.concepts)

    @cached_property
    def given_labels(self) -> Codes:
        """The labels that models learn from: as an annotator gave them, or else the true ones."""
        return self._given(LABEL, [(x.name, x.values) for x in self.knowledge.labels], self.labels)

    def _given(self, kind: str, named: Sequence[tuple[str, Sequence[Value]]], true: Codes) -> Codes:
        columns = []
        for place, (name, values) in enumerate(named):
            key = GIVEN + kind + name
            there = key in self.table.column_names
            columns.append(from_column(self.table[key], values, key) if there else true[:, place])
        return np.stack(columns, axis=1)

    @cached_property
    def images(self) -> Array:
        """The pictures: examples x height x width x channels, as bytes."""
        return np.stack([decode(data) for data in self.pngs])

    @cached_property
    def pngs(self) -> list[bytes]:
        """The pictures as PNG files."""
        return self._files("image")

    @cached_property
    def instances(self) -> Array:
        """For each pixel of each picture which object it shows: 1 for the first of `things`, 0 for none."""
        return np.stack([decode(data)[:, :, 0] for data in self._files("instances")])

    @cached_property
    def parts(self) -> Array:
        """For each pixel of each picture which part of an object it shows, numbered as `things`, 0 for none."""
        return np.stack([decode(data)[:, :, 0] for data in self._files("parts")])

    @cached_property
    def depths(self) -> Array:
        """For each pixel of each picture how far away it is, in 65,535ths of the task's farthest."""
        return np.stack([decode(data)[:, :, 0] for data in self._files("depth")])

    @cached_property
    def things(self) -> list[tuple[ObjectBox, ...]]:
        """The objects in each picture, with their boxes."""
        rows = self._column("things").to_pylist()
        return [tuple(ObjectBox(one.pop("name"), Box(**one)) for one in row) for row in rows]

    @cached_property
    def texts(self) -> list[str]:
        """The worlds in words, or as tables in one line."""
        found: list[str] = self._column("text").to_pylist()
        return found

    def _files(self, name: str) -> list[bytes]:
        found: list[bytes] = self._column(name).combine_chunks().field("bytes").to_pylist()
        return found

    def _column(self, name: str) -> pa.ChunkedArray:
        if name not in self.table.column_names:
            raise DataError(f"split {self.name!r} has no column {name!r}; there is: {listing(self.table.column_names)}")
        return self.table[name]

    @cached_property
    def lawful(self) -> Array:
        """Whether each label is one that the rule can give, a column a label; what cannot be told counts as lawful."""
        unknown = np.asarray((self.concepts < 0).any(axis=1))[:, None]
        if not self.knowledge.has_rule:
            return np.ones(self.labels.shape, dtype=bool)
        if not self.knowledge.stochastic:
            return np.asarray((self.labels == self.knowledge.labels_of(np.maximum(self.concepts, 0))) | unknown)
        luck = np.array([self.world(row).style[LUCK] for row in range(len(self))])
        return np.asarray(self.labels == self.knowledge.drawn_labels(self.concepts, luck))

    def world(self, row: int) -> World:
        """Return the world of a row."""
        style = json.loads(self.table["style"][row].as_py())
        return World(self.knowledge.space, tuple(int(code) for code in self.concepts[row]), style)

    def with_known_concepts(self, what: str) -> "SplitData":
        """Return the rows whose concepts are all known; refuse where there is none, saying what needs them."""
        known = (self.concepts >= 0).all(axis=1)
        if not known.any():
            raise DataError(f"{what} needs examples whose concepts are all known; split {self.name!r} has none")
        return self if known.all() else self.take(np.flatnonzero(known))

    def take(self, rows: Array) -> "SplitData":
        """Return some of the rows."""
        table = self.table.take(pa.array(rows))
        return SplitData(self.name, self.fingerprint, self.knowledge, self.layout, table, self.where)


def decode(data: bytes) -> Array:
    """Return a PNG as bytes in height x width x channels."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        pixels = np.asarray(image)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


@dataclass(frozen=True)
class Dataset:
    """A dataset folder; `Dataset.open` checks that it is whole, `dataset["train"]` reads a split, checking hashes."""

    folder: Path
    manifest: dict[str, Any]
    origin: RemotePath | None = None
    """Where it really lies, if not on this machine: its shards are fetched into the folder when they are asked for."""

    @classmethod
    def open(cls, where: Folder | str) -> "Dataset":
        """Open a folder that `assay make` wrote, here or at an address such as `s3://bucket/folder`."""
        folder = folder_at(where)
        if isinstance(folder, RemotePath):
            return cls(*open_copy(folder), folder)
        manifest = read_manifest(folder)
        for shard in all_shards(manifest):
            _check_size(folder / shard["file"], shard)
        return cls(folder, manifest)

    @property
    def fingerprint(self) -> str:
        """What stands for this data and rule in predictions and records."""
        return str(self.manifest["fingerprint"])

    @property
    def name(self) -> str:
        """The name of the task."""
        return str(self.manifest["task"]["name"])

    @cached_property
    def knowledge(self) -> Knowledge:
        """The concepts and the rule."""
        return Knowledge.from_dict(self.manifest["knowledge"])

    @cached_property
    def layout(self) -> Layout:
        """The size of the pictures, and where each concept shows."""
        return Layout.from_dict(self.manifest["layout"])

    @property
    def split_names(self) -> tuple[str, ...]:
        """The names of the splits, in order."""
        return tuple(split["name"] for split in self.manifest["splits"])

    def __contains__(self, name: str) -> bool:
        return name in self.split_names or (name == PAIRS and self.pairs is not None)

    @property
    def pairs(self) -> dict[str, Any] | None:
        """What the manifest says of the split of counterfactual worlds, if there is one."""
        part: dict[str, Any] = self.manifest.get(PAIRS, {})
        return {"where": str(TRUE), **part} if part.get("shards") else None

    def __getitem__(self, name: str) -> SplitData:
        return self.read(name)

    def read(self, name: str, columns: Sequence[str] | None = None) -> SplitData:
        """Read a split, or some columns of it."""
        if name == PAIRS and self.pairs is None:
            raise DataError(f"{str(self.folder)!r} has no counterfactual worlds: {self.why_no_pairs}")
        if name not in self:
            raise UnknownName(f"no split named {name!r}{suggestion(name, self.split_names)}")
        splits = {split["name"]: split for split in self.manifest["splits"]}
        split = self.pairs if name == PAIRS and self.pairs else splits[name]
        self._fetch([split])
        tables = [_read_shard(self.folder / shard["file"], shard, columns) for shard in split["shards"]]
        table = pa.concat_tables(tables)
        return SplitData(name, self.fingerprint, self.knowledge, self.layout, table, parse(split["where"]))

    @property
    def why_no_pairs(self) -> str:
        """Why there are no counterfactual worlds."""
        return str(self.manifest.get(PAIRS, {}).get("none", "it was made without; add them: assay pairs DATA"))

    def fetch_all(self) -> "Dataset":
        """Return the dataset with all of its files on this machine."""
        self._fetch([*self.manifest["splits"], *([self.pairs] if self.pairs else [])])
        return self

    def _fetch(self, splits: Sequence[dict[str, Any]]) -> None:
        if self.origin is not None:
            fetch(self.origin, self.folder, [shard for split in splits for shard in split["shards"]])

    def place(self, run: Path) -> dict[str, str]:
        """Return what a run's folder says of its dataset: where it lies, also as seen from the run, and which it is."""
        known = {"fingerprint": self.fingerprint, "task": self.name}
        if self.origin is not None:
            return {"folder": str(self.origin), **known}
        folder = self.folder.resolve()
        return {"folder": str(folder), "from_run": Path(os.path.relpath(folder, run.resolve())).as_posix(), **known}

    def symbols(self, name: str) -> SplitData:
        """Read a split without its pictures."""
        knowledge = self.knowledge
        concepts = [CONCEPT + concept for concept in knowledge.space.names]
        more = [PAIR_ROW, PAIR_CONCEPT] if name == PAIRS else []
        labels = [LABEL + label for label in knowledge.label_names]
        return self.read(name, ["index", *concepts, *labels, "style", *more])


def _check_size(path: Path, shard: dict[str, Any]) -> None:
    found = path.stat().st_size if path.is_file() else None
    if found is None:
        raise DataError(f"shard {str(path)!r} is missing; make the dataset again")
    if found != shard["bytes"]:
        raise DataError(f"shard {str(path)!r} has {found} bytes instead of {shard['bytes']}: it is damaged")


def _read_shard(path: Path, shard: dict[str, Any], columns: Sequence[str] | None) -> pa.Table:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"shard {str(path)!r} cannot be read: {error.strerror}") from None
    if hashlib.sha256(data).hexdigest() != shard["sha256"]:
        raise DataError(f"shard {str(path)!r} does not match its hash: it is damaged")
    return pq.ParquetFile(io.BytesIO(data)).read(columns=None if columns is None else list(columns))

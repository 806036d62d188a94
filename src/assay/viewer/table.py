"""A split on disk, read column by column when asked for: symbols of all rows, pictures of single ones.

Sizes of files are checked when a dataset is opened; their hashes are not, so that a large one opens at once. What was
read is kept, so that requests that come at the same time wait for one reading instead of each doing it.
"""

import json
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import Array, Codes, DataError, UnknownName
from assay.contracts import BOUNDARY, CONCEPT, LABEL, from_column, open_parquet, plain_numbers
from assay.dataset import SplitData
from assay.logic import Knowledge, parse
from assay.viewer.folders import ServedDataset, inside
from assay.worlds import World

CACHED_SHARDS = 12
FAR = "far"
Given = ParamSpec("Given")
Result = TypeVar("Result")


def keep(read: Callable[Given, Result], most: int | None = None) -> Callable[Given, Result]:
    """Return a function that reads each thing once, and keeps the last few that were asked for."""
    kept, lock = lru_cache(maxsize=most)(read), RLock()

    def answer(*args: Given.args, **settings: Given.kwargs) -> Result:
        with lock:
            return kept(*args, **settings)  # type: ignore[arg-type]  # lru_cache takes what can be hashed

    return answer


class SplitTable:
    """One split of a dataset that is served."""

    def __init__(self, served: ServedDataset, name: str) -> None:
        self.served, self.name = served, name
        self.dataset = served.dataset
        self.about = served.split(name)
        self.shards = [inside(self.dataset.folder, shard.file) for shard in self.about.shards]
        self.starts = np.cumsum([0, *(shard.rows for shard in self.about.shards)])
        self.codes = keep(self._codes)
        self._read_columns = keep(self._columns)
        self._cells = keep(self._shard_column, CACHED_SHARDS)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def knowledge(self) -> Knowledge:
        """The concepts and the rule."""
        return self.dataset.knowledge

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(_open(self.shards[0]).schema_arrow.names)

    @cached_property
    def index(self) -> Array:
        """The number of each example inside the split."""
        return np.concatenate([plain_numbers(chunk) for chunk in self.column("index").chunks])

    @cached_property
    def concepts(self) -> Codes:
        """The true concepts as codes, a column a concept."""
        return np.stack([self.codes(CONCEPT + name) for name in self.knowledge.space.names], axis=1)

    @cached_property
    def labels(self) -> Codes:
        """The true labels as codes, a column a label."""
        return np.stack([self.codes(LABEL + name) for name in self.knowledge.label_names], axis=1)

    @cached_property
    def sides(self) -> dict[str, "BoundaryTags"]:
        """The boundary tags of each label; older datasets have none."""
        names = [name for name in self.knowledge.label_names if BOUNDARY + name in self.columns]
        return {name: BoundaryTags(self.column(BOUNDARY + name), self.codes(LABEL + name)) for name in names}

    def row(self, number: int) -> pa.Table:
        """Return one row, all columns."""
        shard, place = self._place(number)
        return _read(self.shards[shard], None).slice(place, 1)

    def cell(self, column: str, number: int) -> Any:
        """Return one cell as plain data."""
        shard, place = self._place(number)
        return self._cells(shard, column)[place].as_py()

    def file(self, column: str, number: int) -> bytes:
        """Return the picture in one cell, as a PNG file."""
        if column not in self.columns:
            raise UnknownName(f"{self.served.key!r} has no column {column!r}")
        data: bytes = self.cell(column, number)["bytes"]
        return data

    def world(self, number: int) -> World:
        """Return the world of a row."""
        space = self.knowledge.space
        shard, place = self._place(number)
        names = [CONCEPT + name for name in space.names]
        cells = _read(self.shards[shard], [*names, "style"]).slice(place, 1).to_pylist()[0]
        words = [{str(value): code for code, value in enumerate(concept.values)} for concept in space.concepts]
        codes = tuple(named.get(str(cells[name]), -1) for named, name in zip(words, names, strict=True))
        return World(space, codes, json.loads(cells["style"]))

    def data(self, table: pa.Table) -> SplitData:
        """Return rows as models take them."""
        layout, where = self.dataset.layout, parse(self.about.where)
        return SplitData(self.name, self.dataset.fingerprint, self.knowledge, layout, table, where)

    def _place(self, number: int) -> tuple[int, int]:
        if not 0 <= number < len(self):
            raise UnknownName(f"split {self.name!r} has no row {number}; it has {len(self)}")
        shard = int(np.searchsorted(self.starts, number, side="right")) - 1
        return shard, number - int(self.starts[shard])

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of all rows; those of concepts are read together, and those of a page of samples."""
        concepts = tuple(CONCEPT + concept for concept in self.knowledge.space.names)
        tags = (BOUNDARY + label for label in self.knowledge.label_names if BOUNDARY + label in self.columns)
        shown = ("index", *(LABEL + label for label in self.knowledge.label_names), *tags)
        group = next((names for names in (concepts, shown) if name in names), (name,))
        return self._read_columns(group)[name]

    def _columns(self, names: tuple[str, ...]) -> pa.Table:
        return pa.concat_tables([_read(path, list(names)) for path in self.shards])

    def _codes(self, name: str) -> Codes:
        kind = CONCEPT if name.startswith(CONCEPT) else LABEL
        bare = name.removeprefix(kind)
        values = (self.knowledge.space.concept(bare) if kind == CONCEPT else self.knowledge.label(bare)).values
        return from_column(self.column(name), values, name)

    def _shard_column(self, shard: int, name: str) -> pa.ChunkedArray:
        return _read(self.shards[shard], [name])[name]


class BoundaryTags:
    """The boundary tags of examples for one label: variants, near-boundary types, or far."""

    def __init__(self, column: pa.ChunkedArray, labels: Codes) -> None:
        numbered = column.combine_chunks().dictionary_encode()
        self.which = plain_numbers(numbered.indices)
        self.texts: list[str] = numbered.dictionary.to_pylist()
        parts = [text.split("; ") for text in self.texts]
        names = dict.fromkeys(name for part in parts for name in part)
        self.members = {name: np.array([name in part for part in parts]) for name in names}
        true = set(np.unique(self.which[labels == 1]).tolist())
        self.kinds = {name: self._kind(name, true) for name in names}

    def _kind(self, name: str, true: set[int]) -> str:
        """Return whether a tag names a variant, a near-boundary type or a change, or says that all are far."""
        if name == FAR or name.startswith("change "):
            return FAR if name == FAR else "changes"
        return "holds" if true & set(np.flatnonzero(self.members[name]).tolist()) else "just misses"

    def tags(self, row: int) -> list[str]:
        """Return the tags of a row."""
        return self.texts[int(self.which[row])].split("; ")

    def mask(self, wanted: str) -> Array:
        """Return which rows have a tag, or with `*near` and `*holds` any tag of that kind."""
        kinds = {"*near": ("just misses", "changes"), "*holds": ("holds",)}.get(wanted)
        names = [wanted] if kinds is None else [name for name, kind in self.kinds.items() if kind in kinds]
        texts = np.zeros(len(self.texts), dtype=bool)
        for name in names:
            texts |= self.members.get(name, False)
        return np.asarray(texts[self.which])

    def counts(self, rows: Array) -> list[dict[str, Any]]:
        """Return each tag with its kind, and how many of the rows have it."""
        per_text = np.bincount(self.which[rows], minlength=len(self.texts))
        return [
            {"name": n, "kind": self.kinds[n], "count": int(per_text[members].sum())}
            for n, members in self.members.items()
        ]


def _open(path: Path) -> pq.ParquetFile:
    try:
        return open_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None


def _read(path: Path, columns: list[str] | None) -> pa.Table:
    try:
        return _open(path).read(columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None

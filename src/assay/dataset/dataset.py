"""A dataset, read: the rule, and each split's concepts, labels, styles and pictures."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import (
    Codes,
    DataError,
    Folder,
    RemotePath,
    UnknownName,
    distinct_rows,
    folder_at,
    html_lines,
    refuse_links,
    shorten,
    suggestion,
)
from assay.contracts import CONCEPT, LABEL, PAIR_CONCEPT, PAIR_ROW, PAIRS, Manifest, PairsRecord, ShardRecord
from assay.dataset.folder import fetch, open_copy, read_manifest
from assay.dataset.split import SplitData, example_table
from assay.dataset.stored import ShardFile, ShardTable, SplitShards, StoredRows
from assay.logic import Knowledge, parse
from assay.render import Layout


@dataclass(frozen=True, repr=False)
class Dataset:
    """A dataset folder; `Dataset.open` checks that it is whole, `dataset["train"]` reads a split, checking hashes."""

    folder: Path
    manifest: Manifest
    origin: RemotePath | None = None
    """Where it really lies, if not on this machine: its shards are fetched into the folder when they are asked for."""

    @classmethod
    def open(cls, where: Folder | str) -> "Dataset":
        """Open a folder that `assay make` wrote, here or at an address such as `s3://bucket/folder`."""
        folder = folder_at(where)
        if isinstance(folder, RemotePath):
            return cls(*open_copy(folder), folder)
        refuse_links(folder)
        manifest = read_manifest(folder)
        for shard in manifest.shards:
            _check_size(folder / shard.file, shard)
        return cls(folder, manifest)

    @property
    def fingerprint(self) -> str:
        """What stands for this data and rule in predictions and records."""
        return self.manifest.fingerprint

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.manifest.task.name

    @cached_property
    def knowledge(self) -> Knowledge:
        """The concepts and the rule."""
        return Knowledge.from_dict(self.manifest.knowledge)

    @cached_property
    def layout(self) -> Layout:
        """The size of the pictures, and where each concept shows."""
        return Layout.from_dict(self.manifest.layout)

    @property
    def split_names(self) -> tuple[str, ...]:
        """The names of the splits, in order."""
        return tuple(split.name for split in self.manifest.splits)

    @property
    def sizes(self) -> dict[str, int]:
        """How many examples each split has, counterfactual worlds included."""
        pairs = {} if self.pairs is None else {PAIRS: self.pairs.size}
        return {split.name: split.size for split in self.manifest.splits} | pairs

    def __contains__(self, name: str) -> bool:
        return name in self.split_names or (name == PAIRS and self.pairs is not None)

    @property
    def pairs(self) -> PairsRecord | None:
        """What the manifest says of the split of counterfactual worlds, if there is one."""
        return self.manifest.pairs if self.manifest.pairs.shards else None

    def __getitem__(self, name: str) -> SplitData:
        return self.read(name)

    def read(self, name: str, columns: Sequence[str] | None = None) -> SplitData:
        """Read a split, or some columns of it; pictures are left on disk until they are asked for."""
        if name == PAIRS and self.pairs is None:
            raise DataError(f"{str(self.folder)!r} has no counterfactual worlds: {self.why_no_pairs}")
        if name not in self:
            raise UnknownName(f"no split named {name!r}{suggestion(name, self.split_names)}")
        split = self.manifest.pairs if name == PAIRS else self.manifest.splits_by_name[name]
        self._fetch(split.shards)
        shards = tuple(ShardFile.of(self.folder, entry) for entry in split.shards)
        parts = [ShardTable.read(shard, columns) for shard in shards]
        table = pa.concat_tables([part.table for part in parts])
        stored = _stored(shards, parts, parts[0].columns if columns is None else tuple(columns))
        return SplitData(name, self.fingerprint, self.knowledge, self.layout, table, parse(split.where), stored)

    @property
    def why_no_pairs(self) -> str:
        """Why there are no counterfactual worlds."""
        return self.manifest.pairs.none or "it was made without; add them: assay pairs DATA"

    def fetch_all(self) -> "Dataset":
        """Return the dataset with all of its files on this machine."""
        self._fetch(self.manifest.shards)
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(self.split_names)

    def __repr__(self) -> str:
        sizes = [f"{split.name} {split.size:,}" for split in self.manifest.splits]
        sizes += [f"pairs {self.pairs.size:,}"] if self.pairs is not None else []
        rules = "; ".join(label.equation for label in self.knowledge.labels)
        layout = self.layout
        lines = {
            f"Dataset {self.name}": f"seed {self.manifest.seed}, fingerprint {self.fingerprint[:12]}",
            "  concepts": shorten(", ".join(self.knowledge.space.names), 70),
            "  rule": shorten(rules, 90),
            "  splits": shorten(", ".join(sizes), 90),
            "  pictures": f"{layout.width} x {layout.height}, {'grey' if layout.channels == 1 else 'colour'}",
            "  folder": ("..." if len(str(self.folder)) > 60 else "") + str(self.folder)[-60:],
        }
        return "\n".join(f"{name:<11} {value}" for name, value in lines.items())

    def _repr_html_(self) -> str:
        name = next(iter(self.split_names), None)
        text = html_lines(repr(self))
        return text if name is None else text + example_table(self[name], range(min(4, len(self[name]))))

    def _fetch(self, shards: Sequence[ShardRecord]) -> None:
        if self.origin is not None:
            fetch(self.origin, self.folder, shards)

    def place(self, run: Path) -> dict[str, str]:
        """Return what a run's folder says of its dataset: where it lies, also as seen from the run, and which it is."""
        known = {"fingerprint": self.fingerprint, "task": self.name}
        if self.origin is not None:
            return {"folder": str(self.origin), **known}
        folder = self.folder.resolve()
        return {"folder": str(folder), "from_run": Path(os.path.relpath(folder, run.resolve())).as_posix(), **known}

    def symbols(self, name: str, styles: bool = True, given: bool = False) -> SplitData:
        """Read a split without its pictures, and if asked without the styles, which are most of what is left.

        With `given`, an annotated copy's labels and concepts, from which models learn, are read too.
        """
        knowledge = self.knowledge
        concepts = [CONCEPT + concept for concept in knowledge.space.names]
        more = [PAIR_ROW, PAIR_CONCEPT] if name == PAIRS else []
        labels = [LABEL + label for label in knowledge.label_names]
        annotation = self.manifest.task.annotation if given and name != PAIRS else None
        more += [] if annotation is None else annotation.given
        return self.read(name, ["index", *concepts, *labels, *(["style"] if styles else []), *more])


def _stored(shards: tuple[ShardFile, ...], parts: Sequence[ShardTable], columns: tuple[str, ...]) -> StoredRows | None:
    """Return all rows of a split whose pictures stay on disk, None if none of these columns holds pictures."""
    pictures = [name for name in parts[0].picture_bytes if name in columns]
    sizes = {name: sum(part.picture_bytes[name] for part in parts) for name in pictures}
    return StoredRows.of(SplitShards(shards, columns, sizes)) if pictures else None


def _check_size(path: Path, shard: ShardRecord) -> None:
    found = path.stat().st_size if path.is_file() else None
    if found is None:
        raise DataError(f"shard {str(path)!r} is missing; make the dataset again")
    if found != shard.bytes:
        raise DataError(f"shard {str(path)!r} has {found} bytes instead of {shard.bytes}: it is damaged")


def provenance(dataset: Dataset) -> dict[str, Any]:
    """Return what every number about a dataset is traced by."""
    return {
        "task": dataset.name,
        "fingerprint": dataset.fingerprint,
        "data_seed": dataset.manifest.seed,
        "versions": dataset.manifest.versions,
    }


def training_worlds(dataset: Dataset) -> Codes | None:
    """Return the distinct worlds that training showed, those that are wholly known, or None if there are none."""
    names = [name for name in dataset.split_names if name.startswith("train")]
    if not names:
        return None
    codes = np.concatenate([dataset.symbols(name, styles=False).concepts for name in names])
    worlds = codes[distinct_rows(codes).first]
    whole = worlds[(worlds >= 0).all(axis=1)]
    return whole if len(whole) else None

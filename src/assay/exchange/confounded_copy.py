"""Plant marks that go with labels in a dataset that is there, imported ones included: a copy with marked pictures.

Marks need pixels only. Parts of the style and formulas over concepts need worlds to be drawn anew: make such a dataset
with `assay make TASK --set confound=...`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from assay.base import Array, ConfigError, DataError
from assay.contracts import PAIRS, Manifest, ShardRecord
from assay.dataset import (
    COMPACT,
    NUISANCES,
    SHIFTED,
    Confounder,
    Coupling,
    Dataset,
    SplitData,
    couplings_of,
    draw_codes,
    file_names,
    pairs_split,
    replace_dataset,
    versions,
    write_description,
    write_shards,
)
from assay.render import MARK_NAMES, Picture, encode_png, mark_picture, open_image

MASKS = ("things", "instances", "parts", "depth")


def confound_dataset(dataset: Dataset, confounders: Sequence[Confounder], folder: Path) -> Manifest:
    """Write a copy of a dataset whose pictures carry marks that go with their labels, and return its manifest.

    Parameters
    ----------
    dataset
        The dataset, without confounders.
    confounders
        The marks and what they go with.
    folder
        The folder of the copy.
    """
    couplings = _check(dataset, confounders)
    with replace_dataset(folder, lambda there: there.confounded_from == dataset.fingerprint) as half:
        return _write(Copying(dataset, couplings, half))


def _check(dataset: Dataset, confounders: Sequence[Confounder]) -> tuple[Coupling, ...]:
    if dataset.manifest.task.confound:
        raise ConfigError(f"{str(dataset.folder)!r} has confounders already; begin with the dataset without")
    if "image" not in dataset.manifest.columns:
        raise ConfigError(f"{str(dataset.folder)!r} has no pictures to mark")
    if not confounders:
        raise ConfigError("confound: name a mark and what it goes with, such as --what watermark --with LABEL")
    for confounder in confounders:
        if confounder.what not in MARK_NAMES:
            raise ConfigError(
                f"confound: {confounder.what!r} needs worlds to be drawn anew: assay make TASK --set confound=...; "
                f"on pictures that are there go {', '.join(MARK_NAMES)}"
            )
        if confounder.what == "position" and any(column in dataset.manifest.columns for column in MASKS):
            raise ConfigError("confound: 'position' would move pictures and not their masks; make the dataset anew")
    return couplings_of(confounders, dataset.knowledge)


@dataclass(frozen=True)
class Copying:
    """A dataset, what is planted in it, and the folder of the copy."""

    dataset: Dataset
    couplings: tuple[Coupling, ...]
    folder: Path

    @property
    def rows(self) -> int:
        """How many rows a shard has."""
        return self.dataset.manifest.shard_rows

    def codes(self, split: str, data: SplitData, index: Array) -> list[list[int]]:
        """Return the codes of the nuisances of examples of a split, which are those of `data`."""
        partners = np.stack([one.partner(data.concepts, data.labels) for one in self.couplings], axis=1)
        seed = self.dataset.manifest.seed
        return draw_codes(self.couplings, split, data.name, seed, index, partners)

    def write(self, split: str, origin: str) -> list[ShardRecord]:
        """Write a split that shows the examples of `origin`, and return the records of its shards."""
        parts = self.dataset[origin].pieces(self.rows)
        tables = (self.mark_rows(part.full_table(), split, self.codes(split, part, part.index)) for part in parts)
        return write_shards(split, tables, self.folder)

    def write_pairs(self, origin: str) -> list[ShardRecord]:
        """Write the counterfactual worlds, each marked as the example that it was changed from."""
        changed, data = self.dataset[PAIRS], self.dataset.symbols(origin)
        codes = self.codes(origin, data, data.index)
        by_index = dict(zip(data.index.tolist(), codes, strict=True))
        tables = (
            self.mark_rows(part.full_table(), PAIRS, [by_index[row] for row in part.pair_rows.tolist()])
            for part in changed.pieces(self.rows)
        )
        return write_shards(PAIRS, tables, self.folder)

    def mark_rows(self, table: pa.Table, split: str, codes: Sequence[Sequence[int]]) -> pa.Table:
        """Return rows with marked pictures, and the codes in their styles."""
        names = [coupling.name for coupling in self.couplings]
        styles = [
            COMPACT.encode({**json.loads(style), NUISANCES: dict(zip(names, row, strict=True))})
            for style, row in zip(table["style"].to_pylist(), codes, strict=True)
        ]
        files = [self._mark(cell["bytes"], row) for cell, row in zip(table["image"].to_pylist(), codes, strict=True)]
        paths = file_names(split, np.array(table["index"].to_pylist()))
        cells = [{"bytes": data, "path": path} for data, path in zip(files, paths, strict=True)]
        for name, values in (("image", cells), ("style", styles)):
            place = table.column_names.index(name)
            table = table.set_column(place, table.field(name), pa.array(values, table.field(name).type))
        return table

    def _mark(self, data: bytes, codes: Sequence[int]) -> bytes:
        picture = Picture(np.asarray(open_image(data, "a picture")))
        for coupling, code in zip(self.couplings, codes, strict=True):
            picture = mark_picture(picture, coupling.name, code, coupling.count)
        return encode_png(picture.image)


def _write(copying: Copying) -> Manifest:
    dataset = copying.dataset
    origin = pairs_split(dataset.split_names)
    if origin is None:
        raise DataError(f"{str(dataset.folder)!r} has no test split to show again without the confounder")
    old, entries = dataset.manifest, dataset.manifest.splits_by_name
    splits = [entry.but(shards=copying.write(name, name)) for name, entry in entries.items()]
    splits += [entries[origin].but(name=name, shards=copying.write(name, origin)) for name in SHIFTED]
    pairs = old.pairs if dataset.pairs is None else old.pairs.but(shards=copying.write_pairs(origin))
    planted = [coupling.confounder.to_dict() for coupling in copying.couplings]
    body = {
        **old.to_dict(),
        "task": old.task.but(confound=planted),
        "splits": splits,
        "versions": versions(),
        "confounded_from": dataset.fingerprint,
        PAIRS: pairs,
    }
    return write_description(copying.folder, Manifest.of(body))

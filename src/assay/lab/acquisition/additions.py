"""Add examples to the training split of a dataset: a copy with one more shard, all other files as they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.base import DataError, copy_file
from assay.contracts import GIVEN, Manifest, SplitRecord
from assay.dataset import Dataset, replace_dataset, split_counts, versions, write_description, write_shards


def add_examples(
    dataset: Dataset, table: pa.Table, folder: Path, about: Mapping[str, Any], split: str = "train"
) -> Manifest:
    """Write a copy of a dataset with further rows in a split, and return its manifest."""
    if any(name.startswith(GIVEN) for name in dataset[split].columns):
        raise DataError(
            f"{str(dataset.folder)!r} is an annotated copy; add examples to the dataset that it was made of"
        )
    with replace_dataset(folder, lambda there: (there.task.added or {}).get("parent") == dataset.fingerprint) as half:
        return _write(dataset.fetch_all(), table, half, about, split)


def _write(dataset: Dataset, table: pa.Table, folder: Path, about: Mapping[str, Any], split: str) -> Manifest:
    old = dataset.manifest
    for shard in old.shards:
        copy_file(dataset.folder / shard.file, folder / shard.file)
    splits = [
        entry.but(**_extended(dataset, table, folder, entry)) if entry.name == split else entry for entry in old.splits
    ]
    added = {"parent": dataset.fingerprint, "split": split, "examples": table.num_rows, **about}
    body = {**old.to_dict(), "task": old.task.but(added=added), "splits": splits, "versions": versions()}
    return write_description(folder, Manifest.of(body))


def _extended(dataset: Dataset, table: pa.Table, folder: Path, entry: SplitRecord) -> dict[str, Any]:
    """Write the further rows as a shard, and return what of the split's entry changes."""
    whole = dataset[entry.name].table
    return {
        "size": whole.num_rows + table.num_rows,
        "shards": [*entry.shards, *write_shards(entry.name, [table], folder, len(entry.shards))],
        **split_counts(dataset.knowledge, [whole, table]),
    }

"""Add examples to the training split of a dataset: a copy with one more shard, all other files as they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import AssayError, DataError, copy_file, write_folder
from assay.contracts import BOUNDARY, GIVEN, LABEL, Manifest, SplitRecord, from_column
from assay.dataset import Dataset, ShardJob, read_manifest, record, versions, write_description, write_shard
from assay.exchange import count_labels, count_tags

"""What a manifest says of examples that were added."""


def add_examples(
    dataset: Dataset, table: pa.Table, folder: Path, about: Mapping[str, Any], split: str = "train"
) -> Manifest:
    """Write a copy of a dataset with further rows in a split, and return its manifest."""
    if any(name.startswith(GIVEN) for name in dataset[split].columns):
        raise DataError(
            f"{str(dataset.folder)!r} is an annotated copy; add examples to the dataset that it was made of"
        )
    with write_folder(folder, lambda there: _is_of(there, dataset)) as half:
        return _write(dataset.fetch_all(), table, half, about, split)


def _is_of(folder: Path, dataset: Dataset) -> bool:
    """Return whether a folder holds a dataset with examples added to this one."""
    try:
        return bool((read_manifest(folder).task.added or {}).get("parent") == dataset.fingerprint)
    except AssayError:
        return False


def _write(dataset: Dataset, table: pa.Table, folder: Path, about: Mapping[str, Any], split: str) -> Manifest:
    old = dataset.manifest
    for shard in old.shards:
        copy_file(dataset.folder / shard.file, folder / shard.file)
    splits = [
        entry.but(**_extended(dataset, table, folder, entry)) if entry.name == split else entry for entry in old.splits
    ]
    added = {"parent": dataset.fingerprint, "split": split, "examples": table.num_rows, **about}
    body = {**old.to_dict(), "task": old.task.but(added=added), "splits": splits, "versions": versions()}
    manifest = Manifest.of(body)
    write_description(folder, manifest)
    return manifest


def _extended(dataset: Dataset, table: pa.Table, folder: Path, entry: SplitRecord) -> dict[str, Any]:
    """Write the further rows as a shard, and return what of the split's entry changes."""
    job = ShardJob(entry.name, len(entry.shards))
    write_shard(table, job, folder)
    whole, knowledge = dataset[entry.name], dataset.knowledge
    new = [from_column(table[LABEL + label.name], label.values, label.name) for label in knowledge.labels]
    tags = count_tags(knowledge, pa.concat_tables([part.select(_tag_columns(part)) for part in (whole.table, table)]))
    return {
        "size": len(whole) + table.num_rows,
        "shards": [*entry.shards, record(folder, job)],
        "labels": count_labels(knowledge, np.concatenate([whole.labels, np.stack(new, axis=1)])),
        "boundary": tags,
    }


def _tag_columns(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name.startswith(BOUNDARY)]

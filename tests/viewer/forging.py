"""Datasets that are changed by hand so that their hashes fit."""

import hashlib
import json
import shutil
from itertools import accumulate
from pathlib import Path

import pyarrow.parquet as pq

from assay.contracts import fingerprint


def change_manifest(folder: Path, change):
    """Change the manifest of a dataset so that its fingerprint fits."""
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    manifest["fingerprint"] = fingerprint(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def forged(source: Path, target: Path, change):
    """Copy a dataset and change its manifest."""
    shutil.copytree(source, target)
    return change_manifest(target, change)


def divide(folder: Path, sizes, change=lambda table: table):
    """Write the test split of a dataset into files of so many rows."""

    def listed_anew(manifest):
        split = next(one for one in manifest["splits"] if one["name"] == "test")
        (old,) = split["shards"]
        table = change(pq.ParquetFile(folder / old["file"]).read())
        split["shards"] = []
        for number, (size, end) in enumerate(zip(sizes, accumulate(sizes), strict=True)):
            file = f"test/part-{number}.parquet"
            pq.write_table(table.slice(end - size, size), folder / file, use_dictionary=False)
            held = (folder / file).read_bytes()
            told = {"rows": size, "bytes": len(held), "sha256": hashlib.sha256(held).hexdigest()}
            split["shards"].append({**old, "file": file, **told})

    return change_manifest(folder, listed_anew)

"""A dataset of 100,000 samples: pages read symbols only, a picture one file; `benchmarks/viewer.py` has the times."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.contracts import fingerprint
from assay.data import CONCEPT, numbers
from assay.predictions import Answer, Predictions
from assay.viewer import State
from assay.viewer import table as tables
from assay.viewer.compare import compare_runs
from assay.viewer.query import Query
from assay.viewer.samples import page_of, sample_of
from assay.viewer.table import SplitTable

SHARDS, ROWS = 100, 1000


@pytest.fixture(scope="module")
def many(folder, tmp_path_factory):
    """The pixels again and again, in as many files as `assay make` would write, and answers for all of them."""
    out = tmp_path_factory.mktemp("many")
    shutil.copytree(folder / "data" / "pixels", out / "data")
    manifest = json.loads((out / "data" / "manifest.json").read_text())
    split = next(one for one in manifest["splits"] if one["name"] == "test")
    whole = pq.ParquetFile(out / "data" / split["shards"][0]["file"]).read()
    whole = whole.take(pa.array(np.arange(ROWS) % len(whole)))
    split["size"], split["shards"] = SHARDS * ROWS, []
    for number in range(SHARDS):
        path = out / "data" / "test" / f"part-{number:05d}.parquet"
        pq.write_table(whole.set_column(0, "index", numbers(np.arange(ROWS) + number * ROWS)), path, compression="zstd")
        split["shards"].append({"file": f"test/{path.name}", "rows": ROWS, "bytes": path.stat().st_size, "sha256": ""})
    manifest["fingerprint"] = fingerprint(manifest)
    (out / "data" / "manifest.json").write_text(json.dumps(manifest))
    table = SplitTable(State.open([out / "data"]).shelf["data"], "test")
    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        answers = {column: Answer.of(rng.dirichlet([1, 1], SHARDS * ROWS)) for column in ("y", "a", "b", "c")}
        label = {"y": answers.pop("y")}
        Predictions(manifest["fingerprint"], "test", table.index, label, answers).write(
            out / f"{name}.parquet", table.knowledge
        )
    return [out / "data", out / "one.parquet", out / "two.parquet"]


@pytest.fixture
def reads(monkeypatch):
    """The files and columns that were read so far."""
    seen, read = [], tables._read
    monkeypatch.setattr(tables, "_read", lambda path, columns: seen.append((path, columns)) or read(path, columns))
    return seen


def test_pages_and_filters_read_no_pictures(many, reads):
    state = State.open(many)
    page = lambda **query: page_of(state, "data", "test", Query(**query))  # noqa: E731
    table = state.table("data", "test")
    assert page()["total"] == SHARDS * ROWS and len(page()["rows"]) < 100
    assert page(labels=(("y", "1"),))["total"] == (table.labels == 1).sum()
    both = (table.codes(CONCEPT + "a") == 1) & (table.codes(CONCEPT + "b") == 0)
    assert page(concepts=(("a", "1"), ("b", "0")))["total"] == both.sum()
    wrong = page(runs=("one",), outcome="wrong")["total"]
    assert 0 < page(tags=(("y", "*near"),), runs=("one",), outcome="wrong")["total"] <= wrong < SHARDS * ROWS
    assert 0 < page(runs=("one", "two"), outcome="differ")["total"] < SHARDS * ROWS
    assert compare_runs(state, "data", "test", ["one", "two"])
    assert not [columns for _, columns in reads if columns is None or "image" in columns]
    assert len(reads) == len(set(map(str, reads)))  # nothing is read twice


def test_a_picture_and_a_sample_are_read_from_their_own_file(many, reads):
    state = State.open(many)
    assert state.table("data", "test").file("image", 77_777).startswith(b"\x89PNG")
    assert reads == [(many[0] / "test" / "part-00077.parquet", ["image"])]
    assert sample_of(state, "data", "test", 77_777, Query(runs=("one",)))
    assert {path.name for path, columns in reads if columns is None or "image" in columns} == {"part-00077.parquet"}

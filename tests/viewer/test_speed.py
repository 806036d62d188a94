"""A dataset of 100,000 samples: pages and filters in under a second of one core."""

import json
import shutil
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.data.columns import numbers
from assay.data.manifest import fingerprint
from assay.predictions import Answer, Predictions
from assay.viewer.compare import compared
from assay.viewer.samples import Query, page_of, sample_of
from assay.viewer.state import State
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


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def test_first_page_and_filters_take_less_than_a_second(many):
    state = State.open(many)
    page = lambda **query: lambda: page_of(state, "data", "test", Query(**query))  # noqa: E731
    works = {
        "open": lambda: State.open(many),
        "first page": page(),
        "label": page(labels=(("y", "1"),)),
        "near": page(tags=(("y", "*near"),)),
        "concept": page(concepts=(("a", "1"), ("b", "0"))),
        "near errors": page(tags=(("y", "*near"),), run="one", outcome="wrong"),
        "misread": page(run="one", outcome="misread"),
        "differ": page(run="one", versus="two", outcome="differ"),
        "picture": lambda: state.table("data", "test").file("image", 77_777),
        "sample": lambda: sample_of(state, "data", "test", 77_777, Query(run="one", outcome="wrong")),
        "compare": lambda: compared(state, "data", "test", "one", "two"),
    }
    taken = {name: seconds(work) for name, work in works.items()}
    assert max(taken.values()) < 1, taken
    assert page()()["total"] == SHARDS * ROWS

"""A bundle is the same page with some samples as files, and nothing of this machine."""

import json
from itertools import combinations

import numpy as np
import pytest

from assay.base import DataError
from assay.dataset import Dataset
from assay.lab import RunModels
from assay.viewer import State, write_bundle
from tests.canned import bits, run_of

HELD = 12


@pytest.fixture(scope="module")
def state(folder):
    return State.open([folder], RunModels())


@pytest.fixture(scope="module")
def bundle(state, tmp_path_factory):
    out = tmp_path_factory.mktemp("bundle") / "out"
    write_bundle(state, out, samples=HELD)
    return out


def read(bundle, path):
    return json.loads((bundle / path).read_text())


def test_it_holds_samples_and_pictures_as_the_server_tells_them(bundle, viewer):
    held = read(bundle, "data/pixels/test.json")
    assert held["whole"] == 64 and len(held["samples"]) == HELD
    for sample in held["samples"]:
        row = sample["row"]
        told = viewer.get(f"data/pixels/test/{row}.json")
        assert sample == {name: told[name] for name in sample}
        picture = viewer.ask(f"/api/data/pixels/test/{row}/image.png")[2]
        assert (bundle / f"data/pixels/test/{row}/image.png").read_bytes() == picture


def test_what_it_tells_of_datasets_and_runs_is_what_the_server_tells(bundle, viewer):
    for path in (
        "datasets/pixels", "datasets/pixels/shortcuts", "runs/pixels/poor", "runs/pixels/poor/verdict", "tasks/mnlogic",
    ):  # fmt: skip
        assert read(bundle, f"{path}.json") == viewer.get(f"{path}.json"), path
    for split in ("test", "hard"):
        assert read(bundle, f"runs/pixels/poor/{split}-reading.json") == viewer.get(
            f"runs/pixels/poor/{split}/reading.json"
        )
        told = viewer.get(f"datasets/pixels/{split}/distribution.json")
        assert read(bundle, f"datasets/pixels/{split}-distribution.json") == told
    held = {sample["row"] for sample in read(bundle, "data/pixels/test.json")["samples"]}
    pairs = read(bundle, "runs/pixels/good/pairs.json")["pairs"]
    assert pairs and all(pair["sides"][0]["row"] in held for pair in pairs)  # where their original is held


def test_it_compares_over_all_rows(bundle, viewer):
    held = read(bundle, "data/pixels/test/compare-0-1.json")
    assert held == viewer.get("data/pixels/test/compare.json", [("run", "good"), ("run", "poor")])
    assert held["rows"] == 64


def test_few_runs_are_compared_in_every_choice_and_many_two_at_a_time_and_all(tmp_path):
    data = bits(tmp_path / "data" / "bits")
    for count, sizes in ((5, range(2, 6)), (6, (2, 6))):
        for place in range(count):
            if not (tmp_path / "runs" / f"r{place}").exists():
                run_of(data, tmp_path / "runs" / f"r{place}", "noisy", place, pairs=False)
        write_bundle(State.open([tmp_path]), tmp_path / f"out{count}", samples=2)
        names = {path.name for path in (tmp_path / f"out{count}" / "data" / "bits" / "test").glob("compare-*.json")}
        choices = [places for size in sizes for places in combinations(range(count), size)]
        assert names == {f"compare-{'-'.join(map(str, places))}.json" for places in choices}


def test_half_of_it_are_errors_near_the_boundary_first(state, folder, viewer, tmp_path):
    wrong = {row for run in ("good", "poor") for outcome in ("wrong", "misread")
             for row in viewer.rows("test", [("run", run), ("outcome", outcome)])}  # fmt: skip
    near = wrong & set(viewer.rows("test", [("tag", "y:*near")]))
    for most in (3, HELD):
        write_bundle(state, tmp_path / str(most), samples=most)
        held = {sample["row"] for sample in read(tmp_path / str(most), "data/pixels/test.json")["samples"]}
        assert len(held) == min(most, 64)
        assert len(held & wrong) >= min(most // 2, len(wrong)) and len(held & near) >= min(most // 2, len(near))


def test_it_names_no_path_and_is_read_by_the_page_as_a_bundle(bundle, folder):
    files = [path for path in bundle.rglob("*") if path.is_file()]
    assert not [path for path in files if str(folder).encode() in path.read_bytes()]
    assert 'data-source="bundle"' in (bundle / "index.html").read_text()
    assert read(bundle, "shelf.json")["live"] is False


def test_it_never_writes_over_anything(bundle, state, tmp_path):
    with pytest.raises(DataError, match="is not an empty folder"):
        write_bundle(state, bundle)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="is not an empty folder"):
        write_bundle(state, tmp_path / "file")


def test_what_cannot_be_told_is_written_as_the_reason(folder, tmp_path):
    write_bundle(State.open([folder]), tmp_path / "out", samples=2)  # without a way to ask models
    told = read(tmp_path / "out", "runs/pixels/good/test-interventions-fixed.json")
    assert "without a way to ask models" in told["error"]
    assert Dataset.open(folder / "data" / "pixels").fingerprint in (tmp_path / "out" / "shelf.json").read_text()
    rows = [sample["row"] for sample in read(tmp_path / "out", "data/pixels/test.json")["samples"]]
    shown = read(tmp_path / "out", "shelf.json")["datasets"][0]["preview"]
    assert shown["rows"] == sorted(np.unique(rows).tolist())

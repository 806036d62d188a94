"""A bundle is the same page with some samples as files, and nothing of this machine."""

import json

import numpy as np
import pytest

from assay.errors import DataError
from assay.viewer import write_bundle
from assay.viewer.bundle import choose_rows
from assay.viewer.compare import compare_runs
from assay.viewer.samples import sample_of


@pytest.fixture(scope="module")
def bundle(state, tmp_path_factory):
    out = tmp_path_factory.mktemp("bundle") / "out"
    write_bundle(state, out, samples=12)
    return out


def test_it_holds_samples_as_the_server_tells_them(bundle, state):
    held = json.loads((bundle / "data/pixels/test.json").read_text())
    assert held["whole"] == 64 and len(held["samples"]) == 12
    for sample in held["samples"]:
        assert sample == json.loads(json.dumps(sample_of(state, "pixels", "test", sample["row"])))
        picture = bundle / f"data/pixels/test/{sample['row']}/image.png"
        assert picture.read_bytes() == state.table("pixels", "test").file("image", sample["row"])


def test_it_compares_over_all_rows(bundle, state):
    held = json.loads((bundle / "data/pixels/test/compare-0-1.json").read_text())
    assert held == compare_runs(state, "pixels", "test", ["good", "poor"]) and held["rows"] == 64


def test_half_of_it_are_errors_near_the_boundary_first(state):
    held, table = state.shelf["pixels"], state.table("pixels", "test")
    rows = choose_rows(state, held, table, 12)
    found = [state.answers("pixels", "test", run) for run in held.runs]
    wrong = np.any([~one.right | one.misread for one in found], axis=0)
    near = table.sides["y"].mask("*near")
    assert len(set(rows.tolist())) == 12 and wrong[rows].sum() >= min(6, wrong.sum())
    assert near[rows].sum() >= min(6, (wrong & near).sum())
    assert choose_rows(state, held, table, 1000).tolist() == list(range(64))


def test_it_names_no_path_and_is_read_by_the_page_as_a_bundle(bundle, folder):
    files = [path for path in bundle.rglob("*") if path.is_file()]
    assert not [path for path in files if str(folder).encode() in path.read_bytes()]
    assert 'data-source="bundle"' in (bundle / "index.html").read_text()
    assert json.loads((bundle / "shelf.json").read_text())["live"] is False


def test_it_never_writes_over_anything(bundle, state, tmp_path):
    with pytest.raises(DataError, match="is not an empty folder"):
        write_bundle(state, bundle)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="is not an empty folder"):
        write_bundle(state, tmp_path / "file")

"""Samples of a split: places in the rule, steps within a filter, what each run says of one, and what is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.metrics import gather_from
from assay.runs import RunFolder


@pytest.fixture(scope="module")
def truth(data):
    return data["test"]


def test_places_in_the_rule(viewer, truth):
    boundary = truth.knowledge.boundaries[0]
    wanted = {"*near": boundary.near(truth.concepts), "*holds": truth.labels[:, 0] == 1}
    inside = boundary.in_variants(truth.concepts), boundary.in_types(truth.concepts)
    for regions, masks in zip((boundary.variants, boundary.types), inside, strict=True):
        wanted |= {region.name: masks[:, place] for place, region in enumerate(regions)}
    for tag, mask in wanted.items():
        assert viewer.rows("test", [("tag", f"y:{tag}")]) == np.flatnonzero(mask).tolist(), tag


def test_pages_have_their_own_rows(viewer):
    first, last = (viewer.get("data/pixels/test.json", [("page", page)]) for page in (0, 99))
    assert [first["page"], last["page"], first["pages"]] == [0, 1, 2] and len(first["rows"]) == 48
    assert len(first["rows"]) + len(last["rows"]) == first["total"] == 64


def test_a_sample_has_what_is_true_and_what_was_said(viewer, folder, data, truth):
    said = RunFolder(folder / "runs" / "good").all_predictions(data.knowledge)["test"]
    evidence = gather_from(data, said)
    found = viewer.get("data/pixels/test/5.json")
    assert found["world"] == truth.world(5).text and (found["before"], found["after"]) == (4, 6)
    labels = found["answers"]["good"]["labels"]
    assert labels[0]["probabilities"] == pytest.approx(evidence.label_probabilities[0][5].tolist(), abs=1e-4)


def test_steps_stay_within_the_filter(viewer):
    query = [("run", "poor"), ("outcome", "wrong")]
    chosen = viewer.rows("test", query)
    outside = next(row for row in range(chosen[0], chosen[-1]) if row not in chosen)
    for row in (chosen[0], chosen[1], chosen[-1], outside):
        found = viewer.get(f"data/pixels/test/{row}.json", query)
        before, after = [one for one in chosen if one < row], [one for one in chosen if one > row]
        assert (found["before"], found["after"]) == (before[-1] if before else None, after[0] if after else None)


def test_answers_in_another_order_and_for_some_rows_only(viewer, opened, folder, tmp_path):
    whole = pq.ParquetFile(folder / "runs" / "poor" / "predictions" / "test.parquet").read()
    pq.write_table(whole.take(pa.array([9, 3, 7])), tmp_path / "few.parquet")
    few = opened(folder / "data", tmp_path / "few.parquet")
    for row in (3, 7, 9):
        ours = few.get(f"data/pixels/test/{row}.json")["answers"]["few"]
        assert ours == viewer.get(f"data/pixels/test/{row}.json")["answers"]["poor"]
    assert few.get("data/pixels/test/4.json")["answers"]["few"] is None


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("label=y", "expected NAME:VALUE"),
        ("label=y:7", "a code from 0 to 1, not '7'"),
        ("label=y:-1", "a code from 0 to 1"),
        ("label=y:none", "a code from 0 to 1, not 'none'"),
        ("label=z:0", "no label named 'z'"),
        ("concept=d:0", "no concept named 'd'"),
        ("tag=z:far", "no boundary of label 'z'"),
        ("outcome=wrong", "name one"),
        ("run=poor&outcome=rong", "no outcome 'rong'"),
        ("run=poor&outcome=differ", "name a second"),
        ("run=poor&outcome=only_second", "name a second"),
        ("run=nobody&outcome=wrong", "no run 'nobody'"),
        ("reads=a:0:1", "name one"),
        ("run=poor&reads=a:0", "expected NAME:TRUE:PREDICTED"),
        ("run=poor&reads=a:0:2", "a code from 0 to 1"),
        ("run=poor&reads=a:none:1", "not 'none'"),
        ("run=poor&reads=d:0:1", "no concept named 'd'"),
        ("run=poor&predicts=z:0", "no label named 'z'"),
        ("run=poor&violates=some", "no constraint named 'some'"),
    ],
)
def test_a_query_that_makes_no_sense_is_one_line(viewer, query, error):
    assert error in viewer.why_not("data/pixels/test.json", [tuple(part.split("=")) for part in query.split("&")])


def test_a_split_without_answers_says_how_to_get_them(viewer):
    query = [("run", "poor"), ("outcome", "wrong")]
    assert "make some: assay predict" in viewer.why_not("data/pixels/train.json", query)
    assert viewer.get("data/pixels/train.json", query[:1])["rows"][0]["said"] == {}


def test_rows_that_are_not_there(viewer):
    assert "has no row 64; it has 64" in viewer.why_not("data/pixels/test/64.json")

"""Filters find what a plain look through all rows finds."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.errors import ConfigError, DataError, UnknownName
from assay.metrics import gather_from
from assay.runs import RunFolder
from assay.viewer import State
from assay.viewer.compare import compare_runs
from assay.viewer.datasets import facts
from assay.viewer.query import Query, matching_rows
from assay.viewer.samples import PAGE, page_of, sample_of

SPLIT = "test"


@pytest.fixture(scope="module")
def truth(data):
    return data[SPLIT]


@pytest.fixture(scope="module")
def said(folder, data):
    """What each run said, by the way that scores take."""
    runs = {name: RunFolder(folder / "runs" / name).all_predictions(data.knowledge)[SPLIT] for name in ("good", "poor")}
    return {name: gather_from(data, found) for name, found in runs.items()}


def rows(state, **query):
    return matching_rows(state, "pixels", SPLIT, Query(**query)).tolist()


def test_labels_and_concepts_by_code(state, truth):
    assert rows(state) == list(range(len(truth)))
    assert rows(state, labels=(("y", "1"),)) == np.flatnonzero(truth.labels[:, 0] == 1).tolist()
    both = (truth.concepts[:, 0] == 1) & (truth.concepts[:, 2] == 0)
    assert rows(state, concepts=(("a", "1"), ("c", "0"))) == np.flatnonzero(both).tolist()


def test_places_in_the_rule(state, truth):
    boundary = truth.knowledge.boundaries[0]
    near, holds = boundary.near(truth.concepts), truth.labels[:, 0] == 1
    assert rows(state, tags=(("y", "*near"),)) == np.flatnonzero(near).tolist()
    assert rows(state, tags=(("y", "*holds"),)) == np.flatnonzero(holds).tolist()
    for place, region in enumerate(boundary.variants):
        assert (
            rows(state, tags=(("y", region.name),))
            == np.flatnonzero(boundary.in_variants(truth.concepts)[:, place]).tolist()
        )
    for place, region in enumerate(boundary.types):
        assert (
            rows(state, tags=(("y", region.name),))
            == np.flatnonzero(boundary.in_types(truth.concepts)[:, place]).tolist()
        )
    assert rows(state, tags=(("y", "no such tag"),)) == []


def test_right_and_wrong(state, said):
    poor = said["poor"]
    right = (poor.labels == poor.predicted_labels).all(axis=1)
    misread = (poor.concepts != poor.predicted_concepts).any(axis=1)
    wanted = {"right": right, "wrong": ~right, "misread": misread, "hidden": right & misread}
    for outcome, mask in wanted.items():
        assert rows(state, runs=("poor",), outcome=outcome) == np.flatnonzero(mask).tolist(), outcome
    assert 0 < right.sum() < len(right) and rows(state, runs=("poor",), outcome="violating") == []


def test_two_runs(state, said):
    first, second = ((held.labels == held.predicted_labels).all(axis=1) for held in (said["good"], said["poor"]))
    differ = (said["good"].predicted_labels != said["poor"].predicted_labels).any(axis=1)
    wanted = {
        "only_first": first & ~second,
        "only_second": ~first & second,
        "all_wrong": ~first & ~second,
        "all_right": first & second,
        "differ": differ,
    }
    found = compare_runs(state, "pixels", SPLIT, ["good", "poor"])
    for outcome, mask in wanted.items():
        assert rows(state, runs=("good", "poor"), outcome=outcome) == np.flatnonzero(mask).tolist(), outcome
        assert found.get(outcome, mask.sum()) == mask.sum()
    assert found["only"] == [[0, (first & ~second).sum()], [(~first & second).sum(), 0]]
    assert found["right"] == [first.sum(), second.sum()] and found["rows"] == len(first)
    assert np.sum(found["labels"][0]["against"]) == len(first)
    accuracy = (said["poor"].concepts == said["poor"].predicted_concepts).mean(axis=0)
    assert [one["right"][1] for one in found["concepts"]] == pytest.approx(accuracy.tolist(), abs=1e-4)


def test_pages_and_counts(state, truth):
    first = page_of(state, "pixels", SPLIT, Query())
    last = page_of(state, "pixels", SPLIT, Query(), page=99)
    assert [first["page"], last["page"], first["pages"]] == [0, 1, 2] and len(first["rows"]) == PAGE
    assert len(first["rows"]) + len(last["rows"]) == first["total"] == len(truth)
    assert first["labels"]["y"] == np.bincount(truth.labels[:, 0]).tolist()
    kinds = {tag["name"]: (tag["kind"], tag["count"]) for tag in first["tags"]["y"]}
    assert {kind for kind, _ in kinds.values()} == {"holds", "just misses"}
    assert kinds["c"][1] == (truth.concepts[:, 2] == 1).sum()


def test_a_sample_has_what_is_true_and_what_was_said(state, truth, said):
    found = sample_of(state, "pixels", SPLIT, 5, Query())
    assert found["concepts"] == truth.concepts[5].tolist() and found["labels"] == truth.labels[5].tolist()
    assert found["world"] == truth.world(5).text and (found["before"], found["after"]) == (4, 6)
    answer = found["answers"]["good"]
    assert [one["code"] for one in answer["concepts"]] == said["good"].predicted_concepts[5].tolist()
    assert answer["labels"][0]["probabilities"] == pytest.approx(
        said["good"].label_probabilities[0][5].tolist(), abs=1e-4
    )
    assert answer["by_rule"] == truth.knowledge.labels_of(said["good"].predicted_concepts[5:6])[0].tolist()


def test_a_counterfactual_world_leads_to_its_sample(state, data):
    changed = data["pairs"]
    found = sample_of(state, "pixels", "pairs", 3)["changed_from"]
    before = sample_of(state, "pixels", found["split"], found["row"])
    assert before["index"] == changed.pair_rows[3] and before["changed_from"] is None
    place = data.knowledge.space.place(found["concept"])
    differs = [a != b for a, b in zip(before["concepts"], changed.concepts[3].tolist(), strict=True)]
    assert differs[place] and sum(differs) == 1


def test_steps_stay_within_the_filter(state):
    chosen = rows(state, runs=("poor",), outcome="wrong")
    query = Query(runs=("poor",), outcome="wrong")
    assert sample_of(state, "pixels", SPLIT, chosen[1], query)["before"] == chosen[0]
    assert sample_of(state, "pixels", SPLIT, chosen[-1], query)["after"] is None
    outside = next(row for row in range(chosen[0], chosen[-1]) if row not in chosen)
    assert sample_of(state, "pixels", SPLIT, outside, query)["after"] == next(row for row in chosen if row > outside)


def test_answers_in_another_order_and_for_some_rows_only(folder, data, tmp_path):
    whole = pq.ParquetFile(folder / "runs" / "poor" / "predictions" / "test.parquet").read()
    pq.write_table(whole.take(pa.array([9, 3, 7])), tmp_path / "few.parquet")
    few = State.open([folder / "data", tmp_path / "few.parquet"])
    full = State.open([folder])
    assert few.answers("pixels", SPLIT, "few").has_answer.nonzero()[0].tolist() == [3, 7, 9]
    for row in (3, 7, 9):
        ours = sample_of(few, "pixels", SPLIT, row)["answers"]["few"]
        assert ours == sample_of(full, "pixels", SPLIT, row)["answers"]["poor"]
    assert sample_of(few, "pixels", SPLIT, 4)["answers"]["few"] is None
    assert set(rows(few, runs=("few",), outcome="right") + rows(few, runs=("few",), outcome="wrong")) == {3, 7, 9}


def test_answers_about_other_data_are_refused(folder, data, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(folder / "runs" / "poor", run)
    shutil.copy(run / "predictions" / "valid.parquet", run / "predictions" / "test.parquet")
    state = State.open([folder / "data", run])
    with pytest.raises(DataError, match="are about other data"):
        rows(state, runs=("run",), outcome="wrong")


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"label": ["y"]}, "NAME:VALUE"),
        ({"label": ["y:7"]}, "a code from 0 to 1"),
        ({"label": ["y:-1"]}, "a code from 0 to 1"),
        ({"label": ["z:0"]}, "no label named 'z'"),
        ({"concept": ["d:0"]}, "no concept named 'd'"),
        ({"tag": ["z:far"]}, "no boundary of label 'z'"),
        ({"outcome": ["wrong"]}, "name one"),
        ({"run": ["poor"], "outcome": ["rong"]}, "no outcome 'rong'"),
        ({"run": ["poor"], "outcome": ["differ"]}, "name a second"),
        ({"run": ["nobody"], "outcome": ["wrong"]}, "no run 'nobody'"),
        ({"reads": ["a:0:1"]}, "name one"),
        ({"run": ["poor"], "reads": ["a:0"]}, "NAME:TRUE:PREDICTED"),
        ({"run": ["poor"], "reads": ["a:0:2"]}, "a code from 0 to 1"),
        ({"run": ["poor"], "reads": ["d:0:1"]}, "no concept named 'd'"),
        ({"run": ["poor"], "predicts": ["z:0"]}, "no label named 'z'"),
        ({"run": ["poor"], "violates": ["some"]}, "no constraint named 'some'"),
    ],
)
def test_a_query_that_makes_no_sense_is_one_line(state, query, error):
    with pytest.raises((ConfigError, UnknownName), match=error):
        matching_rows(state, "pixels", SPLIT, Query.of(query))


def test_a_split_without_answers_says_how_to_get_them(state):
    with pytest.raises(DataError, match="assay predict"):
        matching_rows(state, "pixels", "train", Query(runs=("poor",), outcome="wrong"))
    assert page_of(state, "pixels", "train", Query(runs=("poor",)))["rows"][0]["said"] == {}


def test_rows_that_are_not_there(state):
    for row in (-1, 64):
        with pytest.raises(UnknownName, match="has no row"):
            sample_of(state, "pixels", SPLIT, row)


def test_facts_name_no_path(state, folder):
    assert str(folder) not in str(facts(state.shelf["pixels"], state.shelf))

"""The page of a run: its verdict, how it reads each split, its pairs, interventions, its map and how it learned."""

import json
import shutil
import threading

import numpy as np
import pytest

from assay.diagnosis import diagnose_run
from assay.errors import ConfigError, DataError, UnknownName
from assay.metrics import gather_from
from assay.runs import RunFolder
from assay.studies import RunModels
from assay.viewer import State
from assay.viewer.embedding import CONCEPTS, layers_of, map_of, principal_plane
from assay.viewer.interventions import intervention_curve
from assay.viewer.pairs import pairs_of
from assay.viewer.query import Misreading, Query, matching_rows
from assay.viewer.reading import reading_of
from assay.viewer.runs import run_page
from assay.viewer.verdicts import verdict_of

AT = ("pixels", "test", "poor")


@pytest.fixture(scope="module")
def evidence(folder, data):
    return gather_from(data, RunFolder(folder / "runs" / "poor").all_predictions(data.knowledge)["test"])


@pytest.fixture(scope="module")
def file_only(folder):
    """A viewer that has only the predictions of the good run."""
    return State.open([folder / "data", folder / "runs" / "good" / "predictions" / "test.parquet"], RunModels())


def test_the_verdict_is_that_of_the_diagnosis(state, folder, data):
    found, wanted = verdict_of(state, "pixels", "good"), diagnose_run(RunFolder(folder / "runs" / "good"), data)
    assert found["verdict"] == wanted.verdict and found["tone"] in ("good", "bad", "weak", "unknown")
    for name in ("meaning", "reasons", "next"):
        assert found[name] == (list(wanted.reasons) if name == "reasons" else getattr(wanted, name))
    assert found["certainty"]["text"] == wanted.certainty.text and found["certainty"]["resamples"] == 40
    for one, finding in zip(found["findings"], wanted.findings, strict=True):
        shown = ("kind", "meaning", "text", "split", "wrong_labels", "next")
        assert {name: one[name] for name in shown} == {name: getattr(finding, name) for name in shown}
        assert one["unsettled"] == list(finding.unsettled) and one["details"] == list(finding.details)
    assert found["table"] == [row.to_dict() for row in wanted.table] and found["thresholds"] == []
    assert found["numbers"]["label_f1"] == pytest.approx(wanted.scores["test"]["label_f1"].value, abs=1e-4)
    assert found["numbers"]["ood_label_accuracy"] is None  # there is no such split
    assert json.loads(json.dumps(found)) == found


def test_cells_of_the_confusion_are_what_a_filter_finds(state, evidence):
    found = reading_of(state, *AT)
    assert [group["name"] for group in found["groups"]] == ["a", "b", "c"]
    for place, group in enumerate(found["groups"]):
        for true in (0, 1):
            for said in (0, 1):
                mask = (evidence.concepts[:, place] == true) & (evidence.predicted_concepts[:, place] == said)
                query = Query(runs=("poor",), reads=(Misreading(group["name"], str(true), str(said)),))
                assert matching_rows(state, "pixels", "test", query).tolist() == np.flatnonzero(mask).tolist()
                assert group["counts"][true][said] == mask.sum()
    label = found["labels"][0]
    query = Query(labels=(("y", "0"),), runs=("poor",), predicts=(("y", "1"),))
    assert label["counts"][0][1] == len(matching_rows(state, "pixels", "test", query))
    assert label["right"] == found["outcomes"]["right"] == (evidence.labels == evidence.predicted_labels).sum()


def test_regions_of_the_rule_are_those_of_the_tags(state, evidence):
    right = (evidence.labels == evidence.predicted_labels)[:, 0]
    regions = reading_of(state, *AT)["regions"]
    assert {region["kind"] for region in regions} == {"holds", "just misses"}
    for region in regions:
        rows = matching_rows(state, "pixels", "test", Query(tags=(("y", region["name"]),)))
        assert (region["examples"], region["right"]) == (len(rows), right[rows].sum())


def test_a_run_tells_how_it_learned(state, file_only):
    page = run_page(state, "pixels", "good")
    assert len(page["epochs"]) == 6 and page["about"]["config"]["epochs"] == 6
    assert all(epoch["loss"] > 0 and 0 <= epoch["score"] <= 1 for epoch in page["epochs"])
    assert run_page(file_only, "pixels", "test") == {"about": {}, "epochs": [], "units": None}


def test_a_damaged_history_is_one_line(folder, tmp_path):
    shutil.copytree(folder / "runs" / "poor", tmp_path / "run")
    (tmp_path / "run" / "history.json").write_text("[")
    state = State.open([folder / "data", tmp_path / "run"])
    with pytest.raises(DataError, match="cannot be read"):
        run_page(state, "pixels", "run")


def test_pairs_stand_side_by_side(state, data):
    found, changed, original = pairs_of(state, "pixels", "good", size=1000), data["pairs"], data["test"]
    assert len(found["pairs"]) == len(changed) == found["kinds"][0]["count"] and found["split"] == "test"
    for pair in found["pairs"]:
        before, after = pair["sides"]
        place = pair["concept"]
        assert before["row"] == np.flatnonzero(original.index == changed.pair_rows[after["row"]])[0]
        assert before["value"] != after["value"] == changed.concepts[after["row"], place]
        moved = before["labels"] != after["labels"]
        assert ("missed" in pair["kinds"]) == (moved and not (before["right"] and after["right"]))
        assert ("moved" in pair["kinds"]) == (not moved and before["predicted"] != after["predicted"])
        assert ("unnoticed" in pair["kinds"]) == (after["read"] != after["value"])
    some = pairs_of(state, "pixels", "poor", "unnoticed")
    assert all("unnoticed" in pair["kinds"] for pair in some["pairs"]) and some["pages"] >= 1
    with pytest.raises(ConfigError, match="no kind of pair 'odd'"):
        pairs_of(state, "pixels", "good", "odd")


def test_all_concepts_told_make_the_labels_right(state):
    found = intervention_curve(state, "pixels", "test", "good")
    assert [point["budget"] for point in found["points"]] == [0, 1, 2, 3] and found["examples"] == 64
    assert found["points"][-1]["accuracy"] == found["points"][-1]["concept_accuracy"] == 1
    assert found["points"][0]["edited"] == found["points"][0]["changed"] == 0


def test_what_cannot_be_tried_says_why(state, folder):
    with pytest.raises(ConfigError, match="no policy 'odd' here"):
        intervention_curve(state, "pixels", "test", "good", "odd")
    with pytest.raises(ConfigError, match="without a way to ask models"):
        intervention_curve(State.open([folder]), "pixels", "test", "good")
    with pytest.raises(UnknownName, match="no layer named 'odd'"):
        map_of(state, *AT, "odd")


def test_of_a_file_the_rule_takes_the_place_of_the_label_head(file_only):
    found = intervention_curve(file_only, "pixels", "test", "test", "random")
    assert "the rule" in found["by"] and found["points"][-1]["accuracy"] == 1


def test_the_plane_keeps_distances_of_flat_data():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(20, 2)) @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    plane = principal_plane(flat)
    distances = lambda points: np.linalg.norm(points[:, None] - points[None], axis=2)  # noqa: E731
    assert np.allclose(distances(plane.points), distances(flat)) and sum(plane.explained) == pytest.approx(1)
    assert principal_plane(np.ones((4, 1))).points.tolist() == [[0, 0]] * 4


def test_a_map_of_predictions_and_of_a_layer(state, file_only):
    found = map_of(state, *AT)
    assert found["rows"] == list(range(64)) and found["layer"] == CONCEPTS and found["features"] == 6
    assert set(found["outcomes"]) <= {"right", "wrong", "misread"}
    names = layers_of(state, *AT)["layers"]
    assert names[:2] == [CONCEPTS, "input"]
    deep = map_of(state, *AT, names[-1])
    assert deep["layer"] == names[-1] and deep["points"] != found["points"]
    assert layers_of(file_only, "pixels", "test", "test")["layers"] == [CONCEPTS]
    with pytest.raises(DataError, match="it has no layer"):
        map_of(file_only, "pixels", "test", "test", "input")


def test_threads_take_turns_at_a_model(folder, data):
    models, run, test = RunModels(), folder / "runs" / "good", data["test"]
    layer = models.layers(run, test)[-1]
    alone = models.activations(run, test, layer)
    shapes = set()

    def look():
        for _ in range(15):
            shapes.add(models.activations(run, test, layer).shape)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        models.predict(run, data["valid"], None)
    for thread in threads:
        thread.join()
    assert shapes == {alone.shape}

"""The page of a run: its verdict, interventions, its map, its units, and how it learned."""

import json
import shutil
import threading

import pytest

import assay
from assay.diagnosis import diagnose_run
from assay.lab import RunModels
from assay.runs import RunFolder

LAYERS = "runs/pixels/poor/test/layers.json"
MAP = "runs/pixels/poor/test/map.json"


@pytest.fixture(scope="module")
def file_only(opened, folder):
    """A viewer that has only the predictions of the good run."""
    return opened(folder / "data", folder / "runs" / "good" / "predictions" / "test.parquet")


def test_the_verdict_is_that_of_the_diagnosis(viewer, folder, data):
    found = viewer.get("runs/pixels/good/verdict.json")
    wanted = diagnose_run(RunFolder(folder / "runs" / "good"), data)
    assert found["verdict"] == wanted.verdict and found["tone"] in ("good", "bad", "weak", "unknown")
    assert (found["meaning"], found["reasons"], found["next"]) == (wanted.meaning, list(wanted.reasons), wanted.next)
    assert found["certainty"]["text"] == wanted.certainty.text
    for one, finding in zip(found["findings"], wanted.findings, strict=True):
        for name in ("kind", "meaning", "text", "split", "wrong_labels", "next"):
            assert one[name] == getattr(finding, name)
        assert one["unsettled"] == list(finding.unsettled) and one["details"] == list(finding.details)
    assert found["table"] == [row.to_dict() for row in wanted.table] and found["thresholds"] == []
    numbers = {name: score.value for name, score in wanted.scores["test"].items() if score.applies}
    for name in ("label_f1", "concept_f1", "collapse"):
        assert found["numbers"][name] == pytest.approx(numbers[name], abs=1e-4)
    assert found["numbers"]["ood_label_accuracy"] is None  # there is no such split
    changes = {one["name"]: one for one in found["changes"]["by_concept"]}
    assert found["changes"]["pairs"] == len(data["pairs"]) and set(changes) == {"all", "a", "b", "c"}


def test_a_run_tells_how_it_learned(viewer, file_only):
    page = viewer.get("runs/pixels/good.json")
    assert len(page["epochs"]) == 6 and page["about"]["config"]["epochs"] == 6
    assert all(epoch["loss"] > 0 and 0 <= epoch["score"] <= 1 for epoch in page["epochs"])
    assert file_only.get("runs/pixels/test.json") == {"about": {}, "epochs": [], "units": None}


def test_all_concepts_told_make_the_labels_right(viewer):
    for policy in ("uncertainty", "random", "fixed"):
        found = viewer.get("runs/pixels/good/test/interventions.json", [("policy", policy)])
        assert [point["budget"] for point in found["points"]] == [0, 1, 2, 3] and found["examples"] == 64
        assert found["points"][-1]["accuracy"] == found["points"][-1]["concept_accuracy"] == 1
        assert found["points"][0]["edited"] == found["points"][0]["changed"] == 0


def test_what_cannot_be_tried_says_why(viewer, file_only):
    odd = viewer.why_not("runs/pixels/good/test/interventions.json", [("policy", "odd")])
    assert "no policy 'odd' here; there is: uncertainty, random, fixed" in odd
    assert "no layer named 'odd'" in viewer.why_not(MAP, [("layer", "odd")])
    assert "it has no layer" in file_only.why_not("runs/pixels/test/test/map.json", [("layer", "input")])


def test_of_a_file_the_rule_takes_the_place_of_the_label_head(file_only):
    found = file_only.get("runs/pixels/test/test/interventions.json", [("policy", "random")])
    assert "the rule" in found["by"] and found["points"][-1]["accuracy"] == 1


def test_a_map_of_predictions_and_of_a_layer(viewer, file_only):
    found, names = viewer.get(MAP), viewer.get(LAYERS)["layers"]
    assert found["rows"] == list(range(64)) and found["layer"] == names[0] and names[1] == "input"
    deep = viewer.get(MAP, [("layer", names[-1])])
    assert deep["layer"] == names[-1] and deep["points"] != found["points"]
    told = file_only.get("runs/pixels/test/test/layers.json")
    assert told["layers"] == names[:1] and "file of predictions" in told["why"]


def test_units_show_the_rows_that_are_there(folder, data, opened, tmp_path):
    shutil.copytree(folder / "runs" / "poor", tmp_path / "found")
    index = data["test"].index.tolist()
    unit = {"unit": 3, "name": "u", "value": "a", "matched": True, "direction": 1, "f1": 0.5, "share": 0.25,
            "rows": [index[24], 10**6, index[20]], "has": [True, None, False]}  # fmt: skip
    (tmp_path / "found" / "units.json").write_text(json.dumps({"split": "test", "units": [unit]}))
    viewer = opened(folder / "data", tmp_path / "found")
    (told,) = viewer.get("runs/pixels/found.json")["units"]["units"]
    assert told == {**unit, "rows": [24, 20], "has": [True, False]}


def test_threads_take_turns_at_a_model(folder, data):
    models, run, test = RunModels(), folder / "runs" / "good", data["test"]
    layer = models.layers(run, test)[-1]
    alone, shapes = models.activations(run, test, layer), set()

    def look():
        for _ in range(10):
            shapes.add(models.activations(run, test, layer).shape)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        models.predict(run, data["valid"], None)
    for thread in threads:
        thread.join()
    assert shapes == {alone.shape}


def test_a_viewer_in_a_notebook_is_a_link_and_stops(folder):
    viewer = assay.view(folder)
    assert repr(viewer) == f"Viewer({viewer.url})" and f'href="{viewer.url}"' in viewer._repr_html_()
    assert viewer.url.startswith("http://127.0.0.1:")
    viewer.stop()
    assert not viewer.thread.is_alive()

"""`assay saliency`: scores beside chance, JSON, maps in a folder, and errors in one line."""

import json

QUICK = ["--set", "device=cpu", "-n", "16"]


def test_scores_and_the_check_are_printed(assay, run, data):
    told = assay("saliency", run, data.folder, *QUICK)
    assert told.status == 0 and "integrated-gradients of dpl on test, 16 examples" in told.out
    assert "concept a" in told.out and "layers drawn anew" in told.out and "Check: with all weights" in told.out
    assert "Completeness: maps miss the changes of log-probabilities by" in told.out


def test_json_has_every_score_and_where_it_comes_from(assay, run, data):
    told = json.loads(assay("saliency", run, "--method", "occlusion", "--concept", "b", "--json", *QUICK).out)
    assert told["method"] == "occlusion" and told["model"]["data"]["fingerprint"] == data.fingerprint
    assert [(score["target"], score["place"]) for score in told["scores"]] == [
        ("label y", "its concepts"),
        ("concept b", "the concept"),
    ]
    own = told["scores"][1]
    assert own["chance"] == 1 / 3 and own["energy"]["value"] == own["pointing"]["value"] == 1.0


def test_maps_are_written(assay, run, tmp_path):
    told = assay("saliency", run, "-o", tmp_path / "maps", "--set", "pictures=2", "--set", "check=none", *QUICK)
    assert told.status == 0 and "maps over pictures" in told.err
    assert len(list((tmp_path / "maps" / "maps" / "concept-a").glob("*.png"))) == 2
    assert json.loads((tmp_path / "maps" / "saliency.json").read_text())["notes"]


def test_errors_are_one_line(assay, run, data, tmp_path):
    assert "did you mean 'grad-cam'" in assay("saliency", run, "--method", "gradcam").error
    assert "'dpl' has no convolution, which grad-cam needs" in assay("saliency", run, "--method", "grad-cam").error
    assert "no concept named 'z'" in assay("saliency", run, "--concept", "z").error
    assert "holds no finished run" in assay("saliency", tmp_path).error
    assert "no split named 'tests'" in assay("saliency", run, "--split", "tests").error

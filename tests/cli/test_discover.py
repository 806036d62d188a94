"""`assay discover`: scores beside chance, JSON, and errors in one line."""

import json

QUICK = ["--seeds", "0-1", "--set", "repetitions=1", "--set", "units=8", "--set", "device=cpu"]


def test_scores_are_printed_beside_chance_and_a_run_is_written(assay, run, data, tmp_path):
    told = assay("discover", "pca", run, data.folder, "-o", tmp_path / "found", *QUICK)
    assert told.status == 0 and "stability" in told.out and "chance" in told.out
    assert "From the true concepts: The rule learned by tree is equal to the true rule" in told.out
    assert f"next: assay diagnose {tmp_path / 'found'} {data.folder}" in told.err.replace("\n", "")
    scored = assay("score", tmp_path / "found", data.folder, "--json")
    assert "concept_f1" in json.loads(scored.out)["splits"]["test"] if "splits" in scored.out else scored.status == 0


def test_json_has_every_score(assay, data, tmp_path):
    told = assay("discover", "random-directions", "input", data.folder, "-o", tmp_path / "found", "--json", *QUICK)
    content = json.loads(told.out)
    assert content["method"] == "random-directions" and len(content["seeds"]) == 2
    assert {"f1", "mig", "stability", "completeness"} <= set(content["summary"])


def test_errors_are_one_line(assay, data, tmp_path):
    out = ["-o", tmp_path / "x"]
    assert assay("discover", "sae", "input", data.folder, *out).error.startswith("no discovery method named 'sae'")
    assert "is no run's folder, no backbone" in assay("discover", "pca", "rnu", data.folder, *out).error
    assert "--seeds: expected" in assay("discover", "pca", "input", data.folder, *out, "--seeds", "x").error
    assert "unitz" in assay("discover", "pca", "input", data.folder, *out, "--set", "unitz=3").error
    assert not (tmp_path / "x").exists()


def test_methods_are_listed(assay):
    assert "slot attention" in assay("list", "discovery").out

"""`assay mend`: the table of rounds, JSON, what to do next, and errors in one line."""

import json

WORDS = ["--budget", "6", "--set", "first=2", "--strategy", "random"]


def test_rounds_are_printed_and_written(assay, run, data, tmp_path):
    told = assay("mend", run, data.folder, "-o", tmp_path / "out", *WORDS)
    assert told.status == 0 and "verdict" in told.out and "spent by 'random'" in told.out
    assert "next:" in told.err and "assay diagnose" in told.err
    found = json.loads(assay("mend", run, "-o", tmp_path / "out", *WORDS, "--json").out)
    assert found["strategy"] == "random" and found["rounds"][0]["spent"] == 0
    assert (tmp_path / "out" / "mending.json").exists()


def test_errors_are_one_line(assay, run, data, tmp_path):
    out = ["-o", tmp_path / "x"]
    assert "no strategy named 'plam'" in assay("mend", run, *out, "--strategy", "plam").error
    assert "unknown key 'frist'" in assay("mend", run, *out, "--set", "frist=2").error
    assert "holds no finished run" in assay("mend", tmp_path / "none", data.folder, *out).error


def test_strategies_are_listed(assay):
    assert "group DRO" in assay("list", "strategies").out

"""A finding of a stranger is told, ranked, listed, shown, reported and viewed like ours, by a file or by a package."""

import json

import pytest

from tests.own_files import HASTY, install, installed

POINTS = "[assay.findings]\nhasty = own_package:Hasty\n"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "hasty.py").write_text(HASTY)
    return tmp_path / "hasty.py"


@pytest.fixture
def package(tmp_path):
    install(tmp_path / "site", POINTS, own_package=HASTY)
    with installed(tmp_path / "site"):
        yield


def test_a_file_is_checked_and_shown(assay, file):
    told = assay("check", file)
    assert told.status == 0 and told.out.startswith("hasty") and "BROKEN" not in told.out
    shown = assay("show", file).out
    for part in ("no label is predicted with confidence", "mean probability", "Take a walk", "hasty.sure", "a coin is"):
        assert part in shown
    assert json.loads(assay("show", file, "--json").out)["thresholds"]["hasty.sure"]["value"] == 0.5


def test_it_is_told_first_and_its_threshold_changes_the_word(assay, file, data, run):
    assert assay("diagnose", run, data.folder).out.startswith("Verdict: sound.")
    told = assay("diagnose", run, data.folder, "--finding", file)
    word, reason, *_, step = told.out.splitlines()
    assert told.status == 1 and word == "Verdict: hasty. The labels are predicted with confidence."
    assert "labels are predicted with a mean confidence of " in reason and step == "Next: Take a walk."
    again = assay("diagnose", run, data.folder, "--finding", file, "--set", "hasty.sure=1")
    assert again.status == 0 and again.out.startswith("Verdict: sound.")
    plain = json.loads(assay("diagnose", run, data.folder, "--finding", file, "--json").out)
    assert plain["findings"][0]["kind"] == "hasty" and plain["findings"][0]["numbers"]["examples"] > 0


def test_a_package_is_listed_shown_and_told(assay, package, data, run):
    names = [entry["name"] for entry in json.loads(assay("list", "findings", "--json").out)]
    assert names[0] == "hasty"  # the gravest
    assert "hasty.sure" in assay("list", "thresholds").out
    assert "Take a walk" in assay("show", "hasty").out
    assert assay("diagnose", run, data.folder).out.startswith("Verdict: hasty.")


def test_it_is_reported(assay, package, data, run, tmp_path):
    assert assay("report", run, "-o", tmp_path / "report").status == 0
    record = json.loads((tmp_path / "report" / "report.json").read_text())["cases"][0]
    assert record["headline"]["verdict"] == "hasty" and record["headline"]["tone"] == "weak"
    for page in ("report.html", "report.md"):
        text = (tmp_path / "report" / page).read_text()
        assert "hasty" in text and "labels are predicted with a mean confidence" in text
    assert assay("report", run, "-o", tmp_path / "other", "--set", "hasty.sure=1").status == 0
    other = json.loads((tmp_path / "other" / "report.json").read_text())["cases"][0]
    assert other["headline"]["verdict"] == "sound"


def test_it_is_viewed(assay, package, data, run, tmp_path):
    assert assay("view", data.folder, run, "--bundle", tmp_path / "out", "--samples", "2").status == 0
    said = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("*.json")]
    verdicts = [found for found in said if isinstance(found, dict) and found.get("verdict") == "hasty"]
    assert verdicts and verdicts[0]["findings"][0]["kind"] == "hasty" and verdicts[0]["tone"] == "weak"


def test_what_is_no_threshold_is_refused_in_one_line(assay, data, run):
    def refused(pair):
        told = assay("diagnose", run, data.folder, "--set", pair)
        assert told.status == 2
        return told.error

    assert "did you mean 'memorised.drop'" in refused("memorised.drob=0.2")
    assert "expected a number from 0 to 1, got 2" in refused("memorised.drop=2")
    assert "expected a number, got 'high'" in refused("memorised.drop=high")
    assert "expected KEY=VALUE" in refused("memorised.drop")


def test_a_file_without_a_finding_is_refused(assay, data, run, tmp_path):
    (tmp_path / "none.py").write_text("x = 1\n")
    assert "expected one finding in the file, found none" in assay("diagnose", run, data.folder, "--finding", tmp_path / "none.py").error  # fmt: skip

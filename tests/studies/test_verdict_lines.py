"""One line for several runs of a model: the commonest verdict and its reason, and means of what applies."""

import math
from pathlib import Path

import pytest

from assay.studies.verdicts import _line


def record(verdict, label=None, concept=None, ood=None, why="so"):
    def scores(**values):
        return [{"metric": name, "value": value} for name, value in values.items()]

    return {
        **{"verdict": verdict, "reasons": []},
        "headline": {"verdict": verdict, "tone": "bad", "why": f"{verdict}: {why}"},
        "scores": {"test": scores(label_f1=label, concept_f1=concept), "ood": scores(label_f1=ood, concept_f1=0.9)},
    }


def test_the_commonest_verdict_decides_and_means_leave_out_what_does_not_apply():
    runs = [
        (Path("a"), record("shortcut", 0.9, 0.2, 0.5, "first")),
        (Path("b"), record("sound", 1.0, None, None)),
        (Path("c"), record("sound", 0.8, 0.6, 0.7)),
    ]
    line = _line("t", "m", runs)
    assert (line.task, line.model, line.verdict, line.run) == ("t", "m", "sound 2 of 3, shortcut 1 of 3", Path("a"))
    assert (line.label_f1, line.concept_f1, line.ood) == pytest.approx((0.9, 0.4, 0.6)) and line.why == "sound: so"


def test_one_run_has_its_verdict_alone_and_older_records_their_first_reason():
    alone = _line("t", "m", [(Path("a"), record("shortcut", 0.9))])
    assert alone.verdict == "shortcut" and math.isnan(alone.concept_f1) and math.isnan(alone.ood)
    old = {"verdict": "sound", "reasons": ["all is right", "more"], "scores": {"test": []}}
    line = _line("t", "m", [(Path("a"), old)])
    assert (line.verdict, line.tone, line.why) == ("sound", "good", "all is right") and math.isnan(line.label_f1)


def test_runs_of_one_verdict_are_counted_and_zero_counts_in_means():
    runs = [
        (Path(name), record("shortcut", value, value, 0.0, name))
        for name, value in (("a", 0.0), ("b", 0.5), ("c", 0.25))
    ]
    line = _line("t", "m", runs)
    assert line.verdict == "shortcut 3 of 3" and line.why == "shortcut: a" and line.run == Path("a")
    assert (line.label_f1, line.concept_f1, line.ood) == (0.25, 0.25, 0.0)


def test_numbers_are_of_the_first_split_and_labels_and_concepts_are_apart():
    first = {**record("sound", 0.5, 0.25, 0.75), "reasons": ["r"]}
    first["scores"] = {
        "valid": [{"metric": "concept_f1", "value": 0.125}, {"metric": "label_f1", "value": 1.0}],
        **first["scores"],
    }
    line = _line("t", "m", [(Path("a"), first)])
    assert (line.label_f1, line.concept_f1, line.ood, line.tone) == (1.0, 0.125, 0.75, "bad")

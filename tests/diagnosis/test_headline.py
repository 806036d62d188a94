"""A verdict in one line: every kind has a tone and a number, and the line says what the finding says."""

import json
import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from assay.data.dataset import Dataset
from assay.diagnosis.findings import RANK, Finding, Kind
from assay.diagnosis.headline import DECIDED_BY, LONGEST, TONES, _why, headline
from assay.diagnosis.reliance import Reliance, Rights
from assay.diagnosis.verdict import diagnose
from assay.metrics import METRICS
from assay.seeds import rng_for
from assay.testing import zoo_specimens
from assay.testing.zoo import SPECIMENS, habitat
from tests.diagnosis.test_verdict import SHIFTED, judged
from tests.predictors import labels_only, oracle, reading, shuffled


def test_every_verdict_has_a_tone_and_a_number() -> None:
    assert set(TONES) == set(DECIDED_BY) == set(RANK) == set(get_args(Kind))
    assert set(DECIDED_BY.values()) <= set(METRICS)
    assert [kind for kind, tone in TONES.items() if tone == "good"] == ["sound"]


def test_a_sound_model_is_decided_by_its_labels(evenodd: Dataset) -> None:
    line = headline(judged(evenodd, oracle(evenodd.symbols("test"))))
    assert (line.verdict, line.tone, line.number, line.split) == ("sound", "good", "label F1 1.00", "test")
    assert line.why == "labels and concepts are right, and follow by the rule"


def test_a_shortcut_is_decided_by_its_concepts_and_says_what_is_misread(evenodd: Dataset) -> None:
    found = judged(evenodd, reading(evenodd.symbols("test"), np.array([SHIFTED] * 2)))
    line = headline(found)
    assert (line.verdict, line.tone) == ("shortcut", "bad")
    assert line.number == "concept F1 0.00" and line.value == found.scores["test"]["concept_f1"].value
    assert line.why == "reads digit 0 as 1, 1 as 2, 2 as 3 and 7 more; 100 % of these labels stay right"


def test_a_black_box_and_a_guesser(evenodd: Dataset) -> None:
    assert headline(judged(evenodd, labels_only(evenodd.symbols("test")))).why == "does not predict a and b"
    guesser = headline(judged(evenodd, shuffled(evenodd.symbols("test"))))
    assert guesser.verdict == "underfit" and guesser.why.startswith("sum is right in ")


def test_a_value_that_does_not_apply_is_left_out(evenodd: Dataset) -> None:
    found = judged(evenodd, labels_only(evenodd.symbols("test")))
    lost = diagnose({"test": labels_only(evenodd.symbols("test"))})
    scores = {"test": {**lost.scores["test"], "label_f1": lost.scores["test"]["concept_f1"]}}  # applies to no black box
    line = headline(type(found)(found.findings, scores, {}, found.labels, {}, (), None))
    assert math.isnan(line.value) and line.number == "" and line.to_dict()["value"] is None


def test_what_is_memorised_is_decided_by_the_worst_of_the_splits_that_are_compared(evenodd: Dataset) -> None:
    tests, others = (evenodd.symbols(name) for name in ("test", "ood"))
    found = diagnose({"test": labels_only(tests), "ood": shuffled(others)}, evenodd.symbols("train").concepts)
    line = headline(found)
    assert (line.verdict, line.split) == ("memorised", "ood") and line.value < 0.3
    assert line.why.startswith("labels right in 100 % of examples of training worlds, in ")


def test_a_model_that_misses_changes_is_decided_by_the_pairs(evenodd: Dataset) -> None:
    found = judged(evenodd, oracle(evenodd.symbols("test")))
    numbers = {"follows": 0.25, "stays": 0.75}
    line = headline(replace(found, findings=(Finding("boundary", "pairs", "When ...", numbers=numbers),)))
    assert (line.number, line.split) == ("sensitivity 0.25", "pairs")
    assert line.why == "label follows 25 % of changes that should move it, and stays in 75 % of the others"


@pytest.mark.parametrize("kind", RANK)
def test_every_kind_has_a_short_line_in_the_zoo_or_by_its_sentence(kind: Kind, evenodd: Dataset) -> None:
    """Kinds without numbers of their own take the first clause of their sentence."""
    numbers = {"kept": 9, "misread": 10, "wrong": 3, "examples": 10, "follow": 5, "seen": 8, "seen_right": 8}
    numbers |= {"new": 4, "new_right": 1}
    finding = Finding(
        kind, "test", "On test, near the boundary 50 % are right, but far 99 %.", ("a",), ("sum",), numbers
    )
    text = _why(finding, judged(evenodd, oracle(evenodd.symbols("test"))))
    assert text and "On test" not in text and "\n" not in text


def test_lines_are_short_and_plain_data_for_every_specimen_of_a_habitat() -> None:
    assert zoo_specimens.__doc__  # registers them
    home, kinds = habitat("robots", sizes={"train": 600, "test": 200}), set()
    for name, (_, plant) in SPECIMENS.items():
        planted = plant(home, rng_for(0, name))
        if planted is not None:
            line = headline(diagnose(planted.evidence, home.training))
            kinds.add(line.verdict)
            assert 0 < len(line.why) <= LONGEST
            assert json.loads(json.dumps(line.to_dict(), allow_nan=False))["verdict"] == line.verdict
    assert len(kinds) >= 6


def test_splits_that_have_no_scores_are_passed_over(evenodd: Dataset) -> None:
    found = diagnose({name: oracle(evenodd.symbols(name)) for name in ("test", "ood")})
    for named, split in (("reversed, ood", "ood"), ("reversed", "test"), ("ood", "ood"), ("test, ood", "test")):
        line = headline(replace(found, findings=(Finding("noisy", named, "On x, y.", ("a",)),)))
        assert line.split == split and line.value == found.scores[split][line.measure].value


def test_nuisances_that_are_followed_are_named_with_both_shares(evenodd: Dataset) -> None:
    found = diagnose({"test": oracle(evenodd.symbols("test"))})
    numbers = {"usual": 0.9, "unusual": 0.2}
    finding = Finding("spurious", "reversed", "When only the mark changes, all moves.", (), (), numbers)
    falls, stays = Rights(90, 100, 20, 100, True), Rights(90, 100, 85, 100, False)
    rows = (
        Reliance("frame", "nuisance", "reversed", 10, 0, 0, stays),
        Reliance("patch", "nuisance", "reversed", 10, 9, 0, falls),
        Reliance("blur", "nuisance", "reversed", 10, 0, 0, stays, {"a": falls}),
    )
    line = headline(replace(found, findings=(finding,), reliance=rows))
    assert line.why == "follows patch and blur: right in 90 % as in training, in 20 % otherwise"
    line = headline(replace(found, findings=(finding,), reliance=rows[2:]))
    assert line.why == "a follows blur: right in 90 % as in training, in 20 % otherwise"
    assert (
        headline(replace(found, findings=(finding,), reliance=rows[:1])).why == "When only the mark changes, all moves"
    )

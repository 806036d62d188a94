"""A verdict in one line: its tone, the number that decided on its split, and a short reason."""

import json
import math
from dataclasses import replace

import pytest

from assay.dataset import Dataset
from assay.diagnosis import diagnose, headline
from assay.metrics import METRICS
from tests.diagnosis.models import CLEAR, clear_case
from tests.predictors import labels_only

EFFECTS = {"sensitivity", "invariance"}
SAYS = {
    ("sound", "right"): "labels and concepts are right, and follow by the rule",
    ("no rule", "right"): "labels and concepts are right",
    ("opaque", "some"): "does not predict dots",
    ("noisy", "used"): "often misread: colour, stripe and dots",
    ("noisy", "any"): "often misread: shape",
    ("unidentified", "unused"): "only concepts that the rule does not use are clearly wrong: shape and frame",
    ("shortcut", "kept"): "predicts dots 3 as 2",
    ("spurious", "labels"): "labels follow mark: right in 100 % as in training, in 5 % otherwise",
    ("spurious", "concepts"): "stripe follows mark: right in 100 % as in training, in 10 % otherwise",
}
"""What the line says of clear cases."""
every_claim = pytest.mark.parametrize(("word", "claim"), CLEAR, ids=[f"{word}: {claim}" for word, claim in CLEAR])


@every_claim
def test_a_line_is_short_and_shows_the_number_that_decides_on_its_split(word: str, claim: str) -> None:
    found = clear_case(word, claim).diagnosed()
    line = headline(found)
    assert line.verdict == word and 0 < len(line.why) <= 90 and "\n" not in line.why
    assert not line.why.startswith("On ") and "{" not in line.why
    if line.measure in EFFECTS:  # pairs decide, which no metric of a split shows
        assert line.split == "pairs" and line.value == pytest.approx(0.5, abs=0.1)
        return
    score = found.scores[line.split][line.measure]
    assert line.measure in METRICS and (line.value == score.value or (math.isnan(line.value) and not score.applies))
    assert line.to_dict()["value"] == (None if math.isnan(line.value) else line.value)
    assert json.loads(json.dumps(line.to_dict(), allow_nan=False))["why"] == line.why


@pytest.mark.parametrize(("key", "why"), SAYS.items())
def test_why_in_a_few_words(key: tuple[str, str], why: str) -> None:
    assert headline(clear_case(*key).diagnosed()).why == why


def test_the_number_is_named_as_people_name_it() -> None:
    line = headline(clear_case("sound").diagnosed())
    assert (line.number, line.tone, line.split) == ("label F1 1.00", "good", "test")
    assert headline(clear_case("shortcut").diagnosed()).number.startswith("concept F1 0.")
    assert headline(clear_case("boundary", "follows").diagnosed()).number.startswith("sensitivity 0.")


def test_a_fall_is_shown_on_the_split_that_it_is_on(evenodd: Dataset) -> None:
    line = headline(clear_case("shifted", "cells").diagnosed())
    assert (line.split, line.number) == ("ood", "label accuracy 0.75") and "of ood" in line.why


def test_a_value_that_does_not_apply_is_left_out(evenodd: Dataset) -> None:
    """A black box has no accuracy of concepts."""
    found = diagnose({"test": labels_only(evenodd.symbols("test"))})
    assert headline(found).why == "does not predict a and b"
    scores = {"test": {**found.scores["test"], "label_f1": found.scores["test"]["concept_f1"]}}
    line = headline(replace(found, scores=scores))
    assert math.isnan(line.value) and line.number == "" and line.to_dict()["value"] is None


def test_every_nuisance_that_is_followed_is_named() -> None:
    model = clear_case("spurious")
    followed = model.reliance[0]
    rights = replace(followed.labels, usual=90, usual_of=100, unusual=20, unusual_of=100)
    rows = [replace(followed, name=name, labels=rights) for name in ("patch", "blur")]
    free = replace(followed, name="frame", moved=0, labels=replace(rights, unusual=85, falls=False))
    line = headline(replace(model, reliance=(free, *rows)).diagnosed())
    assert line.why == "labels follow patch, blur: right in 90 % as in training, in 20 % otherwise"
    assert headline(replace(model, reliance=(free,)).diagnosed()).verdict == "opaque"


def test_a_finding_that_is_not_registered_here_has_a_line_too() -> None:
    found = clear_case("noisy").diagnosed()
    strange = replace(found.findings[0], kind="a stranger's", text="On test, it is so; and more. Then.")
    line = headline(replace(found, findings=(strange,)))
    assert (line.verdict, line.tone, line.why) == ("a stranger's", "unknown", "it is so")

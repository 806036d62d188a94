"""The table of violations as plain data, and where there is nothing to tell."""

import json

import numpy as np

from assay.concepts import bits, digits
from assay.diagnosis.violations import violations_of
from assay.logic.knowledge import Constraint, Knowledge
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from tests.predictors import random_evidence

PAIR = Knowledge.of(
    bits(["a", "b"]),
    {"y": "a"},
    [
        Constraint("one", parse("count(a, b) == 1"), ("counting", "all")),
        Constraint("sure", parse("a or not a"), ("all",)),
    ],
)


def said(*rows):
    truth = np.array([[1, 0]] * len(rows))
    labels = np.zeros((len(rows), 1), dtype=int)
    return Evidence(PAIR, "test", labels, truth, labels, np.array(rows), (None,), (None, None))


def test_the_table():
    found = violations_of(said([1, 0], [1, 1], [0, 0], [0, 1]))
    one, sure = found.rules
    assert (one.rate, one.random, one.relative) == (0.5, 0.5, 1.0)
    assert (sure.rate, sure.random) == (0, 0) and np.isnan(sure.relative)
    assert [(tag.tag, tag.rules, tag.mean, tag.random_mean) for tag in found.tags] == [
        ("counting", 1, 0.5, 0.5),
        ("all", 2, 0.5, 0.5),
    ]
    model = found.model  # F1: 1, 2/3, 0, 0; the second and third are impossible
    assert (model.exact_match, model.sane_f1.low, model.contradiction_rate.low) == (0.25, 0.25, 0.5)
    assert np.isclose(model.set_f1, (1 + 2 / 3) / 4) and np.isclose(model.room.low, 2 / 3 / 4)
    guesser = found.guesser  # all four answers alike, and so the same numbers
    assert np.isclose(guesser.set_f1, model.set_f1) and np.isclose(guesser.sane_f1.low, 0.25)
    assert np.isclose(guesser.room.low, model.room.low) and guesser.exact_match == 0.25


def test_plain_data_and_words():
    found = violations_of(said([1, 0], [1, 1]))
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["rules"][0] == {
        "name": "one",
        "tags": ["counting", "all"],
        "rate": 0.5,
        "random": 0.5,
        "relative": 1.0,
    }
    assert plain["rules"][1]["relative"] is None
    assert plain["model"]["room"]["low"] == plain["model"]["room"]["high"]
    assert found.text == (
        "On test, 50.0 % of answers break a constraint, most often one (50.0 %). "
        "Set F1 is 0.83, and 0.50 if those answers are useless."
    )
    assert violations_of(said([1, 0])).text is None


def test_nothing_to_tell():
    assert violations_of(random_evidence(Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}), 5, "none")) is None
    assert violations_of(said([-1, 0])) is None

"""The table of violations as plain data, and where there is nothing to tell."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.logic import Concept, ConceptSpace, Constraint, Knowledge, bits, digits, parse
from assay.metrics import Between, Evidence, violations_of
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
    assert "50.0 % of answers break a constraint, most often one (50.0 %)" in found.text
    assert violations_of(said([1, 0])).text is None


def test_nothing_to_tell():
    assert violations_of(random_evidence(Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}), 5, "none")) is None
    assert violations_of(said([-1, 0])) is None


def test_every_number_by_a_plain_loop():
    names = ["a", "b", "c"]
    limits = {"one": lambda w: sum(w) <= 1, "first": lambda w: w[0] or not w[1], "last": lambda w: w[2] or not w[0]}
    tags = {"one": ("counting",), "first": ("order",), "last": ("order", "counting")}
    texts = {"one": "count(a, b, c) <= 1", "first": "a or not b", "last": "c or not a"}
    knowledge = Knowledge.of(
        bits(names), {"y": "a"}, [Constraint(name, parse(text), tags[name]) for name, text in texts.items()]
    )
    rng = np.random.default_rng(0)
    truth, answers = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, (40, 3))
    answers[:11] = truth[:11]
    answers[30] = [-1, 0, 0]
    labels = np.zeros((40, 1), dtype=int)
    found = violations_of(Evidence(knowledge, "test", labels, truth, labels, answers, (None,), (None,) * 3))
    rows = [row for row in range(40) if row != 30]
    broken = {name: [not holds(answers[row]) for row in rows] for name, holds in limits.items()}
    every = [tuple(int(bit) for bit in f"{world:03b}") for world in range(8)]
    assert found.examples == 39
    for rule in found.rules:
        assert rule.rate == np.mean(broken[rule.name]) and rule.tags == tags[rule.name]
        assert np.isclose(rule.random, np.mean([not limits[rule.name](world) for world in every]))
        assert np.isclose(rule.relative, rule.rate / rule.random)
    for tag in found.tags:
        own = [name for name in limits if tag.tag in tags[name]]
        counts = np.sum([broken[name] for name in own], axis=0)
        usual = np.array([[not limits[name](world) for world in every] for name in own])
        assert (tag.rules, tag.mean, tag.rate) == (len(own), counts.mean(), (counts > 0).mean())
        assert np.isclose(tag.random_mean, usual.sum(axis=0).mean()) and tag.random_rate.exact
        assert np.isclose(tag.random_rate.low, usual.any(axis=0).mean())
        assert np.isclose(tag.relative, tag.mean / tag.random_mean)
    model, counts = found.model, np.sum(list(broken.values()), axis=0)
    assert model.exact_match == np.mean([(truth[row] == answers[row]).all() for row in rows])
    assert (model.mean_violations, model.contradiction_rate.low) == (counts.mean(), (counts > 0).mean())
    things = [
        2 * (truth[row] & answers[row]).sum() / max(1, truth[row].sum() + answers[row].sum())
        if truth[row].any() or answers[row].any() else 1.0
        for row in rows
    ]  # fmt: skip
    assert np.isclose(model.set_f1, np.mean(things))
    assert np.isclose(model.sane_f1.low, np.mean(np.where(counts > 0, 0, things)))
    assert np.isclose(found.guesser.exact_match, 1 / 8)
    assert [tag.tag for tag in found.tags] == ["counting", "order"]


def test_whole_matches_are_counted_where_all_truth_is_known():
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"y": "a"}, [Constraint("no_a_at_two", parse("not (a and n == 2)"))])
    truth = np.array([[1, 0], [0, 2], [1, -1], [-1, 1], [0, 1]])
    said = np.array([[1, 0], [1, 2], [1, 1], [0, 1], [0, 1]])
    evidence = Evidence(knowledge, "test", said[:, :1], truth, said[:, :1], said, (None,), (None, None))
    found = violations_of(evidence)
    assert found.model.exact_match == pytest.approx(2 / 3) and found.model.contradiction_rate == Between(0.2, 0.2)
    assert found.guesser.exact_match == pytest.approx(1 / 6)  # one world of six, whichever is true
    blind = violations_of(replace(evidence, concepts=np.full_like(truth, -1)))
    assert np.isnan([blind.model.exact_match, blind.guesser.exact_match]).all()

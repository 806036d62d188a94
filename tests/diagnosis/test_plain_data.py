"""What is written of a diagnosis has every number in its place; sentences of single effects, values and causes."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.data.confounding.confounder import Confounder
from assay.diagnosis import verdict
from assay.diagnosis.automation import Abstention
from assay.diagnosis.calibration import Scaling
from assay.diagnosis.comparisons import RegionScore
from assay.diagnosis.concepts import ConceptState
from assay.diagnosis.counterfactual import Counterfactuals, Effects
from assay.diagnosis.findings import MEANINGS, Finding
from assay.diagnosis.headline import Headline, _why
from assay.diagnosis.identifiability import Identifiability
from assay.diagnosis.interventions.units import Units
from assay.diagnosis.labels import LabelState
from assay.diagnosis.leakage import Leakage, Measure
from assay.diagnosis.maps import ConceptMap
from assay.diagnosis.reading import Reading, fit_readings
from assay.diagnosis.reliance import Reliance, Rights, confounders_of, describe_unused, find_spurious
from assay.diagnosis.rule_relation import relate
from assay.diagnosis.saliency import SaliencyScore, ScoreBesideChance
from assay.diagnosis.verdict import Diagnosis
from assay.diagnosis.views import Errors
from assay.diagnosis.violations import ConsistencySummary, RuleViolations, TagViolations, Violations
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from assay.metrics.interval import wilson
from assay.metrics.random_guesser import Between
from assay.metrics.score import Score
from tests.diagnosis.test_unlike_splits import view


def score(name, value):
    return Score(name, value, value - 0.1, value + 0.1, int(100 * value))


def plain_score(name, value):
    return {"metric": name, "value": value, "low": value - 0.1, "high": value + 0.1, "examples": int(100 * value)}


FIRST = Effects(score("follows", 0.25), score("stays", 0.5), score("noticed", 0.75), score("untouched", 0.875))
SECOND = replace(FIRST, follows=score("follows", 0.125))
EFFECTS = Counterfactuals("pairs", 90, FIRST, {"b": SECOND, "a": FIRST})


def plain_effects(follows):
    return {
        "follows": plain_score("follows", follows), "stays": plain_score("stays", 0.5),
        "noticed": plain_score("noticed", 0.75), "untouched": plain_score("untouched", 0.875),
    }  # fmt: skip


PLAIN_EFFECTS = {
    "split": "pairs",
    "pairs": 90,
    "all": plain_effects(0.25),
    "by_concept": {"b": plain_effects(0.125), "a": plain_effects(0.25)},
}


def test_effects_of_changes():
    assert EFFECTS.to_dict() == PLAIN_EFFECTS and list(EFFECTS.to_dict()["by_concept"]) == ["b", "a"]


STATE = ConceptState(
    "c", "noisy", True, 7, 60, 50, 40, ConceptMap("c", "source", ("d",), {("u",): "v"}, {("u",): (50, 35)}), ("u", "w")
)
PLAIN_STATE = {
    "concept": "c", "state": "noisy", "used_by_rule": True, "decides_examples": 7, "examples": 60, "answered": 50,
    "right": 40,
    "accuracy": 0.8, "low": wilson(40, 50)[0], "high": wilson(40, 50)[1], "missed_values": ["u", "w"],
    "map": {"kind": "source", "read_from": ["d"], "explained": 0.7,
            "entries": [{"true": ["u"], "said": "v", "examples": 50, "follow": 35}]},
}  # fmt: skip


def test_the_state_of_a_concept():
    assert STATE.to_dict() == PLAIN_STATE
    silent = replace(STATE, answered=0, right=0, map=None, missed=()).to_dict()
    assert silent == {**PLAIN_STATE, "answered": 0, "right": 0, "accuracy": None, "low": 0.0, "high": 1.0,
                      "missed_values": [], "map": None}  # fmt: skip
    assert math.isnan(replace(STATE, answered=0, right=0).accuracy)


def test_rules_of_abstaining_units_leaks_and_lines():
    rule = Abstention((Scaling(2.0, 0.5), Scaling()), 0.75, 0.9)
    scalings = [{"slope": 2.0, "shift": 0.5}, {"slope": 1.0, "shift": 0.0}]
    assert rule.to_dict() == {"target": 0.9, "threshold": 0.75, "scalings": scalings}
    space = bits(["a", "b", "c"])
    assert Units.of(space, {"g": ["c", "a"]}, {"b": 2.5}).to_dict(space) == [
        {"name": "g", "concepts": ["a", "c"], "cost": 2.0},
        {"name": "b", "concepts": ["b"], "cost": 2.5},
    ]
    leak = Leakage("ood", 50, 6, Measure(0.1, 0.2, 0.3), None, {"a": 0.4}, {"b": 0.5})
    assert leak.to_dict() == {
        "split": "ood", "rows": 50, "pairs": 6, "hard": {"ctl": 0.1, "icl": 0.2, "probe": 0.3}, "soft": None,
        "by_concept": {"a": 0.4}, "beyond_value": {"b": 0.5},
    }  # fmt: skip
    line = Headline("noisy", "weak", "concept_f1", 0.5, "ood", "often wrong: a")
    assert line.to_dict() == {
        "verdict": "noisy", "tone": "weak", "measure": "concept_f1", "value": 0.5, "split": "ood",
        "why": "often wrong: a",
    }  # fmt: skip
    known = Knowledge.of(space, {"y": "a and b"})
    assert relate(parse("a"), parse("a and b"), known, "y", False).to_dict() == {
        "label": "y", "value": False, "relation": "more general", "only_learned": 2, "only_rule": 0, "worlds": 8,
        "exact": True,
    }  # fmt: skip


def test_scores_of_maps():
    sides = [ScoreBesideChance(value, value - 0.1, value + 0.1, side) for value, side in
             ((0.25, "above"), (0.5, "below"), (0.75, "as chance"))]  # fmt: skip
    found = SaliencyScore("label y", "label", "frame", True, 9, 2, 0.125, *sides, {"u": sides[1]}, 0.375)
    plain = [{"value": s.value, "low": s.low, "high": s.high, "side": s.side} for s in sides]
    assert found.to_dict() == {
        "target": "label y", "kind": "label", "place": "frame", "is_mark": True, "examples": 9, "blank": 2,
        "chance": 0.125,
        "pointing": plain[0], "energy": plain[1], "rank": plain[2], "by_value": {"u": plain[1]}, "untrained": 0.375,
    }  # fmt: skip


SUMMARIES = (
    ConsistencySummary(0.5, 0.875, Between(0.25, 0.625), Between(0.125, 0.25), 1.5),
    ConsistencySummary(0.25, 0.75, Between(0.5, 0.5), Between(0.375, 0.375), math.nan),
)
BROKEN = Violations(
    "ood", 80, *SUMMARIES,
    (RuleViolations("k", ("t", "u"), 0.25, 0.5), RuleViolations("l", (), 0.5, 0.0)),
    (TagViolations("t", 2, 0.75, 0.5, 1.5, Between(0.25, 0.75)),
     TagViolations("u", 1, 0.5, 0.25, 0.0, Between(0.0, 1.0))),
)  # fmt: skip
PLAIN_BROKEN = {
    "split": "ood", "examples": 80,
    "rules": [{"name": "k", "tags": ["t", "u"], "rate": 0.25, "random": 0.5, "relative": 0.5},
              {"name": "l", "tags": [], "rate": 0.5, "random": 0.0, "relative": None}],
    "tags": [{"tag": "t", "rules": 2, "mean": 0.75, "rate": 0.5, "random_mean": 1.5,
              "random_rate": {"low": 0.25, "high": 0.75}, "relative": 0.5},
             {"tag": "u", "rules": 1, "mean": 0.5, "rate": 0.25, "random_mean": 0.0,
              "random_rate": {"low": 0.0, "high": 1.0}, "relative": None}],
    "model": {"exact_match": 0.5, "set_f1": 0.875, "sane_f1": {"low": 0.25, "high": 0.625},
              "contradiction_rate": {"low": 0.125, "high": 0.25}, "mean_violations": 1.5,
              "room": {"low": 0.25, "high": 0.625}},
    "guesser": {"exact_match": 0.25, "set_f1": 0.75, "sane_f1": {"low": 0.5, "high": 0.5},
                "contradiction_rate": {"low": 0.375, "high": 0.375}, "mean_violations": None,
                "room": {"low": 0.25, "high": 0.25}},
}  # fmt: skip


def test_constraints_that_are_broken():
    assert BROKEN.to_dict() == PLAIN_BROKEN


def test_a_whole_diagnosis():
    finding, other = Finding("noisy", "ood", "Noise.", ("c",)), Finding("boundary", "test", "Near.", (), ("y",))
    label = LabelState("y", "right", 60, 59, 30, ())
    reading = Reading("g", ("a", "b"), ("u", "v"), (1, None), np.array([[2, 3, 1], [0, 0, 4]]), 0.25)
    taught, row = Identifiability(6, 5, 1, 9, {"a": True}, ("a 1",)), Reliance("hat", "nuisance", "reversed", 30, 12, 0)
    region = RegionScore("y", "type", "not a", 12, 0.75)
    found = Diagnosis(
        findings=(finding, other), scores={"test": {"m": score("m", 0.5)}, "ood": {"m": score("m", 0.25)}},
        concepts={"ood": (STATE,)}, labels={"test": (label,)}, errors={"hard": Errors(9, 8, 7, 6, 5, 4, 3, 2)},
        readings=(reading,), agreement=0.375, notes=("A note.",), about={"model": "m"}, regions={"far": (region,)},
        counterfactuals=EFFECTS, violations={"ood": BROKEN}, taught=taught, reliance=(row,),
    )  # fmt: skip
    plain = {
        "verdict": "noisy", "meaning": MEANINGS["noisy"], "findings": [finding.to_dict(), other.to_dict()],
        "reasons": ["Noise.", "Also boundary: Near.", "A note."],
        "scores": {"test": {"m": plain_score("m", 0.5)}, "ood": {"m": plain_score("m", 0.25)}},
        "concepts": {"ood": [PLAIN_STATE]}, "labels": {"test": [label.to_dict()]},
        "errors": {"hard": dict(zip(("labels", "wrong", "rule", "unsure", "perception", "both", "unknown", "luck"),
                                    range(9, 1, -1), strict=True))},
        "readings": [{"group": "g", "concepts": ["a", "b"], "reads": [["u", "v"], ["v", None]], "fidelity": 0.25,
                      "confusion": [[2, 3, 1], [0, 0, 4]], "text": "most often says g u as v"}],
        "training_labels_kept_by_reading": 0.375,
        "regions": {"far": [{"label": "y", "kind": "type", "name": "not a", "examples": 12, "accuracy": 0.75}]},
        "counterfactuals": PLAIN_EFFECTS, "violations": {"ood": PLAIN_BROKEN}, "reliance": [row.to_dict()],
        "identifiability": taught.to_dict(), "about": {"model": "m"},
    }  # fmt: skip
    assert found.to_dict() == plain
    bare = replace(found, counterfactuals=None, taught=None, reliance=(), violations={}).to_dict()
    assert bare == {**plain, "counterfactuals": None, "identifiability": None, "reliance": [], "violations": {}}


# sentences and causes


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ({"stays": 0.5}, "label stays in 50 % of changes that should not move it"),
        ({"follows": 0.25}, "label follows 25 % of changes that should move it"),
        ({"follows": 0.25, "stays": 0.5},
         "label follows 25 % of changes that should move it, and stays in 50 % of the others"),
        ({}, "words"),
    ],
)  # fmt: skip
def test_changes_that_labels_miss_in_a_few_words(numbers, text):
    assert _why(Finding("boundary", "pairs", "On pairs, words; and more.", numbers=numbers), None) == text


def test_a_value_of_which_nothing_is_ever_said_is_read_as_none():
    space = ConceptSpace((Concept("n", ("u", "v", "w")),))
    knowledge = Knowledge.of(space, {"y": "n == 'u'"})
    truth, said = np.array([[0], [0], [0], [1], [2], [2]]), np.array([[2], [2], [0], [-1], [2], [-1]])
    labels = np.zeros((6, 1), dtype=int)
    (found,) = fit_readings(Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None,)))
    assert found.image == (2, None, 2) and found.fidelity == 3 / 6
    assert found.counts.tolist() == [[1, 0, 2, 0], [0, 0, 0, 1], [0, 0, 1, 1]]
    assert found.text == "most often says n u as w, and w as it is; never says v"


def test_confounders_are_those_that_the_manifest_lists():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a", "z": "b"})
    planted = [{"what": "frame", "with": "z", "strength": 0.75}, {"what": "b", "with": "y", "where": ["train"]}]
    dataset = SimpleNamespace(manifest={"task": {"confound": planted}}, knowledge=knowledge)
    found = confounders_of(dataset)
    assert [coupling.confounder for coupling in found] == [Confounder(**entry) for entry in planted]
    assert [(one.name, one.is_formula, one.knowledge is knowledge) for one in found] == [
        ("frame", False, True), ("b", True, True),
    ]  # fmt: skip
    assert confounders_of(SimpleNamespace(manifest={"task": {}}, knowledge=knowledge)) == ()


def test_each_label_is_excused_by_what_the_rule_makes_probable_of_it():
    """Concepts are read right; where they are unsure, 'all three' is improbable, 'the first' is not."""
    space = ConceptSpace((*bits(["a", "b", "c"]).concepts, Concept("idle", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"all": "a and b and c", "first": "a"})
    codes = np.tile([1, 1, 1, 2], (4, 1))
    sure = np.array([0.7, 0.7, 0.9, 0.7])
    tables = (*(np.stack([1 - sure, sure], axis=1) for _ in range(3)), None)
    labels, said = np.ones((4, 2), dtype=int), np.array([[0, 0], [1, 0], [0, 1], [0, 1]])
    held = Evidence(knowledge, "test", labels, codes, said, codes, (None, None), tables)
    assert view(held).unsure.tolist() == [[True, False], [False, False], [False, False], [True, False]]
    errors = view(held).errors
    assert (errors.labels, errors.wrong, errors.unsure, errors.rule, errors.luck) == (8, 5, 2, 3, 0)
    assert not view(replace(held, concept_probabilities=(*tables[:2], None, None))).unsure.any()


def test_two_findings_of_a_kind_keep_the_numbers_of_the_first():
    first = Finding("noisy", "test", "One.", ("a",), ("y",), {"n": 3})
    merged = verdict._merge(
        [Finding("sound", "test", "Fine."), first, Finding("noisy", "ood", "Two.", ("b",), (), {"n": 4})]
    )
    assert merged == [replace(first, text="One. So it is on ood."), Finding("sound", "test", "Fine.")]


def test_a_shortcut_names_the_misreadings_of_its_own_concepts():
    counts = np.zeros((3, 4), dtype=int)
    readings = (
        Reading("hue", ("h",), ("red", "blue"), (0, None), counts[:2, :3], 1.0),
        Reading("size", ("s",), (1, 2), (1, 0), counts[:2, :3], 1.0),
        Reading("digit", ("a", "b"), (7, 8, 9), (2, 1, 0), counts, 1.0),
    )
    numbers = {"kept": 9, "misread": 12}
    for concepts, what in (
        (("b", "x"), "digit 7 as 9 and 9 as 7"),
        (("s", "a"), "size 1 as 2 and 2 as 1"),
        (("h",), "h wrong"),
    ):
        found = _why(Finding("shortcut", "test", "", concepts, numbers=numbers), SimpleNamespace(readings=readings))
        assert found == f"reads {what}; 75 % of these labels stay right"


def test_nuisances_are_told_one_after_the_other():
    rights = Rights(9, 10, 8, 10)
    seen = (
        "right in 90 % (60 to 98 %) of 10 examples where it goes with the label as in training, and in 80 % (49 to 94 %) "
        "of 10 where not"
    )
    formula, mark = (
        Reliance("'c'", "nuisance", "unconfounded", 0, 0, 0, rights),
        Reliance("hat", "nuisance", "reversed", 50, 1, 0, rights),
    )
    falls = Rights(9, 10, 1, 10, True)
    relied = [
        Reliance("dot", "nuisance", "reversed", 20, 19, 0, falls),
        Reliance("blur", "nuisance", "far", 20, 0, 0, rights, {"b": falls, "a": falls}),
    ]
    assert describe_unused([formula, relied[0], mark]) == (
        f"Labels do not clearly follow 'c': {seen}. Labels do not clearly follow hat: they move in 2 % (0 to 10 %) of "
        f"50 pairs that differ in it alone; {seen}."
    )
    assert describe_unused(relied) == "" == describe_unused([])
    found = find_spurious([mark, *relied])
    assert found == Finding(
        "spurious", "reversed", f"{relied[0].text} {relied[1].text}", ("b", "a"), (),
        {"nuisances": 2, "pairs": 20, "moved": 19, "usual": 0.9, "unusual": 0.1},
    )  # fmt: skip
    alone = find_spurious(relied[1:])
    assert (alone.split, alone.numbers) == (
        "far",
        {"nuisances": 1, "pairs": 20, "moved": 0, "usual": 0.9, "unusual": 0.1},
    )

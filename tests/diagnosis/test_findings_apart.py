"""Findings where what usually goes together comes apart: answers and examples, labels, being right and following."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.diagnosis import leakage, soft_leakage, verdict
from assay.diagnosis.comparisons import find_boundary, find_memorised
from assay.diagnosis.concepts import ConceptState
from assay.diagnosis.counterfactual import Counterfactuals, Effects
from assay.diagnosis.findings import (
    _kept_by_chance,
    accuracy_from_concepts,
    find_opaque,
    find_shortcut,
    find_too_few,
    find_underfit,
    find_wrong_rule,
    kept_in_training,
)
from assay.diagnosis.information import Blur, entropy, mutual_information
from assay.diagnosis.maps import ConceptMap, follows_map, halves_of
from assay.diagnosis.reliance import Reliance, Rights, _labels_right, _pairs_of
from assay.diagnosis.soft_leakage import SoftLeak, find_soft_leak
from assay.diagnosis.wording import _describe, describe_concepts, never_said, share_of
from assay.logic.knowledge import Knowledge, Odds
from assay.logic.parse import parse
from assay.metrics.evidence import Evidence
from assay.metrics.interval import wilson
from assay.metrics.score import Score
from assay.seeds import rng_for
from tests.diagnosis.test_comparisons import answered
from tests.diagnosis.test_findings import AND, XOR, view, worlds
from tests.diagnosis.test_maps import fitter, numbers
from tests.diagnosis.test_reliance import toy, toy_coupling
from tests.diagnosis.test_unlike_splits import view as judged
from tests.diagnosis.test_views import states

ONE = Knowledge.of(XOR.space, {"y": "xor(a, b)"})

# findings


def test_the_most_frequent_value_may_be_better_than_the_labels_are():
    codes = worlds(25)
    truth = AND.labels_of(codes)
    seen = view(AND, codes, codes, np.where(np.arange(200)[:, None] < 100, 1 - truth, truth))
    assert find_underfit(seen, by_rule=False).text == (
        "On test, y is right in 50 % (43 to 57 %) of 200; the most frequent value would be right in 75 %."
    )


def test_every_concept_may_be_silent_in_part():
    codes = worlds(10)
    said = codes.copy()
    said[:30, 0], said[40:, 1] = -1, -1
    found = find_opaque(view(AND, codes, said))
    assert found.text == (
        "On test, of 2 concepts that the rule uses it does not predict a in 30 of 80 examples and b in 40 of 80 "
        "examples."
    )
    assert (found.concepts, found.numbers) == (("a", "b"), {"concepts": 2})


def test_twenty_examples_with_right_concepts_are_enough_to_blame_the_rule():
    codes = worlds(25)
    said = np.where(np.arange(200)[:, None] < 180, codes ^ np.array([1, 0, 0]), codes)
    found = find_wrong_rule(view(AND, codes, said, 1 - AND.labels_of(codes)))
    assert found.numbers == {"examples": 20, "wrong": 20}


def test_a_label_that_is_wrong_only_where_it_is_rare_is_the_rules():
    codes = np.repeat([[1, 1, 0], [0, 1, 0]], [6, 60], axis=0)
    seen = view(AND, codes, codes, np.zeros((66, 1), dtype=int))
    assert seen.labels[0].standing == "wrong" and stats.binom.sf(5, 66, 0.05) > 0.05  # too few to be clear by number
    found = find_wrong_rule(seen)
    assert (found.labels, found.numbers) == (("y",), {"examples": 66, "wrong": 6})


def test_labels_share_the_level_at_which_the_rule_is_blamed():
    codes = worlds(25, XOR)
    truth = XOR.labels_of(codes)
    wrong = next(k for k in range(200) if stats.binom.sf(k - 1, 200, 0.05) <= 0.05)
    assert stats.binom.sf(wrong - 1, 200, 0.05) > 0.025
    said = truth.copy()
    said[:wrong, 0] = 1 - said[:wrong, 0]
    assert find_wrong_rule(view(XOR, codes, codes, said)) is None
    assert find_wrong_rule(view(XOR, codes, codes, said, level=0.1)).labels == ("y",)


def test_concepts_that_few_examples_do_not_tell_are_counted_by_their_answers():
    codes = worlds(3)
    said = codes.copy()
    said[5, 0] = -1
    found = find_too_few(view(AND, codes, said, AND.labels_of(codes)))
    assert (found.concepts, found.labels) == (("a", "b"), ())
    assert found.text == (
        f"On test, 24 examples do not tell whether these are right: a ({share_of(23, 23)}) and b ({share_of(24, 24)})."
    )


def test_errors_that_are_always_there_are_kept_as_often_by_chance():
    codes = worlds(10)
    said = codes.copy()
    said[:, 0] = 1  # a is wrong in 40 of 80 examples; the label stays where b is false
    assert _kept_by_chance(view(AND, codes, said)) == 0.5


def test_concepts_may_be_misread_in_different_examples():
    codes = worlds(10)
    training = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1]])
    found, agreement = find_shortcut(view(AND, codes, codes * np.array([0, 0, 1])), training)
    assert agreement == 1.0 and set(found.concepts) == {"a", "b"}
    assert found.numbers == {"misread": 60, "kept": 40, "training_kept": 1.0}


def test_a_training_world_keeps_its_labels_if_it_keeps_them_all():
    codes = worlds(10, XOR)
    seen = view(XOR, codes, codes ^ np.array([0, 1, 0]))  # of y and z, only z stays
    assert kept_in_training(seen.in_state(["misread"]), XOR.space.all_codes(), seen) == 0.0


def test_what_concepts_say_of_labels_is_judged_on_the_other_half():
    knowledge = Knowledge.of(digits(["n"], range(20)), {"y": "n < 10"})
    true = rng_for(0, "other half").integers(0, 20, (120, 1))
    said = np.repeat(np.arange(20), 6)[:, None]  # whatever is true
    assert 0.35 < accuracy_from_concepts(view(knowledge, true, said)) < 0.6


def test_errors_of_concepts_that_are_hardly_learned_may_keep_the_labels_together():
    codes = worlds(24, ONE)
    said = np.where(np.arange(len(codes))[:, None] // 8 % 2 == 0, codes ^ np.array([1, 1, 0]), codes)
    seen = view(ONE, codes, said)
    assert {state.state for state in seen.concepts if state.used} == {"not learned"}
    found, _ = find_shortcut(seen, None)
    assert set(found.concepts) == {"a", "b"} and found.numbers["misread"] == found.numbers["kept"] == 96
    assert found.numbers["expected"] == pytest.approx(1 / 3, abs=0.05)  # 0.25 of 0.75


# comparisons


@pytest.mark.parametrize(("missed", "follow", "found"), [(6, True, True), (18, True, False), (6, False, False)])
def test_misreading_is_memory_where_training_worlds_are_read_right_and_labels_fall(missed, follow, found):
    codes = worlds(30, ONE)
    new = np.arange(240) % 8 >= 4
    order = np.arange(240) // 8 * 4 + np.arange(240) % 4  # the place among the 120 of either kind
    misread = np.where(new, order < 80, order < missed)
    said = np.where(misread[:, None], codes ^ np.array([0, 1, 0]), codes)
    seen = view(ONE, codes, said, None if follow else ONE.labels_of(codes), 0.01)
    finding = find_memorised({"test": seen}, {"test": new})
    assert (finding is not None) == found
    if found:
        assert finding.numbers == {"seen": 120, "seen_right": 120 - missed, "new": 120, "new_right": 40}


def test_a_boundary_needs_labels_that_are_right_far_from_it():
    assert find_boundary(judged(answered(55, 24))) is None  # far from it, 60 % are right
    assert find_boundary(judged(answered(55, 3))).labels == ("y",)


def test_labels_that_are_drawn_are_judged_by_the_likelier_value():
    knowledge = Knowledge.of(bits(["a"]), {"y": "a"}, odds={"y": Odds(parse("2 * a - 1"), 0.5)})
    codes = np.array([[0], [1], [1], [0]])
    drawn, said = np.array([[1], [1], [0], [0]]), np.array([[0], [1], [1], [1]])
    seen = judged(Evidence(knowledge, "test", drawn, codes, said, codes, (None,), (None,)))
    assert seen.right.tolist() == [True, True, True, False] and seen.truth.tolist() == codes.tolist()


# maps and words


@pytest.mark.parametrize(("wrong", "clearly"), [(9, False), (10, True), (14, True)])
def test_a_twentieth_of_the_answers_makes_a_misreading_clear(wrong, clearly):
    truth = np.stack([(np.arange(200) >= wrong).astype(int), np.zeros(200, dtype=int)], axis=1)
    said = np.where(truth == [[0, -9]], 5, truth)
    assert fitter(truth, said, numbers(10, 2)).clearly_misread(0) == clearly


def test_halves_are_those_of_the_rows_that_are_looked_at():
    rng = rng_for(0, "rows looked at")
    truth, said = rng.integers(0, 3, (90, 2)), rng.integers(0, 3, (90, 2))
    rows = np.arange(90) % 3 != 1
    found = fitter(truth, said, numbers(3, 3))._follows(0, (1,), rows)
    assert found.tolist() == follows_map(truth[rows, 1], said[rows, 0], 3, halves_of(90)[rows]).tolist()
    assert 0 < found.sum() < 60


def test_the_first_value_may_be_the_one_that_is_never_said():
    space = ConceptSpace((Concept("a", ("u", "v", "w")),))
    knowledge = Knowledge.of(space, {"y": "a == 'u'"})
    labels = np.zeros((3, 1), dtype=int)
    truth, said = np.array([[0], [1], [0]]), np.array([[1], [1], [2]])
    assert never_said(["a"], Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None,))) == ["u"]


def test_concepts_of_one_encoder_that_are_misread_in_different_ways_have_a_sentence_each():
    truth = np.random.default_rng(1).integers(0, 3, (600, 3))
    maps = np.array([[1, 0, 2], [0, 2, 1], [0, 1, 2]])
    said = np.stack([maps[place][truth[:, place]] for place in range(3)], axis=1)
    read, evidence = states(said, truth, {"digits": ("a", "b"), "last": ("c",)})
    assert describe_concepts([state for state in read if state.state != "right"], evidence) == [
        "It reads a 0 as 1 and 1 as 0; 2 is mostly read right (100 % of 600 answers).",
        "It reads b 1 as 2 and 2 as 1; 0 is mostly read right (100 % of 600 answers).",
    ]


@pytest.mark.parametrize(
    ("missed", "more"), [((), ""), (("u",), "; clearly missed: u"), (("u", "v"), ""), (("v",), "; clearly missed: v")]
)
def test_values_that_are_missed_are_named_where_not_all_are(missed, more):
    mapping = ConceptMap("a", "own", ("a",), {("u",): "u", ("v",): "v"}, {})
    one = ConceptState("a", "noisy", True, 0, 40, 38, 30, mapping, missed)
    assert _describe("a", (one,), None) == f"a is noisy: right in {share_of(30, 38)} answers{more}."
    both = _describe("letters", (one, replace(one, answered=40, right=21)), None)
    assert both == f"letters is noisy: right in {share_of(51, 78)} answers."
    hardly = _describe("a", (replace(one, state="not learned"),), None)
    assert hardly == f"a is hardly learned: right in {share_of(30, 38)} answers{more}."


# leaks


def test_a_rare_label_has_a_leakage_too():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"})
    labels = (np.arange(40)[:, None] < 4).astype(int)
    codes = np.stack([np.arange(40) % 2, np.arange(40) // 2 % 2], axis=1)
    held = Evidence(knowledge, "test", labels, codes, labels, codes, (None,), (None, None))
    whole = entropy(labels[:, 0])
    assert whole < 0.5
    on = leakage._Measurement(held, [1, 0], [(0, 1)], Blur())
    told = [1.0 - mutual_information(codes[:, place], labels[:, 0]) for place in (1, 0)]
    assert on.ctl(lambda place, label: 1.0) == pytest.approx([part / whole for part in told])


@pytest.mark.parametrize(
    ("strength", "chance", "found"), [(0.1, 0.005, True), (0.099, 0.005, False), (0.1, 0.0051, False)]
)
def test_a_leak_pays_for_all_that_were_looked_for(strength, chance, found, monkeypatch):
    leaks = [SoftLeak("b", "y", 0.05, 1e-9), SoftLeak("a", "y", strength, chance)]
    monkeypatch.setattr(soft_leakage, "soft_leaks", lambda evidence: leaks)
    concepts = [SimpleNamespace(concept=name, state="right") for name in "ab"]
    finding = find_soft_leak(SimpleNamespace(concepts=concepts, evidence=None, level=0.01, name="ood"))
    assert (finding is not None) == found
    if found:
        assert (finding.split, finding.concepts, finding.labels) == ("ood", ("a",), ("y",))
        assert finding.numbers == {"strength": 0.1} and finding.text.endswith("): a of y (10 %).")


# reliance


def test_a_nuisance_that_goes_with_a_concept_is_judged_by_all_labels():
    labels = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 0]])
    said = np.array([[0, 0], [1, 1], [1, 1], [1, 1], [1, 1]])
    found = [_labels_right(toy(labels, said), toy_coupling("patch", name)).tolist() for name in ("a", "y", "z")]
    assert found == [
        [True, False, False, True, False],
        [True, True, False, True, False],
        [True, False, True, True, False],
    ]


@pytest.mark.parametrize(("times", "named"), [(1.5, False), (2.5, True)])
def test_concepts_share_the_level_at_which_a_nuisance_spoils_them(times, named):
    labels = np.stack([np.arange(40) % 2, np.arange(40) // 2 % 2], axis=1)
    spoilt = labels.copy()
    spoilt[:8, 1] = 1 - spoilt[:8, 1]
    chance = stats.fisher_exact([[8, 32], [0, 40]], alternative="greater").pvalue
    usual = np.ones(40, dtype=bool)
    found = _pairs_of(
        toy_coupling("patch"), toy(labels, labels), toy(labels, labels, spoilt), [usual, ~usual], [0, 1], times * chance
    )
    assert (list(found.concepts), found.others) == ((["b"], ("a",)) if named else ([], ("a", "b")))


def test_a_nuisance_that_is_not_relied_on_in_words_and_numbers():
    row = Reliance("hat", "nuisance", "reversed", 100, 50, 0, Rights(9, 10, 9, 10), {}, ("e", "f"))
    assert row.text == (
        "When only hat changes, the label moves in 50 % (40 to 60 %) of 100 pairs, and should in none. Labels are "
        "right in 90 % (60 to 98 %) of 10 examples where it goes with the label as in training, and in 90 % (60 to "
        "98 %) of 10 where not."
    )
    moved = Reliance("a", "concept", "pairs", 30, 12, 21)
    low, high = wilson(12, 30)
    assert moved.interval == (low, high) and moved.to_dict() == {
        "name": "a", "kind": "concept", "split": "pairs", "pairs": 30, "moved": 12, "should": 21, "others": (),
        "concepts": {},
        "labels": {"usual": 0, "usual_of": 0, "unusual": 0, "unusual_of": 0, "falls": False},
        "share": 0.4, "low": low, "high": high,
    }  # fmt: skip


# the verdict


def test_a_sound_model_is_said_to_follow_as_often_as_it_does():
    codes = worlds(30)
    said = codes.copy()
    rows = np.flatnonzero(codes[:, 1] == 1)
    said[rows[:2], 0] = 1 - said[rows[:2], 0]  # two labels follow from wrong concepts, one from none
    labels = AND.labels_of(said)
    labels[rows[5]] = 1 - labels[rows[5]]
    seen = view(AND, codes, said, labels)
    assert int(seen.right.sum()) == 237
    least = wilson(238, 240)[0]
    assert verdict._sound({"test": seen}).text == (
        f"On test, each of the 2 concepts that the rule uses is right in at least {100 * least:.0f} % (lower ends of "
        "95 % intervals, 240 examples), and the labels follow from the predicted concepts in 239 of 240."
    )


def test_a_shortcut_of_a_later_split_is_what_training_worlds_are_read_by():
    codes = worlds(20)
    right = view(AND, codes, codes).evidence
    swapped = replace(view(AND, codes, codes[:, [1, 0, 2]]).evidence, split="ood")
    found = verdict.diagnose({"test": right, "ood": swapped}, AND.space.all_codes())
    assert found.agreement == 1.0 and found.findings[0].kind == "shortcut" and found.findings[0].split == "ood"


@pytest.mark.parametrize(("value", "told"), [(0.5, False), (0.95, True)])
def test_what_changes_do_is_said_once(value, told):
    codes = worlds(20)
    follows, other = Score("follows", value, value - 0.1, value + 0.05, 90), Score("stays", 1.0, 0.9, 1.0, 90)
    effects = Counterfactuals("pairs", 90, Effects(follows, other, other, other), {})
    found = verdict.diagnose({"test": view(AND, codes, codes).evidence}, effects=effects)
    assert (effects.text in found.notes) == told and found.text.count(effects.text) == 1
    assert ("boundary" in found.kinds) == (not told)

"""Each finding on both sides of its threshold, with its numbers and its words, from examples counted by hand."""

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.diagnosis import comparisons, concepts, findings, labels, maps, reliance, saliency, soft_leakage, verdict
from assay.diagnosis.concepts import (
    association,
    clearly_missed,
    judge_concepts,
    misread_values,
    read_by_maps,
    used_concepts,
)
from assay.diagnosis.findings import (
    Finding,
    accuracy_from_concepts,
    describe_labels,
    find_bypass,
    find_inconsistent,
    find_noisy,
    find_opaque,
    find_shortcut,
    find_too_few,
    find_underfit,
    find_unidentified,
    find_wrong_rule,
    kept_in_training,
)
from assay.diagnosis.labels import judge_labels
from assay.diagnosis.views import SplitView
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence

AND = Knowledge.of(bits(["a", "b", "idle"]), {"y": "a and b"})
XOR = Knowledge.of(bits(["a", "b", "idle"]), {"y": "xor(a, b)", "z": "a"})


def view(knowledge, true, said, predicted=None, level=0.05):
    """A split of true and predicted concepts; labels follow from the latter unless given."""
    true, said = np.asarray(true), np.asarray(said)
    truth = knowledge.labels_of(true)
    if predicted is None:
        predicted = knowledge.labels_of(np.maximum(said, 0))
    nothing = (None,) * len(knowledge.labels), (None,) * len(knowledge.space)
    evidence = Evidence(knowledge, "test", truth, true, np.asarray(predicted), said, *nothing)
    used = used_concepts(knowledge)
    return SplitView(
        "test", evidence, judge_concepts(evidence, used, level), judge_labels(evidence, level), used, level
    )


def worlds(times, knowledge=AND):
    return np.tile(knowledge.space.all_codes(), (times, 1))


def test_thresholds_are_those_that_the_words_name():
    assert (concepts.TOLERATED, concepts.RIGHT, concepts.CONSTANT, concepts.LEARNED) == (0.05, 0.88, 0.95, 0.2)
    assert (findings.KEPT, findings.BY_RULE, findings.DROP, findings.FEWEST) == (0.75, 0.8, 0.1, 20)
    assert (comparisons.FEWEST_SEEN, comparisons.FOLLOWS, labels.MOSTLY) == (50, 0.9, 0.75)
    assert (maps.CLEARLY, maps.MOSTLY, maps.PER_ENTRY) == (0.1, 0.5, 8)
    assert (soft_leakage.LEAST, soft_leakage.FEWEST, verdict.LEVEL, verdict.OVERCONFIDENT) == (0.1, 30, 0.01, 0.05)
    assert (reliance.MOST, reliance.LEAST, saliency.CHANGED, saliency.SAME) == (0.9, 0.1, 0.5, 0.8)


def test_the_gravest_comes_first():
    assert findings.RANK == (
        "spurious", "underfit", "shortcut", "leaking", "memorised", "wrong rule", "inconsistent", "noisy", "opaque",
        "boundary", "unidentified", "too few", "no rule", "sound",
    )  # fmt: skip
    assert (
        concepts.WRONG == ("misread", "collapsed", "noisy", "not learned") and concepts.WRONG[:2] == concepts.SYSTEMATIC
    )
    assert labels.STANDINGS == ("wrong", "undecided", "mostly right", "right")


def test_a_finding_as_plain_data():
    finding = Finding("noisy", "test", "words", ("a",), ("y",), {"n": 3})
    assert finding.to_dict() == {
        "kind": "noisy", "split": "test", "text": "words", "concepts": ["a"], "labels": ["y"], "numbers": {"n": 3},
    }  # fmt: skip


def test_concepts_that_are_not_said_are_opaque():
    codes = worlds(10)
    assert find_opaque(view(AND, codes, codes)) is None
    unused = np.where([False, False, True], -1, codes)
    assert find_opaque(view(AND, codes, unused)) is None  # the rule does not use it
    one = find_opaque(view(AND, codes, np.where([True, False, False], -1, codes)))
    assert one.text == "On test, of 2 concepts that the rule uses it does not predict a." and one.concepts == ("a",)
    assert one.numbers == {"concepts": 1}
    both = find_opaque(view(AND, codes, np.where([True, True, False], -1, codes)))
    assert both.text == "On test, it predicts no concept that the rule uses." and both.numbers == {"concepts": 2}
    gaps = codes.copy()
    gaps[:30, 1] = -1
    assert find_opaque(view(AND, codes, gaps)).text.endswith("does not predict b in 30 of 80 examples.")
    gaps[4:30, 1] = codes[4:30, 1]
    assert find_opaque(view(AND, codes, gaps)) is None  # 5 % may be


def test_misreading_that_keeps_the_labels_is_a_shortcut():
    codes = worlds(10)
    swapped = codes[:, [1, 0, 2]]
    finding, agreement = find_shortcut(view(AND, codes, swapped), AND.space.all_codes())
    assert agreement == 1.0 and finding.concepts == ("a", "b")
    assert finding.numbers == {"misread": 40, "kept": 40, "training_kept": 1.0}
    assert finding.text.startswith(
        "On test, concepts that the rule uses are misread in 40 of 80 examples, and the rule still gives the right "
        "labels in 100 % (91 to 100 %) of 40 such examples."
    )
    assert finding.text.endswith("every training world keeps its labels, so the training labels cannot reveal it.")
    flipped = codes ^ np.array([1, 0, 0])
    finding, agreement = find_shortcut(view(AND, codes, flipped), AND.space.all_codes())
    assert finding is None and agreement == 0.5  # labels are lost where b is true
    finding, agreement = find_shortcut(view(AND, codes, flipped), AND.space.all_codes()[:2])
    assert agreement == 1.0 and finding.numbers == {"misread": 80, "kept": 40, "training_kept": 1.0}
    assert "and the rule then gives the right labels in 50 %" in finding.text
    assert find_shortcut(view(AND, codes, codes), codes) == (None, None)
    assert find_shortcut(view(AND, codes, swapped), None)[0].numbers == {"misread": 40, "kept": 40}


def test_training_worlds_are_counted_once():
    codes = worlds(10)
    seen = view(AND, codes, codes ^ np.array([1, 0, 0]))
    training = np.array([[0, 1, 0]] * 9 + [[0, 0, 0], [1, 0, 0], [0, 0, 1]])
    assert kept_in_training(seen.in_state(["misread"]), training, seen) == 0.75
    assert kept_in_training(seen.in_state(["misread"]), training[:0], seen) is None
    read = read_by_maps(seen.in_state(["misread"]), training, AND.space)
    assert np.array_equal(read, training ^ np.array([1, 0, 0]))


def test_errors_that_come_together_are_a_shortcut_of_no_single_concept():
    codes = worlds(24, XOR)
    rows = np.arange(len(codes)) // 8 % 4 == 0
    both = np.where(rows[:, None], codes ^ np.array([1, 1, 0]), codes)
    knowledge = Knowledge.of(XOR.space, {"y": "xor(a, b)"})
    finding, _ = find_shortcut(view(knowledge, codes, both), None)
    expected = finding.numbers["expected"]
    assert finding.numbers["misread"] == 48 == finding.numbers["kept"] and 0.05 < expected < 0.3
    assert (
        "are wrong in 48 of 192 examples, and the rule still gives the right labels in 100 % of these" in finding.text
    )
    apart = np.where(rows[:, None], codes ^ np.array([1, 0, 0]), codes)
    assert find_shortcut(view(knowledge, codes, apart), None) == (None, None)


def test_noise_is_found_but_for_what_a_shortcut_explains():
    codes = worlds(25)
    rows = np.arange(200) % 5 == 0
    noisy = np.where(rows[:, None], codes ^ np.array([1, 0, 0]), codes)
    finding = find_noisy(view(AND, codes, noisy), frozenset())
    assert finding.concepts == ("a",) and finding.numbers == {"concepts": 1}
    assert finding.text.startswith("On test: a is noisy: right in 80 %")
    assert find_noisy(view(AND, codes, noisy), frozenset(["a"])) is not None  # it is not systematic
    swapped = view(AND, codes, codes[:, [1, 0, 2]])
    assert find_noisy(swapped, frozenset(["a", "b"])) is None
    assert find_noisy(swapped, frozenset(["a"])).concepts == ("b",)
    assert find_noisy(view(AND, codes, codes), frozenset()) is None


def test_concepts_that_no_rule_uses_are_unidentified():
    codes = worlds(25)
    idle = view(AND, codes, codes ^ np.array([0, 0, 1]))
    finding = find_unidentified(idle)
    assert finding.concepts == ("idle",) and finding.numbers == {"concepts": 1}
    assert finding.text.startswith("On test, the rule does not use idle, and only these are wrong. It reads idle")
    assert find_unidentified(view(AND, codes, codes ^ np.array([1, 0, 1]))) is None
    assert find_unidentified(view(AND, codes, codes)) is None


def test_labels_wrong_though_concepts_are_right_are_the_rules():
    codes = worlds(25)
    truth = AND.labels_of(codes)

    def wrong(count, said=codes):
        rows = np.arange(200) < count
        return find_wrong_rule(view(AND, codes, said, np.where(rows[:, None], 1 - truth, truth)))

    finding = wrong(30)
    assert finding.labels == ("y",) and finding.numbers == {"examples": 200, "wrong": 30}
    assert (
        finding.text
        == "On test, in 200 examples every concept that the rule uses is right, yet the model is wrong about y in 30."
    )
    assert wrong(16) is not None and wrong(14) is None  # 15.7 of 200 are clearly more than 5 %
    few = np.where(np.arange(200)[:, None] < 181, codes ^ np.array([1, 0, 0]), codes)
    assert wrong(200, few) is None  # 19 examples are too few


def test_a_wrong_label_is_the_rules_where_most_errors_come_with_right_concepts():
    codes = np.tile([[1, 1, 0], [1, 0, 0]], (60, 1))
    truth = AND.labels_of(codes)
    said = codes.copy()
    said[:20] ^= np.array([1, 0, 0])
    predicted = truth.copy()
    predicted[0:20] = 1 - truth[0:20]
    for count, found in ((80, True), (100, True)):
        other = predicted.copy()
        other[20 : 20 + count] = 1 - truth[20 : 20 + count]
        assert (find_wrong_rule(view(AND, codes, said, other)) is not None) == found


def test_labels_that_do_not_follow_are_inconsistent_where_concepts_are_wrong():
    codes = worlds(25)
    said = np.where(np.arange(200)[:, None] < 100, codes ^ np.array([1, 1, 0]), codes)
    follow = AND.labels_of(said)
    other = np.where(np.arange(200)[:, None] < 30, 1 - follow, follow)
    finding = find_inconsistent(view(AND, codes, said, other))
    assert finding.numbers == {"examples": 200, "follow": 170}
    assert finding.text.startswith("On test, the labels follow from the predicted concepts in 85 %")
    assert find_inconsistent(view(AND, codes, said)) is None
    few = np.where(np.arange(200)[:, None] < 14, 1 - follow, follow)
    assert find_inconsistent(view(AND, codes, said, few)) is None
    assert find_inconsistent(view(AND, codes, codes, 1 - AND.labels_of(codes))) is None  # that is the rule's fault


def test_labels_better_than_the_concepts_allow_leak():
    codes = worlds(50)
    constant = np.zeros_like(codes)
    truth = AND.labels_of(codes)
    finding = find_bypass(view(AND, codes, constant, truth))
    assert finding.numbers == {"right": 400, "implied": 300, "examples": 400}
    assert (
        "right in 100 % (99 to 100 %) of 400 examples, but the predicted concepts imply the right ones in only 75 %"
        in finding.text
    )
    assert finding.text.endswith("learned on half of the examples, get 75 %.")
    flipped = codes ^ np.array([1, 1, 0])
    assert find_bypass(view(AND, codes, flipped, truth)) is None  # another rule over them gets all
    assert find_bypass(view(AND, codes, constant)) is None
    assert find_bypass(view(AND, codes, -np.ones_like(codes), truth)) is None
    missed = np.flatnonzero(truth[:, 0])[:40]  # wrong, and implied wrong
    partly = truth.copy()
    partly[missed] = 0
    assert find_bypass(view(AND, codes, constant, partly, 0.01)).numbers["right"] == 360
    worse = partly.copy()
    worse[np.flatnonzero(truth[:, 0] == 0)[:40]] = 1  # wrong where the concepts imply the right ones
    assert find_bypass(view(AND, codes, constant, worse, 0.01)) is None


def test_trees_tell_how_much_the_concepts_say_of_all_labels():
    codes = worlds(30, XOR)
    seen = view(XOR, codes, codes * np.array([1, 0, 1]))  # a is said, b is not
    assert 0.3 < accuracy_from_concepts(seen) < 0.7
    assert accuracy_from_concepts(view(XOR, codes, codes)) == 1.0
    assert accuracy_from_concepts(view(XOR, codes, -np.ones_like(codes))) == 0.0
    digit = Knowledge.of(digits(["n"], (0, 1, 2, 3)), {"y": "n == 1 or n == 2"})
    numbers = np.tile(np.arange(4), 20)[:, None]
    assert accuracy_from_concepts(view(digit, numbers, (numbers + 1) % 4)) == 1.0


def test_labels_that_are_not_learned_are_underfit():
    codes = worlds(25, XOR)
    truth = XOR.labels_of(codes)
    wrong = truth.copy()
    wrong[:100, 0] = 1 - truth[:100, 0]
    seen = view(XOR, codes, codes, wrong)
    finding = find_underfit(seen, by_rule=False)
    assert finding.labels == ("y",) and find_underfit(seen, by_rule=True) is None
    assert (
        finding.text
        == "On test, y is right in 50 % (43 to 57 %) of 200; the most frequent value would be right in 50 %."
    )
    assert find_underfit(view(XOR, codes, codes), by_rule=False) is None
    assert (
        describe_labels(seen) == "On test, labels are wrong: all right together in 50 % (43 to 57 %) of 200 examples."
    )
    single = view(AND, codes, codes)
    assert describe_labels(single) == "On test, the labels are right: right in 100 % (98 to 100 %) of 200 examples."


def test_what_few_examples_cannot_tell_is_named():
    codes = worlds(2)
    finding = find_too_few(view(AND, codes, codes))
    assert finding.concepts == ("a", "b") and finding.labels in ((), ("y",))
    assert finding.text.startswith("On test, 16 examples do not tell whether these are right: ")
    assert "a (100 % (81 to 100 %) of 16)" in finding.text
    codes = worlds(25)
    assert find_too_few(view(AND, codes, codes)) is None


def test_values_that_are_clearly_missed_or_said_as_another():
    table = np.array([[20, 0, 0], [3, 9, 8], [0, 0, 0]])
    assert clearly_missed(table, 0.05) == [1] and clearly_missed(table, 1e-9) == []
    assert clearly_missed(np.array([[7, 3], [0, 30]]), 0.05, recall=0.5) == []
    assert (
        misread_values(np.array([[2, 18], [1, 19]]), 0.05) == [0]
        and misread_values(np.array([[9, 11], [0, 9]]), 0.05) == []
    )
    assert misread_values(np.array([[5, 5], [15, 1]]), 0.05) == [1]


def test_association_is_corrected_for_chance():
    table = np.array([[30, 10, 5], [4, 25, 6]])
    total, (rows, columns) = 80, (2, 3)
    expected = table.sum(1, keepdims=True) * table.sum(0) / total
    phi = ((table - expected) ** 2 / expected).sum() / total - (rows - 1) * (columns - 1) / (total - 1)
    sides = min(rows - (rows - 1) ** 2 / (total - 1), columns - (columns - 1) ** 2 / (total - 1))
    assert association(table) == pytest.approx(np.sqrt(phi / (sides - 1)))
    assert association(np.array([[10, 0], [20, 0]])) == 0.0 == association(np.array([[0, 0], [3, 4]]))
    padded = np.array([[30, 0, 10, 5], [0, 0, 0, 0], [4, 0, 25, 6]])
    assert association(padded) == pytest.approx(association(table))

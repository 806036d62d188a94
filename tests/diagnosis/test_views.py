"""Wrong labels by cause, counted by hand; maps that were never met are not followed; sentences for what is read alike."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, EncoderGroup, bits
from assay.diagnosis.concepts import judge_concepts
from assay.diagnosis.interventions.label_heads import LinearHead, logistic_head, rule_head, softmax
from assay.diagnosis.labels import judge_labels
from assay.diagnosis.maps import ConceptMap, follows_map, halves_of
from assay.diagnosis.views import SplitView
from assay.diagnosis.wording import describe_concepts, describe_gaps, join_first, join_words, never_said, percent
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence

AND = Knowledge.of(bits(["a", "b", "idle"]), {"y": "a and b"})
USED = frozenset([0, 1])
CASES = [  # true a, b, idle; said a, b, idle; said label; its cause
    ((1, 1, 0), (1, 1, 0), 1, "right"),
    ((1, 1, 0), (1, 1, 1), 0, "rule"),
    ((1, 1, 0), (0, 1, 0), 0, "perception"),
    ((1, 0, 0), (1, 1, 0), 1, "perception"),
    ((1, 1, 0), (0, 1, 0), 1, "luck"),
    ((1, 1, 0), (-1, 1, 0), 0, "unknown"),
    ((1, 1, 0), (1, 1, -1), 0, "rule"),
    ((-1, 1, 0), (1, 1, 0), 0, "unknown"),
]


def view(knowledge=AND, cases=CASES, labels=None):
    true, said, label, _ = (np.array(part) for part in zip(*cases, strict=True))
    truth = knowledge.labels_of(np.abs(true)) if labels is None else labels  # what is not known is there
    evidence = Evidence(knowledge, "test", truth, true, label[:, None], said, (None,), (None,) * 3)
    return SplitView("test", evidence, judge_concepts(evidence, USED, 0.05), judge_labels(evidence, 0.05), USED, 0.05)


def test_every_wrong_label_has_its_cause():
    seen = view()
    found = seen.errors
    expected = {cause: sum(case[3] == cause for case in CASES) for cause in ("rule", "perception", "unknown", "luck")}
    assert {cause: getattr(found, cause) for cause in expected} == expected
    assert (found.labels, found.wrong, found.both) == (8, 6, 0)
    assert found.wrong == found.rule + found.perception + found.both + found.unknown
    assert (
        found.text
        == "Of 6 wrong labels, 2 to perception, 2 to the rule and 2 to a cause unknown: this is what would have to be mended."
    )


def test_what_follows_from_concepts_that_the_rule_uses():
    seen = view()
    assert seen.complete.tolist() == [True] * 5 + [False, True, False]
    assert seen.implied_labels[:, 0].tolist() == [1, 1, 0, 1, 0, -2, 1, -2]
    assert seen.concepts_right.tolist() == [True, True, False, False, False, False, True, False]
    assert seen.right.tolist() == [True, False, False, False, True, False, False, False]
    assert seen.follows.tolist() == [True, False, True, True, False, False, False, False]
    assert seen.implied_right.tolist() == [True, True, False, False, False, False, True, False]
    assert seen.columns == [0, 1]


def test_two_wrong_labels_can_have_both_causes():
    many = Knowledge.of(bits(["a", "b", "idle"]), {"y": "a + b"})
    cases = [
        ((1, 1, 0), (0, 1, 0), 0, "both"),
        ((0, 0, 0), (1, 0, 0), 2, "both"),
        ((0, 1, 0), (1, 1, 0), 2, "perception"),
    ]
    found = view(many, cases, np.array([[2], [0], [1]])).errors
    assert (found.both, found.perception, found.rule, found.wrong) == (2, 1, 0, 3)


def test_answers_to_what_the_other_half_never_met_follow_no_map():
    keys, answers = np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0])
    halves = np.array([0, 1, 0, 1, 0])
    assert follows_map(keys, answers, 2, halves).tolist() == [True, True, True, True, False]
    assert follows_map(np.arange(6), np.zeros(6, dtype=int), 2, halves_of(6)).tolist() == [False] * 6
    swapped = follows_map(np.tile([0, 1], 20), np.tile([1, 0], 20), 2, halves_of(40))
    assert swapped.all()


def test_halves_are_halves_and_the_same_every_time():
    assert sorted(np.bincount(halves_of(101)).tolist()) == [50, 51] and (halves_of(101) == halves_of(101)).all()


def concept_map(kind, image, entries=None):
    entries = entries or dict.fromkeys(image, (10, 9))
    return ConceptMap("a", kind, ("a",), image, entries)


def test_what_a_map_does_to_values():
    assert concept_map("own", {(0,): 0, (1,): 1}).is_identity
    assert not concept_map("own", {(0,): 1, (1,): 1}).is_identity
    assert concept_map("own", {(0,): 1, (1,): 1}).merges and not concept_map("own", {(0,): 1, (1,): 0}).merges
    assert not concept_map("own", {(0,): 0, (1,): 1}).merges and not concept_map("source", {(0,): 1, (1,): 1}).merges
    assert concept_map("source", {(0,): 0}).renames and not concept_map("own", {(0,): 0}).renames
    assert concept_map("own", {(0,): 0}, {(0,): (10, 9), (1,): (30, 1)}).fidelity == 0.25


def states(said, truth, groups):
    concepts = tuple(Concept(name, (0, 1, 2)) for name in "abc")
    space = ConceptSpace(concepts, (), tuple(EncoderGroup(name, names) for name, names in groups.items()))
    knowledge = Knowledge.of(space, {"y": "a + b + c"})
    labels = knowledge.labels_of(truth)
    evidence = Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None,) * 3)
    return judge_concepts(evidence, frozenset(range(3)), 0.05), evidence


def test_concepts_of_one_encoder_share_a_sentence_only_if_all_are_read_alike():
    truth = np.random.default_rng(0).integers(0, 3, (600, 3))
    swap = np.array([1, 0, 2])
    groups = {"digits": ("a", "b"), "last": ("c",)}
    both, evidence = states(np.stack([swap[truth[:, 0]], swap[truth[:, 1]], truth[:, 2]], axis=1), truth, groups)
    (sentence,) = describe_concepts([state for state in both if state.state != "right"], evidence)
    assert sentence == "It reads digits 0 as 1 and 1 as 0; 2 is mostly read right (100 % of 1,200 answers)."
    groups = {"digits": ("a", "b", "c")}
    some, evidence = states(np.stack([swap[truth[:, 0]], swap[truth[:, 1]], truth[:, 2]], axis=1), truth, groups)
    found = describe_concepts([state for state in some if state.state != "right"], evidence)
    assert [text.split(" 0 as")[0] for text in found] == ["It reads a", "It reads b"]  # not of the third
    merged, evidence = states(np.minimum(truth, 1), truth, groups)
    (sentence,) = describe_concepts(merged, evidence)
    assert sentence.startswith("It reads digits 2 as 1; 0 and 1 are mostly read right; it never says 2 (100 % of 1,800")
    assert never_said(["a"], evidence) == ["2"]


def test_words_for_numbers_and_lists():
    assert [percent(share) for share in (0, 0.0004, 0.0096, 0.01, 0.5, 0.99, 0.991, 0.9999, 1)] == [
        "0 %", "0.1 %", "1.0 %", "1 %", "50 %", "99 %", "99.1 %", "99.9 %", "100 %",
    ]  # fmt: skip
    assert join_words(["a"]) == "a" and join_words(["a", "b"], "or") == "a or b" and join_words([]) == ""
    assert (
        join_first([*"abcdef"]) == "a, b, c, d, e and f" and join_first([*"abcdefg"]) == "a, b, c, d, e, f and 1 more"
    )
    gaps = describe_gaps("test", np.array([[True, False], [True, True], [True, True], [False, False]]))
    assert gaps.startswith("On test, 38 % of the true concepts") and "the 2 of 4 examples" in gaps
    assert describe_gaps("test", np.ones((2, 2), dtype=bool)) == ""


def test_margins_are_the_second_value_less_the_first():
    rng = np.random.default_rng(0)
    head = LinearHead([rng.normal(size=(2, 4)), rng.normal(size=(3, 4))], rng.normal(size=4), (2, 2))
    concepts = [rng.dirichlet(np.ones(size), 5) for size in (2, 3)]
    weights, bias = head.margins()
    margin = sum((p @ w for p, w in zip(concepts, weights, strict=True)), bias)
    labels = head(concepts)
    expected = np.stack([np.log(p[:, 1] / p[:, 0]) for p in labels], axis=1)
    assert margin == pytest.approx(expected) and head.binary
    assert not LinearHead(head.weights, head.bias, (4,)).binary
    assert [p.sum(axis=1) == pytest.approx(np.ones(5)) for p in labels] == [True, True]
    logistic = logistic_head([2.0, -1.0], 0.5)([np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])])[0]
    assert logistic[0, 1] == pytest.approx(1 / (1 + np.exp(-(2 * 0.75 - 0.5 + 0.5))))
    assert softmax(np.array([[1000.0, 1000.0]])).tolist() == [[0.5, 0.5]]


def test_the_rule_as_a_head_is_exact():
    given = [np.array([[0.2, 0.8]]), np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])]
    (label,) = rule_head(AND)(given)
    assert label[0].tolist() == pytest.approx([0.6, 0.4])


def test_a_truth_that_is_not_known_is_no_value_that_is_never_said():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"y": "a == b"})
    labels = np.zeros((3, 1), dtype=int)
    truth, said = np.array([[0, 2], [-1, 1], [1, -1]]), np.array([[0, 0], [2, 1], [1, 0]])
    evidence = Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None, None))
    assert never_said(["a"], evidence) == [] and never_said(["b"], evidence) == ["2"]
    assert never_said(["a", "b"], evidence) == []  # what is said of one concept of a group counts for all

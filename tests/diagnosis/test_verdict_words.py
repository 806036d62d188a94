"""What a diagnosis says beside its verdict: reliance in words, changes between splits, confidence; and what merges."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.diagnosis.comparisons import find_insensitive, find_memorised
from assay.diagnosis.concepts import ConceptState
from assay.diagnosis.counterfactual import _rows
from assay.diagnosis.discovery.disentanglement import predict_columns
from assay.diagnosis.discovery.matching import ConceptValue, MatchScore, UnitMatch, _best_f1
from assay.diagnosis.discovery.scores import ChanceScore, UnitScores
from assay.diagnosis.discovery.stability import agreement, live_units, stability
from assay.diagnosis.findings import Finding
from assay.diagnosis.information import Blur, entropy, mutual_information, mutual_information_knn
from assay.diagnosis.interventions.label_heads import LinearHead, logistic_head
from assay.diagnosis.maps import ConceptMap
from assay.diagnosis.propagation import _half, _interpolation, _joint, _sums, through_any, through_linear
from assay.diagnosis.reliance import Reliance, Rights, describe_unused, find_spurious, reliance_table
from assay.diagnosis.verdict import _change, _confidence, _merge, diagnose
from assay.diagnosis.views import Errors
from assay.diagnosis.wording import describe_concepts, percent, share_of
from assay.errors import TooLarge
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for
from tests.diagnosis.test_findings import AND, XOR, view, worlds

FALL = Rights(90, 100, 30, 100, True)


def test_two_shares_of_right_answers():
    assert (
        Rights(9, 10, 3, 12).shares == (0.9, 0.25)
        and Rights(1, 1, 1, 1).shares == (1.0, 1.0)
        and Rights().shares == (0.0, 0.0)
    )
    right = Rights.of(np.arange(40) < 36, np.arange(50) < 10, 0.01)
    assert right == Rights(36, 40, 10, 50, True) and not Rights.of(np.ones(40, bool), np.ones(50, bool), 0.01).falls
    assert right.text == (
        "right in 90 % (77 to 96 %) of 40 examples where it goes with the label as in training, "
        "and in 20 % (11 to 33 %) of 50 where not"
    )


def test_reliance_in_words():
    row = Reliance("patch", "nuisance", "reversed", 100, 60, 0, FALL)
    assert (
        row.share == 0.6
        and row.relied_on
        and row.text
        == (
            "When only patch changes, the label moves in 60 % (50 to 69 %) of 100 pairs, and should in none. "
            "Labels are right in 90 % (83 to 94 %) of 100 examples where it goes with the label as in training, and in "
            "30 % (22 to 40 %) of 100 where not. It is a part of the examples: in 40 % of the pairs the label stays."
        )
    )
    for moved, part in ((89, True), (90, False), (11, True), (10, False)):
        assert ("It is a part" in Reliance("patch", "nuisance", "reversed", 100, moved, 0, FALL).text) == part
    concepts = {"a": Rights(9, 10, 8, 10, True), "b": Rights(9, 10, 1, 10, True), "c": Rights(9, 10, 5, 10, True),
                "d": Rights(9, 10, 7, 10, True)}  # fmt: skip
    spoilt = Reliance("hat", "nuisance", "reversed", 0, 0, 0, Rights(5, 10, 5, 10), concepts, ("e", "f"))
    assert spoilt.text.startswith("Labels hold. What is predicted of b is right in 90 %") and spoilt.relied_on
    assert [name for name, _ in spoilt._worst] == ["b", "c", "d"] and spoilt.text.endswith("It does not spoil e and f.")
    assert spoilt.share == 0.0 and spoilt.to_dict()["share"] is None and row.to_dict()["share"] == 0.6
    both = Reliance("hat", "nuisance", "reversed", 10, 0, 0, FALL, concepts)
    assert "Labels are right in 90 %" in both.text and "does not spoil" not in both.text


def test_the_first_nuisance_that_is_relied_on_gives_the_numbers():
    idle = Reliance("hat", "nuisance", "reversed", 50, 1, 0, Rights(9, 10, 9, 10))
    row = Reliance("patch", "nuisance", "reversed", 100, 60, 0, FALL, {"a": Rights(1, 2, 0, 2, True)})
    other = Reliance("dot", "nuisance", "reversed", 20, 3, 0, Rights(1, 4, 1, 4), {"b": Rights(3, 4, 1, 4, True)})
    concept = Reliance("a", "concept", "pairs", 30, 12, 15)
    finding = find_spurious([idle, row, other, concept])
    assert finding.kind == "spurious" and finding.concepts == ("a", "b") and finding.split == "reversed"
    assert finding.numbers == {"nuisances": 2, "pairs": 100, "moved": 60, "usual": 0.9, "unusual": 0.3}
    assert find_spurious([other]).numbers["usual"] == 0.75 and find_spurious([idle, concept]) is None
    assert describe_unused([idle, row, concept]) == (
        "Labels do not clearly follow hat: they move in 2 % (0 to 10 %) of 50 pairs that differ in it alone; right in "
        "90 % (60 to 98 %) of 10 examples where it goes with the label as in training, and in 90 % (60 to 98 %) of 10 where not."
    )
    assert reliance_table([row, concept, Reliance("f", "nuisance", "u", 0, 0, 0)]) == [
        ["patch", "nuisance", "100", "60 % (50 to 69 %) of 100", "0 %", "yes"],
        ["a", "concept", "30", "40 % (25 to 58 %) of 30", "50 %", ""], ["f", "nuisance", "0", "", "", ""],
    ]  # fmt: skip


def test_findings_of_one_kind_are_one_and_the_gravest_is_first():
    merged = _merge([
        Finding("noisy", "test", "One.", ("a",)), Finding("shortcut", "ood", "Two."),
        Finding("noisy", "ood", "Three.", ("b",)), Finding("noisy", "far", "Four."),
    ])  # fmt: skip
    assert [(f.kind, f.split, f.text, f.concepts) for f in merged] == [
        ("shortcut", "ood", "Two.", ()), ("noisy", "test", "One. So it is on ood and far.", ("a",)),
    ]  # fmt: skip


def test_a_change_between_splits_is_said_where_it_is_clear():
    codes = worlds(25)
    truth = AND.labels_of(codes)
    first = view(AND, codes, codes)
    half = view(AND, codes, codes, np.where(np.arange(200)[:, None] % 2 == 0, 1 - truth, truth))
    assert (
        _change(first, half)
        == "From test to test, the share of examples whose labels are right falls from 1.00 to 0.50."
    )
    assert _change(half, first).endswith("rises from 0.50 to 1.00.") and _change(first, first) == ""
    both = XOR.labels_of(codes)
    two = view(XOR, codes, codes), view(XOR, codes, codes, np.where(np.arange(200)[:, None] % 2 == 0, 1 - both, both))
    assert "whose labels are all right falls" in _change(*two)


def test_confidence_beside_accuracy():
    truth = np.array([[0], [1], [1], [0]])
    chances = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"})
    concepts = np.concatenate([truth, [[0], [-1], [1], [-1]]], axis=1)
    sure = np.array([[0.5, 0.5], [0.0, 1.0], [0.1, 0.9], [0.0, 1.0]])
    evidence = Evidence(knowledge, "test", truth, concepts, truth, concepts, (chances,), (None, sure))
    assert _confidence(evidence, "labels") == pytest.approx((0.75, 0.75))
    assert _confidence(evidence, "concepts") == pytest.approx((0.7, 1.0))  # known rows only


def test_a_model_is_not_said_to_memorise_what_it_does_not_know():
    codes = worlds(30)
    truth = AND.labels_of(codes)
    new = np.arange(240) % 8 >= 4

    def found(old_wrong, new_wrong, said=codes, seen=~new):
        wrong = (~new & (np.arange(240) // 8 < old_wrong)) | (new & (np.arange(240) // 8 < new_wrong))
        own = view(AND, codes, said, np.where(wrong[:, None], 1 - truth, truth), 0.01)
        return find_memorised({"test": own}, {"test": ~seen})

    assert found(0, 15).numbers == {"seen": 120, "seen_right": 120, "new": 120, "new_right": 60}
    assert found(4, 20) is not None and found(6, 30) is None  # 24 of 30 is not surely three of four
    assert found(0, 15, seen=np.arange(240) < 49) is None  # fewer than 50 known worlds
    assert found(15, 0) is None


def test_counterfactuals_below_nine_of_ten_are_found():
    def effects(follows, stays):
        part = {name: SimpleNamespace(metric=name, value=high - 0.1, high=high, applies=high < 2) for name, high in
                (("follows", follows), ("stays", stays))}  # fmt: skip
        return SimpleNamespace(all=SimpleNamespace(**part), split="pairs", text="words")

    assert find_insensitive(None) is None and find_insensitive(effects(0.9, 0.95)) is None
    found = find_insensitive(effects(0.89, 0.5))
    assert (
        found.kind == "boundary"
        and found.numbers == pytest.approx({"follows": 0.79, "stays": 0.4})
        and found.text == "words"
    )
    assert list(find_insensitive(effects(2.0, 0.5)).numbers) == ["stays"]


def test_shares_of_rows_count_what_is_counted():
    true = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
    counted = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=bool)
    assert _rows(true, counted).tolist()[:2] == [0.5, 1.0] and np.isnan(_rows(true, counted)[2])


def test_wrong_labels_by_cause_of_two_labels():
    true = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0]])
    said = np.array([[0, 0, 0], [1, 1, 0], [-1, 1, 0], [0, 1, 0], [1, 1, 0]])
    truth = XOR.labels_of(true)  # y, z: (1, 1), (1, 1), (1, 0), (0, 1), (0, 1)
    predicted = np.array([[0, 0], [1, 0], [0, 0], [0, 1], [1, 1]])
    assert truth.tolist() == [[1, 1], [1, 1], [1, 0], [0, 1], [0, 1]]
    errors = view(XOR, true, said, predicted).errors
    # implied by what is said: (0, 0), (0, 1), none, (1, 0), (0, 1)
    assert errors == Errors(labels=10, wrong=5, rule=2, unsure=0, perception=2, both=0, unknown=1, luck=3)
    assert (
        errors.text
        == "Of 5 wrong labels, 2 to perception, 2 to the rule and 1 to a cause unknown: this is what would have to be mended."
    )
    assert Errors(4, 0, 0, 0, 0, 0, 0, 0).text == "" and errors.to_dict()["luck"] == 3


def test_percentages_say_none_and_all_only_where_it_is_so():
    assert [percent(x) for x in (0.0, 0.0001, 0.0099, 0.01, 0.5, 0.99, 0.9901, 0.99999, 1.0)] == [
        "0 %", "0.1 %", "1.0 %", "1 %", "50 %", "99 %", "99.0 %", "99.9 %", "100 %",
    ]  # fmt: skip
    assert share_of(0, 0) == "0 % (0 to 100 %) of 0" and share_of(1, 4).startswith("25 % (5 to 70 %)")


def state(name, source, follow=30, image=None, kind="source"):
    image = image or {("red",): "red", ("blue",): "blue"}
    mapping = ConceptMap(name, kind, source, image, {key: (20, follow // len(image)) for key in image})
    return ConceptState(name, "misread", True, 3, 40, 40, 10, mapping)


def test_concepts_said_for_one_another_share_a_sentence():
    space = ConceptSpace(tuple(Concept(name, ("red", "blue")) for name in "abcd"))
    evidence = SimpleNamespace(knowledge=SimpleNamespace(space=space))
    pair = [state("a", ("b",)), state("b", ("a",), 40)]
    assert describe_concepts(pair, evidence) == [
        "It exchanges a and b: each is said for the other (88 % of 80 answers)."
    ]
    three = [state("a", ("b",)), state("b", ("c",)), state("c", ("a",))]
    assert describe_concepts(three, evidence) == [
        "It exchanges concepts: it reads a from b, b from c and c from a (75 % of 120 answers)."
    ]
    one = [state("a", ("b",)), state("d", ("a",), image={("red",): "blue", ("blue",): "red"})]
    assert describe_concepts(one, evidence) == [
        "It reads a from b (75 % of 40 answers).", "It reads d from a: red as blue and blue as red (75 % of 40 answers).",
    ]  # fmt: skip
    keys = {("red", "red"): "red", ("red", "blue"): "blue", ("blue", "red"): "red"}
    objects = [state("a", ("a", "b"), 30, keys, "object"), state("b", ("a", "b"), 60, keys, "world")]
    assert describe_concepts(objects, evidence) == [
        "It reads a from a and b together, through a map of 3 entries (50 % of 60 answers).",
        "It reads b from the whole world together, through a map of 3 entries (100 % of 60 answers).",
    ]  # fmt: skip


def test_of_many_concepts_six_are_described():
    space = ConceptSpace(tuple(Concept(name, ("red", "blue")) for name in "abcdefghi"))
    evidence = SimpleNamespace(knowledge=SimpleNamespace(space=space))
    sentences = describe_concepts([state(name, ("i",)) for name in "abcdefg"], evidence)
    assert len(sentences) == 7 and sentences[-1] == "The table of concepts has 1 more such line."
    assert describe_concepts([state(name, ("i",)) for name in "abcdefgh"], evidence)[-1].endswith("2 more such lines.")
    assert len(describe_concepts([state(name, ("i",)) for name in "abcdef"], evidence)) == 6
    silent = ConceptState("a", "absent", True, 0, 40, 0, 0)
    partly = ConceptState("b", "absent", True, 0, 40, 25, 20)
    assert describe_concepts([silent, partly], evidence) == [
        "It says nothing of a.",
        "It says nothing of b in 15 examples.",
    ]


def test_expected_labels_are_sums_over_all_worlds():
    rng = rng_for(1, "heads")
    sizes = [2, 3, 2]
    concepts = [rng.dirichlet(np.ones(size), 5) for size in sizes]
    head = LinearHead([rng.normal(size=(size, 5)) for size in sizes], rng.normal(size=5), (3, 2))
    expected = [np.zeros((5, 3)), np.zeros((5, 2))]
    for code in np.ndindex(*sizes):
        chance = np.prod([concepts[i][:, c] for i, c in enumerate(code)], axis=0)
        said = head([np.eye(size)[[c]] for size, c in zip(sizes, code, strict=True)])
        for place in (0, 1):
            expected[place] += chance[:, None] * said[place]
    for found in (through_any(head, concepts), through_linear(head, concepts)):
        for place in (0, 1):
            np.testing.assert_allclose(found[place], expected[place], atol=1e-9)
    with pytest.raises(TooLarge, match="1,048,577|2,097,152"):
        through_any(logistic_head([1.0] * 21, 0.0), [np.full((1, 2), 0.5)] * 21)


def test_a_logistic_head_of_many_concepts_is_exact_enough():
    rng = rng_for(2, "heads")
    weights = rng.normal(size=14) * 2
    concepts = [np.stack([1 - p, p], axis=1) for p in rng.random((14, 3))]
    head = logistic_head(weights.tolist(), -0.7)
    np.testing.assert_allclose(through_linear(head, concepts)[0], through_any(head, concepts)[0], atol=1e-8)


def test_parts_of_the_expectation():
    assert [_half(sizes) for sizes in ([2], [2, 2], [2, 2, 2, 2], [2, 2, 16], [64, 2, 2])] == [1, 1, 2, 2, 1]
    assert _sums([np.array([0.0, 1.0]), np.array([10.0, 20.0, 30.0])]).tolist() == [10, 20, 30, 11, 21, 31]
    joint = _joint([np.array([[0.25, 0.75]]), np.array([[0.5, 0.2, 0.3]])])
    assert joint[0] == pytest.approx([0.125, 0.05, 0.075, 0.375, 0.15, 0.225])
    x = np.array([0.0, 0.3, 1.0, 2.0])
    nodes, onto = _interpolation(x, 6)
    assert nodes[0] == 2.0 and nodes[-1] == 0.0 and onto.sum(axis=1) == pytest.approx(np.ones(4))
    np.testing.assert_allclose(onto @ (nodes**3 - nodes), x**3 - x, atol=1e-12)


def test_information_of_known_tables():
    assert entropy(np.array([0, 0, 0, 1])) == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    first, second = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 1, 1, 0, 0])
    expected = sum(
        p * np.log(p / ((first == a).mean() * (second == b).mean()))
        for a in range(3) for b in range(2) if (p := ((first == a) & (second == b)).mean())
    )  # fmt: skip
    assert mutual_information(first, second) == pytest.approx(expected) and mutual_information(first, first * 0) == 0.0
    codes = np.arange(60) % 2
    assert mutual_information_knn(codes[:, None] * 9.0, codes, Blur(), "x") > 0.6
    assert mutual_information_knn(np.zeros((3, 1)), np.arange(3), Blur(), "x") == 0.0
    numbers = np.zeros(400)
    noise = Blur(3, 0.5)(numbers, "x")
    assert noise.min() < -0.2 and noise.max() < 0.25 and noise.min() >= -0.25 and abs(noise.mean()) < 0.03
    assert np.array_equal(Blur(3, 0.5)(numbers, "x"), noise) and not np.array_equal(Blur(3, 0.5)(numbers, "y"), noise)
    assert (Blur().seed, Blur().precision) == (0, 0.01)


def test_scores_beside_chance():
    score = ChanceScore.of(0.5, [0.1, np.nan, 0.3])
    assert (score.value, score.highest) == (0.5, 0.3) and score.chance == pytest.approx(0.2) and score.above_chance
    assert not ChanceScore.of(0.3, [0.3]).above_chance and np.isnan(ChanceScore.of(0.3, []).highest)
    assert ChanceScore.of(np.nan, [0.3]).to_dict() == {"value": None, "chance": 0.3, "highest_chance": 0.3}
    parts = [
        MatchScore(UnitMatch(ConceptValue(c, 0, f"v{c}"), 1, -1, -np.inf), f1, 0.2, 0.3, 0.4)
        for c, f1 in ((0, 0.5), (1, 0.6), (0, np.nan))
    ]
    assert UnitScores(tuple(parts), {}).of_concept(0) == (parts[0],)
    assert parts[0].to_dict() == {
        "value": "v0", "concept": 0, "unit": 1, "direction": -1, "threshold": None, "f1": 0.5, "information": 0.2, "purity": 0.3, "share": 0.4,
    }  # fmt: skip


def test_units_stand_for_a_value_from_a_threshold_on():
    units = np.array([[0.1, 5.0], [0.4, 6.0], [0.4, 7.0]])
    assert UnitMatch(ConceptValue(0, 1, "v"), 0, 1, 0.4).predicted(units).tolist() == [False, True, True]
    assert UnitMatch(ConceptValue(0, 1, "v"), 1, -1, -6.0).predicted(units).tolist() == [True, True, False]
    assert UnitMatch(ConceptValue(0, 1, "v"), None).predicted(units).tolist() == [False] * 3
    holds, known = np.array([[True], [False], [True], [False], [False]]), np.array([[True]] * 4 + [[False]])
    best, thresholds = _best_f1(np.array([[5.0], [4.0], [3.0], [1.0], [0.0]]), holds, known)
    assert best[0, 0, 0] == pytest.approx(2 * 2 / (3 + 2)) and thresholds[0, 0, 0] == 2.0
    assert best[0, 1, 0] == pytest.approx(2 * 2 / (4 + 2)) and thresholds[0, 1, 0] == -np.inf


def test_units_of_two_seeds_agree_by_their_best_partners():
    rng = rng_for(4, "units")
    a, b, c = rng.normal(size=(3, 50))
    first, second = np.stack([a, b, np.ones(50)], axis=1), np.stack([-2 * b, c, a + 3], axis=1)
    assert live_units(first).tolist() == [0, 1] and agreement(first, second) == pytest.approx(2 / 3, abs=1e-9)
    assert agreement(first, np.ones((50, 2))) == 0.0 and np.isnan(stability([first]))
    assert stability([first, second, first]) == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)


def test_columns_that_do_not_vary_are_not_predicted():
    rng = rng_for(5, "units")
    codes = np.stack([np.arange(60) % 2, np.zeros(60, dtype=int), np.arange(60) // 2 % 2], axis=1)
    units = np.stack([codes[:, 0], rng.normal(size=60)], axis=1).astype(float)
    test = codes.copy()
    test[:, 1] = np.arange(60) % 2  # varies here, but not where it was fitted
    test[:, 2] = 1
    found = predict_columns(units, codes, units, test, 0)
    assert found.importance.shape == (2, 1) and found.importance[0, 0] > 0.7 and found.skill == pytest.approx(1.0)
    gaps = np.where(np.arange(60)[:, None] < 30, -1, codes)
    assert predict_columns(units, gaps, units, test, 0).skill == pytest.approx(1.0)
    nothing = predict_columns(units, codes[:, 1:2], units, test[:, 1:2], 0)
    assert nothing.importance.shape == (2, 0) and np.isnan(nothing.skill)


def test_the_notes_of_a_diagnosis():
    codes = worlds(30)
    truth = AND.labels_of(codes)
    blurred = np.full((240, 2), 0.5) + np.where(truth == [[0, 1]], 0.05, -0.05)
    evidence = Evidence(
        AND, "test", truth, codes, truth, np.where([0, 0, 1], codes * 0, codes), (blurred,), (None,) * 3
    )
    found = diagnose({"test": evidence, "tiny": evidence.take(np.arange(8))})
    text = found.text
    assert "On test, probabilities are off: of labels by 0.45 (underconfident: 0.55 sure, 1.00 right)." in text
    assert "Fewer than 30 examples: tiny (8); what is said of them is uncertain." in text
    assert found.verdict == "unidentified" and found.kinds == ("unidentified",)
    assert repr(found).startswith("Diagnosis(unidentified; test: label_f1 1.00, concept_f1")
    sound = diagnose({"test": Evidence(AND, "test", truth, codes, truth, codes, (None,), (None,) * 3)})
    assert sound.findings[0].text == (
        "On test, each of the 2 concepts that the rule uses is right in at least 98 % (lower ends of 95 % intervals, "
        "240 examples), and the labels follow from the predicted concepts in 240 of 240."
    )


def test_a_diagnosis_is_drawn_by_concepts_and_by_region():
    codes = worlds(30)
    truth = AND.labels_of(codes)
    found = diagnose({"test": Evidence(AND, "test", truth, codes, truth, codes, (None,), (None,) * 3)})
    regions = found.plot("boundary")
    assert [axis.get_ylabel() or axis.get_xlabel() for axis in regions.axes]
    names = [text.get_text() for axis in regions.axes for text in (*axis.get_xticklabels(), *axis.get_yticklabels())]
    assert "y: a and b" in names and "y: far" in names
    assert len(found.plot().axes) >= 3

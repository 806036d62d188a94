"""A finding of each kind in one line; readings, leakage, saliency and blame by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import bits
from assay.diagnosis.findings import RANK, Finding
from assay.diagnosis.headline import DECIDED_BY, TONES, Headline, _deciding_split, _why, headline
from assay.diagnosis.identifiability import MOST_READINGS, MOST_WORLDS, Identifiability, identifiability
from assay.diagnosis.information import Blur, entropy, mutual_information, mutual_information_knn
from assay.diagnosis.leakage import FEWEST_ROWS, leakage
from assay.diagnosis.maps import ConceptMap, MapFitter, explained_by_sources, follows_map
from assay.diagnosis.reading import Reading
from assay.diagnosis.reliance import Reliance, Rights
from assay.diagnosis.saliency import (
    RandomisationCheck,
    RandomisedStage,
    SaliencyScore,
    ScoreBesideChance,
    _ranks,
    describe_blank,
    describe_marks,
    score_rows,
)
from assay.errors import DataError
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.seeds import rng_for

XOR = Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b)"})


def test_every_kind_has_a_tone_and_a_number_that_decides():
    assert TONES == {
        "spurious": "bad", "underfit": "bad", "shortcut": "bad", "leaking": "bad", "memorised": "bad", "wrong rule": "bad",
        "inconsistent": "bad", "noisy": "weak", "opaque": "unknown", "boundary": "weak", "unidentified": "weak",
        "too few": "unknown", "no rule": "unknown", "sound": "good",
    }  # fmt: skip
    assert DECIDED_BY == {
        "spurious": "label_accuracy", "underfit": "label_accuracy", "shortcut": "concept_f1", "leaking": "concept_f1",
        "memorised": "label_accuracy", "wrong rule": "label_accuracy", "inconsistent": "rule_consistency", "noisy": "concept_f1",
        "opaque": "label_f1", "boundary": "near_accuracy", "unidentified": "concept_f1", "too few": "label_accuracy",
        "no rule": "label_f1", "sound": "label_f1",
    }  # fmt: skip
    assert set(TONES) == set(RANK)


FALL = Rights(90, 100, 30, 100, True)
ROW = Reliance("patch", "nuisance", "reversed", 100, 60, 0, FALL)
READING = Reading("digit", ("b", "a"), (0, 1, 2, 3, 4), (1, 2, 0, 4, None), np.zeros((5, 6), dtype=int), 0.9)
DIAGNOSIS = SimpleNamespace(
    reliance=(Reliance("hat", "nuisance", "r", 9, 0, 0), ROW), readings=(READING,),
    labels={"test": (SimpleNamespace(label="y", right=30, examples=40), SimpleNamespace(label="z", right=0, examples=0))},
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        ("shortcut", {"concepts": ("a",), "numbers": {"kept": 30, "misread": 40}},
         "reads digit 0 as 1, 1 as 2, 2 as 0 and 1 more; 75 % of these labels stay right"),
        ("shortcut", {"concepts": ("q",), "numbers": {"kept": 30, "misread": 40}}, "reads q wrong; 75 % of these labels stay right"),
        ("spurious", {"numbers": {"usual": 0.9, "unusual": 0.3}}, "follows patch: right in 90 % as in training, in 30 % otherwise"),
        ("noisy", {"concepts": ("a", "b", "c", "d")}, "often wrong: a, b, c and 1 more"),
        ("unidentified", {"concepts": ("a",)}, "only concepts that the rule does not use are wrong: a"),
        ("opaque", {"concepts": ("a", "b")}, "does not predict a and b"),
        ("wrong rule", {"numbers": {"wrong": 1200, "examples": 4000}}, "wrong labels in 1,200 of 4,000 examples whose concepts are right"),
        ("memorised", {"numbers": {"seen": 10, "seen_right": 9, "new": 20, "new_right": 5}},
         "labels right in 90 % of examples of training worlds, in 25 % of new ones"),
        ("boundary", {"numbers": {"follows": 0.25, "stays": 0.5}},
         "label follows 25 % of changes that should move it, and stays in 50 % of the others"),
        ("boundary", {"text": "On test, y is right in 9 of 10; more. Then."}, "y is right in 9 of 10"),
        ("inconsistent", {"numbers": {"follow": 3, "examples": 4}}, "labels follow from the concepts in 75 % of examples"),
        ("underfit", {"labels": ("y", "other")}, "y is right in 75 %"),
        ("too few", {"labels": ("z",), "concepts": ("a",)}, "z is right in 0 % and a is undecided"),
        ("sound", {}, "labels and concepts are right, and follow by the rule"), ("no rule", {}, "labels and concepts are right"),
        ("leaking", {"text": "On test, labels are right, but others not."}, "labels are right"),
    ],
)  # fmt: skip
def test_why_in_a_few_words(kind, more, words):
    assert _why(Finding(kind, "test", **{"text": "", **more}), DIAGNOSIS) == words


def test_a_concept_that_follows_is_named_before_the_nuisance():
    row = Reliance("patch", "nuisance", "r", 9, 0, 0, Rights(), {"hue": FALL})
    found = _why(
        Finding("spurious", "r", "", numbers={"usual": 0.5, "unusual": 0.25}), SimpleNamespace(reliance=(row,))
    )
    assert found == "hue follows patch: right in 50 % as in training, in 25 % otherwise"


def test_the_split_with_the_lowest_value_decides():
    def score(value):
        return SimpleNamespace(value=value, applies=value == value)

    scores = {
        "test": {"m": score(0.9)},
        "ood": {"m": score(0.4)},
        "hard": {"m": score(0.1)},
        "none": {"m": score(float("nan"))},
    }
    diagnosis = SimpleNamespace(scores=scores)
    splits = ("test, ood", "none, test", "none", "strange")
    assert [_deciding_split(Finding("noisy", split, ""), diagnosis, "m") for split in splits] == [
        "ood",
        "test",
        "none",
        "test",
    ]


def test_pairs_that_decide_are_named_by_the_lower_number():
    finding = Finding("boundary", "pairs", "", numbers={"follows": 0.6, "stays": 0.4})
    found = headline(SimpleNamespace(findings=(finding,), scores={}))
    assert (found.measure, found.value, found.split, found.tone) == ("invariance", 0.4, "pairs", "weak")
    assert Headline("sound", "good", "concept_f1", 0.126, "test", "").number == "concept F1 0.13"
    nothing = Headline("sound", "good", "concept_f1", float("nan"), "test", "")
    assert nothing.number == "" and nothing.to_dict()["value"] is None and nothing.to_dict()["tone"] == "good"


def test_readings_in_words():
    assert READING.text == "most often says digit 0 as 1, 1 as 2, 2 as 0 and 3 as 4" and not READING.is_identity
    counts = np.array([[5, 0, 0, 0], [3, 1, 0, 0], [0, 2, 0, 7], [0, 0, 0, 0]])[:3]
    reading = Reading("hue", ("a",), ("red", "blue", "grey"), (0, 0, 1), counts, 0.5)
    assert reading.text == "most often says hue blue as red and grey as blue, and red as it is; never says grey"
    assert reading._true_counts == [5, 4, 9] and reading._predicted_counts == [8, 3, 0]
    assert reading.to_dict()["reads"] == [["red", "red"], ["blue", "red"], ["grey", "blue"]]
    same = Reading("hue", ("a",), ("red", "blue"), (0, None), counts[:2, :3], 1.0)
    assert (
        same.is_identity
        and same.text == "most often says every hue as it is"
        and same.to_dict()["reads"][1] == ["blue", None]
    )


def test_what_the_labels_allow_in_words():
    def text(worlds=8, counted=8, low=1, high=1, settle=()):
        return Identifiability(worlds, counted, low, high, {}, settle).text

    assert text().startswith("The labels of 8 training worlds allow no reasoning shortcut")
    assert text(high=5) == "The labels of 8 training worlds allow from 0 to 4 reasoning shortcuts."
    assert text(low=3, high=5) == "The labels of 8 training worlds allow from 2 to 4 reasoning shortcuts."
    assert "labels of 5 of the 8 training worlds allow" in text(counted=5)
    assert "1 reasoning shortcut: a wrong reading" in text(
        low=2, high=2
    ) and "2 reasoning shortcuts: wrong readings" in text(low=3, high=3)
    assert (MOST_WORLDS, MOST_READINGS) == (2_000, 1_000_000)
    found = identifiability(XOR, XOR.space.all_codes())
    assert found.worlds == found.counted == 8 and found.low == found.high


def evidence(said, chances=None, knowledge=XOR, true=None):
    true = np.tile(knowledge.space.all_codes(), (len(said) // 8, 1)) if true is None else true
    truth = knowledge.labels_of(true)
    return Evidence(knowledge, "test", truth, true, truth, said, (None,), chances or (None,) * 3)


def test_hard_leakage_is_that_of_its_formula():
    true = np.tile(XOR.space.all_codes(), (20, 1))
    rng = rng_for(3, "leaks")
    said = np.where(rng.random(true.shape) < 0.1, 1 - true, true)
    labels = XOR.labels_of(true)[:, 0]
    said[:, 2] = np.where(rng.random(160) < 0.8, labels, said[:, 2])  # c tells the label
    found = leakage(evidence(said))
    whole = entropy(labels)
    ctl = [
        max(0.0, mutual_information(said[:, i], labels) - mutual_information(true[:, i], labels)) / whole
        for i in range(3)
    ]
    assert found.hard.ctl == pytest.approx(np.mean(ctl)) and list(found.by_concept.values()) == pytest.approx(
        ctl, abs=1e-6
    )
    icl = []
    for first in range(3):
        for second in range(3):
            if first != second:
                both = mutual_information(said[:, first], said[:, second]) / np.sqrt(
                    entropy(said[:, first]) * entropy(said[:, second])
                )
                own = mutual_information(true[:, first], true[:, second]) / np.sqrt(
                    entropy(true[:, first]) * entropy(true[:, second])
                )
                icl.append(max(0.0, both - own))
    assert found.hard.icl == pytest.approx(np.mean(icl)) and found.pairs == 6 and found.rows == 160
    assert found.soft is None and found.to_dict()["hard"]["ctl"] == found.hard.ctl


def test_soft_leakage_is_that_of_its_formula():
    rng = rng_for(5, "soft leaks")
    true = (rng.random((200, 3)) < [0.5, 0.2, 0.35]).astype(int)
    labels = XOR.labels_of(true)[:, 0]
    sure = np.clip(0.15 + 0.6 * true + 0.2 * labels[:, None] * [0, 0, 1] + 0.05 * rng.random((200, 3)), 0, 1)
    sure[:, 1] += 0.1 * true[:, 0] * (1 - sure[:, 1])  # b goes with a
    chances = tuple(np.stack([1 - p, p], axis=1) for p in sure.T)
    found = leakage(evidence((sure > 0.5).astype(int), chances, true=true), seed=4, precision=0.02)
    blur = Blur(4, 0.02)
    ctl = [
        max(0.0, mutual_information_knn(sure[:, [i]], labels, blur, i, 0) - mutual_information(true[:, i], labels))
        / entropy(labels)
        for i in range(3)
    ]
    assert (
        found.soft.ctl == pytest.approx(np.mean(ctl))
        and found.by_concept["c"] == pytest.approx(ctl[2], abs=1e-6)
        and ctl[2] > 0.1
    )
    icl = []
    for first in range(3):
        for second in range(3):
            if first != second:
                whole = np.sqrt(entropy(true[:, first]) * entropy(true[:, second]))
                said = mutual_information_knn(sure[:, [first]], true[:, second], blur, "pair", first, second)
                icl.append(max(0.0, (said - mutual_information(true[:, first], true[:, second])) / whole))
    assert found.soft.icl == pytest.approx(np.mean(icl)) and found.soft.icl > 0.01
    assert set(found.beyond_value) == {"a", "b", "c"} and found.beyond_value["c"] > 0.3 > found.beyond_value["a"]


def test_soft_leakage_needs_probabilities_of_every_concept():
    true = np.tile(XOR.space.all_codes(), (8, 1))
    chances = tuple(np.eye(2)[true[:, i]] * 0.8 + 0.1 for i in range(3))
    assert leakage(evidence(true, chances)).soft is not None
    assert leakage(evidence(true, (*chances[:2], None))).soft is None
    assert FEWEST_ROWS == 40 and leakage(evidence(true[:40])).rows == 40
    with pytest.raises(DataError, match="has 32 examples whose concepts are known, leakage needs 40"):
        leakage(evidence(true[:32]))
    with pytest.raises(DataError, match="leakage needs concepts"):
        leakage(evidence(-np.ones_like(true)))


def test_maps_explain_answers_of_the_other_half():
    keys = np.array([0, 0, 0, 1, 1, 1, 2])
    answers, halves = np.array([1, 1, 1, 0, 0, 1, 1]), np.array([0, 1, 1, 0, 1, 1, 0])
    # half 0 is judged by half 1: 0 as 1, 1 as 0 (a tie goes to the first), 2 not met; half 1 by half 0: 0 as 1, 1 as 0
    assert follows_map(keys, answers, 2, halves).tolist() == [True, True, True, True, True, False, False]
    truth = np.stack([keys[:6], 1 - (keys[:6] > 0)], axis=1)
    said = np.stack([truth[:, 1], truth[:, 0]], axis=1)
    explained = explained_by_sources(truth, said, [3, 2], np.array([0, 1, 0, 1, 0, 1]))
    assert explained.tolist() == [[6.0, 6.0], [6.0, 6.0]]
    mapping = ConceptMap("a", "own", ("a",), {(0,): 1, (1,): 1}, {(0,): (10, 7), (1,): (30, 25)})
    assert mapping.fidelity == 0.8 and mapping.merges and not mapping.is_identity and not mapping.renames
    swapped = ConceptMap("a", "own", ("a",), {(0,): 1, (1,): 0}, {})
    assert not swapped.merges and np.isnan(swapped.fidelity)
    assert (
        ConceptMap("a", "source", ("b",), {(0,): 0}, {}).renames
        and ConceptMap("a", "own", ("a",), {(0,): 0}, {}).is_identity
    )


def test_a_map_from_elsewhere_must_explain_clearly_more():
    true = np.tile(XOR.space.all_codes(), (20, 1))
    said = true.copy()
    said[:, 0] = true[:, 2]
    found = MapFitter(evidence(said), 0.05)
    mapping = found.elsewhere(0)
    assert (mapping.kind, mapping.sources, mapping.image) == ("source", ("c",), {(False,): False, (True,): True})
    assert mapping.entries == {(False,): (80, 80), (True,): (80, 80)} and found.elsewhere(1) is None
    both = true.copy()
    both[:, 0] = true[:, 0] ^ true[:, 1]
    world = MapFitter(evidence(both), 0.05).elsewhere(0)
    assert world.kind == "world" and world.sources == ("a", "b", "c") and len(world.image) == 8
    few = true[:15]
    assert MapFitter(evidence(few * 0 + few[:, [2, 1, 0]], true=few), 0.05).elsewhere(0) is None


def saliency(side="above", blank=2, mark=True, kind="label", untrained=0.25):
    score = ScoreBesideChance(0.5, 0.4, 0.6, side)
    return SaliencyScore("label y", kind, "patch", mark, 1200, blank, 0.125, ScoreBesideChance(0.9, 0.8, 1.0, "above"), score,
                         ScoreBesideChance(0.3, 0.2, 0.4, "below"), {}, untrained)  # fmt: skip


def test_saliency_in_rows_and_sentences():
    assert score_rows([saliency(), saliency("as chance", untrained=None)]) == [
        ["label y", "patch", "1,200", "0.90 (0.80 to 1.00)", "0.50 (0.40 to 0.60)", "0.30 (0.20 to 0.40)", "0.12", "0.25", "above chance"],
        ["label y", "patch", "1,200", "0.90 (0.80 to 1.00)", "0.50 (0.40 to 0.60)", "0.30 (0.20 to 0.40)", "0.12", "", "as chance"],
    ]  # fmt: skip
    texts = describe_marks(
        [saliency(), saliency("below"), saliency("as chance"), saliency(mark=False), saliency(kind="concept")]
    )
    assert [text.split(": ")[1] for text in texts] == [
        "a second witness that the model looks at it.", "less than by chance.", "no more than by chance.",
    ]  # fmt: skip
    assert (
        describe_blank([saliency(), saliency(mark=False), saliency(mark=False, blank=0)])
        == "Blank maps, which are not scored: label y (2)."
    )
    assert describe_blank([saliency()]) == ""
    assert _ranks(np.array([5.0, 1.0, 5.0, 9.0, 5.0])).tolist() == [3, 1, 3, 5, 3]


@pytest.mark.parametrize(
    ("similarity", "witness"), [(0.49, "witness"), (0.5, "weak witness"), (0.79, "weak witness"), (0.8, "no witness")]
)
def test_maps_that_stay_alike_are_no_witness(similarity, witness):
    stages = RandomisedStage(1, "head", 0.99, 0.9, 1.0, 9), RandomisedStage(4, "body", similarity, 0.1, 0.9, 9)
    assert RandomisationCheck(stages).witness == witness

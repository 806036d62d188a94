"""The verdict on models whose fault is known."""

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.data.dataset import Dataset, SplitData
from assay.diagnosis.findings import MEANINGS
from assay.diagnosis.labels import judge_labels
from assay.diagnosis.verdict import Diagnosis, _calibration, diagnose
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence, gather
from assay.metrics.score import Score
from assay.seeds import rng_for
from tests.predictors import constant, labels_only, oracle, predictions, random_codes, reading, shuffled

SHIFTED = np.array([1, 2, 3, 4, 5, 4, 5, 6, 7, 8])  # even: 0 1, 2 3, 4 5, 6 5, 8 7; odd: 1 2, 3 4, 5 4, 7 6, 9 8


def judged(dataset: Dataset, evidence: Evidence) -> Diagnosis:
    return diagnose({evidence.split: evidence}, dataset.symbols("train").concepts)


def random_concepts(data: SplitData) -> Evidence:
    return gather(data, predictions(data, data.labels, random_codes(len(data), data.knowledge.space.sizes, "said")))


@pytest.mark.parametrize("fixture", ["evenodd", "mnlogic"])
@pytest.mark.parametrize(
    ("predictor", "verdict"),
    [
        (oracle, "sound"),
        (labels_only, "opaque"),
        (random_concepts, "leaking"),
        (shuffled, "underfit"),
        (constant, "underfit"),
    ],
)
def test_known_faults(predictor, verdict: str, fixture: str, request: pytest.FixtureRequest) -> None:  # type: ignore[no-untyped-def]
    dataset: Dataset = request.getfixturevalue(fixture)
    found = judged(dataset, predictor(dataset.symbols("test")))
    assert found.verdict == verdict
    assert found.text.startswith(f"Verdict: {verdict}. {MEANINGS[found.verdict]}")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"] == verdict


def test_a_reading_that_keeps_the_sums_is_a_shortcut(evenodd: Dataset) -> None:
    splits = {name: reading(evenodd.symbols(name), np.array([SHIFTED] * 2)) for name in ("test", "ood")}
    found = diagnose(splits, evenodd.symbols("train").concepts)
    assert found.verdict == "shortcut" and found.agreement == 1.0
    assert found.scores["test"]["label_accuracy"].value == found.scores["test"]["rule_consistency"].value == 1
    assert (
        "It reads digit 0 as 1, 1 as 2, 2 as 3, 3 as 4, 4 as 5, 5 as 4, 6 as 5, 7 as 6, 8 as 7 and 9 as 8" in found.text
    )
    assert (
        "Read this way, every training world keeps its labels, so the training labels cannot reveal it." in found.text
    )
    kept = splits["ood"].labels == splits["ood"].predicted_labels
    assert f"whose labels are right falls from 1.00 to {kept.mean():.2f}" in found.text
    assert found.to_dict()["training_labels_kept_by_reading"] == 1.0


def test_two_bits_upside_down_are_a_shortcut(mnlogic: Dataset) -> None:
    found = judged(mnlogic, reading(mnlogic.symbols("test"), np.array([[1, 0], [0, 1], [1, 0]])))
    assert found.verdict == "shortcut" and found.agreement == 1.0
    for name in "ac":
        assert f"It reads {name} False as True and True as False (100 % of 32 answers)." in found.text


def test_a_shortcut_that_training_could_have_told(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    swapped = np.array([6, 1, 2, 3, 4, 5, 0, 7, 8, 9])  # right for 14 of 16 pairs
    found = judged(evenodd, reading(data, np.array([swapped] * 2)))
    assert found.verdict == "noisy" and found.agreement == 14 / 16  # where 0 and 6 are misread, labels are lost
    assert "It reads digit 0 as 6 and 6 as 0; 1, 2, 3, 4, 5, 7, 8 and 9 are mostly read right" in found.text


def test_one_bit_upside_down_learns_no_xor(mnlogic: Dataset) -> None:
    assert judged(mnlogic, reading(mnlogic.symbols("test"), np.array([[1, 0], [0, 1], [0, 1]]))).verdict == "underfit"


def test_rare_labels_do_not_make_the_oracle_underfit() -> None:
    knowledge = Knowledge.of(bits(list("abcdef")), {"y": "a & b & c & d & e & f"})
    codes = knowledge.space.all_codes().astype(np.int64)
    labels = knowledge.labels_of(codes)
    silent = (None,), (None,) * 6
    right = Evidence(knowledge, "test", labels, codes, labels, codes, *silent)
    lazy = Evidence(knowledge, "test", labels, codes, np.zeros_like(labels), np.zeros_like(codes), *silent)
    assert diagnose({"test": right}).verdict == "sound"
    assert "underfit" not in diagnose({"test": right}).kinds and diagnose({"test": lazy}).verdict != "sound"


@pytest.mark.parametrize(
    ("elsewhere", "verdict"), [(oracle, "sound"), (shuffled, "memorised"), (random_concepts, "leaking")]
)
def test_a_model_is_sound_only_if_it_is_so_on_every_split(elsewhere, verdict: str, evenodd: Dataset) -> None:  # type: ignore[no-untyped-def]
    splits = {"test": oracle(evenodd.symbols("test")), "ood": elsewhere(evenodd.symbols("ood"))}
    assert diagnose(splits).verdict == verdict


def test_evidence_may_go_by_any_name(evenodd: Dataset) -> None:
    found = diagnose({"seed 0": oracle(evenodd.symbols("test")), "seed 1": shuffled(evenodd.symbols("test"))})
    assert (
        found.agreement is None
        and "From seed 0 to seed 1, the share of examples whose labels are right falls" in found.text
    )


def test_a_label_wrong_in_one_example_of_ten_is_no_longer_sound(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    labels = data.labels.copy()
    labels[:16] = (labels[:16] + 1) % 19  # one label in ten is wrong
    held = gather(data, predictions(data, labels, data.concepts))
    found = diagnose({"test": held})
    assert found.verdict == "too few" or found.verdict == "wrong rule"
    assert found.errors["test"].rule == 16 and "16 to the rule" in found.text


@pytest.mark.parametrize(("low", "told"), [(0.0499, False), (0.05, True), (0.3, True)])
def test_probabilities_are_called_off_from_a_calibration_error_of_five_percent_on(low: float, told: bool) -> None:
    knowledge = Knowledge.of(bits(["a"]), {"y": "a"})
    codes, sure = np.array([[0], [1]]), np.array([[0.2, 0.8], [0.2, 0.8]])
    evidence = Evidence(knowledge, "test", codes, codes, np.array([[1], [1]]), codes, (sure,), (None,))
    scores = {
        "label_ece": Score("label_ece", 0.3, low, 0.5, 2),
        "concept_ece": Score("concept_ece", float("nan"), 0.0, 0.0, 2),
    }
    text = _calibration("test", scores, evidence)
    assert text == (
        "On test, probabilities are off: of labels by 0.30 (overconfident: 0.80 sure, 0.50 right)." if told else ""
    )


@pytest.mark.parametrize(("examples", "few"), [(29, True), (30, False)])
def test_fewer_than_thirty_examples_are_warned_of(examples: int, few: bool) -> None:
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    codes = random_codes(examples, (2, 2), "few")
    labels = knowledge.labels_of(codes)
    evidence = Evidence(knowledge, "test", labels, codes, labels, codes, (None,), (None, None))
    warned = f"Fewer than 30 examples: test ({examples})" in diagnose({"test": evidence}).text
    assert warned == few


@pytest.mark.parametrize(
    ("wrong", "standing"),
    [(0, "right"), (60, "mostly right"), (80, "mostly right"), (100, "undecided"), (130, "wrong")],
)
def test_how_right_a_label_is(wrong: int, standing: str) -> None:
    truth = np.tile([[0], [1]], (200, 1))
    said = np.where(np.arange(400)[:, None] < wrong, 1 - truth, truth)
    knowledge = Knowledge.of(bits(["a"]), {"y": "a"})
    (state,) = judge_labels(Evidence(knowledge, "test", truth, truth, said, truth, (None,), (None,)), 0.01)
    assert (state.standing, state.right, state.majority) == (standing, 400 - wrong, 200)


def test_a_label_of_many_values_need_not_be_right_in_three_of_four() -> None:
    truth = np.tile(np.arange(10)[:, None], (40, 1))
    said = np.where(np.arange(400)[:, None] < 240, truth, (truth + 1) % 10)  # 60 %, of which chance has 10
    knowledge = Knowledge.of(digits(["a"]), {"y": "a"})
    (state,) = judge_labels(Evidence(knowledge, "test", truth, truth, said, truth, (None,), (None,)), 0.01)
    assert state.standing == "undecided" and state.majority == 40


def test_scores_as_a_frame_and_the_diagnosis_in_words(evenodd: Dataset) -> None:
    found = diagnose({name: oracle(evenodd.symbols(name)) for name in ("test", "ood")})
    frame = found.to_frame()
    assert len(frame) == sum(len(scores) for scores in found.scores.values())
    for split, scores in found.scores.items():
        rows = frame[frame["split"] == split]
        assert rows["metric"].tolist() == list(scores) and rows["examples"].tolist() == [
            x.examples for x in scores.values()
        ]
        for key in ("value", "low", "high"):
            np.testing.assert_equal(rows[key].to_numpy(), [getattr(x, key) for x in scores.values()])
    assert repr(found).startswith("Diagnosis(sound; test: ") and "label_f1 1.00" in repr(found)
    page = found._repr_html_()
    assert "Verdict: sound." in page and "label_accuracy" in page and "on test" in page


def test_errors_that_cancel_are_a_shortcut_though_no_concept_is_mostly_misread(mnlogic: Dataset) -> None:
    """In two of five examples two bits are both turned: neither is mostly misread, and the label stays."""
    knowledge = mnlogic.knowledge
    codes = rng_for(0, "mixed").integers(0, 2, size=(600, 3))
    said = codes.copy()
    turned = rng_for(1, "mixed").random(600) < 0.4
    said[turned, :2] = 1 - said[turned, :2]
    labels = knowledge.labels_of(codes)
    evidence = Evidence(knowledge, "test", labels, codes, labels, said, (None,), (None,) * 3)
    found = diagnose({"test": evidence})
    (shortcut,) = [finding for finding in found.findings if finding.kind == "shortcut"]
    assert found.verdict == "shortcut" and set(shortcut.concepts) == set(knowledge.space.names[:2])
    assert shortcut.numbers["misread"] == shortcut.numbers["kept"] == turned.sum()
    alone = codes.copy()
    alone[turned, 0] = 1 - alone[turned, 0]
    apart = replace(evidence, predicted_concepts=alone, predicted_labels=knowledge.labels_of(alone))
    assert "shortcut" not in diagnose({"test": apart}).kinds

"""What an annotator makes of the truth, as arrays: each challenge has the rate and the direction that it says."""

from typing import Any

import numpy as np
import pytest

from assay.arrays import Codes
from assay.concepts import Concept, ConceptSpace, EncoderGroup, bits
from assay.config import Settings, validate
from assay.data import Annotation
from assay.data.annotator import Annotator, Given, refuse_unknown
from assay.data.row_choice import choose_rows
from assay.errors import AssayError
from assay.logic import Constraint, Knowledge, parse

ROWS = 20_000
SPACE = ConceptSpace(
    (*bits(["a", "b"]).concepts, Concept("shape", ("round", "square", "cross"))),
    encoders=(EncoderGroup("bit", ("a", "b")), EncoderGroup("shape", ("shape",))),
)
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and b", "kind": "shape"})
TRUE = np.stack([np.arange(ROWS) % 2, np.arange(ROWS) // 2 % 2, np.arange(ROWS) % 3], axis=1)
LABELS = KNOWLEDGE.labels_of(TRUE)


def asked(**settings: Any) -> Annotation:
    return validate(Annotation, Settings(settings))


def given(knowledge: Knowledge = KNOWLEDGE, true: Codes = TRUE, split: str = "train", **settings: Any) -> Given:
    return Annotator(knowledge, asked(**settings), split)(Given(knowledge.labels_of(true), true), true)


def test_nothing_asked_changes_nothing() -> None:
    found = given()
    assert (found.concepts == TRUE).all() and (found.labels == LABELS).all()


def test_mcar_hides_any_value_alike() -> None:
    gaps = given(missing=0.3).concepts < 0
    for place, size in enumerate(SPACE.sizes):
        for code in range(size):
            assert gaps[TRUE[:, place] == code, place].mean() == pytest.approx(0.3, abs=0.02)


def test_mnar_hides_what_is_present_three_times_as_often_and_is_clipped() -> None:
    settings: dict[str, Any] = {"mechanism": "mnar", "present": [True, "square"]}
    gaps = given(missing=0.3, **settings).concepts < 0
    assert gaps[TRUE[:, 0] == 1, 0].mean() == pytest.approx(0.45, abs=0.02)
    assert gaps[TRUE[:, 0] == 0, 0].mean() == pytest.approx(0.15, abs=0.02)
    assert gaps[TRUE[:, 2] == 1, 2].mean() == pytest.approx(0.45, abs=0.02)
    assert gaps[TRUE[:, 2] == 2, 2].mean() == pytest.approx(0.15, abs=0.02)
    assert (given(missing=0.8, **settings).concepts < 0)[TRUE[:, 0] == 1, 0].all()


def test_mnar_knows_by_itself_that_false_is_absent() -> None:
    truth = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    gaps = given(truth, TRUE[:, :2], missing=0.2, mechanism="mnar").concepts < 0
    assert gaps[TRUE[:, 0] == 1, 0].mean() == pytest.approx(0.3, abs=0.02)


def test_what_is_hidden_at_a_low_rate_is_hidden_at_a_high_one() -> None:
    few, many = (given(missing=rate).concepts < 0 for rate in (0.1, 0.3))
    assert (many | ~few).all() and few.sum() < many.sum()


def test_symmetric_noise_goes_to_any_other_value_alike() -> None:
    shape = given(concept_noise={"shape": 0.3}).concepts
    assert (shape[:, :2] == TRUE[:, :2]).all()
    for code in range(3):
        shares = np.bincount(shape[TRUE[:, 2] == code, 2], minlength=3) / (TRUE[:, 2] == code).sum()
        assert shares == pytest.approx([0.7 if code == other else 0.15 for other in range(3)], abs=0.02)


def test_noise_by_encoder_group_and_by_direction() -> None:
    group = given(concept_noise={"bit": 0.2}).concepts != TRUE
    assert group[:, :2].mean() == pytest.approx(0.2, abs=0.02) and not group[:, 2].any()
    one_way = given(noise_01=0.1, noise_10={"a": 0.4}).concepts != TRUE
    for place, false, true in ((0, 0.1, 0.4), (1, 0.1, 0.0)):
        assert one_way[TRUE[:, place] == 0, place].mean() == pytest.approx(false, abs=0.02)
        assert one_way[TRUE[:, place] == 1, place].mean() == pytest.approx(true, abs=0.02)


def test_flips_follow_the_matrix() -> None:
    found = given(concept_flips={"shape": {"round": {"cross": 0.25}}}, label_flips={"kind": {"square": {"round": 0.5}}})
    changed = found.concepts[found.concepts[:, 2] != TRUE[:, 2]]
    assert len(changed) == pytest.approx(ROWS / 12, rel=0.1) and (changed[:, 2] == 2).all()
    moved = found.labels[:, 1] != LABELS[:, 1]
    assert moved.mean() == pytest.approx(1 / 6, abs=0.02) and (LABELS[moved, 1] == 1).all()
    assert (found.labels[:, 0] == LABELS[:, 0]).all()


def test_label_noise_of_one_label() -> None:
    found = given(label_noise={"y": 0.2}).labels != LABELS
    assert found[:, 0].mean() == pytest.approx(0.2, abs=0.02) and not found[:, 1].any()


def test_subjective_noise_moves_the_one_that_is_true() -> None:
    space = bits(["flat", "round", "square"])
    knowledge = Knowledge.of(
        space, {"y": "flat"}, [Constraint("one", parse("flat + round + square <= 1"), ("one_hot",))]
    )
    true = np.eye(4, dtype=np.int64)[np.arange(ROWS) % 4][:, :3]
    found = given(knowledge, true, subjective_noise=0.2).concepts
    one = true.sum(axis=1) == 1
    assert (found.sum(axis=1) == true.sum(axis=1)).all() and (found[~one] == 0).all()
    assert (found[one] != true[one]).any(axis=1).mean() == pytest.approx(0.2, abs=0.02)
    others = found[(true[:, 0] == 1) & (found[:, 0] == 0)]
    assert others[:, 1].mean() == pytest.approx(0.5, abs=0.05)


def test_only_what_is_shown_is_shown() -> None:
    found = given(shown_examples=20, shown_concepts=["a", "shape"], shown_values=[True, "round"]).concepts
    assert (found[:, 1] < 0).all() and ((found >= 0).any(axis=1)).sum() <= 20
    assert set(np.unique(found[:, 0])) <= {-1, 1} and set(np.unique(found[:, 2])) <= {-1, 0}
    assert (given(shown_examples=20).concepts >= 0).all(axis=1).sum() == 20


def test_draws_depend_on_seed_and_split_only() -> None:
    first = given(concept_noise=0.2, missing=0.2).concepts
    assert (first == given(concept_noise=0.2, missing=0.2, label_noise=0.5).concepts).all()
    assert (first != given(concept_noise=0.2, missing=0.2, seed=1).concepts).any()
    assert (first != given(concept_noise=0.2, missing=0.2, split="valid").concepts).any()


def rows(**settings: Any) -> Any:
    return choose_rows(asked(**settings), KNOWLEDGE, "train", TRUE, LABELS)


def test_rows_in_asked_shares() -> None:
    chosen = rows(label_shares={"y": {True: 0.9, False: 0.1}}, examples=1000)
    assert len(set(chosen)) == 1000 and LABELS[chosen, 0].sum() == 900
    most = rows(shares={"shape == 'round'": 0.8, "shape == 'cross'": 0.15})
    assert np.bincount(TRUE[most, 2]) / len(most) == pytest.approx([0.8, 0.05, 0.15], abs=0.001)
    assert (TRUE[most, 2] == 0).sum() >= (TRUE[:, 2] == 0).sum() - 1  # as many as there can be
    assert (TRUE[rows(where="a and not b", examples=10)][:, :2] == [1, 0]).all()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"missing": 0.3, "mechanism": "mnar"}, "no value of concept 'shape' says that nothing is there"),
        ({"missing": {"c": 0.3}}, "missing: no concept 'c'"),
        ({"noise_01": {"shape": 0.3}}, "concept 'shape' is not true or false"),
        ({"concept_flips": {"shape": {"oval": {"round": 0.3}}}}, "'shape' has no value 'oval'"),
        ({"label_noise": {"z": 0.3}}, "label_noise: no label 'z'"),
        ({"shown_values": [7]}, "shown_values: no concept has the value 7"),
        ({"subjective_noise": 0.2}, "subjective_noise needs subjective_groups"),
        (
            {"subjective_noise": 0.2, "subjective_groups": [["a", "shape"]]},
            "are not two or more true-or-false concepts",
        ),
    ],
)
def test_what_does_not_fit_is_told(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(AssayError, match=told):
        refuse_unknown(asked(**settings), KNOWLEDGE)
        given(**settings)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"concept_flips": {"shape": {"round": {"cross": 0.8, "square": 0.4}}}}, "add up to 1.2"),
        ({"shares": {"a": 0.5}, "label_shares": {True: 0.5}}, "give shares or label_shares, not both"),
        ({"missing": 1.5}, "missing"),
        ({"threshold": 0.5}, "a threshold needs a machine"),
        ({"shares": {"a": 0.7, "b": 0.2}}, "exclude one another"),
        ({"shares": {"a": 0.7, "not a": 0.7}}, "add up to 1.4, more than 1"),
        ({"shares": {"a": 0.3, "not a": 0.3}}, "no row is left for the rest"),
        ({"shares": {"a + b": 0.7}}, "is not true or false"),
        ({"label_shares": {True: 0.7}}, "say of which label: y, kind"),
        ({"label_shares": {"y": {7: 0.7}}}, "label 'y' has no value 7"),
        (
            {"label_shares": {"y": {True: 0.9}}, "examples": 19_000},
            "has rows for 5,555 examples in the shares asked for",
        ),
        ({"where": "a and not a"}, "holds in no row"),
    ],
)
def test_rows_that_there_are_not(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(AssayError, match=told):
        rows(**settings)

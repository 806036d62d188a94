"""Leakage on predictions written by hand, where what leaks is known."""

import numpy as np
import pytest

from assay.base import Array, Codes, DataError
from assay.diagnosis import leakage
from assay.logic import Concept, ConceptSpace, Knowledge, LabelNoise, bits, parse
from assay.metrics import Evidence

ROWS = 2000
HIDDEN = np.random.default_rng(0).integers(0, 2, (ROWS, 3))
"""a, b and c; the label is c, or a and b. A model that is told of a and b only can leak c."""
LABELS = (HIDDEN[:, 2] | (HIDDEN[:, 0] & HIDDEN[:, 1]))[:, None]
ODDS = {"y": LabelNoise(parse("99 * (a and b)"), 1.0)}
KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a and b"}, odds=ODDS)
"""What is known of the label by who knows a and b: certain where both are true, else even."""


def evidence(true: Array, knowledge: Knowledge = KNOWLEDGE, concepts: Codes = HIDDEN[:, :2]) -> Evidence:
    """Return the evidence of a model that gives these probabilities of being true."""
    spreads = tuple(np.stack([1 - column, column], axis=1) for column in true.T)
    said = (true >= 0.5).astype(np.int64)
    half = np.full((len(true), 2), 0.5)
    return Evidence(knowledge, "test", LABELS, concepts, LABELS, said, (half,), spreads)


def test_certain_and_true_concepts_leak_nothing() -> None:
    found = leakage(evidence(HIDDEN[:, :2].astype(float)))
    assert found.soft is not None
    for measure in (found.hard, found.soft):
        assert max(measure.ctl, measure.icl, measure.probe) < 0.01
    assert found.hard.ctl == found.hard.icl == 0


def test_confidence_that_tells_a_hidden_concept_leaks_softly_only() -> None:
    sure = np.where(HIDDEN[:, 2:] == 1, 0.95, 0.65)
    found = leakage(evidence(np.where(HIDDEN[:, :2] == 1, sure, 1 - sure)))
    assert found.soft is not None and found.hard.ctl < 0.01 and found.hard.probe < 0.01
    assert found.soft.ctl > 0.3 and found.soft.probe > 0.3
    assert min(found.by_concept.values()) > 0.3


def test_confidence_that_tells_the_label_leaks_where_the_rule_uses_all_concepts() -> None:
    """The probe is 0 there by construction; within each true value the probabilities still tell."""
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    codes = HIDDEN[:, :2]
    labels = knowledge.labels_of(codes)
    sure = np.where(labels == 1, 0.95, 0.65) + 0.01 * np.random.default_rng(1).random((ROWS, 2))
    true = np.where(codes == 1, sure, 1 - sure)
    spreads = tuple(np.stack([1 - column, column], axis=1) for column in true.T)
    held = Evidence(knowledge, "test", labels, codes, labels, codes, (None,), spreads)
    found = leakage(held)
    assert found.soft is not None and found.soft.probe < 0.02
    assert found.beyond_value["a"] > 0.3 and found.beyond_value["b"] > 0.3
    honest = 0.9 + 0.05 * np.random.default_rng(2).random((ROWS, 2))
    fair = np.where(codes == 1, honest, 1 - honest)
    spreads = tuple(np.stack([1 - column, column], axis=1) for column in fair.T)
    assert (
        max(leakage(Evidence(knowledge, "test", labels, codes, labels, codes, (None,), spreads)).beyond_value.values())
        < 0.02
    )


def test_values_that_tell_the_label_leak_hard_too() -> None:
    wrong = np.where(LABELS == 1, 0.9, 0.1) * np.ones((1, 2))
    found = leakage(evidence(wrong))
    assert found.soft is not None and min(found.hard.ctl, found.hard.icl, found.hard.probe) > 0.3
    assert min(found.soft.ctl, found.soft.probe) > 0.3


def test_one_concept_told_by_another_is_icl() -> None:
    both = np.where(HIDDEN[:, :1] == HIDDEN[:, 1:2], 0.9, 0.6) * np.ones((1, 2))
    sides = np.where(HIDDEN[:, :2] == 1, both, 1 - both)  # each confidence tells whether the two agree
    found = leakage(evidence(sides))
    assert found.soft is not None and found.hard.icl < 0.01 and found.soft.icl > 0.5


def test_a_constant_predictor_leaks_nothing() -> None:
    found = leakage(evidence(np.full((ROWS, 2), 0.7)))
    assert found.soft is not None and found.hard.ctl == found.hard.icl == 0
    assert max(found.soft.ctl, found.soft.icl, found.soft.probe) < 0.02


def test_a_rule_that_says_all_leaves_nothing_to_leak() -> None:
    whole = Knowledge.of(bits(["a", "b", "c"]), {"y": "c or a and b"})
    sure = np.where(LABELS == 1, 0.95, 0.65)
    found = leakage(evidence(np.where(HIDDEN == 1, sure, 1 - sure), whole, HIDDEN))
    assert found.soft is not None and found.soft.probe < 0.01 < found.soft.ctl  # the probe knows the rule


def test_two_runs_give_the_same_number_and_the_seed_matters() -> None:
    said = evidence(np.clip(HIDDEN[:, :2] + np.random.default_rng(1).normal(0, 0.3, (ROWS, 2)), 0.01, 0.99))
    assert leakage(said) == leakage(said) != leakage(said, seed=1)


def test_a_finer_precision_sees_smaller_differences() -> None:
    sure = np.where(HIDDEN[:, 2:] == 1, 0.999, 0.998)
    said = evidence(np.where(HIDDEN[:, :2] == 1, sure, 1 - sure))
    coarse, fine = leakage(said), leakage(said, precision=1e-10)
    assert coarse.soft is not None and fine.soft is not None and coarse.soft.ctl < 0.1 < 0.3 < fine.soft.ctl


def test_predictions_without_probabilities_have_hard_leakage_only() -> None:
    plain = evidence(HIDDEN[:, :2].astype(float))
    found = leakage(Evidence(**{**plain.__dict__, "concept_probabilities": (None, None)}))
    assert found.soft is None and found.hard.ctl == 0


def test_concepts_of_many_values() -> None:
    space = ConceptSpace((Concept("kind", ("x", "y", "z")),))
    kinds = np.random.default_rng(2).integers(0, 3, (ROWS, 1))
    labels = np.random.default_rng(3).integers(0, 2, (ROWS, 1))
    knowledge = Knowledge.of(space, {"y": "kind == 'x'"}, odds={"y": LabelNoise(parse("0 * (kind == 'x')"), 1.0)})
    spread = np.full((ROWS, 3), 0.1)
    spread[np.arange(ROWS), kinds[:, 0]] = np.where(labels[:, 0] == 1, 0.8, 0.6)
    spread /= spread.sum(axis=1, keepdims=True)
    made = Evidence(knowledge, "test", labels, kinds, labels, kinds, (None,), (spread,))
    found = leakage(made)
    assert found.soft is not None and found.soft.ctl > 0.8 and found.hard.ctl == 0 and found.pairs == 0


def test_what_cannot_be_measured_is_told() -> None:
    silent = evidence(HIDDEN[:, :2].astype(float))
    nothing = Evidence(**{**silent.__dict__, "predicted_concepts": np.full((ROWS, 2), -1)})
    with pytest.raises(DataError, match="leakage needs concepts"):
        leakage(nothing)
    with pytest.raises(DataError, match="has 10 examples whose concepts are known, leakage needs 40 or more"):
        leakage(silent.take(np.arange(10)))


def test_soft_leakage_is_the_information_of_scikit_learn_beyond_that_of_the_true_concept() -> None:
    from sklearn.feature_selection import mutual_info_classif
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(0)
    true = 1 / (1 + np.exp(-(2.0 * LABELS + 3.0 * HIDDEN[:, :2] - 2.5 + rng.normal(size=(ROWS, 2)))))
    found = leakage(evidence(true), precision=1e-10)
    labels, said = LABELS[:, 0], (true >= 0.5).astype(int)
    whole = mutual_info_score(labels, labels)
    for place, name in enumerate("ab"):
        own = mutual_info_score(HIDDEN[:, place], labels)
        soft = mutual_info_classif(true[:, [place]], labels, n_neighbors=5, random_state=0)[0]
        assert found.by_concept[name] == pytest.approx((soft - own) / whole, abs=0.01)
    hard = [mutual_info_score(said[:, i], labels) - mutual_info_score(HIDDEN[:, i], labels) for i in (0, 1)]
    assert found.hard.ctl == pytest.approx(np.maximum(hard, 0).mean() / whole)

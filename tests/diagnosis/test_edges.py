"""Edges of diagnosis: one-sided conditions, limits, ties and gaps, by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.diagnosis import counterfactual, runs
from assay.diagnosis.automation import coverage_curve, fit_threshold
from assay.diagnosis.calibration import Scaling
from assay.diagnosis.concepts import judge_concepts
from assay.diagnosis.counterfactual import _rows, align_pairs
from assay.diagnosis.discovery.disentanglement import (
    _concentration,
    completeness,
    disentanglement,
    information_gap,
    predict_columns,
)
from assay.diagnosis.discovery.matching import (
    ConceptValue,
    UnitMatch,
    UnitSplit,
    _best_f1,
    _score,
    concept_values,
    fit_matches,
    purity,
    score_matches,
    unit_information,
)
from assay.diagnosis.discovery.readout import Readout, ValueCurve, _fit_curve, fit_readout
from assay.diagnosis.discovery.scores import ChanceScore, UnitScores
from assay.diagnosis.discovery.stability import agreement, live_units, stability
from assay.diagnosis.interventions.curve import Automation, Point, budgets_from, by_concept
from assay.diagnosis.interventions.intervenable import BottleneckModel, model_from_predictions, override
from assay.diagnosis.interventions.intervene import InterventionPlan, _targets
from assay.diagnosis.interventions.label_heads import LinearHead
from assay.diagnosis.interventions.manipulation import Manipulation
from assay.diagnosis.interventions.sources import (
    _certain,
    _confusion,
    _confusions,
    answers_from,
    certain_answers,
    check_answers,
    draw_expert_answers,
)
from assay.diagnosis.interventions.units import Budget, Units
from assay.diagnosis.labels import judge_labels
from assay.diagnosis.runs import diagnose_predictions, effects_of, provenance, taught_by, training_worlds
from assay.diagnosis.views import Errors, SplitView
from assay.errors import AssayError, ConfigError, DataError, UnknownName
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.predictions import Answer, Predictions

AND = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
NAN = math.nan


# -- views -------------------------------------------------------------------------------------------------------------


def view(true, said, labels, knowledge=AND, used=frozenset([0, 1])):
    true, said, labels = np.array(true), np.array(said), np.array(labels)
    truth = knowledge.labels_of(np.maximum(true, 0))
    gaps = (None,) * true.shape[1]
    evidence = Evidence(knowledge, "test", truth, true, labels, said, (None,) * labels.shape[1], gaps)
    return SplitView("test", evidence, judge_concepts(evidence, used, 0.05), judge_labels(evidence, 0.05), used, 0.05)


def test_luck_is_of_right_labels_that_do_not_follow():
    true = [[1, 1]] * 5 + [[0, 1]] * 4
    said = [[1, 1]] * 3 + [[0, 1], [1, 0]] + [[0, 1]] * 2 + [[1, 1]] * 2
    found = view(true, said, [[1], [1], [1], [1], [0], [0], [1], [0], [1]]).errors
    assert found == Errors(labels=9, wrong=3, rule=1, unsure=0, perception=2, both=0, unknown=0, luck=2)
    assert found.to_dict() == {
        "labels": 9, "wrong": 3, "rule": 1, "unsure": 0, "perception": 2, "both": 0, "unknown": 0, "luck": 2,
    }  # fmt: skip
    assert found.text == "Of 3 wrong labels, 2 to perception and 1 to the rule: this is what would have to be mended."


def test_causes_in_words_are_those_that_there_are():
    assert Errors(5, 0, 0, 0, 0, 0, 0, 5).text == ""
    assert Errors(5, 2, 0, 0, 0, 2, 0, 0).text.startswith("Of 2 wrong labels, 2 to both: ")
    assert Errors(5000, 1500, 0, 0, 0, 1400, 100, 0).text.startswith(
        "Of 1,500 wrong labels, 1,400 to both and 100 to a cause unknown: "
    )


def test_several_labels_are_right_together_and_wrong_by_themselves():
    two = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})
    seen = view([[1, 1], [1, 0], [0, 1]], [[1, 1], [1, 1], [0, 1]], [[1, 0], [1, 1], [0, 0]], two)
    assert seen.right.tolist() == [False, False, True] and seen.follows.tolist() == [False, True, True]
    assert seen.implied_right.tolist() == [True, False, True] and seen.implied_labels.tolist() == [
        [1, 1],
        [1, 1],
        [0, 0],
    ]
    assert seen.errors == Errors(labels=6, wrong=2, rule=1, unsure=0, perception=1, both=0, unknown=0, luck=0)
    assert seen.labels_implied_by(np.array([[0, 0], [1, 1], [1, 0]])).tolist() == [[0, 0], [1, 1], [0, 1]]


def test_without_a_rule_every_cause_is_unknown():
    plain = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    seen = view([[1, 1], [0, 1]], [[1, 1], [0, 1]], [[0], [0]], plain)
    seen.__dict__["implied_labels"] = np.full((2, 1), -2)
    seen.__dict__["complete"] = np.array([False, False])
    assert seen.errors == Errors(labels=2, wrong=1, rule=0, unsure=0, perception=0, both=0, unknown=1, luck=0)


# -- runs --------------------------------------------------------------------------------------------------------------


class Splits:
    """A dataset of concepts alone."""

    def __init__(self, fingerprint="f", pairs=None, **splits):
        self.splits, self.fingerprint, self.pairs, self.why_no_pairs = splits, fingerprint, pairs, "none were made"
        self.split_names, self.knowledge, self.name = tuple(splits), AND, "toy"
        self.manifest = {"seed": 5, "versions": {"x": 1}, "task": 1}

    def symbols(self, name, styles):
        assert styles is False
        return SimpleNamespace(concepts=np.array(self.splits[name]))


def test_training_worlds_are_distinct_whole_and_of_all_training_splits():
    data = Splits(train_1=[[1, 0], [1, 0], [-1, 1]], test=[[0, 0]], train_2=[[0, 1], [1, 0]])
    assert sorted(training_worlds(data).tolist()) == [[0, 1], [1, 0]]
    assert training_worlds(Splits(test=[[0, 0]])) is None and training_worlds(Splits(train=[[-1, 0]])) is None


def test_what_is_taught_is_counted_once_for_the_last_dataset(monkeypatch):
    asked = []
    monkeypatch.setattr(runs, "_TAUGHT", {})
    monkeypatch.setattr(runs, "identifiability", lambda rule, worlds: asked.append(worlds) or len(asked))
    one, two = Splits("f", train=[[1, 1]]), Splits("g", train=[[0, 0]])
    assert [taught_by(one), taught_by(one), taught_by(two), taught_by(one, "mine")] == [1, 1, 2, 3]
    assert asked[0].tolist() == [[1, 1]] and asked[1].tolist() == [[0, 0]] and asked[2] == "mine"
    assert list(runs._TAUGHT) == ["f"]


def test_why_changes_are_left_out(monkeypatch):
    monkeypatch.setattr(runs, "counterfactuals", lambda *given: given)
    paired = Splits(pairs={"split": "test"})
    left = "What changing one concept does is left out: "
    assert effects_of(paired, {"test": 1}) == (None, "")
    assert effects_of(Splits(), {"pairs": 2, "test": 1}) == (None, f"{left}none were made.")
    assert effects_of(paired, {"pairs": 2, "hard": 1}) == (None, f"{left}there are no predictions for split 'test'.")
    assert effects_of(paired, {"pairs": 2, "test": 1}) == ((paired, 1, 2), "")
    assert provenance(paired) == {"task": "toy", "fingerprint": "f", "data_seed": 5, "versions": {"x": 1}}
    for given in ({}, {"pairs": 1}):
        with pytest.raises(DataError, match="there are no predictions to judge, but for counterfactual worlds"):
            diagnose_predictions(paired, given)


class Gathered:
    """Rows of answers by number."""

    def __init__(self, rows):
        self.rows = np.asarray(rows)

    def __len__(self):
        return len(self.rows)

    def take(self, rows):
        return Gathered(self.rows[rows])


def test_pairs_are_aligned_with_what_they_were_changed_from(monkeypatch):
    class Changed(SimpleNamespace):
        def __len__(self):
            return 3

    table = {"pair_concept": SimpleNamespace(to_pylist=lambda: ["a", "b", "a"])}
    changed = Changed(name="pairs", pair_rows=np.array([7, 5, 7]), table=table)
    monkeypatch.setattr(counterfactual, "PAIR_CONCEPT", "pair_concept")
    monkeypatch.setattr(counterfactual, "gather", lambda data, predicted: Gathered(predicted.index))
    asked = []

    def symbols(name, styles=True):
        asked.append((name, styles))
        return changed if name == "pairs" else SimpleNamespace(name=name)

    def aligned(index, changed_index):
        predictions = SimpleNamespace(split="test", index=np.array(index))
        return align_pairs(
            SimpleNamespace(symbols=symbols), predictions, SimpleNamespace(index=np.array(changed_index))
        )

    found = aligned([9, 5, 7], [2, 0, 1])
    assert found.before.rows.tolist() == [7, 5, 7] and found.after.rows.tolist() == [0, 1, 2]
    assert found.concepts == ("a", "b", "a") and asked == [("pairs", False), ("test", False)]
    with pytest.raises(DataError, match="the predictions hold 2 of the 3 rows of split 'pairs'"):
        aligned([9, 5, 7], [2, 0])
    with pytest.raises(DataError, match="for split 'test' leave out example 5, which 'pairs' changes"):
        aligned([9, 7], [2, 0, 1])
    shares = _rows(np.array([[1, 1, 0], [1, 0, 0]], bool), np.array([[1, 1, 1], [0, 0, 0]], bool))
    assert shares[0] == pytest.approx(2 / 3) and np.isnan(shares[1])


# -- interventions -----------------------------------------------------------------------------------------------------

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
DATA = SimpleNamespace(
    knowledge=SimpleNamespace(space=SPACE), concepts=np.array([[1, 2], [0, 0]]), name="test", index=np.array([4, 8])
)


def test_sources_are_whole_or_refused():
    own = SimpleNamespace(concepts=[[[0.25, 0.75]] * 2, [[0.5, 0.25, 0.25]] * 2])
    assert [p.tolist() for p in answers_from("perfect", DATA, own)] == [[[0, 1], [1, 0]], [[0, 0, 1], [1, 0, 0]]]
    assert [np.asarray(p).tolist() for p in answers_from("self", DATA, own)] == own.concepts
    for text in ("perfect:1", "self:x", "expert", "expert:", "model:", "file", "clip", "clip:"):
        with pytest.raises(ConfigError, match=f"source '{text}' is not whole"):
            answers_from(text, DATA, own)
    with pytest.raises(UnknownName, match="no source named 'perfct'; did you mean 'perfect'"):
        answers_from("perfct", DATA, own)
    for text in ("vlm", "clip:weights", "vlm:x"):
        with pytest.raises(ConfigError, match=f"source '{text}' is a machine that must be opened"):
            answers_from(text, DATA, own)
    reader = SimpleNamespace(probabilities=lambda data: [np.array([[0.4, 0.6], [NAN, NAN]]), np.eye(3)[:2]])
    said = answers_from("vlm", DATA, own, reader=reader)
    assert said[0][0].tolist() == [0, 1] and np.isnan(said[0][1]).all() and said[1].tolist() == [[1, 0, 0], [0, 1, 0]]
    right = answers_from("expert:1", DATA, own)
    assert [p.argmax(axis=1).tolist() for p in right] == [[1, 0], [2, 0]]
    assert answers_from("expert:0", DATA, own)[0].argmax(axis=1).tolist() == [0, 1]


def test_certain_answers_are_the_likeliest_and_the_first_of_equals():
    found = _certain(np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [NAN, NAN, NAN], [0.1, NAN, 0.9]]))
    assert found[:2].tolist() == [[1, 0, 0], [0, 0, 1]] and np.isnan(found[2:]).all()
    with pytest.raises(DataError, match="beyond the values of its concept"):
        certain_answers(np.array([[1, 3]]), SPACE)
    for codes in (np.array([1, 2]), np.array([[1]]), np.array([[1, 2, 0]])):
        with pytest.raises(DataError, match=r"expected a row an example, and 2 columns"):
            certain_answers(codes, SPACE)


def test_answers_are_checked_one_by_one():
    good = [np.array([[0.5, 0.5009]]), np.array([[NAN] * 3])]
    assert len(check_answers(good, 1, (2, 3))) == 2
    for bad in ([[0.5, 0.502]], [[-0.1, 1.1]], [[NAN, 1.0]]):
        with pytest.raises(DataError, match="probabilities that add up to 1, or NaN in a whole row"):
            check_answers([np.array(bad), good[1]], 1, (2, 3))
    for shape, said in (((1, 2), "1 where 2"), ((2, 2), r"\(2, 2\) where \(1, 2\)")):
        with pytest.raises(DataError, match=f"{said} is needed"):
            check_answers([np.full(shape, 0.5)], 1, (2, 3))


def test_confusions_are_accuracies_or_matrices(tmp_path):
    assert [m.shape for m in _confusions("0.5", SPACE)] == [(2, 2), (3, 3)]
    for text in ("-0.01", "1.01"):
        with pytest.raises(ConfigError, match=f"expert:{text}: an accuracy is a number from 0 to 1"):
            _confusions(text, SPACE)
    path = tmp_path / "c.json"
    np.testing.assert_allclose(_confusion(path, {"a": 0.75}, "a", 2), [[0.75, 0.25], [0.25, 0.75]])
    np.testing.assert_allclose(_confusion(path, {}, "n", 3), np.eye(3))
    given = [[0.5, 0.5], [0.25, 0.75]]
    np.testing.assert_allclose(_confusion(path, {"a": given}, "a", 2), given)
    for bad in (1.5, -1, "x", [[0.5, 0.4], [0, 1]], [[1.5, -0.5], [0, 1]], [[1.0]], [[NAN, 1], [0, 1]]):
        with pytest.raises(ConfigError, match=r"c.json: 'a' needs an accuracy, or 2 rows of 2 chances"):
            _confusion(path, {"a": bad}, "a", 2)
    sure = [np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float)]
    assert draw_expert_answers(DATA.concepts, sure, 0, "x").tolist() == [[0, 1], [1, 2]]


def test_budgets_at_their_limits():
    units = Units.of(SPACE, costs={"a": 2.0, "n": 3.0})
    for fine in (Budget(0), Budget(2), Budget(2 - 1e-10), Budget(5, 0), Budget(0, 9)):
        units.check_budget(fine)
    for poor, said in ((Budget(1.5), "1.5"), (Budget(3, 1), "1")):
        with pytest.raises(ConfigError, match=f"a budget of {said} buys nothing: the cheapest concept, 'a', costs 2"):
            units.check_budget(poor)
    for each, total in ((-1, None), (math.inf, None), (1, NAN), (1, -0.5)):
        with pytest.raises(ConfigError, match="a budget must be a number from 0 up"):
            Budget(each, total)
    assert (units.whole, len(units), units.concepts([1, 0]), units.assignments([0, 1])) == (5.0, 2, (1, 0), 6)
    assert units.assignments([]) == 1 and list(units.sets(4.0, 2)) == [] and list(units.sets(5.0, 2)) == [(0, 1)]
    assert [b.each for b in budgets_from("max, 1,0-1,2.5", units, 7.0)] == [0.0, 1.0, 2.5, 5.0]
    assert budgets_from("1", units, 7.0)[0].total == 7.0 and budgets_from("1-1", units)[0] == Budget(1.0)
    for text in ("", "2-1", "a", "1-", "0-1.5"):
        with pytest.raises(ConfigError, match="expected numbers, ranges and 'max'"):
            budgets_from(text, units)
    grouped = Units.of(bits([*"abc"]), {"g": ["c", "a"]}, {"a": 2.0, "b": 5.0})
    assert (grouped.names, grouped.members, grouped.costs) == (("g", "b"), ((0, 2), (1,)), (3.0, 5.0))
    assert by_concept(np.array([[True, False], [False, True]]), grouped).tolist() == [
        [True, False, True],
        [False, True, False],
    ]


def test_toggling_is_for_manipulation_and_its_default():
    assert InterventionPlan().answered_by == "perfect" and InterventionPlan(source="self").answered_by == "self"
    changing = InterventionPlan(kind="manipulation")
    assert changing.answered_by == "toggle" and changing.to_dict()["source"] == "toggle"
    assert InterventionPlan(kind="manipulation", source="toggle").source == "toggle"
    with pytest.raises(ConfigError, match="source 'toggle' is for manipulation"):
        InterventionPlan(source="toggle")
    with pytest.raises(UnknownName, match="no kind of intervention named 'manipulate'"):
        InterventionPlan(kind="manipulate")
    assert (_targets(changing, DATA, None, None) != DATA.concepts).all()
    same = InterventionPlan(kind="manipulation", source="self")
    assert _targets(same, DATA, None, None) is DATA.concepts
    reader = SimpleNamespace(probabilities=lambda data: [np.array([[0.4, 0.6], [NAN, NAN]]), np.eye(3)[1:]])
    seen = InterventionPlan(kind="manipulation", source="vlm")
    assert _targets(seen, DATA, None, reader).tolist() == [[1, 1], [-1, 2]]


def test_worlds_are_changed_where_they_can_be():
    class Rows(SimpleNamespace):
        def __len__(self):
            return 3

    def change(world, place, code):
        return None if code == 9 else (*world, (place, code))

    data = Rows(world=lambda row: (row,))
    redraw = SimpleNamespace(change=change, draw=lambda data, worlds: worlds)
    targets = np.array([[1, 2], [-1, 0], [9, 1]])
    made = Manipulation(None, redraw, data, targets, None)
    worlds, done = made.change_worlds(np.array([[True, True], [True, True], [True, False]]))
    assert worlds == [(0, (0, 1), (1, 2)), (1, (1, 0)), (2,)]
    assert done.tolist() == [[True, True], [False, True], [False, False]]


def test_a_model_by_its_predictions_needs_every_concept():
    def model(**concepts):
        return model_from_predictions(Predictions("f", "test", np.arange(2), {}, concepts, {"model": "m"}), AND)

    soft, hard = Answer.of(np.array([[0.25, 0.75], [0.5, 0.5]])), Answer(np.array([1, 0]))
    mixed = model(a=soft, b=hard)
    assert (mixed.name, mixed.soft) == ("m + rule", False) and model(a=soft, b=soft).soft
    assert mixed.concepts[0].tolist() == [[0.25, 0.75], [0.5, 0.5]] and mixed.concepts[1].tolist() == [[0, 1], [1, 0]]
    for bad in ({"a": soft}, {"a": soft, "b": Answer(np.array([1, -1]))}):
        with pytest.raises(DataError, match="interventions need every concept of every example; 'b' is not answered"):
            model(**bad)
    own = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    kept = override(own, np.array([[NAN, NAN], [1.0, 0.0]]))
    assert kept.tolist() == [[0.25, 0.75], [1.0, 0.0]] and kept.dtype == np.float32
    with pytest.raises(ConfigError, match=r"answers of \(1, 2\) where the model has \(2, 2\)"):
        override(own, np.ones((1, 2)))


def test_linear_heads_have_margins_and_more_work():
    weights = [np.array([[1.0, 2, 3, 5], [7, 11, 13, 17]])]
    head = LinearHead(weights, np.array([1.0, 2, 4, 8]), (2, 2))
    margins, bias = head.margins()
    assert margins[0].tolist() == [[1, 2], [4, 4]] and bias.tolist() == [1, 4]
    assert head.binary and not LinearHead(weights, head.bias, (2, 3)).binary
    assert head.scores([np.array([[0.5, 0.5]])]).tolist() == [[5.0, 8.5, 12.0, 19.0]]
    assert [p.shape for p in head([np.array([[1.0, 0.0]])])] == [(1, 2), (1, 2)]
    model = BottleneckModel("m", [], head)
    assert (model.work, BottleneckModel("m", [], head, head).work) == (25_000_000, 200_000_000)


def test_a_point_as_plain_data_has_no_nan():
    point = Point(1.0, False, 0.5, 0.25, NAN, 1.0, 1.0, 0.5, 1.0, 0.0, True, Automation(0.5, NAN, 0.25))
    plain = point.to_dict()
    assert plain["concept_accuracy"] is None and plain["selective_accuracy"] is None and plain["gain"] is None
    assert (plain["coverage"], plain["net_work_automated"], plain["accuracy"]) == (0.5, 0.25, 0.5)
    assert "automated" not in plain


def test_sharp_scaling_stays_finite_and_shifts_two_values_only():
    np.testing.assert_allclose(Scaling(60.0)(np.array([[1.0, 0.0], [0.0, 1.0]])), np.eye(2), atol=1e-12)
    three = np.array([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(Scaling(1.0, 5.0)(three), three)
    np.testing.assert_allclose(Scaling(1.0, np.log(3.0))(np.array([[0.5, 0.5]])), [[0.25, 0.75]])
    np.testing.assert_allclose(Scaling(2.0)(np.array([[0.25, 0.75]])), [[0.1, 0.9]])


def test_rows_of_equal_confidence_are_decided_together():
    confidence, right = np.array([0.5, 0.9, 0.5, 0.7]), np.array([True, True, False, True])
    coverage, accuracy = coverage_curve(confidence, right)
    assert coverage.tolist() == [0.25, 0.5, 1.0] and accuracy.tolist() == [1.0, 1.0, 0.75]
    assert [fit_threshold(confidence, right, target) for target in (0.75, 0.76, 1.0)] == [0.5, 0.7, 0.7]
    with pytest.raises(ConfigError, match=r"no threshold reaches accuracy 0.9 on validation: the best is 0.750, dec"):
        fit_threshold(np.ones(4), right, 0.9)


# -- discovered units --------------------------------------------------------------------------------------------------


def test_values_are_named_by_kind_and_number():
    space = ConceptSpace((Concept("c", ("red", "blue")), Concept("t", (False, True)), Concept("one", (4,)),
                          Concept("n", (0, 1, 2))))  # fmt: skip
    found = [(value.concept, value.value, value.name) for value in concept_values(space)]
    assert found == [
        (0, 1, "c = blue"),
        (1, 1, "t"),
        (2, 0, "one = 4"),
        (3, 0, "n = 0"),
        (3, 1, "n = 1"),
        (3, 2, "n = 2"),
    ]


A, B = ConceptValue(0, 1, "a"), ConceptValue(1, 1, "b")


def test_thresholds_lie_between_numbers_that_differ():
    units = np.array([[4.0], [3.0], [3.0], [1.0]])
    holds = np.array([[True], [True], [False], [False]])
    best, cuts = _best_f1(units, holds, np.ones((4, 1), bool))
    assert best[0, :, 0].tolist() == [pytest.approx(0.8), pytest.approx(2 / 3)]
    assert cuts[0, :, 0].tolist() == [2.0, -math.inf]
    unknown = np.array([[True], [True], [False], [True]])
    best, cuts = _best_f1(units, holds & unknown, unknown)
    assert best[0, 0, 0] == 1.0 and cuts[0, 0, 0] == 2.0


def test_the_direction_of_a_unit_and_values_that_do_not_vary():
    split = UnitSplit(
        np.array([[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1]]), np.array([[1, 1], [1, 1], [0, 1], [0, -1]]), None
    )
    first, second = fit_matches(split, (A, B))
    assert first == UnitMatch(A, 0, -1, -2.5) and second == UnitMatch(B, None)
    assert first.predicted(split.units).tolist() == [True, True, False, False]
    assert second.predicted(split.units).tolist() == [False] * 4
    scores = score_matches(split, (first, second))
    assert (scores[0].f1, scores[0].purity, scores[0].share) == (1.0, 1.0, 0.5)
    assert scores[1].share == 1.0 and np.isnan(scores[1].f1)
    found = _score(split.units, np.array([True, False, False, False]), UnitMatch(A, None))
    assert (found.f1, found.information, found.purity, found.share) == (0.0, 0.0, 0.0, 0.25)
    plain = scores[1].to_dict()
    assert plain["threshold"] is None and plain["unit"] is None and plain["f1"] is None and plain["share"] == 1.0
    half = _score(split.units, np.array([True, False, True, False]), UnitMatch(A, 0, -1, -2.5))
    assert (half.f1, half.purity) == (0.5, 0.5)
    never = _score(split.units, np.array([True, False, True, False]), UnitMatch(A, 0, 1, 9.0))
    assert never.f1 == 0.0


def test_purity_takes_a_twentieth_but_at_least_eight():
    numbers = -np.arange(400.0)
    holds = np.zeros(400, bool)
    holds[:10] = holds[200:300] = True
    assert purity(numbers, holds) == 0.5
    assert purity(numbers[:40], np.arange(40) % 4 != 1) == 0.75
    assert np.isnan(purity(numbers[:3], np.zeros(3, bool)))


def test_information_is_a_share_and_gaps_are_left_out():
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, -1]])
    units = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]])
    found = unit_information(units, codes, [2, 2])
    np.testing.assert_allclose(found[:, 0], [1, 0], atol=1e-12)
    joint = np.log(3) - 2 / 3 * np.log(2)
    np.testing.assert_allclose(found[0, 1], (2 * joint - (np.log(3))) / joint, atol=1e-12)


def test_columns_without_two_values_are_not_predicted():
    units = np.repeat([[0.0, 1.0], [1.0, 1.0]], 6, axis=0)
    varied, still = np.repeat([[0], [1]], 6, axis=0), np.zeros((12, 1), int)
    found = predict_columns(units, np.hstack([varied, still, varied]), units, np.hstack([varied, varied, still]), 0)
    assert found.importance.shape == (2, 1) and found.skill == 1.0
    np.testing.assert_allclose(found.importance[:, 0], [1, 0])
    none = predict_columns(units, still, units, varied, 0)
    assert none.importance.shape == (2, 0) and np.isnan(none.skill)
    flipped = predict_columns(units, varied, units, 1 - varied, 0)
    assert flipped.skill == -1.0


def test_importance_is_concentrated_by_row_and_by_column():
    importance = np.array([[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]])
    low = 1 + (0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    np.testing.assert_allclose(_concentration(importance), [low, 0, 1])
    assert disentanglement(importance) == pytest.approx((low + 1) / 2)
    shares = np.array([0.2, 0.8])
    second = 1 + (shares * np.log(shares)).sum() / np.log(3)
    assert completeness(importance) == pytest.approx((1 + second) / 2)
    assert np.isnan(disentanglement(importance[:, :1])) and np.isnan(disentanglement(0 * importance))
    assert np.isnan(completeness(importance[:1])) and np.isnan(completeness(importance[:, :0]))
    units = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    split = UnitSplit(units, np.array([[0, 2], [0, 2], [1, 2], [1, -1]]), None)
    assert information_gap(split, [2, 3]) == pytest.approx(1.0)
    assert np.isnan(information_gap(UnitSplit(units[:, :1], split.concepts, None), [2, 3]))


def test_scores_beside_chance():
    found = ChanceScore.of(0.5, [0.25, NAN, 0.5])
    assert (found.chance, found.highest, found.above_chance) == (0.375, 0.5, False)
    assert ChanceScore(0.51, 0.4, 0.5).above_chance and not ChanceScore(NAN, 0.4, 0.5).above_chance
    assert ChanceScore.of(0.5, [NAN]).to_dict() == {"value": 0.5, "chance": None, "highest_chance": None}
    split = UnitSplit(np.array([[0.0], [1.0]]), np.array([[0, 1], [1, 1]]), None)
    scores = UnitScores(score_matches(split, fit_matches(split, (A, B))), {})
    assert [len(scores.of_concept(place)) for place in (0, 1, 2)] == [1, 0, 0]


def test_units_agree_in_pairs_and_still_ones_are_left_out():
    first = np.array([[0.0, 1.0, 7.0], [1.0, 0.0, 7.0], [2.0, 0.5, 7.0]])
    assert live_units(first).tolist() == [0, 1] and live_units(first * 1e-20).tolist() == [0, 1]
    assert live_units(np.zeros((3, 2))).tolist() == []
    assert agreement(first, first[:, :1]) == pytest.approx(0.5) and agreement(first, np.ones((3, 2))) == 0.0
    assert stability([first, first[:, :1], first]) == pytest.approx((0.5 + 1 + 0.5) / 3)
    assert np.isnan(stability([first]))


def test_probabilities_read_off_units_add_up():
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
    values = concept_values(space)
    matches = tuple(UnitMatch(value, unit) for value, unit in zip(values, (0, 1, None, 1), strict=True))
    flat = ValueCurve(0.0, 1.0, 0.0, 0.0)
    curves = (ValueCurve(1.0, 2.0, 3.0, 0.5), flat, ValueCurve(0.0, 1.0, 5.0, np.log(3.0)), flat)
    first, second = Readout(space, matches, curves).probabilities(np.array([[3.0, 8.0]]))
    chance = 1 / (1 + np.exp(-3.5))
    np.testing.assert_allclose(first, [[1 - chance, chance]], atol=1e-8)
    np.testing.assert_allclose(second, np.array([[0.5, 0.75, 0.5]]) / 1.75, atol=1e-8)


def test_a_curve_is_where_its_slope_is_none():
    numbers, holds = np.array([1.0, 2, 3, 4, 6, 8]), np.array([0.0, 0, 1, 0, 1, 1])
    found = _fit_curve(numbers, holds)
    z = (numbers - numbers.mean()) / numbers.std()
    rest = holds - found(numbers)
    assert (found.mean, found.scale) == (4.0, pytest.approx(numbers.std()))
    assert rest.sum() == pytest.approx(0.01 * found.bias, abs=1e-9)
    assert rest @ z == pytest.approx(0.01 * 0.6 * found.slope, abs=1e-9)
    assert _fit_curve(np.zeros(0), np.zeros(0)) == ValueCurve(0.0, 1.0, 0.0, 0.0)
    still = _fit_curve(np.full(4, 5.0), np.array([1.0, 1, 1, 0]))
    assert (still.mean, still.scale, still.slope) == (5.0, 1.0, 0.0) and 0.74 < still(np.array([5.0]))[0] < 0.75
    split = UnitSplit(numbers[:, None], np.stack([holds, holds * 0 - 1], axis=1).astype(int), None)
    curves = fit_readout(split, (UnitMatch(A, 0), UnitMatch(B, 0)), bits(["a", "b"])).curves
    assert curves[0] == found and curves[1] == ValueCurve(0.0, 1.0, 0.0, 0.0)


def test_refusals_are_of_one_line():
    with pytest.raises(AssayError) as caught:
        answers_from("nothing", DATA, None)
    assert "\n" not in str(caught.value)

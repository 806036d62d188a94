"""Sources, budgets, plans and changes of worlds at their limits: what is refused, and what is just taken."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.contracts import BottleneckModel, LinearHead, override
from assay.diagnosis import Budget, InterventionPlan, Point, Units, answers_from, budgets_from, model_from_predictions
from assay.diagnosis.interventions.curve import Automation, by_concept
from assay.diagnosis.interventions.manipulation import Manipulation
from assay.diagnosis.interventions.sources import certain_answers, check_answers, draw_expert_answers
from assay.errors import AssayError, ConfigError, DataError, UnknownName
from assay.logic import Knowledge
from assay.predictions import Answer, Predictions

AND = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
NAN = math.nan
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


def test_certain_answers_are_one_row_an_example_of_values_that_there_are():
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
    for text in ("-0.01", "1.01"):
        with pytest.raises(ConfigError, match=f"expert:{text}: an accuracy is a number from 0 to 1"):
            answers_from(f"expert:{text}", DATA, None)
    path, many = (
        tmp_path / "c.json",
        SimpleNamespace(**{**vars(DATA), "concepts": np.tile([[1, 2], [0, 0]], (4000, 1))}),
    )
    many.index = np.arange(8000)
    for given, right in ((0.75, 0.75), ([[0.5, 0.5], [0.25, 0.75]], 0.625), (1.0, 1.0)):
        path.write_text(json.dumps({"a": given}))
        first, second = (p.argmax(axis=1) for p in answers_from(f"expert:{path}", many, None))
        assert (first == many.concepts[:, 0]).mean() == pytest.approx(right, abs=0.03)
        assert (second == many.concepts[:, 1]).all()  # a concept that is not named is never mistaken
    for bad in (1.5, -1, "x", [[0.5, 0.4], [0, 1]], [[1.5, -0.5], [0, 1]], [[1.0]]):
        path.write_text(json.dumps({"a": bad}))
        with pytest.raises(ConfigError, match=r"c.json: 'a' needs an accuracy, or 2 rows of 2 chances"):
            answers_from(f"expert:{path}", DATA, None)
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


def test_refusals_are_of_one_line():
    with pytest.raises(AssayError) as caught:
        answers_from("nothing", DATA, None)
    assert "\n" not in str(caught.value)

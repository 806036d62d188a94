"""Questions whose choice a tie or an edge decides, changes of worlds that leave them as they are, points by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import bits
from assay.contracts import BottleneckModel, ModelOutput
from assay.diagnosis import Budget, Trial, Truth, Units
from assay.diagnosis.automation import Abstention
from assay.diagnosis.calibration import Scaling
from assay.diagnosis.interventions.manipulation import Manipulation
from assay.diagnosis.interventions.policies import Responsiveness
from assay.diagnosis.interventions.policy import PolicyState, Selection
from assay.diagnosis.interventions.sources import certain_answers

SPACE = bits([*"abcde"])
UNITS = Units.of(SPACE)


def surely(concepts):
    """Say yes where a and b are sure together, or c or d alone; e plays no part."""
    a, b, c, d, _ = (p[:, 1] > 0.95 for p in concepts)
    yes = a & b | c | d
    return [np.stack([~yes, yes], axis=1).astype(float)]


def state(*chances):
    columns = np.array(chances).T
    model = BottleneckModel("toy", [np.stack([1 - p, p], axis=1) for p in columns], surely)
    answers = certain_answers(np.ones((len(chances), 5), dtype=int), SPACE)
    return PolicyState(model, UNITS, answers, np.ones(len(chances), dtype=bool))


def test_a_pair_that_tells_more_than_any_single_question_is_kept_when_more_are_added(monkeypatch):
    seen = state([0.9, 0.92, 0.3, 0.4, 0.5], [0.9, 0.8, 0.0, 0.0, 0.5], [0.1, 0.1, 0.05, 0.05, 0.5])
    monkeypatch.setattr(BottleneckModel, "work", 3 * 60)  # single units and pairs have 50 answers, triples 80 more
    found = Responsiveness().ask(seen, Budget(3))
    # a and b together change 0.83 and 0.72; then d (0.4), or e, uncertain where c and d are not; 0.1 is too low
    assert found.units.tolist() == [[1, 1, 0, 1, 0], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0]] and not found.exact
    monkeypatch.setattr(BottleneckModel, "work", 3 * 1000)
    whole = Responsiveness().ask(seen, Budget(2))
    assert whole.exact and whole.units.tolist() == [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]


@pytest.mark.parametrize(("threshold", "asked"), [(0.25, 0), (0.2499, 1), (0.0, 1), (None, 1)])
def test_a_set_must_be_likelier_than_the_threshold(threshold, asked):
    found = Responsiveness(threshold).ask(state([0.0, 0.0, 0.25, 0.0, 0.5]), Budget(1))
    assert found.units.tolist() == [[0, 0, asked, 0, 0]]


def test_a_world_that_has_the_value_already_is_changed_all_the_same():
    class Rows(SimpleNamespace):
        def __len__(self):
            return 3

    def change(world, place, code):
        if code > 1:
            return None
        return world if world[place] == code else (*world[:place], code, *world[place + 1 :])

    data = Rows(world=[(0, 1), (1, 1), (0, 0)].__getitem__)
    redraw = SimpleNamespace(change=change, draw=lambda data, worlds: worlds)
    targets = np.array([[0, 0], [1, 2], [1, -1]])
    worlds, done = Manipulation(None, redraw, data, targets, None).change_worlds(np.ones((3, 2), dtype=bool))
    assert worlds == [(0, 0), (1, 1), (1, 0)]
    assert done.tolist() == [[True, True], [True, False], [True, False]]


def sure(codes, confidence):
    """Probabilities of two values: of the code, the confidence."""
    codes, confidence = np.array(codes), np.array(confidence, dtype=float)
    return np.stack(
        [np.where(codes == 0, confidence, 1 - confidence), np.where(codes == 1, confidence, 1 - confidence)], axis=1
    )


def test_a_point_of_two_labels_and_two_concepts_by_hand():
    """One label of two is right, or changes, in some examples; what is decided is what is sure after the answers."""
    before = ModelOutput([sure([0, 0, 1, 1, 0], [0.9] * 5), sure([0, 1, 1, 0, 0], [0.9] * 5)], [])
    after = ModelOutput(
        [sure([0, 1, 1, 1, 1], [0.9, 0.9, 0.6, 0.9, 0.6]), sure([0, 1, 1, 1, 1], [0.9, 0.8, 0.6, 0.9, 0.9])],
        [sure([0, 1, 1, 0, 0], [0.9] * 5), sure([1, 1, 0, 0, 1], [0.9] * 5)],
    )
    truth = Truth(
        np.array([[0, 1], [1, 0], [-1, 0], [1, 0], [0, -1]]), np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    )
    own = [sure([0, 0, 1, 0, 1], [0.8] * 5), sure([1, 0, 0, 1, 1], [0.8] * 5)]
    none = [np.nan, np.nan]
    answers = [np.array([[1, 0], [0, 1], none, [0, 1], [1, 0]]), np.array([none, [0, 1], [1, 0], [1, 0], none])]
    space = bits(["a", "b"])
    trial = Trial(
        BottleneckModel("toy", own, None), Units.of(space, costs={"a": 2.5}), answers, truth, 0,
        Abstention((Scaling(), Scaling()), 0.72, 0.9), 0.35,
    )  # fmt: skip
    asked = np.array([[1, 1], [1, 0], [1, 0], [0, 1], [0, 0]], dtype=bool)
    found = trial.point(Budget(2.5), Selection(asked, False), before, after).to_dict()
    assert found == pytest.approx({
        "budget": 2.5, "whole": False, "accuracy": 0.6, "all_right": 0.4, "concept_accuracy": 6 / 8, "asked": 1.0,
        "answered": 3 / 5, "edited": 2 / 5, "cost": (3.5 + 2.5 + 2.5 + 1) / 5, "changed": 0.6, "exact": False,
        "gain": 0.25, "coverage": 0.6, "selective_accuracy": 1 / 3, "net_work_automated": 0.6 - 1.0 / 2,
    })  # fmt: skip

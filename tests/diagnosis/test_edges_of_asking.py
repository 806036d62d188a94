"""Questions whose choice a tie or an edge decides, and changes of worlds that leave them as they are."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import bits
from assay.diagnosis.interventions.intervenable import BottleneckModel
from assay.diagnosis.interventions.manipulation import Manipulation
from assay.diagnosis.interventions.policies import Responsiveness
from assay.diagnosis.interventions.policy import PolicyState
from assay.diagnosis.interventions.sources import certain_answers
from assay.diagnosis.interventions.units import Budget, Units

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
    # a and b together change 0.83 and 0.72; then d (0.4), or e, which is uncertain where c and d are not; 0.1 is too low
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

"""Every model with concepts can be intervened on, and its own answers change nothing, whatever is asked."""

import numpy as np
import pytest

from assay.diagnosis.interventions.curve import Trial, Truth, budgets_from
from assay.diagnosis.interventions.intervenable import EVERY, BottleneckModel
from assay.diagnosis.interventions.intervene import InterventionPlan, intervene
from assay.diagnosis.interventions.policies import POLICIES, ValidationRanking, policy_of
from assay.diagnosis.interventions.units import Units
from assay.models import MODELS
from assay.models.core.answering import Rerun
from tests.pixels import NETWORKS, pixels, trained

SMALL = {"bears": {"members": 2}, "ecbm": {"steps": 2}}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Data whose rule is not linear, so that little is learned in an epoch and much is left to answers."""
    return pixels(tmp_path_factory.mktemp("xor") / "data", formula="a ^ b ^ c")


def with_concepts():
    return [name for name in NETWORKS if MODELS[name].has_concepts and MODELS[name].can_intervene]


@pytest.mark.parametrize("name", with_concepts())
def test_own_answers_change_nothing_for_any_model_and_policy(name, digits, tmp_path):
    model = trained(name, digits, tmp_path / name, {"epochs": 1, "learning_rate": 0.003, **SMALL.get(name, {})})
    data = digits["test"]
    held = model.intervene(data)
    units = Units.of(digits.knowledge.space)
    truth = Truth(data.concepts, data.labels)
    own = model.predict(data)
    said = np.stack([own.labels[name].codes for name in digits.knowledge.label_names], axis=1)
    assert (held.answer(EVERY, {}).label_codes == said).all()  # k = 0 is what the model predicts
    for policy in POLICIES:
        chosen = policy_of(policy, ranking=ValidationRanking(held, data.concepts, data.labels), units=units)
        curve = Trial(held, units, list(held.concepts), truth).run(chosen, budgets_from("0,1,max", units))
        assert [point.changed for point in curve.points] == [0, 0, 0]
    given = {0: np.eye(2)[data.concepts[:, 0]]}
    told = held.answer(EVERY, given)
    do = model.predict(data, {digits.knowledge.space.names[0]: data.concepts[:, 0]})
    np.testing.assert_allclose(told.labels[0], do.labels["y"].probabilities, atol=1e-5)
    some = np.array([3, 1])
    np.testing.assert_allclose(held.answer(some, {0: given[0][some]}).labels[0], told.labels[0][some], atol=1e-5)


def test_labels_that_follow_from_concepts_need_no_second_look(digits, tmp_path):
    data = digits["test"]
    linear = trained("cbm", digits, tmp_path / "cbm", {"epochs": 1}).intervene(data)
    assert isinstance(linear, BottleneckModel) and linear.linear is not None
    np.testing.assert_allclose(linear.linear(list(linear.concepts))[0], linear.answer(EVERY, {}).labels[0], atol=1e-6)
    curved = trained("cbm", digits, tmp_path / "mlp", {"epochs": 1, "head": "mlp"}).intervene(data)
    assert isinstance(curved, BottleneckModel) and curved.linear is None
    assert isinstance(trained("bears", digits, tmp_path / "bears", {"epochs": 1, "members": 2}).intervene(data), Rerun)


def test_all_true_concepts_give_all_true_labels_where_the_rule_is_the_front_end(digits, tmp_path):
    model = trained("dpl", digits, tmp_path / "dpl", {"epochs": 1, "learning_rate": 1e-4})
    study = intervene(InterventionPlan(policy="uncertainty"), digits, model.intervene)
    assert study.curve.points[0].accuracy < 1 == study.curve.points[-1].accuracy
    assert study.control_changed == 0

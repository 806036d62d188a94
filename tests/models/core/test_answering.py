"""Every model with concepts can be intervened on, and its own answers change nothing, whatever is asked."""

import numpy as np
import pytest

from assay.contracts import EVERY, BottleneckModel
from assay.diagnosis import POLICIES, InterventionPlan, Trial, Truth, Units, budgets_from, intervene, policy_of
from assay.diagnosis.interventions.policies import ValidationRanking
from assay.diagnosis.interventions.responsiveness import AT_ONCE, responsiveness
from assay.models import MODELS, load_model
from assay.models.core.answering import ReadOnce, Rerun
from assay.models.core.devices import device_of
from assay.runs import RunFolder
from assay.studies import answering_for
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


@pytest.mark.parametrize("name", ["cem", "probcbm", "ecbm", "dcr"])
def test_a_network_that_has_read_the_pictures_answers_as_one_that_reads_them_again(name, digits, tmp_path):
    data, rng = digits["test"], np.random.default_rng(0)
    model = trained(name, digits, tmp_path / name, {"epochs": 1, "learning_rate": 0.003, **SMALL.get(name, {})})
    once = model.intervene(data)
    assert isinstance(once, ReadOnce)
    again = Rerun(model, model.feed(data, model.device), once.own)
    rows = rng.integers(0, len(data), 2 * len(data))
    given = np.eye(2)[rng.integers(0, 2, len(rows))]
    given[::3] = np.nan  # these keep the network's own answer
    for do in ({}, {1: given}, {0: given, 2: given[::-1].copy()}):
        for ours, theirs in zip(once.answer(rows, do).labels, again.answer(rows, do).labels, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
        for ours, theirs in zip(once.answer(rows, do).concepts, again.answer(rows, do).concepts, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_responsiveness_is_the_same_whether_answers_are_tried_together_or_one_by_one(digits, tmp_path, monkeypatch):
    held = trained("cem", digits, tmp_path / "cem", {"epochs": 1, "learning_rate": 0.003}).intervene(digits["test"])
    assert len(digits["test"]) * 8 < AT_ONCE
    together = responsiveness(held, (0, 1, 2))
    monkeypatch.setattr("assay.diagnosis.interventions.responsiveness.AT_ONCE", 1)
    np.testing.assert_array_equal(together, responsiveness(held, (0, 1, 2)))
    assert together.any()


@pytest.mark.parametrize(("trained_on", "asked_on"), [("cpu", "cpu"), ("auto", "auto"), ("cuda:1", "auto")])
def test_a_run_answers_on_a_gpu_if_there_is_one_and_it_was_not_trained_on_a_cpu(
    trained_on, asked_on, digits, tmp_path, monkeypatch
):
    folder = tmp_path / "run"
    trained("cbm", digits, folder, {"epochs": 1})
    about = RunFolder(folder).about()
    monkeypatch.setattr(RunFolder, "about", lambda self: {**about, "config": {**about["config"], "device": trained_on}})
    asked = []
    monkeypatch.setattr("assay.models.core.runs.load_model", lambda path, device: asked.append(device) or MODELS["cbm"])
    answering_for(folder, digits, "test")
    assert asked == [asked_on]
    monkeypatch.undo()
    assert load_model(folder, "auto").device == device_of("auto")

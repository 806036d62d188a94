"""Concepts can be set to codes or probabilities in every model that has some; its own answers change nothing."""

import numpy as np
import pytest

from assay.base import ConfigError, UnknownName
from assay.contracts import EVERY, BottleneckModel
from assay.diagnosis import POLICIES, InterventionPlan, intervene
from assay.models import MODELS, load_model
from tests.models.tiles import model_of, tiles
from tests.pixels import NETWORKS, pixels, trained

SMALL = {"bears": {"members": 2}, "ecbm": {"steps": 2}}
WITH_CONCEPTS = [name for name in NETWORKS if MODELS[name].has_concepts and MODELS[name].can_intervene]
ROWS = 64


@pytest.fixture(scope="module")
def xor(tmp_path_factory):
    """Data whose rule is not linear, so that little is learned in an epoch and much is left to interventions."""
    return pixels(tmp_path_factory.mktemp("xor") / "data", formula="a ^ b ^ c")


@pytest.fixture(scope="module")
def hasty(xor, tmp_path_factory):
    """Return a function that gives a model with concepts after an epoch, trained when it is first asked for."""
    made = {}

    def model(name):
        if name not in made:
            settings = {"epochs": 1, "learning_rate": 0.003, **SMALL.get(name, {})}
            made[name] = trained(name, xor, tmp_path_factory.mktemp("hasty") / name, settings)
        return made[name]

    return model


@pytest.mark.parametrize("name", WITH_CONCEPTS)
def test_own_answers_change_nothing_whatever_the_policy(name, hasty, xor):
    for policy in POLICIES:
        found = intervene(InterventionPlan(policy=policy, budget="0,1,max"), xor, hasty(name).intervene)
        assert found.control_changed == 0, policy


@pytest.mark.parametrize("name", WITH_CONCEPTS)
def test_a_model_that_is_asked_for_interventions_answers_as_it_predicts(name, hasty, xor):
    model, data, rng = hasty(name), xor["test"], np.random.default_rng(0)
    held, own = model.intervene(data), model.predict(data)
    np.testing.assert_allclose(held.answer(EVERY, {}).labels[0], own.labels["y"].probabilities, atol=1e-5)
    given = np.eye(2)[rng.integers(0, 2, ROWS)]
    for do in ({0: given}, {0: given, 2: given[::-1].copy()}):
        said = model.predict(data, {xor.knowledge.space.names[place]: rows for place, rows in do.items()})
        found = held.answer(EVERY, do)
        np.testing.assert_allclose(found.labels[0], said.labels["y"].probabilities, atol=1e-5)
        for mine, name_ in zip(found.concepts, "abc", strict=True):
            np.testing.assert_allclose(mine, said.concepts[name_].probabilities, atol=1e-5)
    rows = rng.integers(0, ROWS, 2 * ROWS)  # some of them twice, in any order
    partly = np.where(np.arange(len(rows))[:, None] % 3 == 0, np.nan, np.eye(2)[rng.integers(0, 2, len(rows))])
    found = held.answer(rows, {1: partly})
    kept = np.isnan(partly[:, 0])
    np.testing.assert_allclose(found.labels[0][kept], own.labels["y"].probabilities[rows][kept], atol=1e-5)
    whole = np.where(kept[:, None], own.concepts["b"].probabilities[rows], partly)
    for row in range(8):
        alone = held.answer(np.array([rows[row]]), {1: whole[row][None]})
        np.testing.assert_allclose(found.labels[0][row], alone.labels[0][0], atol=1e-5)


def test_the_label_head_of_a_bottleneck_is_told_and_a_linear_one_by_its_weights(xor, hasty, tmp_path):
    data = xor["test"]
    linear = hasty("cbm").intervene(data)
    assert isinstance(linear, BottleneckModel)
    np.testing.assert_allclose(linear.linear(list(linear.concepts))[0], linear.answer(EVERY, {}).labels[0], atol=1e-6)
    for settings in ({"head": "mlp"}, {"hard": True}, {"head": "log-linear"}):
        assert trained("cbm", xor, tmp_path / str(settings), {"epochs": 1, **settings}).intervene(data).linear is None
    head = model_of("cbm", {}).intervene(tiles()["test"]).linear  # of concepts and labels of unlike sizes
    assert [len(weights) for weights in head.weights] == [3, 2, 3, 2] and tuple(head.sizes) == (2, 4)


def test_all_true_concepts_give_all_true_labels_where_the_rule_is_the_label_head(xor, hasty):
    found = intervene(InterventionPlan(policy="uncertainty"), xor, hasty("dpl").intervene)
    assert found.curve.points[0].accuracy < 1 == found.curve.points[-1].accuracy


def test_the_rule_makes_labels_follow_from_certain_concepts(run, data):
    test, model = data["test"], load_model(run)
    for column, name in enumerate("abc"):
        for code in (0, 1):
            changed = test.concepts.copy()
            changed[:, column] = code
            said = model.predict(test, {name: np.full(len(test), code)})
            assert (said.concepts[name].codes == code).all()
            assert (said.labels["y"].codes == data.knowledge.labels_of(changed)[:, 0]).all()
    told = model.predict(test, {name: 1 - test.concepts[:, i] for i, name in enumerate("abc")})
    assert (told.labels["y"].codes == data.knowledge.labels_of(1 - test.concepts)[:, 0]).all()
    assert np.allclose(told.labels["y"].probabilities.max(axis=1), 1)


def test_concepts_are_set_to_codes_or_to_probabilities(run, data):
    sure, codes = np.tile([0.25, 0.75], (ROWS, 1)), np.arange(ROWS) % 2
    for setting in (codes, codes.astype(np.uint8), codes.tolist(), sure, sure.astype(np.float32), np.eye(2)[codes]):
        said = load_model(run).predict(data["test"], {"a": setting}).concepts["a"].probabilities
        rows = np.asarray(setting)
        assert np.allclose(said, np.eye(2)[rows] if rows.ndim == 1 else rows, atol=1e-4)  # nearly its own is no setting


@pytest.mark.parametrize(("nudge", "taken"), [(5e-5, False), (5e-4, True)])
def test_what_differs_by_less_than_a_ten_thousandth_is_no_setting(nudge, taken, run, data):
    model, test = load_model(run), data["test"]
    own = model.predict(test).concepts["a"].probabilities
    moved = np.abs(own - np.array([nudge, -nudge]) * np.sign(own[:, :1] - 0.5))
    said = model.predict(test, {"a": moved / moved.sum(axis=1, keepdims=True)}).concepts["a"].probabilities
    assert np.allclose(said, moved if taken else own, atol=1e-6)


@pytest.mark.parametrize(
    "setting",
    [
        np.full(ROWS, 2), np.full(ROWS, -1), np.zeros(ROWS - 1, dtype=int), np.full(ROWS, 0.5),
        np.tile([-0.5, 1.5], (ROWS, 1)), np.tile([0.5, 0.502], (ROWS, 1)), np.tile([0.5, np.nan], (ROWS, 1)),
        np.tile([np.inf, 0.0], (ROWS, 1)), np.tile([0.2, 0.3, 0.5], (ROWS, 1)), np.tile(["a", "b"], (ROWS, 1)),
        np.tile([True, False], (ROWS, 1)),
    ],
)  # fmt: skip
def test_anything_else_is_refused(setting, run, data):
    with pytest.raises(ConfigError, match="do: 'a' needs 64 codes from 0 to 1, one for each example, or 64 x 2"):
        load_model(run).predict(data["test"], {"a": setting})


def test_unknown_concepts_and_models_without_concepts_are_refused(run, data):
    with pytest.raises(UnknownName, match="no concept named 'z'"):
        load_model(run).predict(data["test"], {"z": np.zeros(ROWS, int)})
    box = MODELS["blackbox"](data, settings={"backbone": "mlp"})
    for ask in (lambda: box.predict(data["test"], {"a": np.zeros(ROWS, int)}), lambda: box.intervene(data["test"])):
        with pytest.raises(ConfigError, match="model 'blackbox' has no concepts that can be set"):
            ask()

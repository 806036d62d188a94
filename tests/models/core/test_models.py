"""Models learn an easy rule, answer with probabilities, and follow an intervention as the rule says."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from assay.config import Settings
from assay.errors import ConfigError, UnknownName
from assay.models import MODELS, load_model
from assay.models.core.tensors import to_batch
from tests.pixels import LEARNS, QUICK, pixels


def fitted(name, dataset, seed=0, **settings):
    given = Settings({**QUICK, **settings})
    model = MODELS[name](dataset.knowledge, dataset.layout, given, dataset.manifest["backbones"], seed)
    model.fit(dataset["train"], dataset["valid"])
    return model


def accuracy(answers, truth, names):
    return [float((answers[name].codes == truth[:, i]).mean()) for i, name in enumerate(names)]


@pytest.mark.parametrize("case", sorted(LEARNS))
def test_an_easy_rule_is_learned(case, data):
    name, settings = LEARNS[case]
    test = data["test"]
    said = fitted(name, data, **settings).predict(test)
    assert min(accuracy(said.labels, test.labels, ["y"])) > 0.9
    if said.concepts:
        assert min(accuracy(said.concepts, test.concepts, "abc")) > 0.9


@pytest.mark.parametrize(("name", "settings"), [("cbm", {"mode": "sequential"}), ("dpl", {"concept_weight": 1.0})])
def test_handwritten_bits_are_read(name, settings, mnlogic):
    said = fitted(name, mnlogic, learning_rate=1e-3, epochs=8, **settings).predict(mnlogic["test"])
    assert min(accuracy(said.concepts, mnlogic["test"].concepts, "abc")) > 0.9


def test_two_labels_are_learned_together(made):
    settings = {"equations": {"sum": "a + b", "same": "a == b"}, "names": ["a", "b"], "digit_values": [0, 1]}
    dataset = made("mnmath", **settings, prop_in_distribution=1.0, splits={"train": 128, "valid": 32, "test": 64})
    said = fitted("dpl", dataset, learning_rate=1e-3, epochs=6).predict(dataset["test"])
    assert list(said.labels) == ["sum", "same"]
    assert min(accuracy(said.labels, dataset["test"].labels, said.labels)) > 0.9


def test_phases_are_those_of_the_mode(data):
    phases = {mode: fitted("cbm", data, mode=mode, epochs=1).history for mode in ("joint", "sequential")}
    assert [epoch.phase for epoch in phases["joint"]] == ["joint"]
    assert [epoch.phase for epoch in phases["sequential"]] == ["concepts", "labels"]


@pytest.mark.parametrize("mode", ["sequential", "independent"])
def test_the_head_is_learned_without_moving_the_encoder(mode, data):
    model = fitted("cbm", data, mode=mode, epochs=1)
    batch = to_batch(data["valid"], torch.device("cpu"))
    model.zero_grad()
    model.phases(batch)[1].loss(batch).backward()
    assert all(p.grad is None for p in model.encoder.parameters())
    assert all(p.grad is not None for p in model.head.parameters())


def test_an_independent_head_is_learned_from_true_concepts_and_a_sequential_one_from_predicted(data):
    batch = to_batch(data["valid"], torch.device("cpu"))
    dark = replace(batch, images=torch.zeros_like(batch.images))
    for mode, blind in (("independent", True), ("sequential", False)):
        loss = fitted("cbm", data, mode=mode, epochs=3).phases(batch)[1].loss
        assert torch.equal(loss(batch), loss(dark)) == blind


def test_the_rule_makes_labels_follow_from_certain_concepts(run, data):
    test, model = data["test"], load_model(run)
    for column, name in enumerate("abc"):
        for code in (0, 1):
            changed = test.concepts.copy()
            changed[:, column] = code
            said = model.predict(test, {name: np.full(len(test), code)})
            assert (said.concepts[name].codes == code).all()
            assert (said.labels["y"].codes == data.knowledge.labels_of(changed)[:, 0]).all()


def test_a_model_that_is_told_every_concept_gives_the_labels_of_the_rule(run, data):
    test = data["test"]
    told = {name: 1 - test.concepts[:, i] for i, name in enumerate("abc")}
    said = load_model(run).predict(test, told)
    assert (said.labels["y"].codes == data.knowledge.labels_of(1 - test.concepts)[:, 0]).all()
    assert np.allclose(said.labels["y"].probabilities.max(axis=1), 1)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ({"z": [0] * 64}, "no concept named 'z'"),
        ({"a": [0] * 63}, "'a' needs 64 codes from 0 to 1, one for each example"),
        ({"a": [2] * 64}, "'a' needs 64 codes from 0 to 1"),
        ({"a": [-1] * 64}, "'a' needs 64 codes from 0 to 1"),
    ],
)
def test_interventions_that_do_not_fit_are_refused(do, message, run, data):
    with pytest.raises((ConfigError, UnknownName), match=message):
        load_model(run).predict(data["test"], do)


def test_interventions_take_any_whole_numbers(run, data):
    codes = np.ones(64, dtype=np.int8)
    assert (load_model(run).predict(data["test"], {"a": codes}).concepts["a"].codes == 1).all()


def test_a_black_box_cannot_be_intervened_on(data):
    with pytest.raises(ConfigError, match="model 'blackbox' has no concepts that can be set"):
        fitted("blackbox", data, epochs=1).predict(data["test"], {"a": np.zeros(64, dtype=int)})


def test_answers_do_not_depend_on_the_other_examples(run, data):
    test, model = data["test"], load_model(run)
    rows = np.array([5, 40, 3])
    some, all_ = model.predict(test.take(rows)), model.predict(test)
    assert (some.index == test.index[rows]).all()
    assert np.allclose(some.labels["y"].probabilities, all_.labels["y"].probabilities[rows], atol=1e-6)


def test_the_backbone_is_the_one_set_or_suggested_or_usual(data):
    def chosen(hints, **settings):
        return MODELS["cbm"].configure(Settings(settings), hints).backbone

    hints = {"concept": "mlp", "label": "conv-pool"}
    assert chosen(hints, backbone="conv-wide") == "conv-wide"
    assert (chosen(hints), chosen({})) == ("mlp", "conv-stride")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("dpl", {"entropy_wieght": 1}, "unknown key 'entropy_wieght'; did you mean 'entropy_weight'"),
        ("dpl", {"concept_weight": -1}, "concept_weight: .*greater than or equal to 0"),
        ("cbm", {"mode": "both"}, "mode: .*'joint', 'sequential' or 'independent'"),
        ("blackbox", {"concept_weight": 1}, "unknown key 'concept_weight'"),
        ("blackbox", {"backbone": "conv-pool"}, "cannot read pictures of 3 x 1 pixels; try 'mlp'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(name, settings, message, data):
    with pytest.raises(ConfigError, match=message):
        MODELS[name](data.knowledge, data.layout, Settings(settings), data.manifest["backbones"])


def test_shared_pixels_have_one_reader(tmp_path):
    dataset = pixels(tmp_path / "data", shared=True)
    assert len(fitted("dpl", dataset, epochs=1).encoder.readers) == 1
    assert len(fitted("dpl", dataset, epochs=1, share=False).encoder.readers) == 3

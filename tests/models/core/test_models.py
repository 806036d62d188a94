"""Models learn an easy rule, take their backbone from the task, and refuse settings that do not fit."""

import pytest
import torch

from assay.base import ConfigError, Settings
from assay.models import MODELS
from tests.pixels import LEARNS, NETWORKS, QUICK


def fitted(name, dataset, seed=0, **settings):
    given = Settings({**QUICK, **settings})
    model = MODELS[name](dataset.knowledge, dataset.layout, given, dataset.manifest.backbones, seed)
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


def test_the_backbone_is_the_one_set_or_suggested_or_usual(data):
    def chosen(hints, **settings):
        return MODELS["cbm"].configure(Settings(settings), hints).backbone

    hints = {"concept": "mlp", "label": "conv-pool"}
    assert chosen(hints, backbone="conv-wide") == "conv-wide"
    assert (chosen(hints), chosen({})) == ("mlp", "conv-stride")
    for name in NETWORKS:
        own = "concept" if MODELS[name].has_concepts else "label"
        assert MODELS[name].configure(Settings({}), hints).backbone == hints[own]


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
        MODELS[name](data.knowledge, data.layout, Settings(settings), data.manifest.backbones)


def test_a_model_is_made_of_a_dataset_or_of_its_parts(data):
    made = MODELS["cbm"](data, settings={"epochs": 1}, seed=4)
    parts = MODELS["cbm"](data.knowledge, data.layout, Settings({"epochs": 1}), data.manifest.backbones, 4)
    assert made.config == parts.config and all(map(torch.equal, made.parameters(), parts.parameters()))
    assert MODELS["cbm"](data, backbones={"concept": "mlp-wide"}).config.backbone == "mlp-wide"
    assert (
        repr(made) == "CBM(seed 4, as made or loaded)"
        and repr(fitted("cbm", data, 4, epochs=1)) == "CBM(seed 4, 1 epochs)"
    )
    with pytest.raises(ConfigError, match="a model is made of a dataset, not of a str"):
        MODELS["blackbox"]("data")

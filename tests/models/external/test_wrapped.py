"""Modules of other makes are models: whatever form their answers have, and with interventions where there is a hook."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch
from torch import nn

from assay.errors import ConfigError, DataError, MissingExtra
from assay.models.external.pyc import to_pyc, wrap_pyc
from assay.models.external.wrapped import Wrapped
from tests.models.concept.test_bottlenecks import hidden


class Reads(nn.Module):
    """Reads three pixels right, and follows the rule softly: `a and b or c`."""

    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, pictures):
        seen = pictures.flatten(1) * 8 - 4
        labels = self.tell(pictures, [torch.stack([1 - p, p], 1) for p in seen.sigmoid().T])
        if self.form == "tuple":
            return seen, labels
        if self.form == "names":
            return {"concepts": dict(zip("abc", seen.T, strict=True)), "labels": {"y": labels}}
        both = torch.stack([torch.zeros_like(seen), seen], dim=2).flatten(1)
        return {"concepts": both, "labels": [torch.cat([torch.zeros_like(labels), labels], dim=1)]}

    def tell(self, pictures, concepts):
        a, b, c = (one[:, 1] for one in concepts)
        return (1 - (1 - a * b) * (1 - c)).clamp(1e-6, 1 - 1e-6).logit()[:, None]


def wrapped(data, form="tuple", **settings):
    module = Reads(form)
    return Wrapped(module, data.knowledge, data.layout, **{"tell": module.tell, **settings})


@pytest.mark.parametrize("form", ["tuple", "names", "both"])
def test_any_form_of_answer_is_understood(form, data):
    test, model = data["test"], wrapped(data, form)
    said = model.predict(test)
    assert np.array_equal(said.labels["y"].codes, test.labels[:, 0])
    assert all(np.array_equal(said.concepts[name].codes, test.concepts[:, i]) for i, name in enumerate("abc"))
    assert said.about["wrapped"] == "Reads"


def test_a_wrapped_model_is_intervened_on_by_its_hook(data):
    test, model = data["test"], wrapped(data)
    said = model.predict(test, {name: 1 - test.concepts[:, i] for i, name in enumerate("abc")})
    assert np.array_equal(said.labels["y"].codes, data.knowledge.labels_of(1 - test.concepts)[:, 0])
    own = {name: answer.probabilities for name, answer in model.predict(test).concepts.items()}
    again, before = model.predict(test, own), model.predict(test)
    assert np.array_equal(again.labels["y"].probabilities, before.labels["y"].probabilities)


def test_a_hook_that_hands_concepts_on_in_another_way_is_refused(data):
    hard = lambda pictures, concepts: Reads.tell(None, pictures, [one.round() for one in concepts])  # noqa: E731
    with pytest.raises(ConfigError, match="set to its own concepts, Reads gives other labels"):
        wrapped(data, tell=hard).predict(data["test"], {"a": np.zeros(64, dtype=int)})


def test_without_a_hook_there_are_no_interventions(data):
    model = wrapped(data, tell=None)
    assert model.has_concepts
    assert not model.can_intervene
    with pytest.raises(ConfigError, match="has no concepts that can be set"):
        model.predict(data["test"], {"a": np.zeros(64, dtype=int)})


def test_a_module_may_say_labels_only_and_probabilities(data):
    class Half(nn.Module):
        def forward(self, pictures):
            return {"labels": torch.full((len(pictures), 2), 0.5)}

    said = Wrapped(Half(), data.knowledge, data.layout, "probabilities", has_concepts=False).predict(data["test"])
    assert not said.concepts
    assert (said.labels["y"].probabilities == 0.5).all()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: "a word", "must return label scores"),
        (lambda x: {"labels": x.new_zeros(len(x), 7), "concepts": x.new_zeros(len(x), 3)}, "gives \\(7,\\) scores"),
        (lambda x: {"labels": {}, "concepts": {}}, "says nothing of label 'y'"),
        (lambda x: {"labels": [x.new_zeros(len(x), 3)], "concepts": {}}, "gives 3 scores for 'y', which has 2 values"),
        (lambda x: {"labels": x.new_zeros(len(x), 1)}, "must say something of 3 concepts"),
    ],
)
def test_answers_that_do_not_fit_are_refused(answer, message, data):
    module = nn.Module()
    module.forward = lambda pictures: answer(pictures.flatten(1))
    with pytest.raises(ConfigError, match=message):
        Wrapped(module, data.knowledge, data.layout).predict(data["test"])


def test_a_wrapped_model_is_not_trained_here(data):
    with pytest.raises(ConfigError, match="Reads is wrapped: train it where it comes from"):
        wrapped(data).fit(data["train"], data["valid"])


def test_what_is_missing_is_not_handed_to_pytorch_concepts(data):
    with pytest.raises(DataError, match="concepts are missing, and PyTorch-Concepts has no masks"):
        to_pyc(hidden(data["train"], 0.3))


@pytest.mark.skipif(find_spec("torch_concepts") is not None, reason="PyTorch-Concepts is installed")
def test_without_pytorch_concepts_the_install_line_is_named(data):
    with pytest.raises(MissingExtra, match=r"pip install '\.\[pyc\]'"):
        to_pyc(data["train"])


@pytest.mark.parametrize("kind", ["ConceptBottleneckModel", "ConceptEmbeddingModel"])
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_pytorch_concepts_is_wrapped(kind, data):
    nn_of = pytest.importorskip("torch_concepts.nn")
    from assay.models.external.pyc import annotations_of

    body = nn_of.MLP(input_size=3, hidden_size=8, n_layers=1)
    made = getattr(nn_of, kind)(
        input_size=3, annotations=annotations_of(data.knowledge), task_names=["y"], backbone=body, latent_size=8
    )
    model, test = wrap_pyc(made, data.knowledge, data.layout, nn.Flatten()), data["test"]
    said = model.predict(test)
    own = {name: answer.probabilities for name, answer in said.concepts.items()}
    again = model.predict(test, own)
    assert np.array_equal(again.labels["y"].probabilities, said.labels["y"].probabilities)
    told = model.predict(test, {"a": np.ones(64, dtype=int)})
    assert not np.allclose(told.labels["y"].probabilities, said.labels["y"].probabilities)


@pytest.mark.filterwarnings("ignore")
def test_data_is_handed_to_pytorch_concepts(data):
    pytest.importorskip("torch_concepts.data.base.dataset", exc_type=(ImportError, RuntimeError))
    handed = to_pyc(data["train"])
    assert len(handed) == 256
    assert handed.concept_names == ["a", "b", "c", "y"]
    assert torch.equal(
        handed[3]["concepts"]["c"].long(),
        torch.from_numpy(np.concatenate([data["train"].concepts[3], data["train"].labels[3]])),
    )

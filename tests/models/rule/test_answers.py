"""What rule learners answer, and what they are trained on, written out again for one batch."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assay.errors import ConfigError, RuleUnknown
from assay.logic import NO_RULE, Knowledge, Label
from assay.models import MODELS
from assay.models.core.losses import entropy_loss
from assay.models.rule.bears import _relative
from assay.models.rule.rule_learner import PictureDecoder
from tests.models.core.test_models import fitted


def pictures_of(model, split):
    return torch.cat(list(model.chunks(model.feed(split, model.device))))


def chance_of_y(concepts):
    """`a and b or c` of independent concepts."""
    a, b, c = (p[:, 1] for p in concepts)
    return 1 - (1 - a * b) * (1 - c)


def test_labels_follow_from_the_concepts_that_are_set(data):
    model = fitted("dpl", data, epochs=1).eval()
    pictures = pictures_of(model, data["test"])
    with torch.no_grad():
        plain = model.answer(pictures, {})
        codes = torch.arange(len(pictures)) % 2
        told = model.answer(pictures, {2: codes, 0: plain.concepts[0]})
    assert torch.allclose(plain.labels[0][:, 1], chance_of_y(plain.concepts), atol=1e-5)
    assert torch.equal(told.concepts[2], torch.nn.functional.one_hot(codes, 2).float())
    assert all(torch.equal(told.concepts[i], plain.concepts[i]) for i in (0, 1))
    assert torch.allclose(told.labels[0][:, 1], chance_of_y(told.concepts), atol=1e-5)


def test_an_ensemble_averages_its_members_and_sets_concepts_in_each(data):
    model = fitted("bears", data, epochs=1, members=2).eval()
    pictures = pictures_of(model, data["test"])
    with torch.no_grad():
        members = [[logits.softmax(dim=1) for logits in encoder(pictures)] for encoder in model.encoders()]
        plain = model.answer(pictures, {})
        codes = torch.ones(len(pictures), dtype=torch.long)
        told = model.answer(pictures, {0: codes})
    for place in range(3):
        assert torch.allclose(plain.concepts[place], (members[0][place] + members[1][place]) / 2, atol=1e-6)
    expected = (chance_of_y(members[0]) + chance_of_y(members[1])) / 2
    assert torch.allclose(plain.labels[0][:, 1], expected, atol=1e-5)
    certain = torch.nn.functional.one_hot(codes, 2).float()
    changed = (chance_of_y([certain, *members[0][1:]]) + chance_of_y([certain, *members[1][1:]])) / 2
    assert torch.allclose(told.labels[0][:, 1], changed, atol=1e-5) and torch.equal(told.concepts[0], certain)
    said = model.member_concepts(data["test"])
    assert len(said) == 2 and len(said[0]) == 3
    for own, read in zip(members, said, strict=True):
        for place in range(3):
            np.testing.assert_allclose(read[place], own[place].numpy(), atol=1e-6)


def test_divergence_is_that_of_kullback_and_leibler():
    left, right = torch.tensor([[0.5, 0.5], [0.9, 0.1]]), torch.tensor([[0.25, 0.75], [0.9, 0.1]])
    expected = 0.5 * math.log(2) + 0.5 * math.log(0.5 / 0.75)
    assert float(_relative(left, right)) == pytest.approx(expected / 2, abs=1e-6)


def test_entropy_is_that_of_the_average_of_an_encoder_group():
    sure = [torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [0.0, 1.0]])]
    assert float(entropy_loss(sure, [[0, 1]])) == pytest.approx(0, abs=1e-6)  # both values are as frequent
    assert float(entropy_loss(sure, [[0], [1]])) == pytest.approx(1, abs=1e-6)
    third = [torch.tensor([[0.5, 0.25, 0.25]])]
    assert float(entropy_loss(third, [[0]])) == pytest.approx(1 - 1.5 * math.log(2) / math.log(3), abs=1e-6)


@torch.no_grad()
def test_pictures_are_drawn_from_concepts_and_style():
    torch.manual_seed(0)
    decoder, pictures = PictureDecoder(12, 4), torch.rand(5, 3, 2, 2)
    concepts = [torch.rand(5, 2), torch.rand(5, 2)]
    code = torch.cat([*concepts, torch.tanh(decoder.style[1](pictures.flatten(1)))], dim=1)
    logits = decoder.draw[2](torch.relu(decoder.draw[0](code)))
    pixels = pictures.flatten(1)
    plain = -(pixels * torch.sigmoid(logits).log() + (1 - pixels) * torch.sigmoid(-logits).log()).mean()
    assert float(decoder(pictures, concepts)) == pytest.approx(float(plain), abs=1e-6)


def test_what_is_weighted_in_adds_up(data):
    weights = {"entropy_weight": 0.5, "concept_weight": 2.0, "reconstruction_weight": 3.0}
    every = fitted("dpl", data, epochs=1, **weights)
    batch = batch_of(every, data)
    logits = every.encoder(batch.pictures)
    concepts = [x.softmax(1) for x in logits]
    mask = torch.ones_like(batch.concepts, dtype=torch.bool)
    groups = [[every.space.place(name) for name in group.concepts] for group in every.space.encoders]
    hits = torch.stack([x.log_softmax(1)[torch.arange(len(x)), batch.concepts[:, i]] for i, x in enumerate(logits)])
    expected = 0.5 * entropy_loss(concepts, groups) - 2 * hits.mean() + 3 * every.decoder(batch.pictures, concepts)
    assert every.against_shortcuts(logits, concepts, batch, mask).item() == pytest.approx(expected.item(), rel=1e-4)
    plain = fitted("dpl", data, epochs=1)
    assert plain.against_shortcuts(logits, concepts, batch, mask).item() == 0


def batch_of(model, data):
    split = data["train"][:20]
    return SimpleNamespace(pictures=pictures_of(model, split), concepts=torch.from_numpy(split.concepts))


def test_rules_that_do_not_fit_are_refused(data):
    unruled = Knowledge(data.knowledge.space, (Label("y", NO_RULE, (False, True)),))
    with pytest.raises(RuleUnknown, match="model 'dpl' needs a rule"):
        MODELS["dpl"](unruled, data.layout, backbones=data.manifest["backbones"])
    with pytest.raises(ConfigError, match="gives other values than label 'y'"):
        fitted("dpl", data, rule={"y": "a + b"})
    other = fitted("dpl", data, rule={"y": "a or b or c"}, epochs=1)
    assert str(other.taught.labels[0].formula) == "a or b or c"

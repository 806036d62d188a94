"""Which concepts of which examples a model learns from is what the settings say."""

import numpy as np
import pytest
import torch

from assay.base import ConfigError, UnknownName
from tests.models.tiles import batch, model_of, tiles


def learned(seed=3, name="cbm", **settings):
    return model_of(name, settings, seed).supervised_concepts(tiles()["train"])


TRUTH = tiles()["train"].concepts


def test_all_concepts_are_learned_from_unless_told():
    assert (learned() == TRUTH).all()
    assert (learned(name="dpl") == -1).all() and (learned(concept_weight=0.0) == -1).all()  # without weight none are
    assert (learned(name="dpl", concept_weight=0.5) == TRUTH).all()


def test_only_some_concepts_or_values_are_learned_from():
    some = learned(supervised_concepts=["right.shade", "left.big"])
    assert (some[:, [1, 2]] == TRUTH[:, [1, 2]]).all() and (some[:, [0, 3]] == -1).all()
    assert (learned(supervised_values=[2]) == np.where(TRUTH == 2, 2, -1)).all()
    both = learned(supervised_concepts=["left.big"], supervised_values=[True])
    assert (both[:, 1] == np.where(TRUTH[:, 1] == 1, 1, -1)).all() and (both[:, [0, 2, 3]] == -1).all()
    assert (learned(supervised_concepts=[]) == -1).all() and (learned(supervised_values=[]) == -1).all()


def test_only_a_share_of_the_examples_is_learned_from_and_the_seed_says_which():
    quarter = learned(supervised_share=0.25) >= 0
    assert quarter[:, 0].sum() == 24 / 4 and (quarter == quarter[:, :1]).all()
    assert (quarter == (learned(supervised_share=0.25) >= 0)).all()
    assert (quarter != (learned(seed=4, supervised_share=0.25) >= 0)).any()
    assert (learned(supervised_share=0.0) == -1).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"supervised_concepts": ["left.big", "z"]}, "no concept named 'z'; there is: left.big"),
        ({"supervised_values": [True, 7]}, "supervised_values: no concept has the value 7"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(settings, message):
    with pytest.raises((ConfigError, UnknownName), match=message):
        learned(**settings)


def test_what_is_not_supervised_does_not_change_the_loss():
    given = batch(missing=False)
    for settings in ({"supervised_concepts": ["left.big"]}, {"supervised_values": [2]}, {"supervised_share": 0.5}):
        model = model_of("cbm", settings)
        unseen = torch.from_numpy(model.supervised_concepts(tiles()["train"]) < 0)
        other = torch.where(unseen, 1 - given.concepts.clamp(max=1), given.concepts)
        changed = type(given)(given.labels, other, given.rows, given.images)
        (phase,) = model.phases(given)
        assert phase.loss(given).item() == pytest.approx(phase.loss(changed).item()) and (other != given.concepts).any()


def weights(**settings):
    model = model_of("cbm", {"epochs": 2, "keeps": "last", "batch_size": 24, "optimizer": "sgd", **settings})
    model.fit(tiles()["train"], tiles()["valid"])
    return torch.cat([own.detach().ravel() for own in model.parameters()])


def test_examples_with_concepts_are_shown_again_in_every_batch():
    few = {"supervised_share": 0.2}
    assert torch.equal(weights(**few, supervised_replay=0), weights(**few))
    assert not torch.allclose(weights(**few, supervised_replay=8), weights(**few))
    none = {"supervised_share": 0.0}
    assert torch.allclose(weights(**none, supervised_replay=8), weights(**none), atol=1e-6)  # there are none to show


def test_pictures_that_are_not_held_cannot_be_shown_again():
    with pytest.raises(
        ConfigError, match="supervised_replay needs pictures that are held in memory.*raise memory_share"
    ):
        weights(supervised_replay=8, memory_share=0.0)

"""Leakage and bypass of trained models: a joint soft bottleneck on too few concepts, and an independent hard one."""

import numpy as np
import pytest
import torch
from torch import nn

from assay import Dataset, gather
from assay.base import ConfigError
from assay.diagnosis import leakage
from assay.exchange import Annotation, annotate
from assay.models import Wrapped, bypass, load_model
from tests.pixels import trained

JOINT = {"mode": "joint", "concept_weight": 0.1, "epochs": 60, "patience": 40}
HARD = {"mode": "independent", "hard": True, "epochs": 20}


@pytest.fixture(scope="module")
def incomplete(data, tmp_path_factory):
    """The pixels without the concept c, which the label needs; encoders see the whole picture."""
    folder = tmp_path_factory.mktemp("incomplete") / "data"
    annotate(data, Annotation(drop=["c"], regions=False), folder)
    return Dataset.open(folder)


def leaked(model, dataset):
    return leakage(gather(dataset["test"], model.predict(dataset["test"])))


def test_a_joint_soft_bottleneck_leaks_and_an_independent_hard_one_does_not(incomplete, tmp_path):
    soft = trained("cbm", incomplete, tmp_path / "soft", JOINT)
    hard = trained("cbm", incomplete, tmp_path / "hard", HARD)
    of_soft, of_hard = leaked(soft, incomplete), leaked(hard, incomplete)
    assert of_soft.soft is not None and of_soft.soft.ctl > 0.3 and of_soft.soft.probe > 0.3
    assert of_hard.hard.ctl < 0.02 and of_hard.hard.icl < 0.02 and of_hard.hard.probe < 0.02
    assert leaked(soft, incomplete) == of_soft
    through = bypass(soft, incomplete["test"])
    assert through.by_picture == 0 and through.survival < 0.2  # it leaks through its concepts, not past them
    assert through.accuracy > 0.9 > through.true


class Past(nn.Module):
    """A network whose label is read off the picture, past concepts that it also says."""

    def forward(self, pictures):
        concepts = {name: torch.full((len(pictures), 2), 0.5) for name in "abc"}
        return {"concepts": concepts, "labels": self.tell(pictures, None)}

    def tell(self, pictures, concepts):
        a, b, c = (pictures.flatten(1) > 0.5).T
        return [torch.nn.functional.one_hot((a & b | c).long(), 2).float() * 0.98 + 0.01]


class Mixed(Past):
    """A network that has the label right, and whose label is its concept a, turned round in bright pictures."""

    def tell(self, pictures, concepts):
        if concepts is None or (concepts[0][:, 1] == 0.5).all():
            return super().tell(pictures, concepts)
        said = (concepts[0][:, 1] > 0.5) ^ (pictures.flatten(1)[:, 2] > 0.5)
        return [torch.nn.functional.one_hot(said.long(), 2).float() * 0.98 + 0.01]


def wrapped(module, data):
    return Wrapped(module, data.knowledge, data.layout, "probabilities", tell=module.tell)


def test_a_label_past_the_concepts_survives_the_shuffle(data):
    found = bypass(wrapped(Past(), data), data["test"])
    assert found.accuracy == found.true == found.shuffled_own == found.fixed == 1
    assert found.survival == 1 and found.by_picture == pytest.approx(1 - found.chance)
    assert found.majority == pytest.approx(max(np.bincount(data["test"].labels[:, 0])) / len(data["test"]))


def test_a_label_that_mixes_concepts_and_picture_is_told_apart(data):
    test = data["test"]
    found = bypass(wrapped(Mixed(), data), test)
    a, bright, labels = test.concepts[:, 0], test.concepts[:, 2], test.labels[:, 0]
    common = np.bincount(a).argmax()
    assert found.rows == len(test) and found.accuracy == 1
    assert found.true == pytest.approx(((a ^ bright) == labels).mean())
    assert found.fixed == pytest.approx(((common ^ bright) == labels).mean())
    assert 0.2 < found.by_picture < 0.8  # where the two pictures are not alike in brightness
    assert found == bypass(wrapped(Mixed(), data), test) and found != bypass(wrapped(Mixed(), data), test, seed=1)
    above = (found.shuffled_own - found.chance) / (found.accuracy - found.chance)
    assert found.to_dict()["survival"] == found.survival == pytest.approx(min(max(above, 0), 1))


def test_the_rule_has_no_bypass(data, run):
    found = bypass(load_model(run), data["test"])
    assert found.by_picture == 0 and found.shuffled_other == 1 and found.shuffled_own == pytest.approx(found.chance)


def test_a_black_box_has_nothing_to_bypass(data):
    with pytest.raises(ConfigError, match="has no concepts that can be set"):
        bypass(Wrapped(Past(), data.knowledge, data.layout, "probabilities"), data["test"])

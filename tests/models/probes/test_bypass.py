"""Leakage and bypass of trained models: a joint soft bottleneck on too few concepts, and an independent hard one."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.config import Settings
from assay.data import Annotation, Dataset, annotate
from assay.diagnosis import leakage
from assay.diagnosis.leaks import Leakage
from assay.errors import ConfigError
from assay.metrics import gather
from assay.models import bypass
from assay.models.concept.blackbox import BlackBox
from assay.models.core.neural import NeuralModel, Outputs
from tests.pixels import trained

JOINT = {"mode": "joint", "concept_weight": 0.1, "epochs": 60, "patience": 40}
HARD = {"mode": "independent", "hard": True, "epochs": 20}


@pytest.fixture(scope="module")
def incomplete(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The pixels without the concept c, which the label needs; encoders see the whole picture."""
    folder = tmp_path_factory.mktemp("incomplete") / "data"
    annotate(data, Annotation(drop=["c"], regions=False), folder)
    return Dataset.open(folder)


def leaked(model: NeuralModel, dataset: Dataset) -> Leakage:
    return leakage(gather(dataset["test"], model.predict(dataset["test"])))


def test_a_joint_soft_bottleneck_leaks_and_an_independent_hard_one_does_not(
    incomplete: Dataset, tmp_path: Path
) -> None:
    soft = trained("cbm", incomplete, tmp_path / "soft", JOINT)
    hard = trained("cbm", incomplete, tmp_path / "hard", HARD)
    of_soft, of_hard = leaked(soft, incomplete), leaked(hard, incomplete)
    assert of_soft.soft is not None and of_soft.soft.ctl > 0.3 and of_soft.soft.probe > 0.3
    assert of_hard.hard.ctl < 0.02 and of_hard.hard.icl < 0.02 and of_hard.hard.probe < 0.02
    assert leaked(soft, incomplete) == of_soft
    through = bypass(soft, incomplete["test"])
    assert through.by_picture == 0 and through.survival < 0.2  # it leaks through its concepts, not past them
    assert through.accuracy > 0.9 > through.true


class Past(BlackBox):
    """A model whose label is read off the picture, past concepts that it also says."""

    has_concepts = True
    can_intervene = True
    half: ClassVar[bool] = False

    def build(self, backbone: str) -> None:
        self.body = nn.Flatten()
        self.head = nn.Linear(1, 2)

    def answer(self, pictures: Tensor, do: Mapping[int, Tensor]) -> Outputs:
        return Outputs(
            [self.labels(pictures)], [torch.full((len(pictures), size), 1 / size) for size in self.space.sizes]
        )

    def labels(self, pictures: Tensor) -> Tensor:
        lit = pictures.flatten(1)
        bright = [lit[:, place] > 0.5 for place in range(lit.shape[1])]
        a, b, c = bright if len(bright) == 3 else (bright[0], bright[1], bright[-1])
        return torch.nn.functional.one_hot((a & b | c).long(), 2).float() * 0.98 + 0.01


def test_a_label_past_the_concepts_survives_the_shuffle(data: Dataset) -> None:
    found = bypass(Past(data.knowledge, data.layout, Settings({"backbone": "mlp"})), data["test"])
    assert found.accuracy == found.true == found.shuffled_own == found.fixed == 1
    assert found.survival == 1 and found.by_picture == pytest.approx(1 - found.chance)
    assert found.majority == pytest.approx(max(np.bincount(data["test"].labels[:, 0])) / len(data["test"]))


def test_the_rule_has_no_bypass(data: Dataset, run: Path) -> None:
    from assay.models import load_model

    found = bypass(load_model(run), data["test"])
    assert found.by_picture == 0 and found.shuffled_other == 1 and found.shuffled_own == pytest.approx(found.chance)
    assert bypass(load_model(run), data["test"]) == found


def test_a_black_box_has_nothing_to_bypass(data: Dataset) -> None:
    with pytest.raises(ConfigError, match="has no concepts that can be set"):
        bypass(BlackBox(data.knowledge, data.layout, Settings({"backbone": "mlp"})), data["test"])

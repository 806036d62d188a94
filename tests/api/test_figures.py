"""Figures of errors show wrong examples with what is wrong of them; curves are those of the models by name."""

from typing import Any

import numpy as np
import pytest

from assay.api import figures
from assay.data import Dataset
from assay.errors import ConfigError
from assay.predictions import Answer, Predictions
from tests.predictors import predictions
from tests.toys import Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=8, valid=4, test=12, hard=4)


def test_only_what_is_wrong_is_shown_and_said(shelf: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, Any] = {}
    monkeypatch.setattr(figures, "picture_sheet", lambda images, captions: shown.update(i=images, c=captions))
    data = shelf["test"]
    said = data.labels.copy()
    said[3, 0], said[5, 1], said[7] = 1 - said[3, 0], -1, 1 - said[7]
    figures.plot_errors(shelf, predictions(data, said))
    values = [bool(code) for code in (0, 1)]
    same, pile = values[data.labels[3, 0]], values[data.labels[5, 1]]
    assert shown["c"][:2] == [f"same: {same} -> {not same}", f"pile: {pile} -> none"] and len(shown["c"]) == 3
    assert shown["c"][2].startswith("same: ") and ", pile" in shown["c"][2] and len(shown["c"][2]) <= 40
    assert all((image == data.images[row]).all() for image, row in zip(shown["i"], (3, 5, 7), strict=True))
    figures.plot_errors(shelf, predictions(data, said), count=2)
    assert len(shown["i"]) == len(shown["c"]) == 2


def test_curves_have_the_names_of_models(mnlogic: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(figures, "curve_plot", lambda x, points, curves, y: drawn.update(points=points, curves=curves))
    data = mnlogic["test"]
    sure = np.where(np.arange(len(data)) % 4 == 0, 0.6, 0.9)
    right = np.where(np.arange(len(data)) % 4 == 0, 1 - data.labels[:, 0], data.labels[:, 0])
    soft = np.stack([np.where(right == 0, sure, 1 - sure), np.where(right == 1, sure, 1 - sure)], axis=1)

    def answer(**about: str) -> Predictions:
        return Predictions(data.fingerprint, "test", data.index, {"y": Answer.of(soft)}, {}, about)

    figures.plot_coverage(mnlogic, answer(model="dpl"), answer(), answer(model="dpl"))
    assert list(drawn["curves"]) == ["dpl", "model 2", "dpl 3"]
    curve = drawn["curves"]["dpl"]
    assert curve[-1] == pytest.approx(0.75) and curve[25] == 1 and len(curve) == len(drawn["points"]) == 51
    with pytest.raises(ConfigError, match="a coverage curve needs probabilities of every label"):
        figures.plot_coverage(mnlogic, predictions(data, data.labels))

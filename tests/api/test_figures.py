"""Figures of errors show wrong examples with what is wrong of them; curves are those of the models by name."""

import numpy as np
import pytest

import assay
from assay.base import ConfigError
from assay.contracts import Prediction, Predictions
from assay.dataset import Dataset
from tests.predictors import predictions
from tests.toys import Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=8, valid=4, test=12, hard=4)


def test_only_what_is_wrong_is_shown_and_said(shelf: Dataset) -> None:
    data = shelf["test"]
    said = data.labels.copy()
    said[3, 0], said[5, 1], said[7] = 1 - said[3, 0], -1, 1 - said[7]
    shown = [axes for axes in assay.plot_errors(shelf, predictions(data, said)).axes if axes.get_title()]
    same, pile = bool(data.labels[3, 0]), bool(data.labels[5, 1])
    captions = [axes.get_title() for axes in shown]
    assert captions[:2] == [f"same: {same} -> {not same}", f"pile: {pile} -> none"] and len(captions) == 3
    assert captions[2].startswith("same: ") and ", pile" in captions[2] and len(captions[2]) <= 40
    for axes, row in zip(shown, (3, 5, 7), strict=True):
        assert np.array_equal(np.squeeze(axes.images[0].get_array()), np.squeeze(data.images[row]))
    few = assay.plot_errors(shelf, predictions(data, said), count=2)
    assert sum(bool(axes.get_title()) for axes in few.axes) == 2


def test_curves_have_the_names_of_models(mnlogic: Dataset) -> None:
    data = mnlogic["test"]
    sure = np.where(np.arange(len(data)) % 4 == 0, 0.6, 0.9)
    right = np.where(np.arange(len(data)) % 4 == 0, 1 - data.labels[:, 0], data.labels[:, 0])
    soft = np.stack([np.where(right == 0, sure, 1 - sure), np.where(right == 1, sure, 1 - sure)], axis=1)

    def answer(**about: str) -> Predictions:
        return Predictions(data.fingerprint, "test", data.index, {"y": Prediction.of(soft)}, {}, about)

    (axes,) = assay.plot_coverage(mnlogic, answer(model="dpl"), answer(), answer(model="dpl")).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["dpl", "model 2", "dpl 3"]
    curve = np.asarray(axes.get_lines()[0].get_ydata())
    assert curve[-1] == pytest.approx(0.75) and curve[len(curve) // 2] == 1
    with pytest.raises(ConfigError, match="a coverage curve needs probabilities of every label"):
        assay.plot_coverage(mnlogic, predictions(data, data.labels))

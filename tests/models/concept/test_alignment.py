"""Alignment: convex fits under constraints, and a run whose label head is replaced."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.config import Settings, validate
from assay.data import Dataset
from assay.errors import AssayError
from assay.models import Alignment, align_run, load_model
from assay.models.concept.alignment import effects, fit
from tests.pixels import trained


@pytest.fixture(scope="module")
def bottleneck(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bottleneck") / "run"
    trained("cbm", data, folder, {"mode": "independent", "epochs": 15})
    return folder


def test_the_fit_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    told = rng.integers(0, 2, (400, 4)).astype(float)
    labels = (rng.random(400) < 1 / (1 + np.exp(-(told @ [2.0, -1.0, 0.0, 0.5] - 0.5)))).astype(int)
    weights, base = fit(told, labels, 2, 1 / 400, None)
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=2000).fit(told, labels)
    assert weights[0] == pytest.approx(theirs.coef_[0], abs=1e-3) and base == pytest.approx(theirs.intercept_, abs=1e-3)


def test_bounds_hold_for_labels_of_many_values_and_the_best_within_is_found() -> None:
    rng = np.random.default_rng(1)
    told = rng.integers(0, 2, (500, 3)).astype(float)
    labels = np.minimum((told @ [1, 2, 0]).astype(int) + (rng.random(500) < 0.2), 3)
    limits = np.array([[0.0, 0.0], [-np.inf, 1.0], [0.5, np.inf]])
    weights, base = fit(told, labels, 4, 1e-3, limits)
    assert weights.shape == (3, 3) and base.shape == (3,)
    assert (weights[:, 0] == 0).all() and (weights[:, 1] <= 1).all() and (weights[:, 2] >= 0.5).all()

    def loss(w: Any) -> float:
        logits = np.concatenate([np.zeros((500, 1)), told @ w.T + base], axis=1)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return float(-logs[np.arange(500), labels].mean() + 5e-4 * (w**2).sum())

    best = loss(weights)
    for _ in range(50):
        near = np.clip(weights + rng.normal(0, 0.05, weights.shape), limits[:, 0], limits[:, 1])
        assert loss(near) >= best - 1e-6


def test_a_zeroed_weight_takes_the_repair_path_away(data: Dataset, bottleneck: Path, tmp_path: Path) -> None:
    found = align_run(bottleneck, data, Alignment(zero=["c"], positive=["a"]), tmp_path / "aligned")
    before, free, bound = found.rows
    assert [row.front_end for row in found.rows] == ["as trained", "fitted anew", "aligned"]
    assert free.intervened == 1.0 and bound.intervened < 0.8 and bound.training < free.training
    assert found.weights["y=True < c=True"][2] == 0 < found.weights["y=True < c=True"][1]
    assert effects(load_model(tmp_path / "aligned"))["y=True < c=True"] == 0
    about = json.loads((tmp_path / "aligned" / "run.json").read_text())
    assert about["alignment"]["zero"] == ["c"] and about["alignment"]["found"][0] == before.to_dict()
    assert (tmp_path / "aligned" / "predictions" / "test.parquet").exists()
    model = load_model(bottleneck)  # the run that was aligned is as it was
    assert effects(model)["y=True < c=True"] == pytest.approx(found.weights["y=True < c=True"][0])


def test_a_constraint_that_the_best_fit_keeps_changes_nothing(data: Dataset, bottleneck: Path, tmp_path: Path) -> None:
    asked = Alignment(positive=["a", "b", "c"], bounds={"c=True": (-50, 50)}, concepts="predicted")
    found = align_run(bottleneck, data, asked, tmp_path / "aligned")
    for held in found.weights.values():
        assert held[2] == pytest.approx(held[1], abs=1e-2)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "nothing to align"),
        ({"zero": ["z"]}, "no weight 'z'"),
        ({"positive": ["a"], "bounds": {"a": [-2, -1]}}, "no weight of 'a' keeps to all that is asked of it"),
        ({"zero": ["a"], "labels": ["why"]}, "no label named 'why'"),
        ({"penalty": -1, "zero": ["a"]}, "penalty"),
    ],
)
def test_what_cannot_be_aligned_is_told(
    data: Dataset, bottleneck: Path, tmp_path: Path, settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(AssayError, match=told):
        align_run(bottleneck, data, validate(Alignment, Settings(settings)), tmp_path / "aligned")
    assert not (tmp_path / "aligned").exists()


def test_models_without_a_linear_front_end_are_refused(data: Dataset, run: Path, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="model 'dpl' of this run has no linear label head"):
        align_run(run, data, Alignment(zero=["a"]), tmp_path / "aligned")

"""Alignment: convex fits under constraints, and a run whose label head is replaced."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from assay.base import AssayError, ConfigError, Settings, validate
from assay.contracts import CONCEPT
from assay.models import Alignment, TrainSpec, align_run, load_model, train_run
from tests.models.tiles import tiles
from tests.pixels import trained

INFINITE = float("inf")


@pytest.fixture(scope="module")
def bottleneck(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bottleneck") / "run"
    trained("cbm", data, folder, {"mode": "independent", "epochs": 15})
    return folder


@pytest.fixture(scope="module")
def tiled(tmp_path_factory):
    """A bottleneck of concepts and labels of unlike sizes."""
    folder = tmp_path_factory.mktemp("tiled") / "run"
    trained("cbm", tiles(), folder, {"epochs": 2, "backbone": "mlp"})
    return folder


def columns(split):
    """Return the concepts as zeros and ones, a column for every value but the first of each."""
    sizes = split.knowledge.space.sizes
    return np.concatenate([np.eye(size)[split.concepts[:, i]][:, 1:] for i, size in enumerate(sizes)], axis=1)


def fitted(found, label, row):
    """Return the weights on a label's values but the first: values x columns."""
    held = [values[row] for name, values in found.weights.items() if name.startswith(f"{label}=")]
    return np.array(held).reshape(-1, len(columns(tiles()["train"])[0]))


def test_the_free_fit_is_that_of_scikit_learn(tiled, tmp_path):
    from sklearn.linear_model import LogisticRegression

    penalty, train = 0.05, tiles()["train"]
    found = align_run(tiled, tiles(), Alignment(zero=["left.big"], penalty=penalty), tmp_path / "new")
    theirs = LogisticRegression(C=1 / (penalty * len(train)), tol=1e-8, max_iter=2000)
    theirs.fit(columns(train), train.labels[:, 0])
    assert fitted(found, "y", 1) == pytest.approx(theirs.coef_, abs=2e-3)
    restricted = np.delete(columns(train), 2, axis=1)  # without left.big
    theirs.fit(restricted, train.labels[:, 0])
    assert fitted(found, "y", 2)[:, [0, 1, 3, 4, 5]] == pytest.approx(theirs.coef_, abs=2e-3)
    assert (fitted(found, "y", 2)[:, 2] == 0).all() and (fitted(found, "total", 2)[:, 2] == 0).all()


def test_bounds_hold_for_every_value_and_only_on_the_labels_that_are_named(tiled, tmp_path):
    asked = Alignment(
        positive=["right.shade"], negative=["left.shade=2"], bounds={"right.big": (-0.25, 0.5)}, labels=["total"]
    )
    found = align_run(tiled, tiles(), asked, tmp_path / "new")
    free, bound = fitted(found, "total", 1), fitted(found, "total", 2)
    assert (bound[:, [3, 4]] >= -1e-9).all() and (bound[:, 1] <= 1e-9).all() and (np.abs(bound[:, 5]) <= 0.5).all()
    assert bound[:, 5].min() >= -0.25 - 1e-9 and not np.allclose(free, bound)
    np.testing.assert_allclose(fitted(found, "y", 1), fitted(found, "y", 2), atol=1e-9)


def test_the_best_within_the_bounds_is_found(tiled, tmp_path):
    train, rng = tiles()["train"], np.random.default_rng(1)
    found = align_run(tiled, tiles(), Alignment(positive=["left.shade", "right.shade"], penalty=0.01), tmp_path / "new")
    weights, model = fitted(found, "total", 2), load_model(tmp_path / "new")
    base = model.linear.bias.detach().numpy()[2:]
    base = base[1:] - base[0]

    def loss(w):
        scores = np.concatenate([np.zeros((len(train), 1)), columns(train) @ w.T + base], axis=1)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -logs[np.arange(len(train)), train.labels[:, 1]].mean() + 0.005 * (w**2).sum()

    low = np.where([True, True, False, True, True, False], 0, -INFINITE)
    assert all(
        loss(np.maximum(weights + rng.normal(0, 0.05, weights.shape), low)) >= loss(weights) - 1e-4 for _ in range(50)
    )


def test_a_zeroed_weight_takes_the_repair_path_away(data, bottleneck, tmp_path):
    found = align_run(bottleneck, data, Alignment(zero=["c"], positive=["a"]), tmp_path / "aligned")
    before, free, bound = found.rows
    assert [row.front_end for row in found.rows] == ["as trained", "fitted anew", "aligned"]
    assert free.intervened == 1.0 and bound.intervened < 0.8 and bound.training < free.training
    assert bound.gain == bound.intervened - bound.test
    assert found.weights["y=True < c=True"][2] == 0 < found.weights["y=True < c=True"][1]
    model, test = load_model(tmp_path / "aligned"), data["test"]
    one, other = (model.predict(test, {"c": np.full(64, code)}).labels["y"].probabilities for code in (0, 1))
    np.testing.assert_allclose(one, other, atol=1e-6)  # c has no say
    accuracy = (model.predict(test).labels["y"].codes == test.labels[:, 0]).mean()
    assert bound.test == pytest.approx(accuracy) and (tmp_path / "aligned" / "predictions" / "test.parquet").exists()
    about = json.loads((tmp_path / "aligned" / "run.json").read_text())
    assert about["alignment"]["zero"] == ["c"] and about["alignment"]["found"][0] == before.to_dict()


def test_a_constraint_that_the_best_fit_keeps_changes_nothing(data, bottleneck, tmp_path):
    asked = Alignment(positive=["a", "b", "c"], bounds={"c=True": (-50, 50)}, concepts="predicted")
    found = align_run(bottleneck, data, asked, tmp_path / "aligned")
    for held in found.weights.values():
        assert held[2] == pytest.approx(held[1], abs=1e-2)


def test_examples_with_a_missing_concept_are_left_out(data, bottleneck, tmp_path):
    class Given(type(data)):
        """The dataset, whose training examples lack the concept c where that is asked."""

        def __getitem__(self, name):
            split = super().__getitem__(name)
            if name != "train":
                return split
            column = pa.array(
                [None if miss else bool(c) for c, miss in zip(split.concepts[:, 2], missing, strict=True)]
            )
            return replace(split, table=split.table.append_column("given_" + CONCEPT + "c", column))

    lacking = Given(data.folder, data.manifest)
    missing = data["train"].concepts[:, 0] == 1
    found = align_run(bottleneck, lacking, Alignment(positive=["a"]), tmp_path / "some")
    assert found.weights["y=True < a=True"][1] == pytest.approx(0, abs=1e-3)  # of what is left, a is never true
    missing = np.ones(len(missing), dtype=bool)
    with pytest.raises(
        AssayError, match="no training example has all its concepts given: align with concepts=predicted"
    ):
        align_run(bottleneck, lacking, Alignment(positive=["a"]), tmp_path / "none")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "nothing to align"),
        ({"zero": ["z"]}, "no weight 'z'"),
        ({"zero": ["a=False"]}, "no weight 'a=False'"),
        ({"positive": ["a"], "bounds": {"a": [-2, -1]}}, "no weight of 'a' keeps to all that is asked of it"),
        ({"zero": ["a"], "labels": ["why"]}, "no label named 'why'"),
        ({"penalty": -1, "zero": ["a"]}, "penalty"),
    ],
)
def test_what_cannot_be_aligned_is_told(data, bottleneck, tmp_path, settings, told):
    with pytest.raises(AssayError, match=told):
        align_run(bottleneck, data, validate(Alignment, Settings(settings)), tmp_path / "aligned")
    assert not (tmp_path / "aligned").exists()


@pytest.mark.parametrize("settings", [("dpl", {}), ("cbm", {"head": "mlp", "epochs": 1}), ("cem", {"epochs": 1})])
def test_models_without_a_linear_label_head_are_refused(data, run, tmp_path, settings):
    name, more = settings
    if name != "dpl":
        run = tmp_path / "run"
        trained(name, data, run, more)
    with pytest.raises(ConfigError, match=f"model '{name}' of this run has no linear label head"):
        align_run(run, data, Alignment(zero=["a"]), tmp_path / "aligned")


def test_a_learner_without_layers_is_refused(data, tmp_path):
    train_run(TrainSpec("tree", Settings({})), data, tmp_path / "run")
    with pytest.raises(ConfigError, match="holds 'tree', which is no network: it has no layers to look into"):
        align_run(tmp_path / "run", data, Alignment(zero=["a"]), tmp_path / "aligned")

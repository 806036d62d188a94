"""Every method finds back what was planted, and keeps the contract: units for any split, the same for the same seed."""

import numpy as np
import pytest
import torch

from assay.config import Settings, validate
from assay.diagnosis.discovery.stability import agreement
from assay.errors import ConfigError, DataError
from assay.models import METHODS
from assay.models.discovery.bottlenecks import LabelFreeCBM, PosthocCBM, SparseHead, cubed_similarity
from assay.models.discovery.components import ICA, NMF, KMeans
from assay.models.discovery.method import Scaler, SplitRows
from assay.models.discovery.slots import DrawnSize, Slots, grid
from assay.models.discovery.sources import pictures_of
from assay.models.discovery.sparse import L1Autoencoder, TopKAutoencoder
from assay.seeds import rng_for


def silent(*_):
    pass


def fitted(make, train, seed=0, valid=None, **settings):
    method = make(validate(make.Config, Settings({"device": "cpu", **settings})), seed)
    method.fit(train, valid or train, silent)
    return method


# -- what was planted is found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "settings"), [(TopKAutoencoder, {"active": 3, "steps": 600}), (L1Autoencoder, {"steps": 1000})]
)
def test_a_planted_sparse_dictionary_is_found_back(planted, make, settings):
    directions, weights, rows = planted
    method = fitted(make, rows, units=24, **settings)
    cosines = np.abs(directions @ method.directions.T)
    assert cosines.max(axis=1).min() > 0.9 and cosines.max(axis=1).mean() > 0.97
    best, units = cosines.argmax(axis=1), method.units(rows)
    assert np.mean([np.corrcoef(units[:, u], weights[:, a])[0, 1] for a, u in enumerate(best)]) > 0.9
    np.testing.assert_allclose(np.linalg.norm(method.directions, axis=1), 1, atol=1e-5)


def test_topk_keeps_k_units_of_each_example(planted):
    units = fitted(TopKAutoencoder, planted[2], units=24, active=3, steps=50).units(planted[2])
    assert (units >= 0).all() and (units > 0).sum(axis=1).max() == 3


def test_random_directions_do_not_find_the_dictionary(planted):
    directions, _, rows = planted
    method = fitted(METHODS["random-directions"], rows, units=24)
    columns = method.directions.numpy() / np.linalg.norm(method.directions.numpy(), axis=0)
    assert np.abs(directions @ columns).max(axis=1).mean() < 0.7


def test_independent_sources_are_separated():
    rng = rng_for(0, "sources")
    sources = rng.exponential(size=(1500, 4)) * rng.choice([-1, 1], (1500, 4))
    rows = SplitRows(None, torch.from_numpy(sources @ rng.normal(size=(4, 8))).float())
    assert agreement(fitted(ICA, rows, units=4).units(rows), sources) > 0.97
    assert agreement(fitted(METHODS["pca"], rows, units=4).units(rows), sources) < 0.95


def test_parts_that_are_added_up_are_found():
    rng = rng_for(0, "parts")
    weights = rng.exponential(size=(600, 3)) * (rng.random((600, 3)) < 0.6)
    rows = SplitRows(None, torch.from_numpy(weights @ np.kron(np.eye(3), np.ones((1, 4)))).float())
    method = fitted(NMF, rows, units=3)
    assert agreement(method.units(rows), weights) > 0.98 and method.notes == []
    below = fitted(NMF, SplitRows(None, rows.rows - 1), units=3)
    assert "some activations are below 0" in below.notes[0]


def test_clusters_are_found():
    rng = rng_for(0, "clusters")
    own = rng.integers(0, 3, 300)
    rows = SplitRows(None, torch.from_numpy(np.eye(3)[own] * 9 + rng.normal(size=(300, 3))).float())
    nearest = fitted(KMeans, rows, units=3).units(rows).argmax(axis=1)
    assert len({(a, b) for a, b in zip(own.tolist(), nearest.tolist(), strict=True)}) == 3


# -- the contract ------------------------------------------------------------------------------------------------------

QUICK = {"steps": 20}
PLAIN = sorted(set(METHODS) - {"label-free-cbm", "slots"})


@pytest.fixture(scope="module")
def splits(data):
    """Return what is seen of the pixels: training, validation and test."""
    parts = [pictures_of(data[name]) for name in ("train", "valid", "test")]
    return [SplitRows(part.data, part.rows.flatten(1).float() / 255) for part in parts]


@pytest.mark.parametrize("name", PLAIN)
def test_methods_keep_the_contract(name, splits):
    make = METHODS[name]
    assert make.name == name
    settings = {key: value for key, value in QUICK.items() if key in make.Config.model_fields}
    first, again = (fitted(make, splits[0], 3, splits[1], units=6, **settings) for _ in range(2))
    units = first.units(splits[2])
    assert len(units) == len(splits[2].data) and np.isfinite(units).all() and units.dtype == np.float64
    np.testing.assert_array_equal(units, again.units(splits[2]))
    part = SplitRows(splits[2].data[:5], splits[2].rows[:5])
    np.testing.assert_allclose(first.units(part), units[:5], atol=1e-4)
    assert not first.names or len(first.names) == units.shape[1]


@pytest.mark.parametrize("name", ["sae-topk", "sae-l1", "ica", "nmf", "kmeans", "random", "random-directions"])
def test_seeds_differ(name, planted):
    if name == "random":
        pytest.skip("it needs the numbers of examples")
    make, rows = METHODS[name], planted[2]
    settings = {key: value for key, value in QUICK.items() if key in make.Config.model_fields}
    first, other = (fitted(make, rows, seed, units=6, **settings).units(rows) for seed in (0, 1))
    assert np.abs(first - other).max() > 1e-3


def test_there_are_no_more_components_than_features(planted):
    method = fitted(METHODS["pca"], planted[2], units=64)
    assert method.units(planted[2]).shape[1] == 24 and "24 units instead of 64" in method.notes[0]


def test_rows_are_scaled_alike_at_every_layer():
    rows = torch.from_numpy(rng_for(0, "rows").normal(size=(100, 5))).float()
    np.testing.assert_allclose(Scaler.of(rows)(rows), Scaler.of(100 * rows + 7)(100 * rows + 7), atol=1e-3)


# -- bottlenecks -------------------------------------------------------------------------------------------------------


def test_a_posthoc_bottleneck_names_its_units_and_has_a_sparse_head(splits):
    method = fitted(PosthocCBM, splits[0], valid=splits[1])
    units = method.units(splits[2])
    assert method.names == ("a", "b", "c")
    for place in range(3):
        assert np.corrcoef(units[:, place], splits[2].data.concepts[:, place])[0, 1] > 0.9
    (labels,) = method.label_probabilities(units)
    np.testing.assert_allclose(labels.sum(axis=1), 1)
    assert (labels.argmax(axis=1) == splits[2].data.labels[:, 0]).mean() > 0.8
    assert "of 6 weights" in method.notes[0]


def test_a_larger_penalty_leaves_fewer_weights(splits):
    rng = rng_for(0, "units")
    units = np.concatenate([splits[0].data.concepts, rng.normal(size=(256, 10))], axis=1)
    knowledge, labels = splits[0].data.knowledge, splits[0].data.labels
    heads = [SparseHead.fit(units, labels, knowledge, penalty, 0) for penalty in (0.0001, 0.05)]
    assert heads[1].used < heads[0].used and heads[1].used <= 8
    unknown = np.full_like(labels, -1)
    with pytest.raises(DataError, match="no training example has the label 'y'"):
        SparseHead.fit(units, unknown, knowledge, 0.1, 0)
    still = SparseHead.fit(units, np.zeros_like(labels), knowledge, 0.1, 0).probabilities(units)[0]
    assert (still.argmax(axis=1) == 0).all()


def test_a_posthoc_bottleneck_needs_annotated_examples(splits, monkeypatch):
    data = splits[0].data
    monkeypatch.setitem(data.__dict__, "given_concepts", np.full_like(data.concepts, -1))
    with pytest.raises(DataError, match="'train' has 0 examples with every concept annotated; posthoc-cbm needs"):
        fitted(PosthocCBM, splits[0])


def test_a_label_free_bottleneck_follows_clip(splits, data, clip):
    pictures = splits[0].data, splits[1].data
    method = fitted(LabelFreeCBM, splits[0], valid=splits[1], clip=str(clip), cutoff=0.2, head_penalty=0.0005)
    assert set(method.names) <= {"a", "b", "c"} and method.names
    wanted = method._similarities(pictures[1], method._texts(data.knowledge)[1], silent)
    follows = cubed_similarity(torch.from_numpy(method.units(splits[1])).float(), wanted[:, : len(method.names)])
    assert float(follows.max()) > 0.2
    assert method.label_probabilities(method.units(splits[2]))[0].shape == (len(splits[2].data), 2)
    with pytest.raises(ConfigError, match="follow none of 2 texts by 1"):
        fitted(
            LabelFreeCBM,
            splits[0],
            valid=splits[1],
            clip=str(clip),
            concepts=["a wheel", "beanie"],
            cutoff=1.0,
            steps=1,
        )
    with pytest.raises(ConfigError, match="needs a local folder with the weights of CLIP: --set clip=FOLDER"):
        fitted(LabelFreeCBM, splits[0])


# -- slots -------------------------------------------------------------------------------------------------------------


def squares(count):
    """Return pictures with one bright square each, and where it is from left to right."""
    rng = rng_for(0, "squares")
    images, places = np.zeros((count, 1, 16, 16), dtype=np.uint8), rng.integers(0, 13, (count, 2))
    for image, (down, across) in zip(images, places.tolist(), strict=True):
        image[0, down : down + 4, across : across + 4] = 255
    return SplitRows(None, torch.from_numpy(images)), places[:, 1]


def test_slots_draw_pictures_again_and_know_where_things_are():
    rows, across = squares(300)
    method = fitted(Slots, rows, slots=2, width=16, side=16, steps=200, batch_size=16)
    assert float(method.notes[0].split("explain ")[1].split("%")[0]) > 15
    units = method.units(rows)
    assert units.shape == (300, 2 * (16 + 3)) and np.isfinite(units).all()
    correlations = [abs(np.corrcoef(column, across)[0, 1]) for column in units.T]
    assert max(correlations) > 0.8
    assert (units[:, 16] <= units[:, 16 + 19]).all()  # slots are put from left to right


def test_pictures_keep_their_shape_where_slots_draw_them():
    assert DrawnSize.of(64, 192, 32) == DrawnSize(12, 32) and DrawnSize.of(3, 3, 32) == DrawnSize(32, 32)
    assert grid(2, 3)[1].tolist() == [0.5, 0.0, 0.5, 1.0]

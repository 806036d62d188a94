"""Every method finds back what was planted, and keeps the contract: units for any split, the same for the same seed."""

import re

import numpy as np
import pytest
import torch

from assay.base import ConfigError, DataError, Settings, rng_for, validate
from assay.metrics import score_stability
from assay.models import METHODS
from tests.models.explain.discovery.conftest import Rows


def fitted(name, train, seed=0, valid=None, **settings):
    make = METHODS[name]
    method = make(validate(make.Config, Settings({"device": "cpu", **settings})), seed)
    method.fit(train, valid or train, lambda *_: None)
    return method


def agreement(units, wanted):
    """Return how well the best pairing of units and columns correlates."""
    return score_stability([units, wanted], 0, 1).value


def rows_of(numbers):
    return Rows(None, torch.from_numpy(np.asarray(numbers)).float())


# -- what was planted is found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "settings"), [("sae-topk", {"active": 3, "steps": 600}), ("sae-l1", {"steps": 1000})])
def test_a_planted_sparse_dictionary_is_found_back(planted, name, settings):
    directions, weights, rows = planted
    method = fitted(name, rows, units=24, **settings)
    cosines = np.abs(directions @ method.directions.T)
    assert cosines.max(axis=1).min() > 0.9 and cosines.max(axis=1).mean() > 0.97
    best, units = cosines.argmax(axis=1), method.units(rows)
    assert np.mean([np.corrcoef(units[:, u], weights[:, a])[0, 1] for a, u in enumerate(best)]) > 0.9
    np.testing.assert_allclose(np.linalg.norm(method.directions, axis=1), 1, atol=1e-5)


def test_topk_keeps_k_units_of_each_example(planted):
    units = fitted("sae-topk", planted[2], units=24, active=3, steps=50).units(planted[2])
    assert (units >= 0).all() and (units > 0).sum(axis=1).max() == 3


def test_a_larger_penalty_leaves_fewer_units_active(planted):
    few, many = (
        (fitted("sae-l1", planted[2], units=24, steps=300, penalty=penalty).units(planted[2]) > 0).mean()
        for penalty in (0.5, 0.01)
    )
    assert few < many


def test_random_directions_do_not_find_the_dictionary(planted):
    directions, _, rows = planted
    method = fitted("random-directions", rows, units=24)
    columns = method.directions.numpy() / np.linalg.norm(method.directions.numpy(), axis=0)
    assert np.abs(directions @ columns).max(axis=1).mean() < 0.7


def test_independent_sources_are_separated():
    rng = rng_for(0, "sources")
    sources = rng.exponential(size=(1500, 4)) * rng.choice([-1, 1], (1500, 4))
    rows = rows_of(sources @ rng.normal(size=(4, 8)))
    assert agreement(fitted("ica", rows, units=4).units(rows), sources) > 0.97
    assert agreement(fitted("pca", rows, units=4).units(rows), sources) < 0.95


def test_parts_that_are_added_up_are_found():
    rng = rng_for(0, "parts")
    weights = rng.exponential(size=(600, 3)) * (rng.random((600, 3)) < 0.6)
    rows = rows_of(weights @ np.kron(np.eye(3), np.ones((1, 4))))
    method = fitted("nmf", rows, units=3)
    assert agreement(method.units(rows), weights) > 0.98 and method.notes == []
    below = fitted("nmf", Rows(None, rows.rows - 1), units=3)
    assert "some activations are below 0" in below.notes[0]


def test_clusters_are_found():
    rng = rng_for(0, "clusters")
    own = rng.integers(0, 3, 300)
    rows = rows_of(np.eye(3)[own] * 9 + rng.normal(size=(300, 3)))
    nearest = fitted("kmeans", rows, units=3).units(rows).argmax(axis=1)
    assert len({(a, b) for a, b in zip(own.tolist(), nearest.tolist(), strict=True)}) == 3


def test_principal_components_are_those_of_scikit_learn(planted):
    from sklearn.decomposition import PCA

    rows = planted[2]
    theirs = PCA(4, random_state=0).fit_transform(rows.rows.numpy())
    ours = fitted("pca", rows, units=4).units(rows)
    correlations = [abs(np.corrcoef(ours[:, k], theirs[:, k])[0, 1]) for k in range(4)]
    np.testing.assert_allclose(correlations, 1, atol=1e-4)


# -- the contract ------------------------------------------------------------------------------------------------------

QUICK = {"steps": 20}
PLAIN = sorted(set(METHODS) - {"label-free-cbm", "slots"})


@pytest.fixture(scope="module")
def splits(data):
    """Return what is seen of the pixels: training, validation and test."""
    return [
        Rows(data[name], torch.from_numpy(data[name].images).flatten(1).float() / 255)
        for name in ("train", "valid", "test")
    ]


def quick(name):
    return {key: value for key, value in QUICK.items() if key in METHODS[name].Config.model_fields}


@pytest.mark.parametrize("name", PLAIN)
def test_methods_keep_the_contract(name, splits):
    first, again = (fitted(name, splits[0], 3, splits[1], units=6, **quick(name)) for _ in range(2))
    units = first.units(splits[2])
    assert first.name == name
    assert len(units) == len(splits[2].data) and np.isfinite(units).all() and units.dtype == np.float64
    np.testing.assert_array_equal(units, again.units(splits[2]))
    part = Rows(splits[2].data[:5], splits[2].rows[:5])
    np.testing.assert_allclose(first.units(part), units[:5], atol=1e-4)
    assert not first.names or len(first.names) == units.shape[1]


@pytest.mark.parametrize("name", ["sae-topk", "sae-l1", "ica", "nmf", "kmeans", "random-directions"])
def test_seeds_differ(name, planted):
    rows = planted[2]
    first, other = (fitted(name, rows, seed, units=6, **quick(name)).units(rows) for seed in (0, 1))
    assert np.abs(first - other).max() > 1e-3


def test_random_units_depend_on_the_seed_and_the_example_only(splits):
    one, other = fitted("random", splits[0], 5, units=3), fitted("random", splits[1], 5, units=3)
    np.testing.assert_array_equal(one.units(splits[2]), other.units(splits[2]))
    assert np.abs(one.units(splits[2]) - fitted("random", splits[0], 6, units=3).units(splits[2])).max() > 0.1


def test_there_are_no_more_components_than_features(planted):
    method = fitted("pca", planted[2], units=64)
    assert method.units(planted[2]).shape[1] == 24 and "24 units instead of 64" in method.notes[0]


@pytest.mark.parametrize("name", ["pca", "ica", "nmf", "kmeans", "sae-topk", "random-directions"])
def test_units_are_the_same_at_every_scale_of_the_rows(name, planted):
    """Settings mean the same at every layer, whose activations may be large or small."""
    rows = Rows(None, planted[2].rows[:400])
    large = Rows(None, 64 * rows.rows)
    one, other = (fitted(name, some, units=4, **quick(name)).units(some) for some in (rows, large))
    assert agreement(one, other) > 0.99


@pytest.mark.parametrize("name", ["pca", "nmf", "kmeans", "sae-topk", "random-directions"])
def test_rows_that_are_all_alike_are_no_trouble(name):
    rows = Rows(None, torch.full((30, 4), 2.0))
    assert np.isfinite(fitted(name, rows, units=2, **quick(name)).units(rows)).all()


# -- bottlenecks -------------------------------------------------------------------------------------------------------


def test_a_posthoc_bottleneck_names_its_units_and_has_a_sparse_head(splits):
    method = fitted("posthoc-cbm", splits[0], valid=splits[1])
    units = method.units(splits[2])
    assert method.names == ("a", "b", "c")
    for place in range(3):
        assert np.corrcoef(units[:, place], splits[2].data.concepts[:, place])[0, 1] > 0.9
    (labels,) = method.label_probabilities(units)
    np.testing.assert_allclose(labels.sum(axis=1), 1)
    assert (labels.argmax(axis=1) == splits[2].data.labels[:, 0]).mean() > 0.8
    (far,) = method.label_probabilities(1e6 * units)
    assert np.isfinite(far).all()


def test_a_larger_penalty_leaves_fewer_weights(splits):
    used = []
    for penalty in (0.0001, 0.3):
        (note,) = fitted("posthoc-cbm", splits[0], valid=splits[1], head_penalty=penalty).notes
        used.append(int(re.search(r"uses (\d+) of 6 weights", note)[1]))
    assert used[1] < used[0]


def test_a_bottleneck_needs_annotated_concepts_and_labels(splits):
    data, rows = splits[0].data, splits[0].rows
    for name, message in (
        ("annotated_concepts", "'train' has 0 examples with every concept annotated; posthoc-cbm needs"),
        ("given_labels", "no training example has the label 'y'"),
    ):
        bare = data[:]
        vars(bare)[name] = np.full_like(getattr(data, name), -1)
        with pytest.raises(DataError, match=message):
            fitted("posthoc-cbm", Rows(bare, rows))


def test_a_label_free_bottleneck_follows_clip(splits, clip):
    method = fitted("label-free-cbm", splits[0], valid=splits[1], clip=str(clip), cutoff=0.2, head_penalty=0.0005)
    assert method.names and set(method.names) <= {"a", "b", "c"}
    units = method.units(splits[2])
    np.testing.assert_allclose(method.units(splits[0]).std(axis=0), 1, rtol=0.01)
    assert units.shape[1] == len(method.names)
    assert method.label_probabilities(units)[0].shape == (len(splits[2].data), 2)
    given = {"clip": str(clip), "concepts": ["a wheel", "beanie"], "cutoff": 1.0, "steps": 1}
    with pytest.raises(ConfigError, match="follow none of 2 texts by 1"):
        fitted("label-free-cbm", splits[0], valid=splits[1], **given)
    with pytest.raises(ConfigError, match="needs a local folder with the weights of CLIP: --set clip=FOLDER"):
        fitted("label-free-cbm", splits[0])


# -- slots -------------------------------------------------------------------------------------------------------------


def squares(count):
    """Return pictures with one bright square each, and where it is from left to right."""
    rng = rng_for(0, "squares")
    images, places = np.zeros((count, 1, 16, 16), dtype=np.uint8), rng.integers(0, 13, (count, 2))
    for image, (down, across) in zip(images, places.tolist(), strict=True):
        image[0, down : down + 4, across : across + 4] = 255
    return Rows(None, torch.from_numpy(images)), places[:, 1]


def test_slots_draw_pictures_again_and_know_where_things_are():
    rows, across = squares(300)
    method = fitted("slots", rows, slots=2, width=16, side=16, steps=200, batch_size=16)
    assert float(method.notes[0].split("explain ")[1].split("%")[0]) > 15
    units = method.units(rows)
    assert units.shape == (300, 2 * (16 + 3)) and np.isfinite(units).all()
    correlations = [abs(np.corrcoef(column, across)[0, 1]) for column in units.T]
    assert max(correlations) > 0.8
    assert (units[:, 16] <= units[:, 16 + 19]).all()  # slots are put from left to right


@pytest.mark.parametrize("shape", [(3, 7, 9), (1, 24, 72), (2, 5, 5)])
def test_slots_take_pictures_of_any_shape_and_repeat_themselves(shape):
    images = torch.randint(0, 256, (25, *shape), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    rows, settings = Rows(None, images), {"slots": 3, "width": 4, "side": 12, "steps": 2, "batch_size": 5}
    first, again = (fitted("slots", rows, seed=2, **settings).units(rows) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    shares = first.reshape(25, 3, 4 + 3)[:, :, -1]
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)  # of the picture, to the slots together

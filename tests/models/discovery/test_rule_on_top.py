"""Rules on discovered concepts, components and random units, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from assay.concepts import Concept, ConceptSpace
from assay.errors import DataError
from assay.logic import Knowledge, evaluate, parse
from assay.models.discovery import rule_on_top, sources
from assay.models.discovery.components import ICA, NMF, PCA, IterativeConfig, KMeans, RandomDirections, RandomUnits
from assay.models.discovery.method import DiscoveryConfig, Scaler, SplitRows
from assay.models.discovery.rule_on_top import RuleOnTop, _tree_program, learn_rule
from assay.models.discovery.sources import ActivationSource, _before_last, images_of
from assay.models.symbolic.perception import one_hot
from assay.seeds import rng_for

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"})


def silent(*_):
    pass


def found(agreement, relations=("equal",), exact=True):
    told = tuple(SimpleNamespace(relation=name, to_dict=lambda name=name: name) for name in relations)
    return RuleOnTop("tree", None, {}, told, agreement, exact)


def test_a_rule_is_equal_only_if_every_world_and_relation_agrees():
    assert found(None).is_equal is None and found(1.0).is_equal and found(1.0, ()).is_equal
    assert not found(0.999).is_equal and not found(1.0, ("equal", "more general")).is_equal
    assert found(None).text == "No rule is known to compare the learned one with."
    assert found(1.0).text == "The rule learned by tree is equal to the true rule on all worlds."
    assert found(0.875, exact=False).text == (
        "The rule learned by tree differs from the true rule: it gives the same labels in 87.5 % of sampled worlds."
    )
    plain = found(1.0, ("equal",)).to_dict()
    assert plain == {"learner": "tree", "equal": True, "agreement": 1.0, "exact": True, "text": found(1.0).text,
                     "relations": ["equal"]}  # fmt: skip


def test_a_tree_that_has_seen_all_worlds_is_the_rule():
    codes = SPACE.all_codes().astype(np.int64)
    learned = learn_rule("tree", KNOWLEDGE, one_hot(codes, SPACE), KNOWLEDGE.labels_of(codes), 0)
    assert learned.agreement == 1 and learned.is_equal and learned.exact and len(learned.relations) > 0
    labels = [answer.argmax(axis=1) for answer in learned.labels(one_hot(codes, SPACE))]
    assert (np.stack(labels, axis=1) == KNOWLEDGE.labels_of(codes)).all()
    few = codes[codes[:, 1] < 2]
    part = learn_rule("tree", KNOWLEDGE, one_hot(few, SPACE), KNOWLEDGE.labels_of(few), 0)
    assert part.agreement < 1 and part.relations == () and not part.is_equal


def test_a_tree_is_written_as_the_leaves_of_each_value():
    parts = {
        "left": np.array([1, -1, 3, -1, -1]),
        "right": np.array([2, -1, 4, -1, -1]),
        "feature": np.array([3, -2, 1, -2, -2]),
        "shares": np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0], [0.75, 0.25]]),
        "classes": np.array([0, 3]),
    }
    tree = SimpleNamespace(space=SPACE, knowledge=KNOWLEDGE, parts={"y": {"classes": np.array([1])}, "z": parts})
    program = _tree_program(tree)["labels"]
    assert program["y"] == {"formulas": [[1, "True"]], "otherwise": 1, "notes": {}}
    (zero, first), (three, second) = program["z"]["formulas"]
    assert (zero, three, program["z"]["otherwise"]) == (0, 3, 0)
    codes = SPACE.all_codes()
    one, a = codes[:, 1] == 1, codes[:, 0] == 1
    np.testing.assert_array_equal(np.asarray(evaluate(parse(first), SPACE, codes), dtype=bool), ~one | (one & a))
    np.testing.assert_array_equal(np.asarray(evaluate(parse(second), SPACE, codes), dtype=bool), one & ~a)
    tree.parts["y"] = {"classes": np.array([0])}
    assert _tree_program(tree)["labels"]["y"]["formulas"] == [[1, "False"]]
    assert rule_on_top.SETTINGS == {"tree": {"encoding": "values"}} and rule_on_top.MOST_WORLDS == 50_000


# -- components --------------------------------------------------------------------------------------------------------


def test_estimators_have_the_settings_that_are_set():
    config = IterativeConfig(steps=7, tolerance=0.5)
    assert (IterativeConfig().steps, IterativeConfig().tolerance) == (300, 1e-3)
    ica, nmf = ICA(config, 3).make(2), NMF(config, 3).make(2)
    assert (ica.n_components, ica.max_iter, ica.tol, ica.whiten) == (2, 7, 0.5, "unit-variance")
    assert (nmf.n_components, nmf.max_iter, nmf.tol, nmf.init) == (2, 7, 0.5, "random")
    pca, means = PCA(DiscoveryConfig(), 3).make(2), KMeans(DiscoveryConfig(), 3).make(4)
    assert pca.n_components == 2 and (means.n_clusters, means.n_init) == (4, 3)
    assert pca.random_state == PCA(DiscoveryConfig(), 3).torch_seed() != PCA(DiscoveryConfig(), 4).torch_seed()


def test_there_are_as_many_components_as_features_or_rank_allow():
    rows = torch.tensor([[1.0, 2, 3, 2], [4, 1, 0, 8], [2, 2, 5, 4], [0, 3, 1, 0], [7, 5, 2, 14]])
    told = []
    made = PCA(DiscoveryConfig(units=6), 1)
    made.fit(SplitRows(None, rows), None, lambda *said: told.append(said))
    assert made.notes == ["4 units instead of 6: there are no more features or examples"]
    assert told == [("pca, seed 1", 0, 1)] and made.units(SplitRows(None, rows)).shape == (5, 4)
    assert PCA(DiscoveryConfig(units=4), 1).most_units(rows.numpy()) == 4
    assert ICA(IterativeConfig(units=6), 1).most_units(rows.numpy()) == 3  # the last feature repeats the first


def test_factors_count_from_the_least_of_each_feature():
    rows = torch.tensor([[1.0, -2.0], [3.0, 4.0], [2.0, 0.0]])
    made = NMF(IterativeConfig(units=1), 0)
    made.fit(SplitRows(None, rows), None, silent)
    assert made.least.tolist() == [0, -2] and "counts from its least in training" in made.notes[0]
    fresh = torch.tensor([[0.5, -3.0], [-1.0, 1.0]])
    wanted = np.array([[0.5, 0], [0, 3]]) / Scaler.of(rows).scale.item()
    np.testing.assert_allclose(made.prepared(SplitRows(None, fresh)), wanted, atol=1e-6)


def test_random_units_depend_on_the_seed_and_the_example_only():
    rows = torch.rand(6, 4)
    made = RandomDirections(DiscoveryConfig(units=3), 5)
    made.fit(SplitRows(None, rows), None, silent)
    drawn = rng_for(5, "random-directions", 4).normal(size=(4, 3)) / 2
    np.testing.assert_allclose(made.units(SplitRows(None, rows)), Scaler.of(rows)(rows).numpy() @ drawn, atol=1e-5)
    units = RandomUnits(DiscoveryConfig(units=3), 5)
    split = SplitRows(SimpleNamespace(name="test", index=np.array([7, 2])), None)
    wanted = [rng_for(5, "random", "test", i).normal(size=3) for i in (7, 2)]
    np.testing.assert_array_equal(units.units(split), wanted)


# -- sources -----------------------------------------------------------------------------------------------------------


def test_activations_are_computed_piece_by_piece(monkeypatch):
    images = np.arange(3 * 2 * 2 * 1, dtype=np.uint8).reshape(3, 2, 2, 1)
    pieces = [SimpleNamespace(columns=("image",), images=images[k : k + 2]) for k in (0, 2)]
    asked = []
    data = SimpleNamespace(pieces=lambda size: asked.append(size) or pieces)
    source = ActivationSource("x", "y", torch.device("cpu"), lambda given: given.flatten(1).float() * 2)
    np.testing.assert_allclose(source.rows(data).rows, images.reshape(3, -1) * 2)
    assert asked == [512] and images_of(pieces[0], torch.device("cpu")).shape == (2, 1, 2, 2)
    with pytest.raises(DataError, match="split 'test' has no pictures"):
        images_of(SimpleNamespace(name="test", columns=("text",)), torch.device("cpu"))


def test_the_usual_layer_is_called_right_before_the_last_with_weights():
    layers = [SimpleNamespace(name=str(place), weighted=weighted) for place, weighted in enumerate((1, 1, 0, 1, 0))]
    assert (
        _before_last(layers).name == "2"
        and _before_last(layers[:1]).name == "0"
        and _before_last(layers[:3]).name == "0"
    )
    assert sources._without_folder("frozen:resnet-18@/far/away/weights") == "resnet-18@weights"
    assert sources._without_folder("mlp") == "mlp"

"""CLEVR-Hans3: its classes, what training shows with them, and what the unconfounded split shows."""

import numpy as np
import pytest

from assay.arrays import Array
from assay.config import Settings
from assay.data.confounding.task import ConfoundedTask
from assay.data.recipe import Recipe, recipe_from
from assay.data.shard import ShardWriter
from assay.families.clevr.hans import CLASSES, CONFOUNDED
from assay.logic.evaluate import evaluate
from assay.logic.parse import parse

SMALL = {"objects": [3, 4], "width": 64, "height": 48, "quality": "draft"}
SIZES = {"train": 90, "valid": 0, "test": 60, "hard": 0, "pairs": 0}


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return recipe_from("clevr-hans", Settings({**SMALL, "splits": SIZES}))


def codes(recipe: Recipe, split: str) -> Array:
    size = next(part.size for part in recipe.splits if part.name == split)
    return ShardWriter(recipe).source(split).codes(np.arange(size))


def shows(recipe: Recipe, formula: str, worlds: Array) -> Array:
    return evaluate(parse(formula), recipe.task.space, worlds)


def test_each_scene_is_of_one_class_and_classes_are_balanced(recipe: Recipe) -> None:
    worlds = codes(recipe, "train")
    rules = np.stack([shows(recipe, rule, worlds) for rule in CLASSES], axis=1)
    assert (rules.sum(axis=1) == 1).all()
    labels = recipe.task.knowledge.labels_of(worlds)[:, 0]
    assert np.array_equal(rules.argmax(axis=1), labels) and np.bincount(labels).tolist() == [30, 30, 30]


def test_training_always_shows_the_confounder_and_the_published_test_set_does_not(recipe: Recipe) -> None:
    assert isinstance(recipe.task, ConfoundedTask)
    for number, (rule, what) in enumerate(CONFOUNDED.items()):
        shares = {}
        for split in ("train", "unconfounded", "reversed"):
            worlds = codes(recipe, split)
            mine = shows(recipe, rule, worlds)
            assert np.array_equal(mine, recipe.task.knowledge.labels_of(worlds)[:, 0] == number)
            shares[split] = float(shows(recipe, what, worlds)[mine].mean())
        assert shares["train"] == 1.0 and shares["reversed"] == 0.0 and 0.0 < shares["unconfounded"] < 0.9


def test_the_confounder_can_be_left_out(recipe: Recipe) -> None:
    plain = recipe_from("clevr-hans", Settings({**SMALL, "splits": SIZES, "confound": []}))
    assert not isinstance(plain.task, ConfoundedTask) and "unconfounded" not in [s.name for s in plain.splits]
    weak = recipe_from("clevr-hans", Settings({**SMALL, "strength": 0.5}))
    assert isinstance(weak.task, ConfoundedTask) and weak.task.confounders[0].strength == 0.5

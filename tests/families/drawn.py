"""What tasks and recipes draw, by split."""

import numpy as np

from assay.base import Settings
from assay.dataset import recipe_from


def split_of(task, name):
    """Return a split of a task by its name."""
    return next(split for split in task.splits() if split.name == name)


def worlds_of(task, split="train", count=60, seed=0):
    """Return the first worlds of a split."""
    return task.source_for(split_of(task, split), seed).worlds(np.arange(count))


def class_indices(worlds):
    """Return the concepts of worlds."""
    return np.array([world.codes for world in worlds])


def split_codes(task, **settings):
    """Return a task by name under the settings of its recipe, and the concepts of all worlds of each split."""
    recipe = recipe_from(task, Settings(settings))
    sources = {split.name: recipe.task.source_for(split, recipe.seed) for split in recipe.splits}
    return recipe.task, {name: source.codes(np.arange(source.split.size)) for name, source in sources.items()}

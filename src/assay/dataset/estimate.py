"""How long a dataset will take to make, from a few of its pictures."""

import time

import numpy as np

from assay.dataset.recipe import Recipe

TRIED, ENOUGH = 4, 1.0
"""How many pictures are drawn to know what one costs, and after how many seconds no more."""


def seconds_per_example(recipe: Recipe) -> float:
    """Return what drawing one picture of the first split takes; the first one, which may compile, does not count."""
    split = next(iter(split for split in recipe.splits if split.size), None)
    if split is None:
        return 0.0
    source = recipe.task.worlds_in(split, recipe.seed)
    first, *others = source.worlds(np.arange(min(split.size, TRIED)))
    recipe.task.render(first)
    began, count = time.perf_counter(), 0
    for world in others:
        recipe.task.render(world)
        count += 1
        if time.perf_counter() - began > ENOUGH:
            break
    return (time.perf_counter() - began) / count if count else recipe.task.seconds

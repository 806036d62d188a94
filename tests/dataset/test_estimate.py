"""How long a dataset takes, on a clock that moves when a picture is drawn."""

import time

import pytest

from assay.base import Settings
from assay.dataset import recipe_from, seconds_per_example


@pytest.mark.parametrize(
    ("size", "costs", "expected"),
    [
        (10, [5.0, 0.1, 0.2, 0.3], 0.2),  # the first, which may compile, does not count
        (10, [5.0, 0.8, 0.4, 9.0], 0.6),  # after more than a second no more
        (3, [5.0, 0.1, 0.3], 0.2),
    ],
)
def test_the_mean_of_a_few_pictures(size, costs, expected, monkeypatch):
    recipe = recipe_from("mnlogic", Settings({"k": 3, "splits": {"train": 0, "valid": size, "test": 5}}))
    now, left = [0.0], list(costs)

    def render(self, world):
        now[0] += left.pop(0)

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(type(recipe.task), "render", render)
    assert seconds_per_example(recipe) == pytest.approx(expected)


def test_one_picture_takes_the_usual_time():
    sizes = {"train": 0, "valid": 0, "test": 1, "ood": 0, "hard": 0}
    one = recipe_from("mnlogic", Settings({"k": 3, "splits": sizes}))
    assert seconds_per_example(one) == one.task.seconds

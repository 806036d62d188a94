"""How long a dataset takes, on a clock that moves when a picture is drawn."""

import pytest

from assay.config import Settings
from assay.data import estimate, recipe_from


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("size", "costs", "expected", "drawn"),
    [
        (10, [5.0, 0.1, 0.2, 0.3], 0.2, 4),  # the first, which may compile, does not count
        (10, [5.0, 0.8, 0.4, 9.0], 0.6, 3),  # after more than a second no more
        (10, [5.0, 0.5, 0.5, 0.2], 0.4, 4),
        (3, [5.0, 0.1, 0.3], 0.2, 3),
    ],
)
def test_the_mean_of_a_few_pictures(size, costs, expected, drawn, monkeypatch):
    recipe = recipe_from("mnlogic", Settings({"k": 3, "splits": {"train": 0, "valid": size, "test": 5}}))
    clock, left = Clock(), list(costs)

    def render(self, world):
        clock.now += left.pop(0)

    monkeypatch.setattr(estimate, "time", clock)
    monkeypatch.setattr(type(recipe.task), "render", render)
    assert estimate.seconds_per_example(recipe) == pytest.approx(expected)
    assert len(costs) - len(left) == drawn


def test_one_picture_takes_the_usual_time_and_none_takes_none():
    sizes = {"train": 0, "valid": 0, "test": 0, "ood": 0, "hard": 0}
    one = recipe_from("mnlogic", Settings({"k": 3, "splits": {**sizes, "test": 1}}))
    assert estimate.seconds_per_example(one) == one.task.seconds
    one.__dict__["splits"] = ()
    assert estimate.seconds_per_example(one) == 0.0

"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "raven": ("raven", {
        "side": 30, "candidates": 4, "rules": {
            "number": ["constant", "progression", "arithmetic"], "size": ["constant", "distribute_three"],
        }, "numbers": 4,
    }),
    "small": ("raven-small", {"side": 26}),
    "biased": ("raven-biased", {
        "side": 26, "candidates": 4, "rules": {"shade": ["arithmetic", "progression"], "shape": ["constant"]},
    }),
    "other shapes": ("raven", {
        "side": 40, "candidates": 4, "held_out_every": None, "shapes": ["hexagon", "diamond", "star"], "numbers": 9,
        "rules": {"number": ["progression"], "shape": ["distribute_three"], "shade": ["constant"]}, "shades": 8,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("raven", name, CASES[name])

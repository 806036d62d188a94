"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "bongard": ("bongard", {"side": 24, "examples": 3}),
    "small": ("bongard-small", {}),
    "other tests": ("bongard-small", {
        "side": 32, "sides": [5, 7, 8], "held_out": [],
        "tests": {"c": "curved", "d": "sides == 7", "e": "convex or closed"},
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("bongard", name, CASES[name])

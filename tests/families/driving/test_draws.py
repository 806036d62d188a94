"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "sdd-oia": ("sdd-oia", {}),
    "tied": ("sdd-oia", {"ambulance": False, "tied": True, "most_obstacles": 2, "prop_in_distribution": 0.7}),
    "bdd-oia": ("bdd-oia", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("driving", name, CASES[name])

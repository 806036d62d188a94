"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "small": ("clevr-small", {"width": 64, "height": 48, "prop_in_distribution": 0.7}),
    "many": ("clevr-many", {"width": 64, "height": 48, "sizes": ["large", "medium"], "objects": (3, 4)}),
    "hans": ("clevr-hans", {"width": 64, "height": 48, "objects": (3, 4)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("clevr", name, CASES[name])

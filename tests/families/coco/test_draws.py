"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "cocologic": ("cocologic", {}),
    "few": ("cocologic-fs", {}),
    "other rule": ("cocologic-fs", {"rule": "traffic", "rules": {"traffic": "car >= 2 and bicycle == 0"}, "width": 96, "height": 80}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("coco", name, CASES[name])

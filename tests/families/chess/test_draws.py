"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "chess": ("chess", {"view": "flat", "width": 64}),
    "as released": ("chess", {"as_released": True, "coordinates": False, "rule": "count(d4 == 'P', e4 == 'P') >= 1"}),
    "sane": ("chess-sane", {"view": "flat", "width": 64, "sane_ratio": 0.3, "jitter": 2.0}),
    "valued": ("valued", {"room": False}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("chess", name, CASES[name])

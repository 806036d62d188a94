"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "robots": ("robots", {}),
    "paper": ("robots", {"preset": "paper"}),
    "human": ("robots", {"preset": "paper-human", "size": 48, "visible": {"knees": 0.4, "hand": 0.3}, "toe": 0.2}),
    "grey": ("robots", {"preset": "paper-balanced", "colours": "index", "grey": True, "contrast": 0.6, "blur": 0.3}),
    "text": ("robots", {"preset": "text"}),
    "free": ("robots", {"image": False, "text": "free", "masked": 0.3, "omitted": 0.2}),
    "terse": ("robots", {"image": False, "text": "terse", "skew": {"flat_square": 0.4}, "concepts": "human"}),
    "table": ("robots", {"image": False, "text": "table", "stochastic": True, "rule": "balanced", "scale": 2.0}),
    "renderings": ("robots", {"split_by": "rendering", "renders": 3, "colours": "index", "dot_size": 0.9, "line": 0.2}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("robots", name, CASES[name])

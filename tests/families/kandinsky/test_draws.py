"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "puzzle": ("kand-logic", {"puzzle": True, "gap": 0, "background": "grey"}),
    "as released": ("kand-logic", {"as_released": True, "masks": False}),
    "and": ("kand-logic-and", {"figures": 2, "objects": 2, "side": 48}),
    "pairs": ("kand-logic-pairs", {"figures": 2}),
    "objects": ("kand-logic", {"view": "objects", "figures": 2, "objects": 2}),
    "other shapes": ("kand-logic", {
        "shapes": ["diamond", "pentagon", "hexagon", "star", "cross"], "colours": ["green", "orange"], "side": 80,
        "figures": 2, "objects": 3, "background": "black", "smallest": 0.1, "largest": 0.15,
    }),
    "aggregator": ("kand-logic", {
        "figures": 2, "objects": 2, "aggregator": "figure1.odd and not figure2.same_shape",
        "patterns": {"odd": "object1.shape != object2.shape"}, "colours": ["cyan", "pink", "brown"],
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("kandinsky", name, CASES[name])

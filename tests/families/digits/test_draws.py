"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "mnadd": ("mnadd", {}),
    "sums of three": ("mnadd", {"k": 3, "digit_values": [2, 3, 5, 7], "prop_in_distribution": 0.6, "balance": "label"}),
    "half": ("mnadd-half", {}),
    "evenodd": ("mnadd-evenodd", {}),
    "stages": ("mnadd-evenodd", {"continual": True}),
    "equations": ("mnmath", {
        "names": ["p", "q", "r"], "equations": {"s": "p + q == r", "t": "p * q > r"}, "digit_values": [0, 1, 2, 3],
    }),
    "equations as released": ("mnmath", {"as_released": True, "names": ["p", "q", "r"], "equations": ["p + q == r"]}),
    "mnlogic": ("mnlogic", {}),
    "mnlogic as released": ("mnlogic", {"k": 3, "as_released": True}),
    "clauses": ("mnlogic", {"k": 5, "clauses": 4, "length": 2, "formula_seed": 3, "pixels": True}),
    "formula": ("mnlogic", {"k": 3, "formula": "p and a or b", "shared": True, "per_type": 2, "names": ["p"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("digits", name, CASES[name])

"""What the tasks draw is what they drew when it was measured; what should be drawn otherwise raises the version."""

import pytest

from tests.families.draws import require_draws

CASES = {
    "trains": ("trains", {"prop_in_distribution": 0.7}),
    "even": ("trains", {"background": "desert", "distribution": "uniform", "occlusion": True, "rule": "easy"}),
    "numerical": ("trains-numerical", {"image": False}),
    "complex": ("trains-complex", {"image": False}),
    "ood": ("trains-ood", {"image": False}),
    "blocks": ("blocks", {"background": "desert_sky", "max_cars": 3, "rule": "multi"}),
    "fisheye": ("trains", {"background": "fisheye", "min_cars": 1, "max_cars": 3, "rule": "easy"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_draws_as_it_did(name):
    require_draws("trains", name, CASES[name])

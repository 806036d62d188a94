"""95 % intervals hold their number in 93 to 97 % of simulated test sets.

Averaged over models whose quality is drawn at random (the ranges are said in `benchmarks/coverage.py`, which prints the
full table): at a single quality the coverage of a count jumps with the number of examples, and no interval keeps all of
these between 93 and 97 %. With 1,000 repetitions a coverage of 95 % has a standard error of 0.7 points, so that the bounds
here leave room for about three of them; the random numbers are the same each time.
"""

import numpy as np
import pytest
from benchmarks.coverage import SIMULATIONS, Simulation, calibrated, coverage, following, losing, nearly_right, reading

from assay.metrics import wilson

ASKED = ("label_accuracy", "concept_accuracy", "label_f1", "concept_f1", "collapse", "follow rate")


@pytest.mark.parametrize("examples", [50, pytest.param(200, marks=pytest.mark.slow), 1000])
@pytest.mark.parametrize("simulation", [reading, losing, following])
def test_intervals_cover(simulation: Simulation, examples: int) -> None:
    found = coverage(simulation, examples, 1000)
    asked = {name: share for name, share in found.items() if name in ASKED}
    assert asked and all(0.93 <= share <= 0.97 for share in asked.values()), asked


@pytest.mark.parametrize("simulation", SIMULATIONS)
def test_no_interval_covers_much_less_than_it_says(simulation: Simulation) -> None:
    assert all(share >= 0.9 for share in coverage(simulation, 50, 150).values())


def test_a_calibrated_model_may_have_no_calibration_error() -> None:
    assert coverage(calibrated, 50, 400)["ECE of a calibrated model"] >= 0.93


@pytest.mark.parametrize(("examples", "percentile"), [(20, 0.28), (50, 0.64)])
def test_nearly_right_on_few_examples(examples: int, percentile: float) -> None:
    share = coverage(nearly_right, examples, 1000)["accuracy of 0.98"]
    right = np.arange(examples + 1)
    chance = [float(x) for x in _binomial(examples, 0.98)]
    exact = sum(
        c for k, c in zip(right, chance, strict=True) if wilson(k, examples)[0] <= 0.98 <= wilson(k, examples)[1]
    )
    assert share == pytest.approx(exact, abs=0.02) and exact > 0.92 > percentile  # of resamples, as it was


def _binomial(examples: int, share: float) -> list[float]:
    from scipy.stats import binom

    return list(binom.pmf(range(examples + 1), examples, share))

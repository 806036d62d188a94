"""Forgetting and transfer of stages, against plain loops over the stages."""

import numpy as np
import pytest

from assay.metrics import stage_metrics

SCORES = np.array([[0.9, 0.2, 0.1], [0.95, 0.8, 0.3], [0.6, 0.7, 0.85]])


def test_three_stages_by_hand() -> None:
    found = stage_metrics(SCORES)
    assert found.average == pytest.approx((0.6 + 0.7 + 0.85) / 3)
    assert found.forgetting == pytest.approx(((0.95 - 0.6) + (0.8 - 0.7)) / 2)  # below the best, not below the first
    assert found.backward_transfer == pytest.approx(((0.6 - 0.9) + (0.7 - 0.8)) / 2)
    assert found.to_dict() == {
        "average": found.average,
        "forgetting": found.forgetting,
        "backward_transfer": found.backward_transfer,
    }


def test_the_best_score_counts_from_the_stage_on_at_which_it_was_learned() -> None:
    scores = SCORES.copy()
    scores[0, 1] = 1.0  # before the second stage was learned
    assert stage_metrics(scores) == stage_metrics(SCORES)


def test_what_is_not_learned_later_than_the_last_stage_is_not_forgotten() -> None:
    scores = SCORES.copy()
    scores[2, 0] = 0.99  # above all earlier ones: less than nothing is forgotten
    assert stage_metrics(scores).forgetting == pytest.approx(((0.95 - 0.99) + (0.8 - 0.7)) / 2)


def test_one_stage_forgets_nothing() -> None:
    found = stage_metrics(np.array([[0.7]]))
    assert (found.average, found.forgetting, found.backward_transfer) == (0.7, 0.0, 0.0)

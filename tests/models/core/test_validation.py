"""The F1 on the device is the F1 of the metrics."""

import numpy as np
import pytest
import torch

from assay.models.core.model import mean_f1
from assay.models.core.validation import f1_of_columns


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_f1_of_the_metrics(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, size=rng.integers(1, 4)).tolist()
    rows = int(rng.integers(1, 60))
    truth = np.stack([rng.integers(-1, max(1, size - 1), rows) for size in sizes], axis=1)  # some values never occur
    answers = [rng.dirichlet(np.ones(size), rows) for size in sizes]
    found = f1_of_columns(torch.from_numpy(truth), [torch.from_numpy(answer) for answer in answers])
    assert float(found) == pytest.approx(mean_f1(truth, [answer.argmax(1) for answer in answers], sizes), abs=1e-12)


def test_nothing_known_is_0_and_no_number_is_nan():
    answers = [torch.tensor([[0.5, 0.5], [0.1, 0.9]])]
    assert float(f1_of_columns(torch.tensor([[-1], [-1]]), answers)) == 0
    answers[0][0, 0] = torch.nan
    assert f1_of_columns(torch.tensor([[0], [1]]), answers).isnan()

"""The F1 that chooses the best epoch, computed on the device: one number is copied back, not all predictions."""

from collections.abc import Sequence

import torch
from torch import Tensor

NONE = -1


def f1_of_columns(truth: Tensor, probabilities: Sequence[Tensor]) -> Tensor:
    """Return the macro F1 of the most probable values where the truth is known (not -1), averaged over columns.

    A value counts where it occurs; the answer is 0 where no truth is known and NaN where an answer is no number.

    >>> answers = [torch.tensor([[0.9, 0.1], [0.8, 0.2]]), torch.tensor([[0.5, 0.5], [0.6, 0.4]])]
    >>> f1_of_columns(torch.tensor([[0, NONE], [1, NONE]]), answers)
    tensor(0.3333, dtype=torch.float64)
    """
    scores, counts = [], []
    for column, answers in zip(truth.T, probabilities, strict=True):
        f1, is_known = macro_f1(column, answers)
        scores.append(f1)
        counts.append(is_known)
    total = torch.stack(scores).sum() / torch.stack(counts).sum().clamp(min=1)
    finite = torch.stack([answers.isfinite().all() for answers in probabilities]).all()
    return torch.where(finite, total, torch.full_like(total, torch.nan))


def macro_f1(truth: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return the macro F1 of one column, and whether any truth is known; the F1 is 0 if none is."""
    size = probabilities.shape[1]
    known = truth >= 0
    cells = truth.clamp(min=0) * size + probabilities.argmax(dim=1)
    counts = torch.zeros(size * size, dtype=torch.int64, device=truth.device)
    counts = counts.scatter_add(0, cells, known.long()).view(size, size)
    occurs = counts.sum(dim=1) > 0
    total = counts.sum(dim=1) + counts.sum(dim=0)
    f1 = torch.where(occurs, 2.0 * counts.diagonal().double() / total.clamp(min=1), 0.0)
    return f1.sum() / occurs.sum().clamp(min=1), known.any().double()

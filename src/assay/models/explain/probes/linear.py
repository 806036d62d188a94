"""Linear probes: what can be read off a layer by a linear classifier of each concept.

One fit a layer serves all concepts. It is done in the space that the fitted examples span, where the regularised
solution lies whatever the width of the layer: a layer of 25,000 features costs no more than one of as many as examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from assay.base import Config
from assay.models.core.neural import softmax_each

RANK = 1e-6
"""Directions whose variance is a smaller part of the largest are left out."""
STEPS, SLOPE = 200, 1e-4
"""The search for weights ends after so many steps, or where the loss is as flat as this."""


class ProbeConfig(Config):
    """How layers are probed."""

    examples: int = Field(2000, ge=2)
    """The most training examples that probes are fitted on."""
    most_features: int = Field(8192, ge=1)
    """Maps with more features are averaged over neighbouring places."""
    strengths: list[float] = Field([1.0, 0.1, 0.01, 0.001, 0.0001], min_length=1)
    """The penalties on large weights, from which validation chooses one for each concept."""
    repetitions: int = Field(199, ge=19)
    """How many random concepts TCAV compares with."""
    ridge: float = Field(0.01, gt=0)
    """The penalty of TCAV's linear classifiers, as a share of the mean variance."""
    vectors: Literal["ridge", "sgd"] = "ridge"
    """TCAV's linear classifiers: least squares on all examples, or, as in the code of rsbench, support vectors by
    stochastic descent on at most 150 examples of each value."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""


@dataclass(frozen=True)
class Span:
    """The space that some rows span around their mean: `(rows - mean) @ basis / scale` are coordinates in it."""

    mean: Tensor
    basis: Tensor
    scale: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> "Span":
        """Return the span of some rows, by the smaller of the two products of the rows with themselves."""
        centred = (rows - rows.mean(dim=0)).double()
        wide = centred.shape[1] > centred.shape[0]
        values, vectors = torch.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
        large = values > RANK * values.max().clamp_min(1e-30)
        values, vectors = values[large], vectors[:, large]
        basis = centred.T @ vectors / values.sqrt() if wide else vectors
        scale = (values.sum() / max(1, len(rows) * len(values))).sqrt().clamp_min(1e-30)
        return cls(rows.mean(dim=0), basis.to(rows.dtype), scale)

    def coordinates(self, rows: Tensor) -> Tensor:
        """Return where rows are, in units of the mean deviation along a direction."""
        return ((rows - self.mean) @ self.basis).double() / self.scale

    def directions(self, gradients: Tensor) -> Tensor:
        """Return gradients as they are along the directions of the space."""
        return (gradients @ self.basis).double() * self.scale


@dataclass(frozen=True)
class LinearProbe:
    """A linear classifier of each concept on the features of a layer."""

    span: Span
    weights: Tensor
    bias: Tensor
    sizes: tuple[int, ...]
    strengths: tuple[float, ...]
    """The penalty that validation chose for each concept."""

    def probabilities(self, rows: Tensor) -> list[Tensor]:
        """Return the probabilities of each concept's values."""
        logits = self.span.coordinates(rows) @ self.weights + self.bias
        return softmax_each(torch.split(logits, list(self.sizes), dim=1))


def fit_linear(
    rows: Tensor,
    codes: Tensor,
    valid_rows: Tensor,
    valid_codes: Tensor,
    sizes: Sequence[int],
    strengths: Sequence[float],
) -> LinearProbe:
    """Fit a probe of every concept, with for each the penalty under which validation is most likely."""
    span = Span.of(rows)
    points, valid_points = span.coordinates(rows), span.coordinates(valid_rows)
    width = points.shape[1]
    weights = torch.zeros(width, sum(sizes), dtype=torch.double, device=points.device)
    bias = torch.zeros(sum(sizes), dtype=torch.double, device=points.device)
    edges = np.cumsum([0, *sizes])
    best_weights, best_bias = weights.clone(), bias.clone()
    best, chosen = [float("inf")] * len(sizes), [0.0] * len(sizes)
    for strength in sorted(strengths, reverse=True):  # each solution is where the search for the next one begins
        weights, bias = _solve(points, codes, sizes, strength, weights, bias)
        logits = torch.split(valid_points @ weights + bias, list(sizes), dim=1)
        before = list(best)
        for place, scores in enumerate(logits):
            loss = float(F.cross_entropy(scores, valid_codes[:, place]))
            if loss < best[place]:
                columns = slice(int(edges[place]), int(edges[place + 1]))
                best[place], chosen[place] = loss, strength
                best_weights[:, columns], best_bias[columns] = weights[:, columns], bias[columns]
        if best == before:
            break  # from here on the fit is only closer to the training examples
    return LinearProbe(span, best_weights, best_bias, tuple(sizes), tuple(chosen))


def _solve(
    points: Tensor, codes: Tensor, sizes: Sequence[int], strength: float, weights: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the weights and bias with the least cross-entropy and penalty, of all concepts together.

    The search is over weights that are stretched so that the loss bends alike in all directions; it ends in the same
    place, in about half the steps.
    """
    stretch = (points.square().mean(dim=0)[:, None] / 4 + strength).rsqrt()
    stretched = points * stretch.T
    weights, bias = (part.clone().requires_grad_(True) for part in (weights / stretch, bias))
    search = torch.optim.LBFGS(
        [weights, bias], max_iter=STEPS, history_size=20, tolerance_grad=SLOPE, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        search.zero_grad()
        logits = torch.split(stretched @ weights + bias, list(sizes), dim=1)
        total = torch.stack([F.cross_entropy(scores, codes[:, place]) for place, scores in enumerate(logits)]).sum()
        total = total + strength / 2 * (stretch * weights).square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    search.step(loss)  # type: ignore[no-untyped-call]
    return (stretch * weights).detach(), bias.detach()

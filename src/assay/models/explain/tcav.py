"""TCAV: does a layer's direction of a concept move the answer, and more than the directions of random concepts do?

A concept activation vector is the direction, at a layer, of a linear classifier of one concept value against the
others. The derivative of the answer's log-odds along it says how the concept moves the answer for one example; the TCAV
score of a class is the share of its examples that the concept moves towards it.

Random concepts are the true one shuffled over the examples, so that under the null hypothesis, that the concept has
nothing to do with the layer, the observed one is as one of them, and its rank among them is its p-value: exact for any
network, layer and number of examples. (A t-test of TCAV scores is not, and is blind where the answer is linear in the
layer: there every score, a random concept's too, is 0 or 1.)
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from assay.base import Array, import_extra, rng_for
from assay.models.explain.layers import Sensitivity, Span

RELEASED_MOST, RELEASED_PENALTY = 150, 1e-3
"""How rsbench's code fits directions: on so many examples of each value, with this penalty."""
AT_ONCE = 2_000_000
"""How many numbers of random directions are held at once."""


@dataclass(frozen=True)
class Directions:
    """The unit directions of every concept value at a layer, a column each, in the coordinates of its span."""

    span: Span
    columns: Tensor
    sizes: tuple[int, ...]


def _solver(points: Tensor, ridge: float) -> Tensor:
    """Return the matrix that turns targets, a column each, into directions of least squares."""
    products = points.T @ points
    mean = products.diagonal().mean().clamp_min(1e-30)
    damped = products + ridge * mean * torch.eye(len(products), dtype=points.dtype, device=points.device)
    solver: Tensor = torch.linalg.solve(damped, points.T)
    return solver


def _units(columns: Tensor) -> Tensor:
    units: Tensor = columns / torch.linalg.vector_norm(columns, dim=-2, keepdim=True).clamp_min(1e-30)
    return units


def targets(codes: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return a column for each value of each concept: whether an example has it, centred."""
    ones = torch.cat([F.one_hot(codes[:, i], size) for i, size in enumerate(sizes)], dim=1).double()
    return ones - ones.mean(dim=0)


def concept_directions(rows: Tensor, codes: Tensor, sizes: Sequence[int], ridge: float) -> Directions:
    """Return the concept activation vector of each value of each concept.

    Parameters
    ----------
    rows
        Activations, a row an example.
    codes
        The code of each concept in each example: examples x concepts.
    sizes
        How many values each concept has.
    ridge
        The penalty on large weights, as a share of the mean variance.
    """
    span = Span.of(rows)
    columns = _units(_solver(span.coordinates(rows), ridge) @ targets(codes, sizes))
    return Directions(span, columns, tuple(sizes))


def released_directions(rows: Tensor, codes: Tensor, sizes: Sequence[int], seed: int) -> Directions:
    """Return concept activation vectors as rsbench's code has them: linear support vectors, by stochastic descent."""
    classifier = import_extra("sklearn.linear_model", "directions by stochastic descent").SGDClassifier
    span, columns = Span.of(rows), []
    features, values = rows.double().cpu().numpy(), codes.cpu().numpy()
    for concept, size in enumerate(sizes):
        chosen = _some_of_each(values[:, concept], seed, concept)
        found = np.zeros((size, features.shape[1]))
        seen = np.unique(values[chosen, concept])
        if len(seen) > 1:
            fit = classifier(alpha=RELEASED_PENALTY, random_state=seed).fit(features[chosen], values[chosen, concept])
            found[seen] = fit.coef_ if len(seen) > 2 else np.concatenate([-fit.coef_, fit.coef_])
        columns.append(torch.from_numpy(found).to(span.basis.device).T)
    inside = span.basis.double().T @ torch.cat(columns, dim=1) / span.scale
    return Directions(span, _units(inside), tuple(sizes))


def _some_of_each(values: Array, seed: int, concept: int) -> Array:
    """Return the places of some examples of each value, drawn at random."""
    order = rng_for(seed, "directions", concept).permutation(len(values))
    return np.sort(np.concatenate([order[values[order] == value][:RELEASED_MOST] for value in np.unique(values)]))


def concept_codes(directions: Directions, gradients: Sequence[Tensor]) -> Tensor:
    """Return for each example and concept the value whose direction moves its answers most, -1 where none does.

    This is how the rsbench paper reads concepts off a black box (A.2); `gradients` are in the coordinates of the span.
    """
    moved = torch.stack(list(gradients)).sum(dim=0) @ directions.columns
    codes = []
    for derivatives in torch.split(moved, list(directions.sizes), dim=1):
        codes.append(torch.where(derivatives.abs().amax(dim=1) > 0, derivatives.argmax(dim=1), -1))
    return torch.stack(codes, dim=1)


@dataclass(frozen=True)
class Effect:
    """What one concept value does to one class of one label at a layer."""

    concept: int
    value: int
    label: int
    class_: int
    examples: int
    score: float
    """The share of the class's examples that moving towards the concept value moves towards the class."""
    derivative: float
    """The mean derivative of the class's log-odds along the direction of the concept value."""
    p: float
    """How often a random concept has at least as large a mean derivative, in size."""
    p_family: float
    """The same for the largest of all that were tested at the layer: small only if even that could not be chance."""

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data."""
        return {key.rstrip("_"): value for key, value in asdict(self).items()}


def shuffles(examples: int, repetitions: int, seed: int) -> Array:
    """Return orders of the examples, a row each."""
    rng = rng_for(seed, "tcav", examples)
    return np.stack([rng.permutation(examples) for _ in range(repetitions)])


def effects(
    rows: Tensor,
    codes: Tensor,
    directions: Directions,
    sensitivity: Sensitivity,
    ridge: float,
    orders: Array,
) -> list[Effect]:
    """Return the effect of every concept value on every class that an example is given, tested by shuffling concepts.

    Parameters
    ----------
    rows
        The activations that the directions were found on.
    codes
        The concepts that they were found on.
    directions
        The concept activation vectors.
    sensitivity
        How answers change along the span of the directions, perhaps of other examples.
    ridge
        The penalty that the directions were found with.
    orders
        Orders of the rows, one for each random concept.
    """
    means, places, counts, scores = _class_means(sensitivity, directions.columns)
    if not places:
        return []
    derivatives = means @ directions.columns
    random = _random_derivatives(rows, codes, directions, ridge, orders, means)
    larger = (random.abs() >= derivatives.abs() - 1e-12).double()
    p = (1 + larger.sum(dim=0)) / (1 + len(orders))
    everything = torch.cat([derivatives[None], random])
    scale = everything.square().mean(dim=0).sqrt().clamp_min(1e-30)  # one scale for all that is tested
    most = (random.abs() / scale).flatten(1).amax(dim=1)
    family = (1 + (most[:, None, None] >= derivatives.abs() / scale - 1e-12).double().sum(dim=0)) / (1 + len(orders))
    values = [(concept, value) for concept, size in enumerate(directions.sizes) for value in range(size)]
    return [
        Effect(
            *values[column], label, class_, counts[row], float(scores[row, column]), float(derivatives[row, column]),
            float(p[row, column]), float(family[row, column]),
        )
        for row, (label, class_) in enumerate(places)
        for column in range(len(values))
    ]  # fmt: skip


def _class_means(sensitivity: Sensitivity, columns: Tensor) -> tuple[Tensor, list[tuple[int, int]], list[int], Tensor]:
    """Return for each class that occurs the mean gradient, whose class it is, how many examples, and TCAV scores."""
    means, places, counts, scores = [], [], [], []
    for label, (classes, gradients) in enumerate(zip(sensitivity.classes, sensitivity.gradients, strict=True)):
        for class_ in torch.unique(classes).tolist():
            own = gradients[classes == class_]
            means.append(own.mean(dim=0))
            places.append((label, int(class_)))
            counts.append(len(own))
            scores.append(((own @ columns) > 0).double().mean(dim=0))
    return torch.stack(means), places, counts, torch.stack(scores)


def _random_derivatives(
    rows: Tensor, codes: Tensor, directions: Directions, ridge: float, orders: Array, means: Tensor
) -> Tensor:
    """Return the mean derivatives along the directions of shuffled concepts: repetitions x classes x values."""
    points = directions.span.coordinates(rows)
    solver, wanted = _solver(points, ridge), targets(codes, directions.sizes)
    step = max(1, AT_ONCE // max(1, wanted.numel()))
    derivatives = []
    for start in range(0, len(orders), step):
        chosen = torch.from_numpy(orders[start : start + step]).to(rows.device)
        columns = torch.einsum("dn,rnv->rdv", solver, wanted[chosen])
        derivatives.append(torch.einsum("cd,rdv->rcv", means, _units(columns)))
    return torch.cat(derivatives)

"""Alignment: a linear label head fitted anew under constraints on its weights, and what that does to interventions.

The weight of a concept's value on a label's value is by how much it moves the log-odds against the first value of each:
for true-or-false concepts and labels, one number. Fitting is convex, so there is one best answer under any bounds.
"""

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import nn

from assay.base import Array, Codes, Config, ConfigError, DataError, RunFailed, UnknownName, suggestion
from assay.dataset import Dataset, SplitData
from assay.logic import ConceptSpace
from assay.models.core.network import NeuralModel, load_network
from assay.models.core.runs import finish_run
from assay.runs import RunFolder, check_dataset, split_for, write_record

ROUNDS = 2000


class Alignment(Config):
    """What the weights must keep to. A name is that of a concept, `knees`, or of one of its values, `foot=flat`."""

    zero: list[str] = []
    """These have no say."""
    positive: list[str] = []
    """These have no weight below 0."""
    negative: list[str] = []
    """These have no weight above 0."""
    bounds: dict[str, tuple[float, float]] = {}
    """The lowest and the highest weight of these."""
    labels: list[str] | None = None
    """Only the weights on these labels keep to it; by default on all."""
    concepts: Literal["true", "predicted"] = "true"
    """What is fitted on: the concepts as given for training, or the probabilities that the model predicts."""
    penalty: float = Field(1e-3, ge=0)
    """Half of this times the squared weights is added to the mean loss, so that no weight grows without end."""


@dataclass(frozen=True)
class Row:
    """One label head: accuracy on training and test, on test with all true concepts set, and the gain of that."""

    front_end: str
    training: float
    test: float
    intervened: float

    @property
    def gain(self) -> float:
        """What setting the concepts brings."""
        return self.intervened - self.test

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "gain": self.gain}


@dataclass(frozen=True)
class Aligned:
    """The label head as it was, fitted anew, and fitted anew under the constraints; and the weights of each."""

    rows: tuple[Row, ...]
    weights: dict[str, tuple[float, ...]]
    """By `label=value < concept=value`, in the order of the rows."""


def align_run(folder: Path, dataset: Dataset, alignment: Alignment, output: Path) -> Aligned:
    """Fit the label head of a run anew under constraints and write the run that comes out.

    Parameters
    ----------
    folder
        A run with a linear label head.
    dataset
        What it was trained on.
    alignment
        The constraints on the weights, and how they are fitted.
    output
        The folder of the new run.
    """
    check_dataset(RunFolder(folder), dataset)
    model = load_network(folder)
    linear_of(model)
    limits = limits_of(alignment, model)
    new = RunFolder(output)
    new.claim()
    learned, asked_on = dataset[split_for(dataset, "train")], dataset[split_for(dataset, "test")]
    inputs = _head_inputs(model, learned, alignment.concepts)
    free, bound = copy.deepcopy(model), copy.deepcopy(model)
    for other, within in ((free, None), (bound, limits)):
        set_weights(
            other,
            [_fit(inputs, learned, place, other, alignment, within) for place in range(len(model.knowledge.labels))],
        )
    models = {"as trained": model, "fitted anew": free, "aligned": bound}
    rows = tuple(_row(name, head, learned, asked_on) for name, head in models.items())
    weights = {name: tuple(effects(head)[name] for head in models.values()) for name in effects(model)}
    finish_run(bound, dataset, new)
    about = {**new.metadata(), "alignment": {**alignment.model_dump(mode="json"), "from": str(folder.resolve())}}
    about["alignment"]["found"] = [row.to_dict() for row in rows]
    write_record(new, dataset, about)
    return Aligned(rows, weights)


def linear_of(model: NeuralModel) -> nn.Linear:
    """Return the one layer from concept probabilities to label logits, if the label head is that."""
    layer = getattr(model, "linear", None)
    wide = sum(model.space.sizes), sum(len(label.values) for label in model.knowledge.labels)
    if not isinstance(layer, nn.Linear) or (layer.in_features, layer.out_features) != wide:
        raise ConfigError(
            f"model {model.name!r} of this run has no linear label head to align; try cbm with head=linear"
        )
    return layer


def columns_of(space: ConceptSpace) -> list[tuple[int, int]]:
    """Return the concept and the code of each weight: all values but the first of each concept."""
    return [(place, code) for place, size in enumerate(space.sizes) for code in range(1, size)]


def limits_of(alignment: Alignment, model: NeuralModel) -> Array:
    """Return the lowest and the highest weight of each column, for the labels that are constrained."""
    space = model.space
    names = [(space.names[p], f"{space.names[p]}={space.concepts[p].values[c]}") for p, c in columns_of(space)]
    limits = np.tile([-np.inf, np.inf], (len(names), 1))
    free = {(0.0, 0.0): alignment.zero, (0.0, np.inf): alignment.positive, (-np.inf, 0.0): alignment.negative}
    wanted = [(name, low, high) for (low, high), constrained in free.items() for name in constrained]
    wanted += [(name, low, high) for name, (low, high) in alignment.bounds.items()]
    if not wanted:
        raise ConfigError("nothing to align: give zero, positive, negative or bounds")
    for name, low, high in wanted:
        rows = [row for row, both in enumerate(names) if name in both]
        if not rows:
            known = [name for both in names for name in both]
            raise UnknownName(f"no weight {name!r}{suggestion(name, known)}")
        limits[rows, 0] = np.maximum(limits[rows, 0], low)
        limits[rows, 1] = np.minimum(limits[rows, 1], high)
        if (limits[rows, 0] > limits[rows, 1]).any():
            raise ConfigError(f"no weight of {name!r} keeps to all that is asked of it")
    for name in alignment.labels or ():
        model.knowledge.label(name)
    return limits


def _head_inputs(model: NeuralModel, data: SplitData, which: str) -> Array:
    """Return the concepts of training as columns of zeros and ones, or of probabilities; NaN where one is missing."""
    space = model.space
    if which == "predicted":
        answers = model.predict(data).concepts
        probabilities = [answers[name].probabilities for name in space.names]
        parts = [columns[:, 1:] for columns in probabilities if columns is not None]
        return np.concatenate(parts, axis=1)
    codes: Codes = data.annotated_concepts
    columns = [np.where(codes[:, p] < 0, np.nan, codes[:, p] == c) for p, c in columns_of(space)]
    return np.stack(columns, axis=1)


def _fit(
    inputs: Array, data: SplitData, place: int, model: NeuralModel, alignment: Alignment, limits: Array | None
) -> tuple[Array, Array]:
    label = model.knowledge.labels[place]
    known = ~np.isnan(inputs).any(axis=1)
    if not known.any():
        raise DataError("no training example has all its concepts given: align with concepts=predicted")
    bound = limits if alignment.labels is None or label.name in alignment.labels else None
    return fit(inputs[known], data.given_labels[known, place], len(label.values), alignment.penalty, bound)


def fit(inputs: Array, labels: Codes, values: int, penalty: float, limits: Array | None) -> tuple[Array, Array]:
    """Return the weights and the intercepts of each value of a label but the first, of least logistic loss."""
    from scipy.optimize import minimize

    count, width = inputs.shape
    ones = np.eye(values)[labels]

    def loss(flat: Array) -> tuple[float, Array]:
        weights, base = flat[: -(values - 1)].reshape(values - 1, width), flat[-(values - 1) :]
        logits = np.concatenate([np.zeros((count, 1)), inputs @ weights.T + base], axis=1)
        logits -= logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        slope = (np.exp(logs) - ones)[:, 1:] / count
        value = -float((logs * ones).sum()) / count + penalty / 2 * float((weights**2).sum())
        return value, np.concatenate([(slope.T @ inputs + penalty * weights).ravel(), slope.sum(axis=0)])

    allowed = np.tile([-np.inf, np.inf], (width, 1)) if limits is None else limits
    bounds = [*np.tile(allowed, (values - 1, 1)).tolist(), *[[-np.inf, np.inf]] * (values - 1)]
    start = np.zeros((values - 1) * (width + 1))
    low, high = np.array(bounds).T
    solution = minimize(
        loss, np.clip(start, low, high), jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": ROUNDS}
    )
    if not np.isfinite(solution.x).all():
        raise RunFailed("the constrained fit gave no finite weights; raise the penalty")
    return solution.x[: -(values - 1)].reshape(values - 1, width), solution.x[-(values - 1) :]


def set_weights(model: NeuralModel, fits: Sequence[tuple[Array, Array]]) -> None:
    """Set the label head to these weights, those of every first value being 0."""
    layer, space = linear_of(model), model.space
    starts = np.cumsum([0, *space.sizes])
    inputs = [int(starts[p]) + c for p, c in columns_of(space)]
    weight, bias = np.zeros(tuple(layer.weight.shape)), np.zeros(layer.out_features)
    row = 0
    for weights, base in fits:
        weight[row + 1 : row + 1 + len(base), inputs] = weights
        bias[row + 1 : row + 1 + len(base)] = base
        row += 1 + len(base)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
        layer.bias.copy_(torch.from_numpy(bias))


def effects(model: NeuralModel) -> dict[str, float]:
    """Return every weight of a linear label head, by `label=value < concept=value`."""
    weight, space = linear_of(model).weight.detach().double().cpu().numpy(), model.space
    starts, weights, row = np.cumsum([0, *space.sizes]), dict[str, float](), 0
    for label in model.knowledge.labels:
        for k in range(1, len(label.values)):
            against = weight[row + k] - weight[row]
            for p, c in columns_of(space):
                name = f"{label.name}={label.values[k]} < {space.names[p]}={space.concepts[p].values[c]}"
                weights[name] = float(against[starts[p] + c] - against[starts[p]])
        row += len(label.values)
    return weights


def _row(name: str, model: NeuralModel, learned: SplitData, asked_on: SplitData) -> Row:
    every = dict(zip(model.space.names, asked_on.concepts.T, strict=True))
    return Row(name, _accuracy(model, learned), _accuracy(model, asked_on), _accuracy(model, asked_on, every))


def _accuracy(model: NeuralModel, data: SplitData, do: dict[str, Codes] | None = None) -> float:
    answers = model.predict(data, do).labels
    codes = np.stack([answers[name].codes for name in model.knowledge.label_names], axis=1)
    return float((codes == data.labels).mean())

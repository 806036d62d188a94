"""Samples as points of a plane: the first two principal components of a layer, or of the concept probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.base import Array, AssayError, DataError
from assay.viewer.answers import Answers
from assay.viewer.state import State

CONCEPTS = "concept probabilities"
"""The layer that needs no model: what it predicts of concepts, or where it predicts none of labels."""
MOST_POINTS = 1_000


@dataclass(frozen=True)
class Plane:
    """Points, and the share of the variance that each of the two axes explains."""

    points: Array
    explained: tuple[float, float]


def principal_plane(features: Array) -> Plane:
    """Return the first two principal components; the sign of each is such that its largest point is positive.

    >>> principal_plane(np.array([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]])).points[:, 0].round(2).tolist()
    [-2.83, 0.0, 2.83]
    """
    centred = features.astype(np.float64) - features.mean(axis=0)
    axes, strengths, _ = np.linalg.svd(centred, full_matrices=False)
    points = (axes * strengths)[:, :2]
    points = np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
    signs = np.sign(points[np.abs(points).argmax(axis=0), [0, 1]])
    variance = np.append(strengths, [0.0, 0.0])[:2] ** 2 / max(float((strengths**2).sum()), 1e-12)
    return Plane(points * np.where(signs == 0, 1, signs), (float(variance[0]), float(variance[1])))


def map_of(state: State, key: str, split: str, run: str, layer: str = "") -> dict[str, Any]:
    """Return the samples of a split as points, with what they are coloured by; at most a thousand, evenly chosen."""
    answers = state.require_answers(key, split, run)
    answered = np.flatnonzero(answers.has_answer)
    if len(answered) < 3:
        raise DataError(f"a map takes three samples with predictions; {split!r} has {len(answered)}")
    rows = answered[np.unique(np.linspace(0, len(answered) - 1, min(MOST_POINTS, len(answered))).astype(int))]
    features = _features(state, key, split, run, layer, rows, answers)
    plane = principal_plane(features)
    scale = float(np.abs(plane.points).max()) or 1.0
    return {
        "layer": layer or CONCEPTS,
        "features": int(features.shape[1]),
        "explained": [round(share, 4) for share in plane.explained],
        "rows": rows.tolist(),
        "points": np.round(plane.points / scale, 4).tolist(),
        "concepts": answers.table.concepts[rows].tolist(),
        "labels": answers.table.labels[rows].tolist(),
        "predicted": answers.labels[rows].tolist(),
        "outcomes": [_outcome(answers, int(row)) for row in rows],
    }


def _outcome(answers: Answers, row: int) -> str:
    return "wrong" if not answers.right[row] else "misread" if answers.misread[row] else "right"


def layers_of(state: State, key: str, split: str, run: str) -> dict[str, Any]:
    """Return the layers that a map can be made of; of predictions alone, only what they predict."""
    served = state.shelf[key].run(run)
    if not served.live or state.models is None:
        return {"layers": [CONCEPTS], "why": "Layers take the model itself: this is a file of predictions."}
    try:
        names = state.models.layers(served.folder, state.shelf[key].dataset[split].take(np.arange(2)))
    except AssayError as error:  # no network, or one that reads no pictures
        return {"layers": [CONCEPTS], "why": str(error)}
    return {"layers": [CONCEPTS, *names], "why": ""}


def _features(state: State, key: str, split: str, run: str, layer: str, rows: Array, answers: Answers) -> Array:
    """Return what a layer gives for some rows, or what is predicted of them."""
    if layer in ("", CONCEPTS):
        return _probabilities(answers, rows)
    served = state.shelf[key].run(run)
    if not served.live or state.models is None:
        raise DataError(f"{served.name!r} is only a file of predictions: it has no layer {layer!r}")
    return state.models.activations(served.folder, state.shelf[key].dataset[split].take(rows), layer)


def _probabilities(answers: Answers, rows: Array) -> Array:
    """Return the predicted probabilities of all concepts, or of all labels, as columns."""
    predictions, places = answers.predictions, answers.places[rows]
    said = predictions.concepts or predictions.labels
    knowledge = answers.table.knowledge
    sizes = {concept.name: len(concept.values) for concept in knowledge.space.concepts}
    sizes |= {label.name: len(label.values) for label in knowledge.labels}
    columns = []
    for name, answer in said.items():
        certain = np.eye(sizes[name] + 1)[answer.codes[places]][:, :-1]  # the last row is that of no prediction
        columns.append(certain if answer.probabilities is None else np.asarray(answer.probabilities)[places])
    return np.concatenate(columns, axis=1)

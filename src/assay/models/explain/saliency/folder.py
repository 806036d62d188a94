"""Saliency on disk: the record, and maps over their pictures."""

import re
from pathlib import Path

import numpy as np

from assay.base import Array, ProgressCallback, write_atomically, write_folder
from assay.contracts import to_json
from assay.dataset import Dataset
from assay.models.explain.saliency.examined import ExaminedModel
from assay.models.explain.saliency.explaining import Saliency, explain
from assay.models.explain.saliency.planning import SaliencyPlan
from assay.render import encode_png

RECORD, MAPS = "saliency.json", "maps"
RED = np.array([225.0, 30.0, 40.0])
STRONG = 99.5
"""The percentile of the positive relevance from which on it is drawn in full."""
LEAST_SIDE = 128
"""Smaller pictures are enlarged to about this many pixels."""


def explain_into(
    output: Path, model: ExaminedModel, dataset: Dataset, plan: SaliencyPlan, report: ProgressCallback = lambda *_: None
) -> Saliency:
    """Explain a model, and write the record and the maps that are kept into a folder."""
    with write_folder(output, lambda there: (there / RECORD).is_file()) as half:
        found = explain(model, dataset, plan, report)
        for number, target in enumerate(found.targets):
            for row, image in enumerate(found.shown.images):
                value = target.values[found.codes[number, row]]
                place = (
                    half
                    / MAPS
                    / _file_name(target.title)
                    / f"{found.shown.index[row]:05d}-{_file_name(str(value))}.png"
                )
                write_atomically(place, encode_png(draw_over(image, found.maps[number, row])))
        write_atomically(half / RECORD, to_json(found.to_dict()))
    return found


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text)


def draw_over(image: Array, relevance: Array) -> Array:
    """Return a picture, and beside it the picture in grey with its positive relevance in red.

    >>> draw_over(np.zeros((64, 128, 1), dtype=np.uint8), np.ones((64, 128))).shape
    (128, 516, 3)
    """
    grey = image.astype(np.float64).mean(axis=2, keepdims=True)
    strength = np.maximum(relevance, 0)[:, :, None]
    most = float(np.percentile(strength, STRONG)) or float(strength.max())
    strength = np.minimum(strength / most, 1) if most else strength
    sides = [np.broadcast_to(image, (*image.shape[:2], 3)), grey * (1 - strength) + RED * strength]
    large = max(1, round(LEAST_SIDE / image.shape[0]))
    gap = np.full((image.shape[0] * large, 4, 3), 255.0)
    left, right = (side.repeat(large, axis=0).repeat(large, axis=1) for side in sides)
    return np.round(np.concatenate([left, gap, right], axis=1)).astype(np.uint8)

"""Activations whose parts are known, and the CLIP of the readers' tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from assay.base import rng_for
from tests.models.language.readers.conftest import clip

__all__ = ["clip"]
ATOMS, FEATURES = 16, 24


@dataclass
class Rows:
    """What a method sees of a split: its examples, if it needs them, and a row of activations for each."""

    data: Any
    rows: torch.Tensor


@pytest.fixture(scope="package")
def planted():
    """Return a dictionary of unit directions, and rows that are sums of a few of them."""
    rng = rng_for(0, "planted")
    directions = rng.normal(size=(ATOMS, FEATURES))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    active = rng.random((2000, ATOMS)) < 2 / ATOMS
    weights = np.where(active, rng.uniform(0.5, 1.5, active.shape), 0)
    rows = weights @ directions + 0.01 * rng.normal(size=(2000, FEATURES))
    return directions, weights, Rows(None, torch.from_numpy(rows).float())

"""Two pixels and whether they differ: reading both as their opposites keeps every label."""

from pathlib import Path

import pytest

from assay.dataset import Dataset
from tests.pixels import pixels, trained

SHORTCUT_SEED = 1
"""A seed whose network reads black as white."""
XOR = {"k": 2, "formula": "a != b"}


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return pixels(tmp_path_factory.mktemp("pixels") / "data", **XOR)


@pytest.fixture(scope="package")
def run(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that takes the shortcut."""
    folder = tmp_path_factory.mktemp("run") / "run"
    trained("dpl", data, folder, {"epochs": 20, "entropy_weight": 1.0}, SHORTCUT_SEED)
    return folder

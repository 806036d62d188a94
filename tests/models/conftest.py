"""The pixels, made once, and a run on them."""

from pathlib import Path

import pytest

from assay.data.dataset import Dataset
from tests.pixels import pixels, trained


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return pixels(tmp_path_factory.mktemp("pixels") / "data")


@pytest.fixture(scope="package")
def run(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that follows the rule, trained."""
    folder = tmp_path_factory.mktemp("run") / "run"
    trained("dpl", data, folder)
    return folder

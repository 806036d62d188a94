"""The pixels, made once, and a run on them."""

from pathlib import Path

import pytest

from assay.base import ConfigError
from assay.dataset import Dataset
from assay.models import device_for
from tests.pixels import pixels, trained


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return pixels(tmp_path_factory.mktemp("pixels") / "data")


@pytest.fixture
def bfloat16() -> None:
    """Skip a test that computes in bfloat16 where this CPU cannot."""
    try:
        device_for("cpu", "bfloat16")
    except ConfigError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="package")
def run(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that follows the rule, trained."""
    folder = tmp_path_factory.mktemp("run") / "run"
    trained("dpl", data, folder)
    return folder

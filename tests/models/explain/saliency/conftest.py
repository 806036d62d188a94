"""Two squares of which one may be brighter, in pictures of 12 x 24 pixels."""

import pytest

from assay.testing import TwoSquares, small_dataset


@pytest.fixture(scope="package")
def squares(tmp_path_factory):
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")

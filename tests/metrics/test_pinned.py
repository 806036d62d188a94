"""Every metric, on evidences of several kinds, stays as it was pinned."""

from pathlib import Path

import pytest

from tests.metrics.pinned import CASES
from tests.pins import require_pinned


@pytest.mark.parametrize("name", CASES)
def test_what_is_measured_stays_as_it_was_pinned(name: str, tmp_path: Path) -> None:
    require_pinned("metrics", name, CASES[name](tmp_path))

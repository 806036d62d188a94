"""Reports of canned runs stay as they were pinned."""

from pathlib import Path

import pytest

from tests.pins import require_pinned
from tests.reporting.pinned import CASES


@pytest.mark.parametrize("name", CASES)
def test_what_is_reported_stays_as_it_was_pinned(name: str, tmp_path: Path) -> None:
    require_pinned("reporting", name, CASES[name](tmp_path))

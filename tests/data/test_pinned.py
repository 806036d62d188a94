"""What is written of small datasets stays as it was pinned."""

from pathlib import Path

import pytest

from tests.data.pinned import CASES
from tests.pins import require_pinned


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_stays_as_it_was_pinned(name: str, tmp_path: Path) -> None:
    require_pinned("data", name, CASES[name](tmp_path))

"""What the viewer answers about canned runs stays as it was pinned."""

from pathlib import Path

import pytest

from tests.pins import require_pinned
from tests.viewer.pinned import CASES


@pytest.mark.parametrize("name", CASES)
def test_what_is_answered_stays_as_it_was_pinned(name: str, tmp_path: Path) -> None:
    require_pinned("viewer", name, CASES[name](tmp_path))

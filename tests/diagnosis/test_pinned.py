"""Whole diagnoses, interventions and scores stay as they were pinned."""

from pathlib import Path

import pytest

from tests.diagnosis.pinned import CASES
from tests.pins import require_pinned


@pytest.mark.parametrize("name", CASES)
def test_what_is_diagnosed_stays_as_it_was_pinned(name: str, tmp_path: Path) -> None:
    require_pinned("diagnosis", name, CASES[name](tmp_path))

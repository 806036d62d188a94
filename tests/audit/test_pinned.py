"""Whole audits stay as they were pinned."""

from pathlib import Path

import pytest

from tests.audit.pinned import CASES
from tests.pins import require_pinned


@pytest.mark.parametrize("name", CASES)
def test_what_an_audit_finds_stays_as_it_was_pinned(name: str, tmp_path: Path) -> None:
    require_pinned("audit", name, CASES[name](tmp_path))

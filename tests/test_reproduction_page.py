"""The page of published numbers: it is what the records give, and no disagreement is without a reason."""

from pathlib import Path

import pytest
from benchmarks.reproduction import DIFFERS, KEPT, comparisons, page

from assay.lab import fidelity

PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"


def test_the_page_is_written_from_the_records():
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("name", sorted(path.stem for path in KEPT.glob("*.parquet")))
def test_every_disagreement_has_a_reason(name):
    rows = comparisons(name, fidelity().studies[name])
    assert any(row.ours for row in rows)
    unexplained = [row for row in rows if row.verdict == DIFFERS and not row.why]
    assert not unexplained, unexplained

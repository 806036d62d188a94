"""The matrix: every model on a small dataset of every family works through to interventions, or refuses in a line."""

from functools import cache

import pytest

from assay.families import FAMILIES
from assay.models import MODELS
from assay.models.concept.cbm import CBM
from assay.suites import find_suite, matrix_table, small_datasets
from assay.suites.matrix import MatrixCell, try_cell


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return a function that makes the dataset of each family once."""

    @cache
    def made(family):
        return small_datasets(find_suite(), tmp_path_factory.mktemp("matrix"), [family])[family]

    return made


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_works_or_refuses_in_a_line(family, model, small):
    cell = try_cell(model, family, small(family))
    assert cell.outcome != "crashes", cell.why
    assert cell.outcome == "works" or (cell.why and "\n" not in cell.why)


def test_a_crash_is_told(small, monkeypatch):
    def broken(self, *given):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(CBM, "answer", broken)
    cell = try_cell("cbm", "digits", small("digits"))
    assert (cell.outcome, cell.why) == ("crashes", "ZeroDivisionError: division by zero")


def test_the_table_has_a_row_for_each_model():
    cells = [MatrixCell("a", "x", "works"), MatrixCell("a", "y", "refuses", "too large"), MatrixCell("b", "x", "works")]
    table = matrix_table(cells)
    assert table.head == ("model", "x", "y")
    assert table.rows == (("a", "works", "refuses: too large"), ("b", "works", ""))

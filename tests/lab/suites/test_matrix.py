"""The matrix: every model on a small dataset of every family works through to interventions, or refuses in a line."""

import pytest

from assay.families import FAMILIES
from assay.lab import find_suite, matrix_cells, matrix_table
from assay.models import MODELS


@pytest.mark.parametrize("family", FAMILIES)
def test_every_model_works_or_refuses_in_a_line(family):
    cells = list(matrix_cells(find_suite(), families=[family]))
    assert [cell.model for cell in cells] == list(MODELS)
    for cell in cells:
        assert cell.outcome != "crashes", f"{cell.model}: {cell.why}"
        assert cell.outcome == "works" or (cell.why and "\n" not in cell.why)


BROKEN = '''
"""A model that breaks."""

from assay.models.symbolic.tree import Tree


class Broken(Tree):
    """It divides by nothing."""

    name = "broken"

    def fit(self, *given):
        return 1 / 0
'''


def test_a_crash_is_told_and_the_table_has_a_row_for_each_model(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    name = MODELS.resolve(str(tmp_path / "broken.py"))
    cells = list(matrix_cells(find_suite(), [name, "tree"], ["digits"]))
    assert [(cell.outcome, cell.why) for cell in cells] == [
        ("crashes", "ZeroDivisionError: division by zero"), ("works", ""),
    ]  # fmt: skip
    table = matrix_table(cells)
    assert table.head == ("model", "digits")
    assert table.rows == ((name, "crashes: ZeroDivisionError: division by zero"), ("tree", "works"))

"""The matrix: every model on a small dataset of every family works through to interventions, or refuses in a line."""

from functools import cache

import pytest

from assay.families import FAMILIES
from assay.lab import find_suite, matrix_cells, matrix_table, small_datasets
from assay.models import MODELS


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
    (cell,) = matrix_cells({family: small(family)}, [model])
    assert cell.outcome != "crashes", cell.why
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


def test_a_crash_is_told_and_the_table_has_a_row_for_each_model(small, tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    name = MODELS.resolve(str(tmp_path / "broken.py"))
    cells = list(matrix_cells({"digits": small("digits")}, [name, "tree"]))
    assert [(cell.outcome, cell.why) for cell in cells] == [
        ("crashes", "ZeroDivisionError: division by zero"), ("works", ""),
    ]  # fmt: skip
    table = matrix_table(cells)
    assert table.head == ("model", "digits")
    assert table.rows == ((name, "crashes: ZeroDivisionError: division by zero"), ("tree", "works"))

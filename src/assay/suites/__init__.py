"""Suites: a fixed set of datasets, the entries that are scored on it, and the board of their verdicts.

`find_suite` opens one, `run_suite` trains its baselines, `score_entry` scores predictions from anywhere, `write_board`
writes the pages.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.suites.board import SuiteBoard as SuiteBoard
    from assay.suites.board import rank_table as rank_table
    from assay.suites.entry import SuiteEntry as SuiteEntry
    from assay.suites.entry import score_entry as score_entry
    from assay.suites.making import DATA as DATA
    from assay.suites.making import make_data as make_data
    from assay.suites.matrix import matrix_cells as matrix_cells
    from assay.suites.matrix import matrix_table as matrix_table
    from assay.suites.matrix import small_datasets as small_datasets
    from assay.suites.rows import BoardRow as BoardRow
    from assay.suites.rows import RECORDS as RECORDS
    from assay.suites.rows import add_entry as add_entry
    from assay.suites.rows import plain as plain
    from assay.suites.rows import read_rows as read_rows
    from assay.suites.rows import write_rows as write_rows
    from assay.suites.running import SuiteOrder as SuiteOrder
    from assay.suites.running import run_suite as run_suite
    from assay.suites.site import write_board as write_board
    from assay.suites.suite import USUAL as USUAL
    from assay.suites.suite import find_suite as find_suite
    from assay.suites.suite import suite_names as suite_names
    from assay.suites.suite import summary_of as summary_of
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

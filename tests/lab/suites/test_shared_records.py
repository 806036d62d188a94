"""Records that several commands write at once lose no row; rows that cannot be are refused."""

import subprocess
import sys

import pytest
from benchmarks.rows import rows_at_once, spoilt_rows

from assay.base import AssayError
from assay.lab import BoardRow, read_rows, write_rows
from tests.samples import needs_task


@pytest.mark.parametrize("tries", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_rows_that_are_added_at_once_are_all_kept(tmp_path, tries):
    assert [name for name, work in rows_at_once(tmp_path, tries) if work() is not True] == []


def test_a_row_that_cannot_be_is_refused_and_no_other(tmp_path):
    accepted, refused = 0, 0
    for name, work in spoilt_rows(tmp_path):
        try:
            assert work() is not False, name
            accepted += 1
        except AssayError as error:
            assert "\n" not in str(error), name
            refused += 1
    assert accepted >= 20 and refused >= 20


def test_rows_of_before_hashes_were_kept_are_read(tmp_path):
    write_rows([BoardRow("s", "d", "m", "rule", 0, "refused", reason="why")], tmp_path / "m.parquet")
    assert read_rows(tmp_path)[0].scored == ""


@pytest.mark.slow
@needs_task("mnlogic")
@pytest.mark.parametrize("several", [2, 3])
def test_suite_runs_at_once_keep_every_row(tmp_path, several):
    words = [sys.executable, "-m", "assay", "suite", "run", "tree", "--dataset", "digits-parity", "--workers", "1"]
    started = [subprocess.Popen([*words, "--seeds", str(seed), "-o", tmp_path / f"out{seed}", "--records", tmp_path / "rows"])
               for seed in range(several)]  # fmt: skip
    assert [process.wait() for process in started] == [0] * several
    assert sorted(row.seed for row in read_rows(tmp_path / "rows")) == list(range(several))

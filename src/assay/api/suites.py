"""Suites: fixed datasets are made, baselines run and entries scored, and the board of their verdicts is built."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.api.arguments import Say, ignore
from assay.base import progress_bar, to_frame
from assay.lab import (
    USUAL,
    BoardRow,
    LocalWorkers,
    MadeData,
    SuiteOrder,
    find_suite,
    make_data,
    read_rows,
    write_board,
)
from assay.lab import run_suite as run
from assay.lab import score_entry as rows_of_entry

if TYPE_CHECKING:
    import pandas as pd

RECORDS = "records"
"""The folder of the rows in that of a suite."""


@dataclass(frozen=True, repr=False)
class SuiteResult:
    """The folder of a suite: its data, and a row for each model, dataset and seed."""

    folder: Path
    suite: str = USUAL
    asked: tuple[BoardRow, ...] = ()
    """The rows of what was asked for."""
    records: Path | None = None
    """The folder of the rows, if it is another than `records` in the folder."""

    @property
    def rows(self) -> list[BoardRow]:
        """Every row that is there, of baselines and entries."""
        return read_rows(self.records or self.folder / RECORDS)

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as a data frame."""
        return to_frame([asdict(row) for row in self.rows])

    def board(self, output: Path | str) -> Path:
        """Build the board of all rows and return its page."""
        return write_board(find_suite(self.suite), [self.records or self.folder / RECORDS], Path(output), self.folder)

    def __repr__(self) -> str:
        models = len({row.model for row in self.rows})
        return f"SuiteResult({self.suite}: {len(self.rows)} rows of {models} models, {str(self.folder)[-120:]!r})"


def make_suite(
    output: Path | str,
    datasets: Sequence[str] = (),
    *,
    suite: str = USUAL,
    workers: int | None = 1,
    say: Say = ignore,
    progress: bool | None = None,
) -> MadeData:
    """Make the datasets of a suite in `output/data` and check their fingerprints; what is there is kept.

    Parameters
    ----------
    output
        The folder of the suite.
    datasets
        Only these; by default all.
    suite
        The suite, by name or `FILE.yaml`.
    workers
        The number of processes, None for one per processor.
    say
        Is told what is begun and ended, such as `print`.
    progress
        Whether to show progress on standard error.
    """
    with progress_bar(progress) as bar:
        return make_data(find_suite(suite), Path(output), list(datasets), say, bar, _pool(workers))


def run_suite(
    output: Path | str,
    models: Sequence[str] = (),
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = (),
    *,
    suite: str = USUAL,
    records: Path | str | None = None,
    discard: bool = False,
    workers: int | None = 1,
    say: Say = ignore,
    progress: bool | None = None,
) -> SuiteResult:
    """Train and judge baselines of a suite, by default all; rows that are there are kept.

    Parameters
    ----------
    output
        The folder of the suite.
    models
        Only these baselines.
    datasets
        Only these datasets.
    seeds
        Only these seeds of the suite.
    suite
        The suite, by name or `FILE.yaml`.
    records
        The folder of the rows, a file for each model; by default `records` in `output`.
    discard
        Keep rows only: no weights, no predictions.
    workers
        The number of processes, None for one per processor.
    say
        Is told what is begun and ended, such as `print`.
    progress
        Whether to show progress on standard error.
    """
    order = SuiteOrder(find_suite(suite), tuple(models), tuple(datasets), tuple(seeds), discard)
    place = None if records is None else Path(records)
    with progress_bar(progress) as bar:
        rows = run(order, Path(output), place, say, bar, _pool(workers))
    return SuiteResult(Path(output), suite, tuple(rows), place)


def score_entry(
    entry: Path | str, output: Path | str, *, records: Path | str | None = None, progress: bool | None = None
) -> SuiteResult:
    """Check an entry against the suite's data in a folder, and add its rows; another entry of its name is refused.

    Parameters
    ----------
    entry
        A folder with `entry.yaml` and a predictions file for each split of each dataset and seed.
    output
        The folder of the suite, which `assay suite make` filled.
    records
        The folder that gets the rows; by default `records` in `output`.
    progress
        Whether to show progress on standard error.
    """
    folder = Path(output)
    place = folder / RECORDS if records is None else Path(records)
    with progress_bar(progress) as bar:
        rows = rows_of_entry(Path(entry), folder, place, lambda done, whole: bar("scoring", done, whole))
    return SuiteResult(folder, rows[0].suite, tuple(rows), place)


def _pool(workers: int | None) -> LocalWorkers:
    return LocalWorkers(workers or os.cpu_count() or 1)

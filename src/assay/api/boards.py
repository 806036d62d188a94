"""Run a suite, score an entry, build the board."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.frames import to_frame
from assay.studies import LocalWorkers
from assay.suites import DATA, RECORDS, USUAL, BoardRow, SuiteOrder, find_suite, read_rows, write_board, write_rows
from assay.suites import run_suite as carry_out
from assay.suites import score_entry as rows_of_entry

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class SuiteResult:
    """The folder of a suite: its data, and a row for each model, dataset and seed."""

    folder: Path
    suite: str = USUAL

    @property
    def rows(self) -> list[BoardRow]:
        """Every row that is there, of baselines and entries."""
        return read_rows(self.folder / RECORDS)

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as a data frame."""
        rows = [asdict(row) for row in self.rows]
        return to_frame({key: [row[key] for row in rows] for key in rows[0]} if rows else {})

    def board(self, output: Path | str) -> Path:
        """Build the board of all rows and return its page."""
        return write_board(find_suite(self.suite), [self.folder / RECORDS], Path(output), self.folder / DATA)

    def __repr__(self) -> str:
        models = len({row.model for row in self.rows})
        return f"SuiteResult({self.suite}: {len(self.rows)} rows of {models} models, {str(self.folder)[-120:]!r})"


def run_suite(
    output: Path | str,
    models: Sequence[str] = (),
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = (),
    *,
    suite: str = USUAL,
    workers: int = 1,
) -> SuiteResult:
    """Train and judge baselines of a suite, by default all; rows that are there are kept."""
    order = SuiteOrder(find_suite(suite), tuple(models), tuple(datasets), tuple(seeds))
    carry_out(order, Path(output), workers=LocalWorkers(workers))
    return SuiteResult(Path(output), suite)


def score_entry(entry: Path | str, output: Path | str) -> SuiteResult:
    """Check an entry against the suite's data in the output folder, and add its rows to those of the folder."""
    folder = Path(output)
    rows = rows_of_entry(Path(entry), folder / DATA)
    write_rows(rows, folder / RECORDS / f"{rows[0].model}.parquet")
    return SuiteResult(folder, rows[0].suite)

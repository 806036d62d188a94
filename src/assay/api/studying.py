"""Run a study: tasks x models x seeds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config import Settings
from assay.frames import to_frame
from assay.studies import LocalWorkers, Record, load_study, read_records, study_from
from assay.studies import run_study as carry_out

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A study that was run: its folder and the page of its report."""

    folder: Path
    page: Path

    @property
    def records(self) -> list[Record]:
        """Every number of every run."""
        return list(read_records(self.folder))

    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a data frame."""
        rows = [asdict(record) for record in self.records]
        return to_frame({key: [row[key] for row in rows] for key in rows[0]} if rows else {})

    def __repr__(self) -> str:
        return f"StudyResult({len({record.run for record in self.records})} runs, {str(self.page)[-120:]!r})"


def run_study(
    study: Mapping[str, Any] | Path | str,
    output: Path | str | None = None,
    *,
    workers: int = 1,
    cluster: str | None = None,
) -> StudyResult:
    """Run a study, given as a mapping or a YAML file; what is finished in the output folder is kept."""
    place = None if output is None else Path(output)
    if isinstance(study, Mapping):
        planned = study_from(Settings(dict(study)), place)
    else:
        planned = load_study(Path(study), place)
    if cluster:
        from assay.studies import RayWorkers

        page = carry_out(planned, workers=RayWorkers(cluster))
    else:
        page = carry_out(planned, workers=LocalWorkers(workers))
    return StudyResult(planned.output, page)

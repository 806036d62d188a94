"""Makes the data of a suite, and refuses bytes that are not those of the suite."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.base import DataError, RunFailed
from assay.dataset import Dataset
from assay.lab.studies.local_workers import LocalWorkers
from assay.lab.studies.run import Say, Watch, Workers, perform_steps
from assay.lab.studies.study import Study
from assay.lab.suites.steps import data_steps, study_config
from assay.lab.suites.suite import Suite, SuiteDataset

DATA = "data"


@dataclass(frozen=True)
class MadeData:
    """What became of the datasets: those that are there and are the suite's, and why the others are not."""

    there: dict[str, Dataset]
    faults: dict[str, str]

    def require_all(self) -> dict[str, Dataset]:
        """Return all datasets, or raise what went wrong with the first."""
        for name, fault in self.faults.items():
            raise RunFailed(
                f"{len(self.faults)} of {len(self.there) + len(self.faults)} datasets failed; {name}: {fault}"
            )
        return self.there


def make_data(
    suite: Suite,
    output: Path,
    names: Sequence[str] = (),
    say: Say = lambda text: None,
    watch: Watch = lambda what, done, whole, note: None,
    workers: Workers | None = None,
) -> MadeData:
    """Make datasets of a suite in `output/data`, and check the fingerprint of each; what is there is kept."""
    chosen = suite.with_parents(names)
    made, copies = data_steps(chosen)
    study = Study(study_config(suite, chosen), output, made, copies, ())
    outcomes = perform_steps(study, say, watch, workers or LocalWorkers(os.cpu_count() or 1))
    faults = {outcome.name: outcome.fault for outcome in outcomes if outcome.fault}
    there = {}
    for data in chosen:
        try:
            if data.name not in faults and (output / DATA / data.name).exists():
                there[data.name] = open_data(suite, data, output / DATA / data.name)
        except DataError as error:
            faults[data.name] = str(error)
    for data in chosen:
        if data.name not in there and data.name not in faults:
            faults[data.name] = f"{data.config.of}: {faults[str(data.config.of)]}"
    return MadeData(there, faults)


def open_data(suite: Suite, data: SuiteDataset, folder: Path) -> Dataset:
    """Open a dataset of a suite, refusing one with another fingerprint."""
    dataset = Dataset.open(folder)
    if dataset.fingerprint != data.fingerprint:
        wanted = data.fingerprint or "none yet"
        raise DataError(
            f"{str(folder)!r} has fingerprint {dataset.fingerprint}, dataset {data.name!r} of suite {suite.name!r} "
            f"{wanted}; delete the folder and make it with the versions of constraints.txt"
        )
    return dataset

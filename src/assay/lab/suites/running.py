"""Runs the baselines of a suite: trains what has no row yet, and keeps a row for each model, dataset and seed.

Rows are written as runs end, so that a command that was killed goes on where it stopped, also on another machine that
has only the rows.
"""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from assay.base import AssayError
from assay.dataset import Dataset
from assay.lab.studies.local_workers import LocalWorkers
from assay.lab.studies.run import Say, Watch, Workers, perform_steps
from assay.lab.studies.study import RunStep
from assay.lab.studies.work import Outcome, folder_of
from assay.lab.suites.judging import Judged, row_of_run
from assay.lab.suites.making import make_data
from assay.lab.suites.rows import RECORDS, BoardRow, add_rows, read_rows
from assay.lab.suites.steps import suite_study
from assay.lab.suites.suite import Suite, check_seeds

AT_ONCE = 4
"""How many models are trained before the next: on a GPU all runs at once are trained before the first is judged."""


@dataclass(frozen=True)
class SuiteOrder:
    """What to run: which models, datasets and seeds of a suite, by default all, and what to keep of it."""

    suite: Suite
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    discard: bool = False
    """Delete weights and predictions of a run as soon as its row is written."""


def run_suite(
    order: SuiteOrder,
    output: Path,
    records: Path | None = None,
    say: Say = lambda text: None,
    watch: Watch = lambda what, done, whole, note: None,
    workers: Workers | None = None,
) -> list[BoardRow]:
    """Make the data, train, judge, and return the rows of all that was asked for."""
    suite, pool = order.suite, workers or LocalWorkers(os.cpu_count() or 1)
    seeds, models = check_seeds(suite, order.seeds), list(order.models) or list(suite.config.models)
    chosen = [suite.dataset(name) for name in order.datasets] or list(suite.datasets.values())
    for model in models:
        suite.settings_of(model)  # an unknown name is refused before anything is made
    made = make_data(suite, output, [data.name for data in chosen], say, watch, pool)
    there = [data for data in chosen if data.name in made.there]
    study = suite_study(suite, models, there, seeds, output)
    keeper = RowKeeper(order, output, records or output / RECORDS, made.there, {run.name: run for run in study.runs})
    left = [run for run in study.runs if not keeper.has(run)]
    say(f"{suite.name}: {len(left)} runs to do, {len(study.runs) - len(left)} rows kept")
    for start in range(0, len(models), AT_ONCE):
        few = tuple(run for run in left if run.label in models[start : start + AT_ONCE])
        perform_steps(replace(study, runs=few), say, watch, pool, keeper.add)
    made.require_all()
    return keeper.rows()


@dataclass
class RowKeeper:
    """Keeps the rows of runs in a file for each model."""

    order: SuiteOrder
    output: Path
    records: Path
    datasets: dict[str, Dataset]
    steps: dict[str, RunStep]

    def file(self, model: str) -> Path:
        """Return the file of a model's rows."""
        return self.records / f"{model}.parquet"

    def has(self, step: RunStep) -> bool:
        """Return whether the row of a run is there; one that was refused or broke is tried again.

        So is one that was judged by other thresholds; of one by an older version of the diagnosis the board says so.
        """
        rows = [row for row in read_rows(self.file(step.label)) if row.run == step.name and row.status == "done"]
        return any(row.thresholds == step.judged_by.thresholds for row in rows)

    def rows(self) -> list[BoardRow]:
        """Return the rows of all runs."""
        models = dict.fromkeys(step.label for step in self.steps.values())
        return [row for model in models for row in read_rows(self.file(model)) if row.run in self.steps]

    def add(self, outcome: Outcome) -> None:
        """Write the row of a run that ended."""
        step = self.steps.get(outcome.name)
        if step is None:
            return
        row = self._row(step, outcome)
        add_rows([row], self.file(step.label))
        if self.order.discard:
            shutil.rmtree(folder_of(step, self.output), ignore_errors=True)

    def _row(self, step: RunStep, outcome: Outcome) -> BoardRow:
        suite = self.order.suite
        baseline = suite.baseline(step.label)
        judged = Judged(suite.name, step.data, step.label, baseline.level, step.seed, step.name)
        data = self.datasets[step.data]
        if outcome.fault is not None:
            reason = " ".join(outcome.fault.split())
            return judged.row(
                status="refused" if outcome.refused else "failed", reason=reason, fingerprint=data.fingerprint
            )
        try:
            sees = "concepts" in suite.level(baseline.level).sees
            return row_of_run(judged, folder_of(step, self.output), data, sees)
        except AssayError as error:
            return judged.row(status="failed", reason=str(error), fingerprint=data.fingerprint)

"""Runs a suite: makes its data, refuses other bytes than the suite's, and trains the baselines that have no row yet.

Rows are written as runs end, so that a command that was killed goes on where it stopped, also on another machine that
has only the rows.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.base import AssayError, ConfigError, DataError, RunFailed, Settings
from assay.dataset import Dataset
from assay.lab.steps import PLAIN, CopyStep, DataStep, Outcome, RunStep, Steps, folder_of, short_hash
from assay.lab.suites.rows import ROWS, BoardRow, Judged, add_rows, read_rows, row_of_run
from assay.lab.suites.suite import Suite, SuiteDataset, check_seeds
from assay.lab.workers import Say, Watch, Workers, perform_steps

DATA = "data"
AT_ONCE = 4
"""How many models are trained before the next: on a GPU all runs at once are trained before the first is judged."""
POLICY = "uncertainty"
"""The order in which concepts are intervened on: those of which a model is least sure first."""
PARTS = 4
"""In how many equal steps, up to all concepts."""


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
    """Make datasets of a suite in `output/data`, and check the fingerprint of each; what is there is kept.

    Parameters
    ----------
    suite
        Whose data are made.
    output
        The suite's folder.
    names
        Datasets, by default all.
    say
        Told a line for each dataset.
    watch
        Told what is done, how much of how much, and that in words.
    workers
        Who makes them; by default a process for each processor.
    """
    chosen = suite.with_parents(names)
    made, copies = data_steps(chosen)
    outcomes = perform_steps(Steps(suite.name, output, made, copies), say, watch, workers)
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
    """Make the data, train, judge, and return the rows of all that was asked for.

    Parameters
    ----------
    order
        Which models, datasets and seeds.
    output
        The suite's folder.
    records
        Where the rows are kept, by default in the output.
    say
        Told a line for each step that ended.
    watch
        Told what is done, how much of how much, and that in words.
    workers
        Who carries out the steps; by default a process for each processor.
    """
    suite = order.suite
    seeds, models = check_seeds(suite, order.seeds), list(order.models) or list(suite.config.models)
    chosen = [suite.dataset(name) for name in order.datasets] or list(suite.datasets.values())
    for model in models:
        suite.settings_of(model)  # an unknown name is refused before anything is made
    made = make_data(suite, output, [data.name for data in chosen], say, watch, workers)
    there = [data for data in chosen if data.name in made.there]
    runs = {run.name: run for run in suite_runs(suite, models, there, seeds)}
    keeper = RowKeeper(order, output, records or output / ROWS, made.there, runs)
    left = [run for run in runs.values() if not keeper.has(run)]
    say(f"{suite.name}: {len(left)} runs to do, {len(runs) - len(left)} rows kept")
    for start in range(0, len(models), AT_ONCE):
        few = tuple(run for run in left if run.label in models[start : start + AT_ONCE])
        perform_steps(Steps(suite.name, output, runs=few), say, watch, workers, keeper.add)
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


def data_steps(datasets: Sequence[SuiteDataset]) -> tuple[tuple[DataStep, ...], tuple[CopyStep, ...]]:
    """Return the datasets to be made, and the copies to be annotated."""
    made = tuple(DataStep(data.name, recipe) for data in datasets if (recipe := data.recipe) is not None)
    copies = tuple(
        CopyStep(data.name, data.config.of, data.config.annotate) for data in datasets if data.config.of is not None
    )
    return made, copies


def suite_runs(
    suite: Suite, models: Sequence[str], datasets: Sequence[SuiteDataset], seeds: Sequence[int]
) -> tuple[RunStep, ...]:
    """Return the runs that train these models on these datasets, with these seeds."""
    return tuple(run_step(suite, model, data, seed) for data in datasets for model in models for seed in seeds)


def run_step(suite: Suite, model: str, data: SuiteDataset, seed: int) -> RunStep:
    """Return the run of a model on a dataset; its name has a hash of all that decides its numbers."""
    if not data.fingerprint:
        raise ConfigError(f"dataset {data.name!r} of suite {suite.name!r} has no fingerprint yet")
    registered, settings = suite.settings_of(model)
    analyses = (("intervene", Settings({"policy": POLICY, "budget": budgets_for(_concepts(suite, data))})),)
    decisive = [data.fingerprint, registered, dict(settings.values), seed, [dict(a[1].values) for a in analyses]]
    name = f"{data.name}-{model}-seed{seed}-{short_hash(decisive)}"
    by = suite.judged_by
    return RunStep(
        name, data.name, data.name, PLAIN, registered, model, settings, seed, None, 0, analyses, judged_by=by
    )


def _concepts(suite: Suite, data: SuiteDataset) -> int:
    """Return how many concepts a dataset has."""
    source = data if data.config.of is None else suite.dataset(data.config.of)
    recipe = source.recipe
    if recipe is None:
        raise DataError(f"dataset {source.name!r} of suite {suite.name!r} has no task")
    return len(recipe.task.space)


def budgets_for(concepts: int) -> str:
    """Return how many concepts are intervened on: none, in equal steps some, all.

    >>> budgets_for(2), budgets_for(12)
    ('0,1,max', '0,3,6,9,max')
    """
    steps = sorted({concepts * part // PARTS for part in range(PARTS)})
    return ",".join([*map(str, steps), "max"])

"""Runs a study: data, copies, runs, records, report. What is finished is kept; failures do not stop the rest."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from assay.base import RunFailed, refuse_links
from assay.lab.studies.charts import charts_of
from assay.lab.studies.local_workers import LocalWorkers, Poll
from assay.lab.studies.records import records_of, write_records
from assay.lab.studies.results import tables_of
from assay.lab.studies.study import DataStep, RunStep, Study
from assay.lab.studies.work import Outcome, Report, Step, folder_of, is_finished, progress_of
from assay.runs import LOGS

MOST_TRAINED = 0.95
"""What a run that is trained but not scored yet counts as."""
Say = Callable[[str], None]
Watch = Callable[[str, float, float, str | None], None]
"""Told what is done, how much of how much, and that in words; without words, the two numbers say it."""
See = Callable[[Outcome], None]
"""Told how each run ended, as it ends."""


class Workers(Protocol):
    """What carries out steps: processes on this machine, or a cluster."""

    def check(self, steps: Sequence[RunStep], output: Path) -> None:
        """Refuse unfinished runs that cannot be done, before anything is made."""

    def make(self, step: DataStep, output: Path, watch: Report) -> Outcome:
        """Make a dataset with all processors."""

    def run(self, steps: Sequence[Step], output: Path, poll: Poll) -> Iterator[Outcome]:
        """Do the steps in any order and give each outcome as it comes."""


def run_study(
    study: Study,
    say: Say = lambda text: None,
    watch: Watch = lambda what, done, whole, note: None,
    workers: Workers | None = None,
) -> Path:
    """Run all of a study and return the report; failures are listed at the end and do not stop the rest."""
    outcomes = perform_steps(study, say, watch, workers or LocalWorkers(os.cpu_count() or 1))
    return _finish(study, [outcome for outcome in outcomes if outcome.fault], watch)


def perform_steps(
    study: Study, say: Say, watch: Watch, workers: Workers, see: See = lambda outcome: None
) -> list[Outcome]:
    """Make the data of a study and do its runs; return how each step ended. Failures do not stop the rest."""
    refuse_links(study.output, unread=LOGS)
    workers.check(study.runs, study.output)
    outcomes = [_data(study, step, workers, say, watch) for step in study.datasets]
    broken = {outcome.name: outcome.fault for outcome in outcomes if outcome.fault}
    copies = [step for step in study.copies if step.parent not in broken]
    outcomes += _all(study, copies, workers, say, watch, see)
    broken |= {outcome.name: outcome.fault for outcome in outcomes if outcome.fault}
    broken |= {copy.name: broken[copy.parent] for copy in study.copies if copy.parent in broken}
    runs = [step for step in study.runs if step.data not in broken]
    outcomes += _all(study, [step for step in runs if not step.needs], workers, say, watch, see)
    broken |= {outcome.name: outcome.fault for outcome in outcomes if outcome.fault}
    later = [step for step in runs if step.needs and step.needs not in broken]
    outcomes += _all(study, later, workers, say, watch, see)
    outcomes += [Outcome(s.name, False, 0.0, f"{s.needs}: {broken[s.needs]}") for s in runs if s.needs in broken]
    outcomes += [Outcome(s.name, False, 0.0, f"{s.data}: {broken[s.data]}") for s in study.runs if s.data in broken]
    return outcomes


def _data(study: Study, step: DataStep, workers: Workers, say: Say, watch: Watch) -> Outcome:
    """Make a dataset with all processors at once."""
    outcome = workers.make(step, study.output, lambda done, whole: watch(f"making {step.name}", done, whole, None))
    _say_outcome(study, step, outcome, say)
    return outcome


def _all(study: Study, steps: Sequence[Step], workers: Workers, say: Say, watch: Watch, see: See) -> list[Outcome]:
    named = {step.name: step for step in steps}
    outcomes = []
    for step in steps:
        if is_finished(step, study.output):
            outcomes.append(Outcome(step.name, False, 0.0))
            _say_outcome(study, step, outcomes[-1], say)
            see(outcomes[-1])
    left = [step for step in steps if not is_finished(step, study.output)]
    done = len(steps) - len(left)

    def poll() -> None:
        under_way = [(step, progress_of(step, study.output)) for step in left]
        parts = sum(min(MOST_TRAINED, part / max(1, whole)) for _, (part, whole) in under_way)
        kind = "runs" if isinstance(steps[0], RunStep) else "copies"
        watch(study.name, done + parts, len(steps), f"{done} of {len(steps)} {kind} done")

    for outcome in workers.run(left, study.output, poll):
        outcomes.append(outcome)
        done += 1
        _say_outcome(study, named[outcome.name], outcome, say)
        see(outcome)
    return outcomes


def _say_outcome(study: Study, step: Step, outcome: Outcome, say: Say) -> None:
    folder = folder_of(step, study.output)
    if outcome.fault is not None:
        say(f"failed  {folder}: {outcome.fault}")
    elif not outcome.done:
        say(f"kept    {folder}")
    else:
        say(f"{'trained' if isinstance(step, RunStep) else 'made'}    {folder} ({outcome.seconds:.0f} s)")


def _reported_runs(study: Study) -> list[Path]:
    """Return the runs that have a section in the report: the first seed and fold of each model on each task."""
    firsts: dict[tuple[str, str, str], Path] = {}
    for step in study.runs:
        if is_finished(step, study.output):
            firsts.setdefault((step.task, step.challenge, step.label), folder_of(step, study.output))
    return list(firsts.values())


def _finish(study: Study, failed: Sequence[Outcome], watch: Watch) -> Path:
    """Write the records and the report of what is finished, and raise what failed."""
    from assay.reporting import (
        cases_of,  # not before the first run
        write_pages,
    )

    records = records_of(study.runs, study.output)
    write_records(records, study.runs, study.output)
    done = [folder_of(step, study.output) for step in study.runs if is_finished(step, study.output)]
    if not done:
        first = failed[0] if failed else Outcome("", False, 0.0, "there is none to run")
        raise RunFailed(f"every run failed; the first, {first.name}: {first.fault}")
    tables, charts = tables_of(study, records), charts_of(study, records)
    cases = cases_of(
        _reported_runs(study),
        watch=lambda done, whole: watch("judging runs for the report", done, whole, None),
        thresholds=study.runs[0].judged_by.settings(),
    )
    page = write_pages(cases, study.output / "report", study.name, tables, charts, study.config.about)
    if failed:
        lost = len(study.runs) - len(done)
        raise RunFailed(f"{lost} of {len(study.runs)} runs failed ({failed[0].name}: {failed[0].fault}); report {page}")
    return page

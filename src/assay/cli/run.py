"""`assay run`: a study from a YAML file, or one of the ready ones."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.console import ClusterOption, LogOption, print_text, progress_bar, say
from assay.cli.verdicts import print_verdicts
from assay.errors import ConfigError


def run(
    study: Annotated[str, typer.Argument(metavar="STUDY.yaml|NAME", help="A study file, or one of `assay study`.")],
    plan: Annotated[bool, typer.Option("--plan", help="Print the planned runs and stop.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The output folder; by default that of the file.")
    ] = None,
    size: Annotated[Literal["small", "paper"], typer.Option(help="The size of a ready study.")] = "small",
    model: Annotated[
        list[str], typer.Option(metavar="NAME", help="Run only this model of the study; can be repeated.")
    ] = [],  # noqa: B006
    seeds: Annotated[int | None, typer.Option(min=1, help="Run only the first so many seeds.")] = None,
    trial: Annotated[
        bool, typer.Option(help="Estimate the duration by a trial of each step, for a minute at most.")
    ] = True,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; by default one per processor.")
    ] = None,
    cluster: Annotated[str | None, ClusterOption] = None,
    log: LogOption = None,
    allow_code: Annotated[
        list[Path], typer.Option(metavar="FILE.py", help="Run this file, which the study names; can be repeated.")
    ] = [],  # noqa: B006
) -> None:
    """Run a study: make data, train, diagnose, report.

    What is finished is kept, so that the same command resumes a study that was stopped.
    """
    from assay.code_files import loaded_files
    from assay.data import refuse_remote
    from assay.models import check_log
    from assay.studies import LocalWorkers, RayWorkers, find_study, plan_of, run_study, verdict_lines

    if cluster and workers:
        raise ConfigError("give --workers or --cluster, not both")
    check_log(log)
    loaded = find_study(study, size, refuse_remote(output), allow_code).only(model, seeds).with_log(log)
    for allowed in loaded_files():
        say(f"runs code  {allowed.file.path}  sha256 {allowed.file.sha256}")
    pool = RayWorkers(cluster) if cluster else LocalWorkers(workers or os.cpu_count() or 1)
    pool.check(loaded.runs, loaded.output)
    for missing in loaded.absent:
        say(f"left out: {missing}")
    with progress_bar() as bar:
        say(f"{loaded.name}: {plan_of(loaded, bar, trial).text(pool.count)}")
    if plan:
        for planned in loaded.runs:
            print_text(planned.name)
        return
    with progress_bar() as bar:
        page = run_study(loaded, say, bar, pool)
    print_verdicts(verdict_lines(loaded.runs, loaded.output))
    say(f"report  {page}")

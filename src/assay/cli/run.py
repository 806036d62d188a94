"""`assay run`: a study from a YAML file, or one of the ready ones."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.base import ConfigError
from assay.cli.console import ClusterOption, LogOption, print_text, say
from assay.cli.verdicts import print_verdicts


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
    from assay.api import estimate_study, open_study, run_study, study_workers
    from assay.base import loaded_files

    if cluster and workers:
        raise ConfigError("give --workers or --cluster, not both")
    loaded = open_study(study, output, size=size, models=model, seeds=seeds, log=log, allow_code=allow_code)
    for allowed in loaded_files():
        say(f"runs code  {allowed.file.path}  sha256 {allowed.file.sha256}")
    pool = study_workers(loaded, workers, cluster)
    for missing in loaded.absent:
        say(f"left out: {missing}")
    say(f"{loaded.name}: {estimate_study(loaded, pool, trial=trial)}")
    if plan:
        for planned in loaded.runs:
            print_text(planned.name)
        return
    result = run_study(loaded, workers=pool, say=say)
    print_verdicts(result.verdicts)
    say(f"report  {result.page}")

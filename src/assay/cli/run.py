"""`assay run`: a study from a YAML file, or one of the ready ones."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.console import ClusterOption, print_text, progress_bar, say
from assay.errors import ConfigError


def run(
    study: Annotated[str, typer.Argument(metavar="STUDY.yaml|NAME", help="A study file, or one of `assay study`.")],
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be run.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder to write; by default the file's.")
    ] = None,
    size: Annotated[Literal["small", "paper"], typer.Option(help="The size of a ready study.")] = "small",
    trial: Annotated[bool, typer.Option(help="Try a little of everything, to tell how long it will take.")] = True,
    workers: Annotated[int | None, typer.Option(min=1, help="How many processes; by default one a processor.")] = None,
    cluster: Annotated[str | None, ClusterOption] = None,
) -> None:
    """Run a study: make the data, train the models, diagnose, report. What is finished is kept."""
    from assay.data.remote import refuse_remote
    from assay.studies.local_workers import LocalWorkers
    from assay.studies.plan import plan_of
    from assay.studies.ray_workers import RayWorkers
    from assay.studies.ready import find_study
    from assay.studies.run import run_study

    if cluster and workers:
        raise ConfigError("give --workers or --cluster, not both")
    loaded = find_study(study, size, refuse_remote(output))
    hands = RayWorkers(cluster) if cluster else LocalWorkers(workers or os.cpu_count() or 1)
    hands.check(loaded.runs, loaded.output)
    for missing in loaded.absent:
        say(f"left out: {missing}")
    with progress_bar() as bar:
        say(f"{loaded.name}: {plan_of(loaded, bar, trial).text(hands.count)}")
    if plan:
        for planned in loaded.runs:
            print_text(planned.name)
        return
    with progress_bar() as bar:
        page = run_study(loaded, say, bar, hands)
    say(f"report  {page}")

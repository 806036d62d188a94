"""`assay demo`: the whole instrument on embedded data, in a few minutes."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import print_text, progress_bar, say


def demo(output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")] = Path("demo")) -> None:
    """Make a dataset, train three models on it, and report which of them has learned a shortcut."""
    from assay.diagnosis.runs import diagnose_run
    from assay.runs.folder import RunFolder
    from assay.studies.demo import demo_study
    from assay.studies.run import run_study

    study = demo_study(output)
    with progress_bar() as bar:
        page = run_study(study, say, bar)
    for planned in study.runs:
        run = RunFolder(study.output / "runs" / planned.name)
        print_text(f"\n{planned.model}: {diagnose_run(run, run.dataset()).text}")
    print_text(f"\nThe report is in {page}")

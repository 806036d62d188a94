"""`assay demo`: every step on embedded data, in a few minutes; three models on three tasks.

On sums of even or odd digits the model that follows the rule reads the digits wrong. On a formula over bits the black
box is right until a combination is new, or one bit is changed. On robots all concepts show in one image.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import print_text, progress_bar, say

if TYPE_CHECKING:
    from assay.studies.study import Study

DEMO = {
    "name": "Assay demo: sums of digits, a formula over bits, robots",
    "tasks": [
        {"task": "mnadd-evenodd", "n": 4000},
        {"task": "mnlogic", "n": 1000, "formula": "(a and b) or (c and not d)"},
        {"task": "robots", "n": 1000},
    ],
    "models": [
        {"model": "blackbox", "epochs": 8},
        {"model": "cbm", "epochs": 15},
        {"model": "dpl", "epochs": 12, "entropy_weight": 1.0},
    ],
    "seeds": [0],
}


def demo(output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")] = Path("demo")) -> None:
    """Run every step on three small tasks.

    Makes three datasets, trains three models on each, and reports which of them have learned a shortcut.
    """
    from assay.diagnosis.runs import diagnose_run
    from assay.runs.folder import RunFolder
    from assay.studies.run import run_study

    study = demo_study(output)
    with progress_bar() as bar:
        page = run_study(study, say, bar)
    for planned in study.runs:
        run = RunFolder(study.output / "runs" / planned.name)
        print_text(f"\n{planned.model}: {diagnose_run(run, run.dataset()).text}")
    print_text(f"\nThe report is in {page}")


def demo_study(output: Path) -> "Study":
    """Return the demo as a study."""
    from assay.config import Settings
    from assay.studies.study import study_from

    return study_from(Settings(DEMO), output)

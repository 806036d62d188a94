"""`assay demo`: every step on embedded data, in a few minutes; three models on three tasks.

On sums of even or odd digits the model that follows the rule reads the digits wrong. On a formula over bits the black
box is right until a combination is new, or one bit is changed. On robots all concepts show in one image.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import print_next, print_sentences, print_text, progress_bar, say
from assay.cli.verdicts import print_verdicts

if TYPE_CHECKING:
    from assay.lab import Study

DEMO = {
    "name": "Assay demo: sums of digits, a formula over bits, robots",
    "tasks": [
        {"task": "mnadd-evenodd", "n": 4000},
        {"task": "mnlogic", "n": 1000, "formula": "(a and b) or (c and not d)"},
        {"task": "robots", "n": 800, "size": 64},
    ],
    "models": [
        {"model": "blackbox", "epochs": 8},
        {"model": "cbm", "epochs": 15},
        {"model": "dpl", "epochs": 12, "entropy_weight": 1.0},
    ],
    "seeds": [0],
}


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")] = Path("demo"),
    words: Annotated[bool, typer.Option("--words", help="Also print why, and what to do next.")] = False,
) -> None:
    """Run every step on three small tasks.

    Makes three datasets, trains three models on each, and reports which of them have learned a shortcut.
    """
    from assay.diagnosis import diagnose_run
    from assay.lab import run_study, verdict_lines
    from assay.runs import RunFolder

    study = demo_study(output)
    with progress_bar() as bar:
        page = run_study(study, say, bar)
    lines = verdict_lines(study.runs, study.output)
    print_text("\nHas each model learned the concepts and the rule, or a shortcut?\n")
    print_verdicts(lines)
    for line in lines if words else ():
        run = RunFolder(line.run)
        print_text(f"\n{run.title}")
        print_sentences(diagnose_run(run, run.dataset()).sentences)
    print_text()
    worst = next((line for line in lines if line.verdict == "shortcut"), lines[0])
    print_next(
        [
            (f"assay view {output}", "look at the pictures, the models and their errors in a browser"),
            (f"assay diagnose {worst.run}", f"the verdict with its reasons, here {worst.model} on {worst.task}"),
            ("assay list tasks", "the other tasks; then: assay make TASK -o DATA"),
            ("assay import --help", "bring your own pictures"),
        ]
    )
    print_text(f"The report is in {page}")


def demo_study(output: Path) -> "Study":
    """Return the demo as a study."""
    from assay.base import Settings
    from assay.lab import study_from

    return study_from(Settings(DEMO), output)

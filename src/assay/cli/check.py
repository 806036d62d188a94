"""`assay check`: do the tasks in a file keep the contract of tasks?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import JsonFlag, print_json, print_table
from assay.errors import ConfigError


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="A Python file with one or more tasks.")],
    as_json: JsonFlag = False,
) -> None:
    """Check the tasks in a Python file.

    They are held to the laws that every task must keep, such as that rendering draws no random numbers. Exits with 1 if
    one is broken.
    """
    from assay.data.userfile import load_tasks
    from assay.testing import check_task

    tasks = load_tasks(file)
    if not tasks:
        raise ConfigError(f"{file.name} defines no task; a task is a subclass of assay.tasks.base.Task with a name")
    checks = {task.name: check_task(task()) for task in tasks}
    if as_json:
        print_json(
            {
                name: [{"law": c.law, "passed": c.passed, "fault": c.fault} for c in laws]
                for name, laws in checks.items()
            }
        )
    else:
        for name, laws in checks.items():
            print_table([name, ""], [[c.law, "holds" if c.passed else f"BROKEN: {c.fault}"] for c in laws])
    raise typer.Exit(0 if all(c.passed for laws in checks.values() for c in laws) else 1)

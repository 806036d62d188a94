"""`assay check`: do the tasks, models, metrics and findings in a file keep their contracts?"""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.base import ConfigError
from assay.cli.console import JsonFlag, print_json, print_table

if TYPE_CHECKING:
    from assay.testing import LawOutcome


def check(
    file: Annotated[str, typer.Argument(metavar="FILE.py", help="A Python file, or FILE.py:Name for one thing in it.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="A small dataset to try models on; by default one of the file's task.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check the tasks, models, metrics and findings in a Python file.

    They are held to the laws that all of their kind must keep, such as that rendering draws no random numbers, that the
    same seed gives the same answers, or that a finding has the numbers that it states. Exits with 1 if one is broken.
    """
    checks = _checks(file, data)
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


def _checks(reference: str, data: Path | None) -> "dict[str, list[LawOutcome]]":
    """Return the outcome of every law, by the name of what it is about."""
    from assay.base import load_file, split_reference
    from assay.diagnosis import FINDINGS
    from assay.metrics import METRICS
    from assay.models import MODELS
    from assay.tasks import TASKS
    from assay.testing import check_finding, check_metric, check_task

    path, wanted = split_reference(reference) or (Path(reference), None)
    loaded = load_file(path)
    chosen = {
        registry.kind: [
            registry.resolve(f"{path}:{name}")
            for name, entry in registry.defined_in(loaded).items()
            if wanted in (None, name, getattr(entry.load(), "__name__", None))
        ]
        for registry in (TASKS, MODELS, METRICS, FINDINGS)
    }
    if not any(chosen.values()):
        about = "task, model, metric or finding" + ("" if wanted is None else f" named {wanted!r}")
        raise ConfigError(f"{path.name} defines no {about}; see docs/extend.md, or begin with: assay new task NAME")
    checks = {name: check_task(TASKS[name]()) for name in chosen["task"]}
    checks |= _model_checks(chosen["model"], data, next(iter(TASKS.defined_in(loaded)), None))
    checks |= {name: check_metric(METRICS[name]) for name in chosen["metric"]}
    return checks | {name: check_finding(FINDINGS[name]) for name in chosen["finding"]}


def _model_checks(names: list[str], data: Path | None, task: str | None) -> "dict[str, list[LawOutcome]]":
    """Try models on a dataset, or else on a small one of the file's own task, or of a sample task."""
    from assay.dataset import Dataset
    from assay.tasks import TASKS
    from assay.testing import TwoSquares, check_model, small_dataset

    if not names:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        if data is not None:
            dataset = Dataset.open(data)
        else:
            dataset = small_dataset(TwoSquares() if task is None else TASKS[task](), Path(folder) / "data")
        return {name: check_model(name, dataset) for name in names}

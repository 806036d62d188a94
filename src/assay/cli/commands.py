"""`assay`: the entry point. Errors that the user can correct are one line, without a traceback."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from assay.base import (
    VERSION,
    AssayError,
    forget_files,
    hear_interrupts,
    needs_extras,
    stop_hearing_interrupts,
)
from assay.cli.catalogue import list_things, show
from assay.cli.copies import annotate, confound, export, import_data, push
from assay.cli.datasets import audit, count, make, pairs
from assay.cli.diagnosis import attribute, diagnose, intervene, leakage, score
from assay.cli.explanations import align, discover, probe, saliency
from assay.cli.installation import clean, doctor
from assay.cli.own_files import check, new
from assay.cli.pages import report, view
from assay.cli.runs import decode, mend, predict, train
from assay.cli.studies import app as study
from assay.cli.studies import demo, run
from assay.cli.suites import app as suite

Verb = Callable[..., None] | typer.Typer
GROUPS: dict[str, dict[str, tuple[Verb, *tuple[str, ...]]]] = {
    "Start": {
        "demo": (demo, "assay demo -o demo"),
        "list": (list_things, "assay list models"),
        "show": (show, "assay show mnadd-evenodd", "assay show data"),
        "doctor": (doctor, "assay doctor"),
        "clean": (clean, "assay clean", "assay clean decoded --yes"),
    },
    "Data": {
        "make": (
            make,
            "assay make mnadd-evenodd -o data -n 4000",
            "assay make clevr -o scenes -n 500 --set quality=draft",
        ),
        "import": (import_data, "assay import pictures -o mine --rule rule.yaml"),
        "annotate": (annotate, "assay annotate data -o noisy --set concept_noise=0.1"),
        "confound": (confound, "assay confound data -o marked --what watermark --with y --strength 0.95"),
        "pairs": (pairs, "assay pairs data -n 500"),
        "audit": (audit, "assay audit data"),
        "export": (export, "assay export data -o folder --to prolog"),
        "push": (push, "assay push data s3://bucket/data"),
    },
    "Train": {
        "train": (train, "assay train cbm data -o run --epochs 15", "assay train dpl data -o runs --seeds 0-4"),
        "mend": (
            mend,
            "assay mend run data -o mended --budget 200",
            "assay mend run -o mended --strategy random --set first=5",
        ),
        "predict": (predict, "assay predict run other-data -o transfer"),
        "decode": (decode, "assay decode run/predictions/test.parquet data -o decoded.parquet"),
        "run": (run, "assay run rsbench-table-2", "assay run study.yaml --plan"),
        "study": (study, "assay study list", "assay study fidelity rsbench-table-2"),
        "suite": (suite, "assay suite show", "assay suite make -o suite", "assay suite run cbm dpl -o suite --seeds 0"),
    },
    "Judge": {
        "score": (score, "assay score run", "assay score predictions.parquet data --json"),
        "diagnose": (diagnose, "assay diagnose run"),
        "count": (count, "assay count mnadd-evenodd", "assay count mnlogic --supervise a"),
        "intervene": (
            intervene,
            "assay intervene run --budget 0-3,max",
            "assay intervene run --source expert:0.8 -o page",
        ),
        "leakage": (leakage, "assay leakage run data"),
        "probe": (probe, "assay probe run data -o probed --method tcav"),
        "discover": (
            discover,
            "assay discover sae-topk run data -o found",
            "assay discover slots input data -o found --set slots=3",
        ),
        "saliency": (saliency, "assay saliency run", "assay saliency run data --method grad-cam -n 100 -o maps"),
        "align": (align, "assay align run data -o aligned --set zero=[knees]"),
        "attribute": (attribute, "assay attribute run"),
    },
    "Share": {
        "report": (report, "assay report run-a run-b -o report"),
        "view": (view, "assay view demo", "assay view data run --bundle site"),
        "new": (new, "assay new task my_task.py"),
        "check": (check, "assay check my_task.py"),
    },
}
"""The commands in groups, as `assay --help` lists them, each with the examples that its own help ends with."""


class CommandGroups(TyperGroup):
    """Lists the commands of `assay` in groups instead of one list."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group with its commands and what they do."""
        for title, names in GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, command.get_short_help_str(76)) for name, command in commands if command is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def examples_text(examples: Sequence[str]) -> str:
    r"""Return the end of a command's help, each example on a line of its own.

    >>> examples_text(["assay doctor"])
    'Example:\n\n\x08\n  assay doctor'
    """
    title = "Example" if len(examples) == 1 else "Examples"
    return f"{title}:\n\n\b\n" + "\n".join(f"  {line}" for line in examples)


app = typer.Typer(
    name="assay",
    help="Find out whether a model has learned the concepts and the rule, or a shortcut.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=CommandGroups,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(VERSION)
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find out whether a model has learned the concepts and the rule, or a shortcut."""


for name, (verb, *examples) in (pair for commands in GROUPS.values() for pair in commands.items()):
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, name=name, epilog=examples_text(examples))
    else:
        app.command(name, epilog=examples_text(examples))(verb)

# typer has no public name for the base of its usage errors
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
INTERRUPTED = 130
NO_PATH = ("embedded null byte", "Symlink loop")
"""What Python says of paths that no system call takes, wherever the path came from."""


def main() -> None:
    """Run the command line and exit: 0 fine, 1 a finding or failed run, 2 bad usage or bad input."""
    _require_output()
    try:
        hear_interrupts()
        forget_files()
        status = _run()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        if not _followed_an_interrupt(error):
            raise
        status = INTERRUPTED
    if status == INTERRUPTED:
        _fail("interrupted; what is finished is kept, run the same command again to go on", INTERRUPTED)
    stop_hearing_interrupts()
    sys.exit(status)


def _require_output() -> None:
    """Refuse a closed standard output: a file that is opened later would get its number, and what is printed."""
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w")
    if sys.stdout is None:
        _fail("standard output is closed", 2)


def _followed_an_interrupt(error: BaseException) -> bool:
    """Return whether an error was raised in the course of an interrupt, as by a lock that was being released."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _run() -> int | None:
    """Run the command and return its exit status."""
    try:
        with needs_extras("this"):
            status: int | None = app(sys.argv[1:] or ["--help"], prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
        return status
    except AssayError as error:
        _fail(str(error), error.exit_code)
    except USAGE_ERROR as error:
        _fail(_usage(error), 2)
    except (ValueError, RuntimeError) as error:
        if isinstance(error, UnicodeEncodeError):
            _fail(f"the name of a file is not UTF-8, and no record can hold it: {error.object!r:.200}", 2)
        if not str(error).startswith(NO_PATH):
            raise
        _fail(f"a name that no file can have: {error}", 2)
    except OSError as error:
        _close_output()
        _fail(f"cannot use {error.filename or 'the output'}: {error.strerror or error}", 2)


def _usage(error: Exception) -> str:
    """Return a usage error in one line, with the command that prints help."""
    where = getattr(getattr(error, "ctx", None), "command_path", "assay")
    message: str = getattr(error, "format_message", lambda: str(error))()
    return f"{message.rstrip('.')}; see '{where} --help'"


def _close_output() -> None:
    """Discard what is still to be printed, since standard output cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(message: str, status: int) -> NoReturn:
    stop_hearing_interrupts()
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(status)

"""`assay`: the entry point. Errors that the user can correct are one line, without a traceback."""

import os
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from assay.base import (
    VERSION,
    AssayError,
    MissingExtra,
    forget_files,
    hear_interrupts,
    is_optional,
    missing_extra,
    stop_hearing_interrupts,
)
from assay.cli.align import align
from assay.cli.annotate import annotate
from assay.cli.attribute import attribute
from assay.cli.audit import audit
from assay.cli.check import check
from assay.cli.clean import clean
from assay.cli.confound import confound
from assay.cli.count import count
from assay.cli.decode import decode
from assay.cli.demo import demo
from assay.cli.diagnose import diagnose
from assay.cli.discover import discover
from assay.cli.doctor import doctor
from assay.cli.export import export
from assay.cli.groups import EXAMPLES, CommandGroups, examples_text
from assay.cli.import_data import import_data
from assay.cli.intervene import intervene
from assay.cli.leakage import leakage
from assay.cli.list import list_things
from assay.cli.make import make
from assay.cli.mend import mend
from assay.cli.new import new
from assay.cli.pairs import pairs
from assay.cli.predict import predict
from assay.cli.probe import probe
from assay.cli.push import push
from assay.cli.report import report
from assay.cli.run import run
from assay.cli.saliency import saliency
from assay.cli.score import score
from assay.cli.show import show
from assay.cli.study import app as study
from assay.cli.suite import app as suite
from assay.cli.train import train
from assay.cli.view import view

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


VERBS: tuple[Callable[..., None], ...] = (
    *(list_things, import_data, show, make, train, predict, decode, probe, score, diagnose, report, run, check, audit),
    *(count, pairs, demo, annotate, confound, export, push, leakage, intervene, align, attribute),
    *(discover, saliency, mend),
    *(new, view, doctor, clean),
)
NAMES = {list_things: "list", import_data: "import"}
"""Commands whose name is a word of Python."""
for verb in VERBS:
    name = NAMES.get(verb, verb.__name__)
    app.command(name, epilog=examples_text(EXAMPLES[name]))(verb)
app.add_typer(study, name="study", epilog=examples_text(EXAMPLES["study"]))
app.add_typer(suite, name="suite", epilog=examples_text(EXAMPLES["suite"]))

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
        status: int | None = app(sys.argv[1:] or ["--help"], prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
        return status
    except AssayError as error:
        _fail(str(error), error.exit_code)
    except USAGE_ERROR as error:
        _fail(_usage(error), 2)
    except ModuleNotFoundError as error:
        if not is_optional(error.name):
            raise
        _fail(str(missing_extra("this", str(error.name))), MissingExtra.exit_code)
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

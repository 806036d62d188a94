"""`assay`: the entry point. Errors that are the user's to mend are one line, without a traceback."""

import os
import sys

import typer

from assay.cli.check import check
from assay.cli.demo import demo
from assay.cli.diagnose import diagnose
from assay.cli.list import list_things
from assay.cli.make import make
from assay.cli.predict import predict
from assay.cli.report import report
from assay.cli.run import run
from assay.cli.score import score
from assay.cli.show import show
from assay.cli.train import train
from assay.errors import AssayError, MissingExtra

app = typer.Typer(
    name="assay",
    help="Tell whether a model has learned the concepts and the rule, or a shortcut.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("list")(list_things)
for verb in (show, make, train, predict, score, diagnose, report, run, check, demo):
    app.command()(verb)

EXTRAS = {"torch": "train", "safetensors": "train"}


def main() -> None:
    """Run the command line and exit: 0 fine, 1 a finding or failed run, 2 bad usage or bad input."""
    try:
        app()
    except AssayError as error:
        _fail(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        missing = MissingExtra(f"this needs {error.name}: pip install 'assay[{extra}]'")
        _fail(str(missing), missing.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted; what is finished is kept, run the same command again to go on", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _fail(message: str, status: int) -> None:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(status)

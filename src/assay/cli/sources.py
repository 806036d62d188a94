"""Flags for the files and folders of source images that tasks declare, such as `--digits`."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.tasks import TASKS

PLACE = "sources"
"""The parameter of a verb that the flags stand in for."""


def with_source_flags(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb with a flag for each declared source; those given come as the dictionary `sources`."""
    signature = inspect.signature(verb)
    flags = [_flag(name, about) for name, about in TASKS.sources.items()]

    @functools.wraps(verb)
    def run(**arguments: Any) -> None:
        paths = {flag.name: arguments.pop(flag.name) for flag in flags}
        verb(**arguments, sources=paths)

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters += flags if parameter.name == PLACE else [parameter]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _flag(name: str, about: str) -> inspect.Parameter:
    option = Annotated[Path | None, typer.Option(f"--{name}", help=about)]
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=option)

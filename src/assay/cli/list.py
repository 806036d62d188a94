"""`assay list`: what there is."""

from typing import Annotated

import typer

from assay.cli.console import JsonFlag, print_json, print_table
from assay.errors import UnknownName, suggestion
from assay.registry import Registry


def registries() -> dict[str, Registry]:
    """Return every registry by the plural of its kind."""
    from assay.data.exports import EXPORTS
    from assay.metrics import METRICS
    from assay.models import BACKBONES, MODELS
    from assay.tasks import TASKS

    return {"tasks": TASKS, "models": MODELS, "metrics": METRICS, "backbones": BACKBONES, "exports": EXPORTS}


def list_things(
    kind: Annotated[
        str | None, typer.Argument(help="tasks, models, metrics, backbones or exports; by default all.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List tasks, models, metrics, backbones and the forms for 'assay export'."""
    known = registries()
    if kind is not None and kind not in known:
        raise UnknownName(f"nothing to list under {kind!r}{suggestion(kind, known)}")
    chosen = known if kind is None else {kind: known[kind]}
    if as_json:
        listed = {
            name: [{"name": entry, "summary": held.entry(entry).summary} for entry in held]
            for name, held in chosen.items()
        }
        print_json(listed if kind is None else listed[kind])
        return
    for name, held in chosen.items():
        print_table([name, ""], [[entry, held.entry(entry).summary] for entry in held])

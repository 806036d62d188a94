"""`assay list`: the registered tasks, models, metrics, backbones, discovery methods, strategies and export formats."""

from typing import Annotated

import typer

from assay.cli.console import JsonFlag, print_json, print_table, say
from assay.errors import UnknownName, suggestion
from assay.registry import Registry


def registries() -> dict[str, Registry]:
    """Return every registry by the plural of its kind."""
    from assay.data.exports import EXPORTS
    from assay.mending import STRATEGIES
    from assay.metrics import METRICS
    from assay.models import BACKBONES, MODELS
    from assay.models.discovery import METHODS as DISCOVERY
    from assay.tasks import TASKS

    kinds = {"tasks": TASKS, "models": MODELS, "metrics": METRICS, "backbones": BACKBONES}
    return {**kinds, "discovery": DISCOVERY, "strategies": STRATEGIES, "exports": EXPORTS}


def list_things(
    kind: Annotated[
        str | None,
        typer.Argument(help="tasks, models, metrics, backbones, discovery, strategies or exports; default: all."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List tasks, models, metrics, backbones, discovery methods, strategies of mending and export formats."""
    known = registries()
    if kind is not None and kind not in known:
        raise UnknownName(f"nothing to list under {kind!r}{suggestion(kind, known)}")
    chosen = known if kind is None else {kind: known[kind]}
    if as_json:
        summaries = {
            name: [{"name": entry, "summary": registry.entry(entry).summary} for entry in registry]
            for name, registry in chosen.items()
        }
        print_json(summaries if kind is None else summaries[kind])
        return
    for name, registry in chosen.items():
        print_table([name, ""], [[entry, registry.entry(entry).summary] for entry in registry])
    for registry in chosen.values():
        for package, why in registry.broken.items():
            say(f"left out: {package}: {why}")

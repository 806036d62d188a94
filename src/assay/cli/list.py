"""`assay list`: what is registered, by kind; and the findings and thresholds of the diagnosis."""

from typing import Annotated, Any

import typer

from assay.base import Registry, UnknownName, suggestion
from assay.cli.console import JsonFlag, print_json, print_table, say

JUDGING = ("findings", "thresholds")
"""What is listed only where it is asked for: the checks of the diagnosis take a second to import."""


def registries() -> dict[str, Registry]:
    """Return every registry by the plural of its kind, but that of findings."""
    from assay.exchange import EXPORTS
    from assay.lab import STRATEGIES
    from assay.metrics import METRICS
    from assay.models import BACKBONES, MODELS
    from assay.models import METHODS as DISCOVERY
    from assay.tasks import TASKS

    kinds = {"tasks": TASKS, "models": MODELS, "metrics": METRICS, "backbones": BACKBONES}
    return {**kinds, "discovery": DISCOVERY, "strategies": STRATEGIES, "exports": EXPORTS}


def registry_of(kind: str) -> Registry | None:
    """Return the registry of a kind by its plural, None if there is none."""
    if kind == "findings":
        from assay.diagnosis import FINDINGS

        return FINDINGS
    return registries().get(kind)


def list_things(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="tasks, models, metrics, backbones, discovery, strategies, exports, findings or thresholds; "
            "default: all but the last two."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List tasks, models, metrics, backbones, discovery methods, strategies of mending and export formats.

    Also the findings of the diagnosis, the gravest first, and its thresholds, which `assay diagnose --set` changes.
    """
    if kind in JUDGING:
        _list_judging(kind, as_json)
        return
    known = registries()
    if kind is not None and kind not in known:
        raise UnknownName(f"nothing to list under {kind!r}{suggestion(kind, [*known, *JUDGING])}")
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
        _say_broken(registry)
    if kind is None:
        say("of the diagnosis: assay list findings, assay list thresholds")


def _list_judging(kind: str, as_json: bool) -> None:
    rows = _findings() if kind == "findings" else _thresholds()
    if as_json:
        print_json(rows)
        return
    print_table([kind, *list(rows[0])[1:]], [[str(value) for value in row.values()] for row in rows])
    if kind == "findings":
        from assay.diagnosis import FINDINGS

        _say_broken(FINDINGS)


def _findings() -> list[dict[str, Any]]:
    from assay.diagnosis import known_checks

    return [{"name": check.name, "tone": check.tone, "says": check.summary} for check in known_checks()]


def _thresholds() -> list[dict[str, Any]]:
    from assay.diagnosis import described

    names = ("name", "value", "decides", "chosen by")
    return [dict(zip(names, (name, round(value, 4), *why), strict=True)) for name, value, *why in described()]


def _say_broken(registry: Registry) -> None:
    for package, why in registry.broken.items():
        say(f"left out: {package}: {why}")

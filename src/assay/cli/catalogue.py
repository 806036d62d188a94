"""`assay list` and `assay show`: what there is, and what one thing is like."""

from typing import Annotated

import typer

from assay.cli.console import ConfigOption, JsonFlag, SetOption, print_facts, settings_from


def list_things(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="tasks, models, metrics, backbones, discovery, strategies, exports, findings, thresholds, studies or "
            "suites; default: all but the last four."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List tasks, models, metrics, backbones, discovery methods, strategies of mending and export formats.

    Also the findings of the diagnosis, the gravest first, and its thresholds, which `assay diagnose --set` changes.
    """
    from assay.api import list as list_kind

    print_facts(list_kind(kind), as_json)


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.py|DATA",
            help="The name of a task, model, metric, backbone or finding, a file of yours, or a dataset folder.",
        ),
    ],
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a task, a model, a metric, a backbone, a finding or a dataset.

    For a task: its concepts, rule, splits, settings, and how many reasoning shortcuts its training labels allow. For a
    finding: its null hypothesis, statistic, sentences, thresholds, and the findings that explain the same better.
    """
    from assay.api import show as show_thing

    print_facts(show_thing(name, config=settings_from(settings, config)), as_json)

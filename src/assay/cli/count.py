"""`assay count`: how many reasoning shortcuts do the training labels allow?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ConfigOption,
    JsonFlag,
    SetOption,
    print_json,
    print_table,
    print_text,
    settings_from,
)

if TYPE_CHECKING:
    from assay.counting import ReadingCount
    from assay.logic import Value

MOST_ENTRIES = 400
"""Of more, the search for shortcuts near to the right reading takes minutes."""


def count(
    source: Annotated[
        str, typer.Argument(metavar="TASK|DATASET|FILE.cnf", help="A task or FILE.py, a dataset folder, a CNF.")
    ],
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    family: Annotated[
        str,
        typer.Option(
            help="Readings to count: free, per-concept, shared, per-object, per-world, block, block-permutation."
        ),
    ] = "shared",
    support: Annotated[
        str, typer.Option(help="Worlds: full, train, random:N, or a list such as 06,28 or 111.")
    ] = "train",
    supervise: Annotated[str, typer.Option(help="Supervised concepts, as a,b or with values a=3,4;b=0.")] = "",
    budget: Annotated[float, typer.Option(min=0, help="Time limit in seconds; after it, bounds are printed.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="The seed of splits and of random worlds.")] = 0,
    check: Annotated[str | None, typer.Option(help="Also count with ganak or approxmc.")] = None,
    write: Annotated[Path | None, typer.Option(help="Write the counting problem as DIMACS, with a projection.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Count the reasoning shortcuts that training labels allow.

    A reasoning shortcut is a wrong reading of the concepts that keeps every label. Where there is none, only the right
    reading is left, and the concepts are identified. Concepts that the rule does not use are counted apart.
    """
    from assay.api import count as count_in
    from assay.api import recount

    result = count_in(
        source,
        family=family,
        support=support,
        supervise=_parse_supervision(supervise),
        seconds=budget,
        seed=seed,
        config=settings_from(settings, config),
    )
    extra = recount(result, check, write)
    if as_json:
        print_json({"source": source, "support": support, **result.to_dict(), **extra})
        return
    _print(result)
    for key, value in extra.items():
        print_text(f"{key}: {value}")


def _parse_supervision(text: str) -> "dict[str, bool | Sequence[Value]]":
    """Read `a,b` or `a=3,4;b=0`."""
    from assay.base import from_pairs

    supervised: dict[str, bool | Sequence[Value]] = {}
    for piece in filter(None, text.split(";")):
        name, equals, values = piece.partition("=")
        if equals:
            supervised[name] = list(from_pairs([f"v=[{values}]"], "--supervise").values["v"])
        else:
            supervised |= dict.fromkeys(filter(None, name.split(",")), True)
    return supervised


def _print(result: "ReadingCount") -> None:
    from assay.counting import numeral, numerals

    where = "every world" if result.worlds is None else f"{result.worlds:,} worlds"
    how = f"{result.family}, {where}; {result.method}, {result.seconds:.2f} s"
    ending = "" if result.shortcuts == (1, 1) else "s"
    print_text(f"{numerals(*result.shortcuts)} reasoning shortcut{ending}: {result.text} ({how})")
    if result.unused:
        print_text(result.unused_text)
    if result.readings is None or result.readings.total == 1:
        return
    shares = result.readings.identifiability()
    print_table(["entry", "right in"], [[entry.text, f"{100 * share:.0f} %"] for entry, share in shares])
    if len(shares) > MOST_ENTRIES:
        print_text(f"shortcuts, and what to supervise, are shown of at most {MOST_ENTRIES} entries")
        return
    for reading in result.readings.closest():
        print_text(f"shortcut: {result.readings.text(reading)}")
    steps = [f"{step.supervised} ({numeral(step.left)} left)" for step in result.readings.plan()]
    print_text("supervise next: " + ", then ".join(steps))

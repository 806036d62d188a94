"""`assay count`: how many reasoning shortcuts do the training labels allow?"""

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
    progress_bar,
    settings_from,
)
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.arrays import Codes
    from assay.concepts import Value
    from assay.config import Settings
    from assay.counting import ReadingCount
    from assay.logic import Knowledge

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
    from assay.counting import check_reading_class, count_readings

    chosen = check_reading_class(family)
    knowledge, worlds = _worlds(source, settings_from(settings, config), support, seed)
    supervised = _parse_supervision(supervise, knowledge)
    with progress_bar() as bar:
        bar("counting reasoning shortcuts", 0, 0, f"at most {budget:g} s")
        result = count_readings(knowledge, chosen, worlds, supervised, budget)
    extra = _other_forms(result, check, write)
    if as_json:
        print_json({"source": source, "support": support, **result.to_dict(), **extra})
        return
    _print(result)
    for key, value in extra.items():
        print_text(f"{key}: {value}")


def _other_forms(result: "ReadingCount", check: str | None, write: Path | None) -> dict[str, str | int]:
    """Count with another engine and write the clauses, if asked to."""
    from assay.counting import count_with, encode_problem
    from assay.files import write_atomically

    facts: dict[str, str | int] = {}
    if (check or write) and result.readings is None:
        raise ConfigError(
            f"--check and --write need an exact count of a table of entries, not family {result.family!r}"
        )
    if write is not None and result.readings is not None:
        write_atomically(write, encode_problem(result.readings.problem).to_dimacs().encode())
        facts["dimacs"] = str(write)
    if check is not None and result.readings is not None:
        facts[check] = count_with(check, result.readings.problem).count
    return facts


def _worlds(source: str, settings: "Settings", support: str, seed: int) -> "tuple[Knowledge, Codes | None]":
    """Return the knowledge and the worlds of the support, None for all."""
    from assay.data import parse_worlds, random_worlds, training_support

    if source.endswith(".cnf"):
        from assay.logic import knowledge_from_cnf, parse_dimacs

        path = Path(source)
        if not path.is_file():
            raise ConfigError(f"no file {source!r}")
        knowledge = knowledge_from_cnf(parse_dimacs(path.read_text()))
        train = None
    else:
        knowledge, train = training_support(source, settings, seed)
    if support == "full" or (support == "train" and train is None):
        return knowledge, None
    if support == "train":
        return knowledge, train
    number = support.removeprefix("random:")
    if number.isdecimal() and (support != number or len(number) != len(knowledge.space)):
        return knowledge, random_worlds(knowledge, int(number), seed)
    return knowledge, parse_worlds(knowledge, support)


def _parse_supervision(text: str, knowledge: "Knowledge") -> "dict[str, list[Value] | None]":
    """Read `a,b` or `a=3,4;b=0`."""
    from assay.config import from_pairs

    supervised: dict[str, list[Value] | None] = {}
    for piece in filter(None, text.split(";")):
        name, equals, values = piece.partition("=")
        if equals:
            knowledge.space.place(name)
            supervised[name] = list(from_pairs([f"v=[{values}]"], "--supervise").values["v"])
        else:
            for concept in filter(None, name.split(",")):
                knowledge.space.place(concept)
                supervised[concept] = None
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

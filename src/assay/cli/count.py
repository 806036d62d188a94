"""`assay count`: how many readings of the concepts keep every training label right?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import ConfigOption, JsonFlag, SetOption, print_json, print_table, print_text, settings_from
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.arrays import Codes
    from assay.concepts import Value
    from assay.counting.count import ReadingCount
    from assay.logic.knowledge import Knowledge


def count(
    source: Annotated[str, typer.Argument(metavar="TASK|DATASET|FILE.cnf", help="A task, a dataset folder, a CNF.")],
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    family: Annotated[
        str, typer.Option("--family", help="free, per-concept, shared, per-object, block, block-permutation.")
    ] = "shared",
    support: Annotated[
        str, typer.Option("--support", help="full, train, a number of random worlds, or a list such as 06,28.")
    ] = "train",
    supervise: Annotated[
        str, typer.Option("--supervise", help="Concepts shown, as a,b or with values a=3,4;b=0.")
    ] = "",
    budget: Annotated[float, typer.Option("--budget", min=0, help="Seconds, after which the answer is bounds.")] = 60.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the splits and of random worlds.")] = 0,
    check: Annotated[str | None, typer.Option("--check", help="Also count with ganak or approxmc.")] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the problem as DIMACS, with a projection.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Count the readings that keep the labels: 1 means that the concepts are identified, more that shortcuts exist."""
    from assay.counting.count import count_readings
    from assay.counting.reading_classes import check_reading_class

    chosen = check_reading_class(family)
    knowledge, worlds = _worlds(source, settings_from(settings, config), support, seed)
    found = count_readings(knowledge, chosen, worlds, _shown(supervise, knowledge), budget)
    extra = _other_forms(found, check, write)
    if as_json:
        print_json({"source": source, "support": support, **found.to_dict(), **extra})
        return
    _print(found)
    for key, value in extra.items():
        print_text(f"{key}: {value}")


def _other_forms(found: "ReadingCount", check: str | None, write: Path | None) -> dict[str, str | int]:
    """Count with another engine and write the clauses, if asked to."""
    from assay.counting.backends import count_with, encode_problem
    from assay.files import write_atomically

    made: dict[str, str | int] = {}
    if (check or write) and found.readings is None:
        raise ConfigError(f"--check and --write need an exact count of a table of entries, not family {found.family!r}")
    if write is not None and found.readings is not None:
        write_atomically(write, encode_problem(found.readings.problem).to_dimacs().encode())
        made["dimacs"] = str(write)
    if check is not None and found.readings is not None:
        made[check] = count_with(check, found.readings.problem).count
    return made


def _worlds(source: str, settings: object, support: str, seed: int) -> "tuple[Knowledge, Codes | None]":
    """Return the knowledge and the worlds of the support, None for all."""
    from assay.config import Settings
    from assay.data.support import listed_worlds, random_worlds, training_support

    assert isinstance(settings, Settings)
    if source.endswith(".cnf"):
        from assay.logic.cnf import knowledge_from_cnf
        from assay.logic.dimacs import parse_dimacs

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
    if support.isdigit() and not support.startswith("0"):
        return knowledge, random_worlds(knowledge, int(support), seed)
    return knowledge, listed_worlds(knowledge, support)


def _shown(text: str, knowledge: "Knowledge") -> "dict[str, list[Value] | None]":
    """Read `a,b` or `a=3,4;b=0`."""
    from assay.config import from_pairs

    shown: dict[str, list[Value] | None] = {}
    for piece in filter(None, text.split(";")):
        name, equals, values = piece.partition("=")
        if equals:
            knowledge.space.place(name)
            shown[name] = list(from_pairs([f"v=[{values}]"], "--supervise").values["v"])
        else:
            for one in filter(None, name.split(",")):
                knowledge.space.place(one)
                shown[one] = None
    return shown


def _print(found: "ReadingCount") -> None:
    number = f"{found.total:,}" if found.total is not None else f"{found.low:,} to {found.high:,}"
    where = "every world" if found.worlds is None else f"{found.worlds:,} worlds"
    print_text(f"{number} optimal readings ({found.family}, {where}; {found.method}, {found.seconds:.2f} s)")
    if found.readings is None or found.total is None or found.total == 1:
        return
    shares = found.readings.identifiability()
    print_table(["entry", "read right in"], [[entry.text, f"{100 * share:.0f} %"] for entry, share in shares])
    for reading in found.readings.closest():
        print_text(f"shortcut: {found.readings.text(reading)}")
    steps = [f"{step.supervised} ({step.left:,} left)" for step in found.readings.plan()]
    print_text("show next: " + ", then ".join(steps))

"""`assay make`, `audit`, `count` and `pairs`: datasets, what they claim, and the shortcuts that their labels allow."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.base import ConfigError
from assay.cli.console import (
    ClusterOption,
    ConfigOption,
    DataArgument,
    JsonFlag,
    SetOption,
    TaskFileOption,
    print_json,
    print_table,
    print_text,
    say,
    settings_from,
)
from assay.tasks import TASKS

FLAGS = {"n": "-n", "output_dir": "-o"}
"""Options that are not called as the settings are that they give."""


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


@with_source_flags
def make(
    task: Annotated[str, typer.Argument(help="A task's name, or FILE.py, or FILE.py:Name.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The output folder, or s3://bucket/folder.")
    ] = None,
    train: Annotated[
        int | None, typer.Option("-n", min=1, help="Training examples; other splits in proportion.")
    ] = None,
    split: Annotated[list[str], typer.Option("--split", metavar="NAME=SIZE", help="The size of a split.")] = [],  # noqa: B006
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="The random seed; by default 0.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Number of processes; by default as many as pay off.")
    ] = None,
    cluster: Annotated[str | None, ClusterOption] = None,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    sources: Mapping[str, Path | None] = {},
    archive: Annotated[str | None, typer.Option("--archive", help="Also pack it: zip, tar.gz or tar.bz2.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a dataset of a task. The same command resumes one that was stopped."""
    from assay.api import make_dataset
    from assay.base import Settings, from_pairs

    options = {"n": train, "seed": seed, **sources, "output_dir": output, "archive": archive, "workers": workers}
    options["cluster"] = cluster
    chosen = {key: str(x) if isinstance(x, Path) else x for key, x in options.items() if x is not None}
    given = Settings(chosen, {key: FLAGS.get(key, f"--{key}") for key in chosen})
    if split:
        given = given.merge(Settings({"splits": from_pairs(split, "--split").values}, {"splits": "--split"}))
    base = settings_from(settings, config)
    if not base.merge(given).values.get("output_dir"):
        raise ConfigError("no output folder; give -o DIR")
    outcome = make_dataset(task, None, base, given, say=say)
    manifest, made = outcome.manifest, outcome.made
    rows = sum(part.size for part in outcome.recipe.splits) + outcome.recipe.pairs
    packed = None if outcome.archive is None else str(outcome.archive)
    if as_json:
        sizes = {part.name: part.size for part in manifest.splits}
        timing = {"seconds": outcome.seconds, "cpu_seconds": outcome.cpu_seconds}
        place = {"folder": str(outcome.folder), "fingerprint": manifest.fingerprint}
        facts = {**place, "examples": rows, "made": made}
        sizes["pairs"] = manifest.pairs.size
        print_json({**facts, "splits": sizes, **timing, "archive": packed})
        return
    rows += manifest.pairs.size - outcome.recipe.pairs  # not every world can be changed
    kept = f"; {rows - made:,} were there" if made < rows else ""
    speed = f" ({made / max(outcome.cpu_seconds, 1e-9):,.0f} per CPU second)"
    rate = "" if base.merge(given).values.get("cluster") else speed
    say(f"made {made:,} examples in {outcome.seconds:.1f} s{rate}{kept}")
    say(f"{outcome.folder}  fingerprint {manifest.fingerprint}" + (f"  archive {packed}" if packed else ""))


def audit(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or a folder with images and a table concepts.csv.")],
    check: Annotated[list[str], typer.Option(help="Run only this check; can be repeated.")] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    keep: Annotated[
        bool, typer.Option("--write/--no-write", help="Write audit.json and a section of the dataset card.")
    ] = True,
    as_json: JsonFlag = False,
) -> None:
    """Check that a dataset is what it claims to be.

    Checks labels, whether concepts determine them, balance, splits, sources, duplicates, visibility, nuisances and
    ceilings. Exits with 1 if one fails; what cannot be checked is listed as such, and is no failure.
    """
    from assay.api import audit as examine

    outcome = examine(data, check, write=keep, config=settings_from(settings, None))
    if as_json:
        print_json(outcome.to_dict())
    else:
        rows = [[finding.check, finding.status, finding.text] for finding in outcome.results]
        print_table(["check", "outcome", ""], rows)
        say(f"{data}: {outcome.text}")
    raise typer.Exit(1 if outcome.failed else 0)


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
    from assay.base import write_atomically

    result = count_in(
        source,
        family=family,
        support=support,
        supervise=_parse_supervision(supervise),
        seconds=budget,
        seed=seed,
        config=settings_from(settings, config),
    )
    extra: dict[str, str | int] = {}
    if write is not None:
        write_atomically(write, result.to_dimacs().encode())
        extra["dimacs"] = str(write)
    if check is not None:
        extra[check] = result.count_again(check)
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


def pairs(
    data: DataArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A Parquet file, instead of the dataset's split `pairs`.")
    ] = None,
    count: Annotated[int | None, typer.Option("-n", min=1, help="How many; by default as many as before.")] = None,
    split: Annotated[str, typer.Option("--split", help="With -o: the split whose worlds are changed.")] = "test",
    do: Annotated[
        list[str],
        typer.Option(
            "--do", help="With -o, instead: one of the task's interventions, or CONCEPT=VALUE; can be repeated."
        ),
    ] = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    task_file: TaskFileOption = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Render counterfactual worlds, with one concept changed.

    `assay make` writes those of the test split as the split `pairs`; this command renders that split again, or adds it
    to an older dataset. Models that `assay train` trains have predictions for it. For any other model, put predictions
    for `test` and `pairs` into FOLDER/predictions/test.parquet and pairs.parquet: then `assay diagnose FOLDER DATA`
    reports counterfactual sensitivity and invariance.

    With `-o`, the worlds of any split before and after a change go to a file of their own; with `--do` all worlds that
    an intervention applies to are changed, whether the task would sample the outcome or not.
    """
    from assay.api import load
    from assay.api import pairs as draw_pairs

    values = settings_from(settings, None)
    found = draw_pairs(data, output, n=count, split=split, do=do, redraw=True, config=values)
    if output is None:
        part, fingerprint = load(data).manifest.pairs, found.fingerprint
        if as_json:
            print_json({"folder": str(data), "fingerprint": fingerprint, "pairs": part.size})
            return
        say(f"{part.size} worlds of split {part.split} with one concept changed")
        say(f"{data}  split pairs  fingerprint {fingerprint}")
        return
    number = len(found) // 2
    if as_json:
        print_json({"file": str(output), "split": found.name, "fingerprint": found.fingerprint, "pairs": number})
        return
    say(f"{number} pairs; rows {number} and up are the changed worlds")
    say(f"{output}  split {found.name}  fingerprint {found.fingerprint}")

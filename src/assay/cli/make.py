"""`assay make`: write a dataset."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.console import ConfigOption, JsonFlag, SetOption, print_json, progress_bar, say, settings_from
from assay.config import Settings, from_pairs
from assay.errors import ConfigError

OWN = {"output_dir", "compression", "archive", "workers"}


def make(
    task: Annotated[str, typer.Argument(help="A task's name, or a file my_task.py.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder to write.")] = None,
    train: Annotated[
        int | None, typer.Option("-n", min=1, help="Training examples; other splits in proportion.")
    ] = None,
    split: Annotated[list[str], typer.Option("--split", metavar="NAME=SIZE", help="The size of a split.")] = [],  # noqa: B006
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of all randomness; by default 0.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; by default as many as pay.")
    ] = None,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    digits: Annotated[Path | None, typer.Option("--digits", help="A folder with the idx files of MNIST.")] = None,
    archive: Annotated[str | None, typer.Option("--archive", help="Also pack it: zip, tar.gz or tar.bz2.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make a dataset of a task. A run that was stopped goes on where it was."""
    from assay.data.archive import archive as pack
    from assay.data.make import default_workers
    from assay.data.make import make as write
    from assay.data.recipe import recipe_from

    given = settings_from(settings, config).merged(_options(train, split, seed, digits))
    own = given.renamed({"compression": "archive"}).only(OWN).values
    folder = output or (Path(own["output_dir"]) if "output_dir" in own else None)
    if folder is None:
        raise ConfigError("no output folder; give -o DIR")
    recipe = recipe_from(task, given.without(OWN))
    rows = sum(part.size for part in recipe.splits)
    recipe.task.sources()  # read before the clock starts, so that the rate is that of making examples
    started, cpu, done = time.perf_counter(), time.process_time(), 0
    with progress_bar() as bar:

        def count(more: int) -> None:
            nonlocal done
            done += more
            bar(f"making {task}", done, rows)

        manifest = write(recipe, folder, workers or own.get("workers") or default_workers(rows), count)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    form = archive or own.get("archive")
    packed = str(pack(folder, form)) if form else None
    if as_json:
        sizes = {part["name"]: part["size"] for part in manifest["splits"]}
        timing = {"seconds": seconds, "cpu_seconds": cpu}
        facts = {"folder": str(folder), "fingerprint": manifest["fingerprint"], "examples": rows, "splits": sizes}
        print_json({**facts, **timing, "archive": packed})
        return
    say(f"made {rows:,} examples in {seconds:.1f} s ({rows / max(cpu, 1e-9):,.0f} per CPU second)")
    say(f"{folder}  fingerprint {manifest['fingerprint']}" + (f"  archive {packed}" if packed else ""))


def _options(train: int | None, split: list[str], seed: int | None, digits: Path | None) -> Settings:
    """Return the options that are settings of their own."""
    values: dict[str, Any] = {"n": train, "seed": seed, "digits": None if digits is None else str(digits)}
    flags = {"n": "-n", "seed": "--seed", "digits": "--digits"}
    chosen = {key: value for key, value in values.items() if value is not None}
    if split:
        chosen["splits"] = dict(from_pairs(split, "--split").values)
    return Settings(chosen, {key: flags.get(key, "--split") for key in chosen})

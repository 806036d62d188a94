"""`assay make`: write a dataset."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import (
    ClusterOption,
    ConfigOption,
    JsonFlag,
    SetOption,
    print_json,
    progress_bar,
    say,
    settings_from,
)
from assay.cli.sources import with_source_flags
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.cli.make_settings import Output
    from assay.data import Folder, Recipe

LONG = 60.0
"""From how many seconds on an estimate is printed first."""
RSBENCH = {"compression": "archive", "n_samples": "n"}


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
    from assay.cli.make_settings import Output, given_options, given_sizes
    from assay.config import validate
    from assay.data import Cluster, default_workers, recipe_from
    from assay.data import archive as pack
    from assay.data import make as write

    base = settings_from(settings, config).rename_keys(RSBENCH)
    options = {"n": train, "seed": seed, **sources, "output_dir": output, "archive": archive, "workers": workers}
    options["cluster"] = cluster
    given = base.merge(given_options(options)).merge(given_sizes(split, base))
    own = validate(Output, given.only(Output.model_fields))
    if not own.output_dir:
        raise ConfigError("no output folder; give -o DIR")
    folder = _folder(own)
    recipe = recipe_from(task, given.without(Output.model_fields))
    rows = sum(part.size for part in recipe.splits) + recipe.pairs
    pool = Cluster(own.cluster) if own.cluster else None
    if pool:
        say(f"a cluster of {pool.processors} processors")  # one that is not there leaves no folder
    recipe.task.sources()  # read before the clock starts, so that the rate is that of making examples
    workers = own.workers or default_workers(recipe)
    if not pool:
        _say_long(recipe, rows, workers)
    started, cpu, done = time.perf_counter(), _cpu_seconds(), list[int]()
    with progress_bar() as bar:

        def count(more: int) -> None:
            done.append(more)
            bar(f"making {task}", sum(done), rows)

        manifest = write(recipe, folder, workers, count, pool)
    seconds, cpu = time.perf_counter() - started, _cpu_seconds() - cpu
    made = sum(done[1:])  # the first count is of what was there
    packed = str(pack(folder, own.archive)) if own.archive and isinstance(folder, Path) else None
    if as_json:
        sizes = {part.name: part.size for part in manifest.splits}
        timing = {"seconds": seconds, "cpu_seconds": cpu}
        facts = {"folder": str(folder), "fingerprint": manifest.fingerprint, "examples": rows, "made": made}
        sizes["pairs"] = manifest.pairs.size
        print_json({**facts, "splits": sizes, **timing, "archive": packed})
        return
    rows += manifest.pairs.size - recipe.pairs  # not every world can be changed
    kept = f"; {rows - made:,} were there" if made < rows else ""
    rate = "" if pool else f" ({made / max(cpu, 1e-9):,.0f} per CPU second)"
    say(f"made {made:,} examples in {seconds:.1f} s{rate}{kept}")
    say(f"{folder}  fingerprint {manifest.fingerprint}" + (f"  archive {packed}" if packed else ""))


def _say_long(recipe: "Recipe", rows: int, workers: int) -> None:
    """Say how long making will take, where that is long enough to be told before."""
    from assay.data import seconds_per_example
    from assay.progress import duration

    try:
        each = seconds_per_example(recipe)
    except ModuleNotFoundError:  # making says better what is missing
        return
    if each * rows / workers > LONG:
        whole = duration(each * rows / workers)
        processes = "1 process" if workers == 1 else f"{workers} processes"
        say(f"{rows:,} pictures at {each:.2g} s each: about {whole} with {processes}; fewer with -n, such as -n 200")


def _folder(own: "Output") -> "Folder":
    """Return where the dataset goes."""
    from assay.data import folder_at

    folder = folder_at(own.output_dir or "")
    if own.archive and not isinstance(folder, Path):
        raise ConfigError(f"--archive packs folders of this machine, not {str(folder)!r}")
    if own.cluster and own.workers:
        raise ConfigError("give --workers or --cluster, not both")
    return folder


def _cpu_seconds() -> float:
    """Return the processor time of this process and of its workers that have ended."""
    return sum(os.times()[:4])

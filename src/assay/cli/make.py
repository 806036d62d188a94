"""`assay make`: write a dataset."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from assay.base import ConfigError
from assay.cli.console import (
    ClusterOption,
    ConfigOption,
    JsonFlag,
    SetOption,
    print_json,
    say,
    settings_from,
)
from assay.cli.sources import with_source_flags

FLAGS = {"n": "-n", "output_dir": "-o"}
"""Options that are not called as the settings are that they give."""


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

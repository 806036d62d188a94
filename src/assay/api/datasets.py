"""Make a dataset, or open one."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from assay.api.arguments import ConfigSource, merge_settings
from assay.base import Config, ConfigError, Folder, Settings, digest, duration, folder_at, progress_bar, validate
from assay.contracts import Manifest
from assay.dataset import Dataset, Recipe, cache_folder, default_workers, recipe_from, seconds_per_example
from assay.dataset import make as write
from assay.exchange import Cluster, archive

Say = Callable[[str], object]
RSBENCH = {"compression": "archive", "n_samples": "n"}
"""Keys of rsbench's files, and ours."""
LONG = 60.0
"""From how many seconds on an estimate is told first."""


class Output(Config):
    """What decides where a dataset goes and how fast, and none of its bytes."""

    output_dir: str | None = None
    archive: Literal["zip", "tar.gz", "tar.bz2", "gzip", "bz2", "tgz"] | None = None
    workers: int | None = Field(None, ge=1)
    cluster: str | None = None


@dataclass(frozen=True)
class MakeOutcome:
    """What became of a dataset that was to be made."""

    recipe: Recipe
    folder: Folder
    manifest: Manifest
    made: int
    """How many examples were made now; the others were there."""
    seconds: float
    cpu_seconds: float
    archive: Path | None

    @property
    def dataset(self) -> Dataset:
        """The dataset, opened."""
        return Dataset.open(self.folder)


def make(
    task: str | Recipe,
    output: Folder | str | None = None,
    *,
    n: int | None = None,
    seed: int | None = None,
    splits: Mapping[str, int] | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    archive: str | None = None,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> Dataset:
    """Make the dataset of a task, or go on with one that was stopped, and open it.

    >>> import assay
    >>> assay.make("mnlogic", n=16, k=3)["train"].labels.shape
    (16, 1)

    Parameters
    ----------
    task
        The name of a task, `FILE.py` or `FILE.py:Name`, or a recipe, which has all settings.
    output
        The folder or address; without it the dataset goes into the cache (`$ASSAY_CACHE`), where the same call finds
        it again.
    n
        The number of training examples; other splits in proportion.
    seed
        The random seed; by default 0.
    splits
        The sizes of splits by name.
    workers
        The number of processes; by default as many as pay off.
    cluster
        Make it on a Ray cluster instead: `auto`, `local` or an address.
    archive
        Also pack it: `zip`, `tar.gz` or `tar.bz2`.
    progress
        Whether to show progress on standard error; by default on a terminal, and now and then elsewhere.
    config
        Settings, or the YAML file that has them; keywords override them.
    **settings
        Settings of the task.
    """
    options = {"n": n, "seed": seed, "splits": splits, "workers": workers, "cluster": cluster, "archive": archive}
    chosen = {key: value for key, value in options.items() if value is not None}
    return make_dataset(task, output, config, Settings({**settings, **chosen}), progress=progress).dataset


def make_dataset(
    task: str | Recipe,
    output: Folder | str | None = None,
    config: ConfigSource = None,
    given: Settings | None = None,
    *,
    progress: bool | None = None,
    say: Say | None = None,
) -> MakeOutcome:
    """Make the dataset of a task, and return what became of it.

    Parameters
    ----------
    task
        The name of a task, or a recipe.
    output
        The folder or address; by default `output_dir` of the settings, or else one in the cache.
    config
        Settings, perhaps with rsbench's names for ours, or the YAML file that has them.
    given
        Settings that override them.
    progress
        Whether to show progress on standard error.
    say
        Is told the size of the cluster, and how long it will take if that is long.
    """
    base = merge_settings(config).rename_keys(RSBENCH)
    settings = base.merge(_with_sizes(given or Settings(), base))
    own = validate(Output, settings.only(Output.model_fields))
    named = output if output is not None else own.output_dir or None
    where = None if named is None else folder_at(named)
    if own.archive and where is not None and not isinstance(where, Path):
        raise ConfigError(f"--archive packs folders of this machine, not {str(where)!r}")
    if own.cluster and own.workers:
        raise ConfigError("give --workers or --cluster, not both")
    recipe = task if isinstance(task, Recipe) else recipe_from(task, settings.without(Output.model_fields))
    folder = where if where is not None else _cached(recipe)
    pool = Cluster(own.cluster) if own.cluster else None
    if pool and say:
        say(f"a cluster of {pool.processors} processors")  # one that is not there leaves no folder
    recipe.task.sources()  # read before the clock starts, so that the rate is that of making examples
    workers = own.workers or default_workers(recipe)
    if not pool and say:
        _say_long(recipe, workers, say)
    rows = _rows(recipe)
    started, cpu, done = time.perf_counter(), _cpu_seconds(), list[int]()
    with progress_bar(progress) as bar:

        def count(more: int) -> None:
            done.append(more)
            bar(f"making {recipe.task_name}", sum(done), rows)

        manifest = write(recipe, folder, workers, count, pool)
    seconds, cpu = time.perf_counter() - started, _cpu_seconds() - cpu
    packed = archive(folder, own.archive) if own.archive and isinstance(folder, Path) else None
    made = sum(done[1:])  # the first count is of what was there
    return MakeOutcome(recipe, folder, manifest, made, seconds, cpu, packed)


def _with_sizes(given: Settings, base: Settings) -> Settings:
    """Return what was given, with the sizes of splits on top of those of the file."""
    held, sizes = base.values.get("splits"), given.values.get("splits")
    if sizes is None:
        return given
    both = {**(held if isinstance(held, dict) else {}), **sizes}
    return Settings({**given.values, "splits": both}, given.places)


def _rows(recipe: Recipe) -> int:
    """Return how many examples a recipe asks for."""
    return sum(split.size for split in recipe.splits) + recipe.pairs


def _cached(recipe: Recipe) -> Path:
    """Return the folder in the cache that holds the dataset of a recipe."""
    plan = json.dumps([recipe.to_dict(), recipe.most_pairs], sort_keys=True)
    return cache_folder() / "made" / f"{Path(recipe.task_name).stem}-{digest(plan).hex()[:12]}"


def _say_long(recipe: Recipe, workers: int, say: Say) -> None:
    """Say how long making will take, where that is long enough to be told before."""
    try:
        each = seconds_per_example(recipe)
    except ModuleNotFoundError:  # making says better what is missing
        return
    rows = _rows(recipe)
    if each * rows / workers > LONG:
        whole = duration(each * rows / workers)
        processes = "1 process" if workers == 1 else f"{workers} processes"
        say(f"{rows:,} pictures at {each:.2g} s each: about {whole} with {processes}; fewer with -n, such as -n 200")


def _cpu_seconds() -> float:
    """Return the processor time of this process and of its workers that have ended."""
    return sum(os.times()[:4])


def load(where: Folder | str) -> Dataset:
    """Open a dataset that lies in a folder, or at an address such as `s3://bucket/folder` or `hf://datasets/user/name`."""
    return Dataset.open(where)

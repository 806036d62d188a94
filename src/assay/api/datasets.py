"""Datasets: made, opened, audited, and the reasoning shortcuts that their labels allow."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from assay.api.arguments import ConfigSource, Say, ignore, merge_settings, open_dataset
from assay.base import (
    Codes,
    Config,
    ConfigError,
    Folder,
    Settings,
    digest,
    duration,
    folder_at,
    progress_bar,
    validate,
)
from assay.contracts import Manifest
from assay.dataset import NAME, Dataset, Recipe, cache_folder, default_workers, recipe_from, seconds_per_example
from assay.dataset import make as write
from assay.exchange import Cluster, archive
from assay.logic import Knowledge, Value

if TYPE_CHECKING:
    from assay.auditing import Audit
    from assay.counting import ReadingCount

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
    say: Say = ignore,
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
    if pool:
        say(f"a cluster of {pool.processors} processors")  # one that is not there leaves no folder
    recipe.task.sources()  # read before the clock starts, so that the rate is that of making examples
    workers = own.workers or default_workers(recipe)
    if not pool and say is not ignore:
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


def audit(
    dataset: Dataset | Path | str,
    checks: Sequence[str] = (),
    *,
    write: bool = False,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "Audit":
    """Check whether a dataset is what it claims to be; what could not be checked is said to be.

    Parameters
    ----------
    dataset
        A dataset, its folder or address, or a folder with images and a table `concepts.csv`.
    checks
        Only these; by default all.
    write
        Whether to write `audit.json` and a section of the dataset card, if all checks were tried.
    progress
        Whether to show progress on standard error.
    config
        Settings that say where the sources of the task lie now, or the YAML file that has them.
    **settings
        The same as keywords.
    """
    from assay.auditing import audit as examine
    from assay.auditing import audited_dataset, open_imported
    from assay.exchange import find_table

    folder = None if isinstance(dataset, Dataset) else Path(dataset)
    if folder is not None and not (folder / NAME).exists() and find_table(folder) is not None:
        opened, examined = None, open_imported(folder)
    else:
        opened = open_dataset(dataset)
        examined = audited_dataset(opened, merge_settings(config, settings))
    with progress_bar(progress) as bar:
        outcome = examine(examined, checks, lambda name, share: bar("auditing", share, 1.0, name))
    if write and not checks and opened is not None and opened.origin is None:
        outcome.write(opened.folder)
    return outcome


def count(
    source: Dataset | Knowledge | Path | str,
    *,
    family: str = "shared",
    support: str = "train",
    supervise: Mapping[str, bool | Sequence[Value]] | None = None,
    seconds: float = 60.0,
    seed: int = 0,
    progress: bool | None = None,
    config: ConfigSource = None,
    **supervised: Any,
) -> "ReadingCount":
    """Count the readings of the concepts that keep every training label: 1 means that no reasoning shortcut exists.

    Parameters
    ----------
    source
        A dataset or its folder, whose training splits decide which worlds count; a task, which would draw them; a rule
        or a DIMACS file `FILE.cnf`, of which all worlds count.
    family
        The readings to count: `free`, `per-concept`, `shared`, `per-object`, `per-world`, `block`, `block-permutation`.
    support
        The worlds: `train`, `full`, `random:N`, or a list such as `06,28`.
    supervise
        Concepts that are supervised: True for all values, a list for some.
    seconds
        The time limit; after it, bounds are returned.
    seed
        The seed of splits and of random worlds.
    progress
        Whether to show on standard error that counting is under way.
    config
        Settings of the task, or the YAML file that has them.
    **supervised
        More concepts that are supervised, as `supervise` has them: `a=True`, `a=[3, 4]`.
    """
    from assay.counting import count_shortcuts

    knowledge, training = _trained_on(source, config, seed)
    worlds = _worlds(knowledge, training, support, seed)
    asked = {**(supervise or {}), **supervised}
    given = {name: None if values is True else list(values) for name, values in asked.items() if values is not False}
    for name in given:
        knowledge.space.place(name)  # refuses one that is not there
    with progress_bar(progress) as bar:
        bar("counting reasoning shortcuts", 0, 0, f"at most {seconds:g} s")
        return count_shortcuts(knowledge, family, worlds, given, seconds)


def _trained_on(
    source: Dataset | Knowledge | Path | str, config: ConfigSource, seed: int
) -> tuple[Knowledge, Codes | None]:
    """Return the knowledge and the training worlds, None for all."""
    if isinstance(source, Knowledge):
        return source, None
    if isinstance(source, Dataset):
        from assay.dataset import training_worlds

        return source.knowledge, training_worlds(source)
    if not str(source).endswith(".cnf"):
        from assay.dataset import training_support

        return training_support(str(source), merge_settings(config), seed)
    if not Path(source).is_file():
        raise ConfigError(f"no file {str(source)!r}")
    from assay.logic import knowledge_from_cnf, parse_dimacs

    return knowledge_from_cnf(parse_dimacs(Path(source).read_text())), None


def _worlds(knowledge: Knowledge, training: Codes | None, support: str, seed: int) -> Codes | None:
    """Return the worlds of the support, None for all."""
    if support == "full" or (support == "train" and training is None):
        return None
    if support == "train":
        return training
    from assay.dataset import support_worlds

    return support_worlds(knowledge, support, seed)

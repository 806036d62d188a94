"""A recipe: all that decides a dataset's bytes, the task's settings, the splits and the seed; and how long it takes."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import CodeFile, ConfigError, Settings, code_of, load_files, validate
from assay.contracts import PAIRS
from assay.dataset.confounded import ConfoundedTask, plain, with_confounders
from assay.dataset.confounders import CONFOUND, SHIFTED, Confounder
from assay.dataset.folder import CODE, pairs_split
from assay.tasks import TASKS, Task, resize_splits
from assay.worlds import Split

MOST_PAIRS = 400
SHARD_ROWS = 1000
SHARD_SECONDS = 20
"""A shard takes no longer than that, about: it is what a killed run loses."""
SIZES_FROM_SHARES = {"val_prop": "valid", "test_prop": "test", "ood_prop": "ood"}
RECIPE_KEYS = {"task", "seed", "n", "n_samples", "splits", CONFOUND, *SIZES_FROM_SHARES}
TRIED, ENOUGH = 4, 1.0
"""How many pictures are drawn to know what one costs, and after how many seconds no more."""


@dataclass(frozen=True)
class Recipe:
    """Which task with which settings, how many examples of each split, and the seed."""

    task_name: str
    settings: Settings
    seed: int = 0
    train: int | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    confound: tuple[Confounder, ...] | None = None
    """By default the confounders that belong to the task; most have none."""

    def __post_init__(self) -> None:
        plain: Any = self.settings
        if isinstance(plain, Mapping):  # as a notebook gives them
            object.__setattr__(self, "settings", Settings(dict(plain)))

    @cached_property
    def task(self) -> Task:
        """The task, built from its settings, with its confounders."""
        task = find_task(self.task_name)(self.settings)
        usual = tuple(Confounder.model_validate(entry) for entry in task.planted)
        return with_confounders(task, usual if self.confound is None else self.confound)

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The splits in the sizes asked for."""
        scale = 1 if self.train is None else Fraction(self.train, usual_size(self.task))
        sizes, splits = {name: size for name, size in self.sizes if name != PAIRS}, self.task.splits()
        origin = pairs_split([split.name for split in splits])
        if origin in sizes:  # what shows the test split again is as large
            sizes = {**{split.name: sizes[origin] for split in splits if split.name in SHIFTED}, **sizes}
        return resize_splits(splits, sizes, Fraction(scale))

    @property
    def most_pairs(self) -> int:
        """How many counterfactual worlds are asked for."""
        return dict(self.sizes).get(PAIRS, MOST_PAIRS)

    @property
    def pairs(self) -> int:
        """How many counterfactual worlds there will be, where each world of the test split can be changed."""
        sizes = {split.name: split.size for split in self.splits}
        split = pairs_split(list(sizes))
        return 0 if split is None else min(self.most_pairs, sizes[split])

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Go to a worker without the task, which is built again there: it is large, and a user's file is no module."""
        code = code_of(type(plain(self.task)))
        fields = (self.task_name, self.settings, self.seed, self.train, self.sizes, self.confound)
        return _rebuilt, (() if code is None else (code,), fields)

    @property
    def shard_rows(self) -> int:
        """How many examples are written at once."""
        return max(1, min(SHARD_ROWS, int(SHARD_SECONDS / self.task.seconds)))

    @property
    def local(self) -> dict[str, Any]:
        """The settings that say where data lies on this machine, and are no part of what the dataset is."""
        config = self.task.config
        names = [name for name, field in type(config).model_fields.items() if field.exclude]
        paths = {name: getattr(config, name) for name in names if getattr(config, name) is not None}
        return {name: str(Path(value).resolve()) if isinstance(value, str) else value for name, value in paths.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain data, the same for the same dataset on any machine."""
        task, code = self.task, code_of(type(plain(self.task)))
        planted = {CONFOUND: [x.to_dict() for x in task.confounders]} if isinstance(task, ConfoundedTask) else {}
        config = task.config.recorded()
        return {
            **({} if code is None else {CODE: code.to_dict()}),
            "task": {"name": task.name, "version": task.version, "config": config, **planted},
            "seed": self.seed,
            "shard_rows": self.shard_rows,
            "sources": task.sources(),
            "splits": [split.to_dict() for split in self.splits],
        }


def _rebuilt(code: tuple[CodeFile, ...], fields: tuple[Any, ...]) -> Recipe:
    """Return a recipe in a worker, its task's file as it was where the work was asked for."""
    load_files(code)
    return Recipe(*fields)


def usual_size(task: Task) -> int:
    """Return how many training examples a task has by default, all stages together."""
    return next(iter(task.sizes.values()))


def find_task(name: str) -> type[Task]:
    """Return the task class of a registered name, `my_task.py` or `my_task.py:Name`; a file is run."""
    task: type[Task] = TASKS.find(name)
    return task


def recipe_from(task_name: str, settings: Settings) -> Recipe:
    """Return the recipe that settings describe: our keys, or rsbench's shares of the number of training samples."""
    settings = settings.rename_keys({"n_samples": "n"})
    values = settings.values
    if values.get("task", task_name) != task_name:
        raise ConfigError(f"{settings.place('task')}the file is for task {values['task']!r}, not {task_name!r}")
    own = settings.without(RECIPE_KEYS)
    train = _whole(settings, "n") if "n" in values else None
    seed = _whole(settings, "seed", least=0) if "seed" in values else 0
    recipe = Recipe(task_name, own, seed, train, confound=confounders_from(settings) if CONFOUND in values else None)
    sizes = _sizes(settings)
    shares = {split: float(values[key]) for key, split in SIZES_FROM_SHARES.items() if _is_share(settings, key)}
    names = [split.name for split in recipe.task.splits()] if shares else []
    for split, share in shares.items():
        parts = [name for name in names if name == split or name.startswith(f"{split}_")]  # one for each stage
        for part in parts:
            sizes.setdefault(part, int((train or usual_size(recipe.task)) * share) // len(parts))
    return replace(recipe, sizes=tuple(sorted(sizes.items())))


def confounders_from(settings: Settings) -> tuple[Confounder, ...]:
    """Return the confounders that settings list under `confound`."""
    listed = settings.values.get(CONFOUND, [])
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        example = "confound: [{what: watermark, with: LABEL, strength: 0.95}]"
        raise ConfigError(f"{settings.place(CONFOUND)}confound: expected a list of entries, such as {example}")
    entries = [Settings(entry, dict.fromkeys(entry, settings.places.get(CONFOUND, "confound"))) for entry in listed]
    return tuple(validate(Confounder, entry) for entry in entries)


def _whole(settings: Settings, key: str, least: int = 1) -> int:
    value = settings.values[key]
    if type(value) is not int or value < least:
        raise ConfigError(f"{settings.place(key)}{key}: expected a whole number from {least} up, not {value!r}")
    return value


def _is_share(settings: Settings, key: str) -> bool:
    if key not in settings.values:
        return False
    value = settings.values[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ConfigError(f"{settings.place(key)}{key}: expected a share from 0 to 1, not {value!r}")
    return True


def _sizes(settings: Settings) -> dict[str, int]:
    sizes = settings.values.get("splits", {})
    whole = isinstance(sizes, Mapping) and all(type(size) is int and size >= 0 for size in sizes.values())
    if not whole or not all(isinstance(name, str) for name in sizes):
        raise ConfigError(f"{settings.place('splits')}splits: expected 'name: size' with whole numbers")
    return dict(sizes)


def seconds_per_example(recipe: Recipe) -> float:
    """Return what drawing one picture of the first split takes; the first one, which may compile, does not count."""
    split = next(iter(split for split in recipe.splits if split.size), None)
    if split is None:
        return 0.0
    source = recipe.task.source_for(split, recipe.seed)
    first, *others = source.worlds(np.arange(min(split.size, TRIED)))
    recipe.task.render(first)
    began, count = time.perf_counter(), 0
    for world in others:
        recipe.task.render(world)
        count += 1
        if time.perf_counter() - began > ENOUGH:
            break
    return (time.perf_counter() - began) / count if count else recipe.task.seconds

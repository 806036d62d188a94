"""A study: which tasks, models and seeds, and the runs that follow from them."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from assay.config import Config, Settings, checked, load_yaml
from assay.data.recipe import Recipe, recipe_from
from assay.errors import ConfigError
from assay.models import MODELS


class StudyConfig(Config):
    """The keys of a study file."""

    name: str = "study"
    output: str = "out"
    """The folder for data, runs and the report."""
    tasks: list[str | dict[str, Any]] = Field(min_length=1)
    """Task names, or mappings with `task` and that task's settings, `n`, `splits`, `seed`."""
    models: list[str | dict[str, Any]] = Field(min_length=1)
    """Model names, or mappings with `model`, an optional `name`, and that model's settings."""
    seeds: list[int] = [0]
    n: int | None = Field(None, ge=1)
    """The number of training examples, for tasks that do not say."""
    epochs: int | None = Field(None, ge=1)
    """The number of epochs, for models that do not say."""


@dataclass(frozen=True)
class PlannedRun:
    """One model to be trained on one dataset with one seed."""

    name: str
    data: str
    model: str
    settings: Settings
    seed: int


@dataclass(frozen=True)
class Study:
    """What a study file asks for."""

    name: str
    output: Path
    datasets: dict[str, Recipe]
    runs: tuple[PlannedRun, ...]


def load_study(path: Path) -> Study:
    """Read a study file."""
    return study_from(load_yaml(path))


def study_from(settings: Settings) -> Study:
    """Return the study that settings describe; unknown tasks and models are errors before anything runs."""
    config = checked(StudyConfig, settings)
    datasets: dict[str, Recipe] = {}
    runs: list[PlannedRun] = []
    for entry in config.tasks:
        recipe = _recipe(entry, config, settings)
        data = f"{recipe.task.name}-{_short_hash(recipe.to_dict())}"
        datasets[data] = recipe
        for model in config.models:
            runs += [_planned(model, seed, recipe.task.name, data, config, settings) for seed in config.seeds]
    twice = {run.name for run in runs if [other.name for other in runs].count(run.name) > 1}
    if twice:
        raise ConfigError(f"{settings.place('models')}two runs are named {sorted(twice)[0]!r}; give models a 'name'")
    return Study(config.name, Path(config.output), datasets, tuple(runs))


def _recipe(entry: str | dict[str, Any], config: StudyConfig, settings: Settings) -> Recipe:
    values: dict[str, Any] = {"task": entry} if isinstance(entry, str) else dict(entry)
    if "task" not in values:
        raise ConfigError(f"{settings.place('tasks')}tasks: an entry without 'task': {entry!r}")
    if config.n is not None:
        values.setdefault("n", config.n)
    places = dict.fromkeys(values, settings.places.get("tasks", "tasks"))
    return recipe_from(str(values["task"]), Settings(values, places))


def _planned(
    entry: str | dict[str, Any], seed: int, task: str, data: str, config: StudyConfig, settings: Settings
) -> PlannedRun:
    values: dict[str, Any] = {"model": entry} if isinstance(entry, str) else dict(entry)
    if "model" not in values:
        raise ConfigError(f"{settings.place('models')}models: an entry without 'model': {entry!r}")
    model = str(values.pop("model"))
    MODELS.entry(model)
    label = str(values.pop("name", model))
    if config.epochs is not None:
        values.setdefault("epochs", config.epochs)
    places = dict.fromkeys(values, settings.places.get("models", "models"))
    suffix = data.removeprefix(f"{task}-")
    return PlannedRun(f"{task}-{label}-seed{seed}-{suffix}", data, model, Settings(values, places), seed)


def _short_hash(data: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:8]

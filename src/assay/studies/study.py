"""A study: which tasks, models and seeds, and the runs that follow from them."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from assay.config import Config, Settings, checked, load_yaml
from assay.data.recipe import Recipe, recipe_from
from assay.errors import AssayError, ConfigError, suggestion
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
    seeds: list[int] = Field([0], min_length=1)
    n: int | None = Field(None, ge=1)
    """The number of training examples, for tasks that do not say."""
    epochs: int | None = Field(None, ge=1)
    """The number of epochs, for models that do not say."""


@dataclass(frozen=True)
class PlannedModel:
    """One entry of `models`: which model, what its runs are called, and its settings."""

    name: str
    label: str
    settings: Settings


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
    models = [_model(place, entry, config, settings) for place, entry in enumerate(config.models)]
    for place, entry in enumerate(config.tasks):
        recipe = _recipe(place, entry, config, settings)
        data = f"{recipe.task.name}-{_short_hash(recipe.to_dict())}"
        datasets[data] = recipe
        suffix = data.removeprefix(f"{recipe.task.name}-")
        for model in models:
            named = {seed: f"{recipe.task.name}-{model.label}-seed{seed}-{suffix}" for seed in config.seeds}
            runs += [PlannedRun(named[seed], data, model.name, model.settings, seed) for seed in config.seeds]
    twice = {run.name for run in runs if [other.name for other in runs].count(run.name) > 1}
    if twice:
        name = sorted(twice)[0]
        raise ConfigError(
            f"{settings.place('models')}two runs are named {name!r}; "
            "list each task and seed once, and give models that occur twice a 'name'"
        )
    return Study(config.name, Path(config.output), datasets, tuple(runs))


def _entry(kind: str, place: int, entry: str | dict[str, Any], settings: Settings) -> Settings:
    """Return an entry of `tasks` or `models` as settings, with the line of each key."""
    values: dict[str, Any] = {kind: entry} if isinstance(entry, str) else dict(entry)
    here = f"{kind}s.{place}"
    start = settings.places.get(here, f"{kind}s")
    if kind not in values:
        raise ConfigError(f"{start}: an entry without {kind!r}: {entry!r}")
    return Settings(values, {key: settings.places.get(f"{here}.{key}", start) for key in values})


def _recipe(place: int, entry: str | dict[str, Any], config: StudyConfig, settings: Settings) -> Recipe:
    given = _entry("task", place, entry, settings)
    if config.n is not None:
        given = Settings({"n": config.n}, {"n": settings.places.get("n", "n")}).merged(given)
    try:
        recipe = recipe_from(str(given.values["task"]), given)
        recipe.to_dict()  # builds the task and its splits
    except AssayError as error:
        raise ConfigError(_placed(given.place("task"), error)) from None
    return recipe


def _placed(place: str, error: AssayError) -> str:
    return str(error) if str(error).startswith(place.partition(" line ")[0]) else f"{place}{error}"


def _model(place: int, entry: str | dict[str, Any], config: StudyConfig, settings: Settings) -> PlannedModel:
    given = _entry("model", place, entry, settings)
    name, label = str(given.values["model"]), str(given.values.get("name", given.values["model"]))
    if name not in MODELS:
        raise ConfigError(f"{given.place('model')}no model named {name!r}{suggestion(name, MODELS)}")
    if not f"_{label}".replace("-", "_").replace(".", "_").isidentifier():
        raise ConfigError(f"{given.place('name')}name: {label!r} must be letters, digits, '_', '-' and '.'")
    own = given.without({"model", "name"})
    if config.epochs is not None:
        own = Settings({"epochs": config.epochs}, {"epochs": settings.places.get("epochs", "epochs")}).merged(own)
    MODELS[name].settled(own, {})
    return PlannedModel(name, label, own)


def _short_hash(data: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:8]

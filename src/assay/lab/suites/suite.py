"""A suite: fixed datasets with pinned fingerprints, levels of what a model may see, and the baselines.

A suite is one YAML file of this folder. Everything in it is plain data: tasks and models are looked up when they are
asked for, so that a suite can be listed, and its board be built, where some of them are not installed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from assay.base import Config, ConfigError, Settings, UnknownName, load_yaml, suggestion, validate
from assay.dataset import Recipe, recipe_from
from assay.lab.judged import JudgedBy
from assay.models import MODELS

USUAL = "assay-1"
"""The suite that commands take where none is named."""
TEST_CONCEPTS = "test concepts"
"""What a level sees whose models read the true concepts of the examples that they are judged on."""


class EntryLevel(Config):
    """What the models of a level may see; they are compared only among themselves."""

    sees: list[str] = Field(min_length=1)
    about: str


class SuiteModel(Config):
    """A bundled model of the suite."""

    level: str
    model: str | None = None
    """Its registered name, if the baseline is called otherwise."""
    settings: dict[str, Any] = {}


class DatasetConfig(Config):
    """One dataset: a task with its settings, or another dataset of the suite that is annotated again."""

    family: str
    shows: str
    """The way of failing that it was chosen to show."""
    about: str
    task: str | None = None
    settings: dict[str, Any] = {}
    splits: dict[str, int] = {}
    seed: int = 0
    of: str | None = None
    annotate: dict[str, Any] = {}
    fingerprint: str = ""

    @model_validator(mode="after")
    def _must_be_one_of_two(self) -> "DatasetConfig":
        if (self.task is None) == (self.of is None):
            raise ValueError("give a task, or 'of' another dataset")
        if (self.of is not None) != bool(self.annotate):
            raise ValueError("'of' and 'annotate' go together")
        return self


FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Names of datasets and models are those of folders and pages."""


class SuiteConfig(Config):
    """The keys of a suite's file."""

    name: str
    about: str
    seeds: list[int] = Field(min_length=1)
    training: dict[str, Any] = {}
    """Settings of all models that have them."""
    diagnose: dict[str, Any] = {}
    """Thresholds of the diagnosis, such as `memorised.drop: 0.2`; `assay list thresholds` has all."""
    levels: dict[str, EntryLevel]
    models: dict[str, SuiteModel]
    datasets: dict[str, DatasetConfig]

    @model_validator(mode="after")
    def _must_agree(self) -> "SuiteConfig":
        for name, model in self.models.items():
            if model.level not in self.levels:
                raise ValueError(
                    f"model {name!r}: no level named {model.level!r}{suggestion(model.level, self.levels)}"
                )
        for name in (*self.datasets, *self.models):
            if not FILE_NAME.fullmatch(name):
                raise ValueError(f"{name!r}: the name of a dataset or model is letters, digits, '_', '-' and '.'")
        for name, data in self.datasets.items():
            if data.of is not None and (data.of not in self.datasets or self.datasets[data.of].of is not None):
                raise ValueError(f"dataset {name!r}: 'of' must name a dataset that has a task, not {data.of!r}")
        return self


@dataclass(frozen=True)
class SuiteDataset:
    """A dataset of a suite, by name."""

    name: str
    config: DatasetConfig

    @property
    def fingerprint(self) -> str:
        """The fingerprint that it must have."""
        return self.config.fingerprint

    @property
    def recipe(self) -> Recipe | None:
        """How it is made, if it is no annotated copy of another."""
        if self.config.task is None:
            return None
        given = {**self.config.settings, "splits": self.config.splits, "seed": self.config.seed}
        return recipe_from(self.config.task, Settings(given))


@dataclass(frozen=True)
class Suite:
    """A suite: its datasets and baselines by name."""

    config: SuiteConfig
    judged_by: JudgedBy = field(default_factory=JudgedBy)
    """By what its models and entries are judged."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.config.name

    @property
    def datasets(self) -> dict[str, SuiteDataset]:
        """The datasets by name, in order."""
        return {name: SuiteDataset(name, config) for name, config in self.config.datasets.items()}

    @property
    def levels(self) -> dict[str, EntryLevel]:
        """The levels by name, in order."""
        return self.config.levels

    def dataset(self, name: str) -> SuiteDataset:
        """Return the dataset of a name."""
        if name not in self.config.datasets:
            raise UnknownName(
                f"suite {self.name!r} has no dataset named {name!r}{suggestion(name, self.config.datasets)}"
            )
        return SuiteDataset(name, self.config.datasets[name])

    def level(self, name: str) -> EntryLevel:
        """Return the level of a name."""
        if name not in self.levels:
            raise UnknownName(f"suite {self.name!r} has no level named {name!r}{suggestion(name, self.levels)}")
        return self.levels[name]

    def with_parents(self, names: Iterable[str] = ()) -> list[SuiteDataset]:
        """Return the datasets of these names, by default all; of copies also what they are copied from, before them."""
        wanted = [self.dataset(name) for name in names] or list(self.datasets.values())
        needed = {data.name for data in wanted} | {str(data.config.of) for data in wanted}
        return [data for name, data in self.datasets.items() if name in needed]

    def baseline(self, name: str) -> SuiteModel:
        """Return the baseline of a name, or a refusal that lists all."""
        if name not in self.config.models:
            raise UnknownName(f"suite {self.name!r} has no model named {name!r}{suggestion(name, self.config.models)}")
        return self.config.models[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the suite as plain data."""
        return self.config.model_dump(mode="json")

    def settings_of(self, name: str) -> tuple[str, Settings]:
        """Return the registered name of a baseline, and its settings: the suite's where it has such, then its own."""
        baseline = self.baseline(name)
        model = baseline.model or name
        known = MODELS[model].Config.model_fields
        shared = {key: value for key, value in self.config.training.items() if key in known}
        return model, Settings({**shared, **baseline.settings})


def suite_names() -> list[str]:
    """Return the names of the suites that come with Assay."""
    return sorted(_suite_files())


def _suite_files() -> dict[str, Path]:
    paths = [Path(str(path)) for path in files("assay.lab.suites").iterdir()]
    return {path.stem: path for path in paths if path.suffix == ".yaml"}


@cache
def find_suite(name: str = USUAL) -> Suite:
    """Return the suite of a name, or of a YAML file."""
    if name.endswith((".yaml", ".yml")):
        return suite_from(load_yaml(Path(name)))
    known = _suite_files()
    if name not in known:
        raise UnknownName(f"no suite named {name!r}{suggestion(name, known)}")
    return suite_from(load_yaml(known[name]))


def suite_from(settings: Settings) -> Suite:
    """Return the suite that settings describe."""
    config = validate(SuiteConfig, settings)
    return Suite(config, JudgedBy.of(config.diagnose, (), settings))


def check_seeds(suite: Suite, seeds: Sequence[int]) -> list[int]:
    """Return the seeds that are asked for, by default all of the suite; others than those are refused."""
    strange = [seed for seed in seeds if seed not in suite.config.seeds]
    if strange:
        raise ConfigError(f"seed {strange[0]} is none of the suite's; there is: {suite.config.seeds}")
    return list(seeds) or list(suite.config.seeds)

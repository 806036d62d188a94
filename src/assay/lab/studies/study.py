"""A study: tasks x configurations x challenges x models x seeds, and the steps that follow from them.

A step is plain data and names the folder that it fills. The name holds a hash of all that decides the contents, so that
a folder that is there is up to date, whatever else in the study has changed.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from assay.base import (
    AssayError,
    CodeFile,
    Config,
    ConfigError,
    MissingExtra,
    Settings,
    UnknownName,
    load_yaml,
    split_reference,
    suggestion,
    validate,
)
from assay.dataset import Dataset, recipe_from
from assay.exchange import Annotation
from assay.lab.analyses import analyses_from
from assay.lab.judged import JudgedBy
from assay.lab.steps import PERCEPTION, PLAIN, CopyStep, DataStep, RunStep, Steps, short_hash
from assay.lab.studies.entries import StudyEntry, allow_code, entries, is_dataset
from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS


class StudyConfig(Config):
    """The keys of a study file."""

    name: str = "study"
    output: str = "out"
    """The folder for data, runs, records and the report."""
    about: str = ""
    """What the study is for, in a sentence or two, for the report."""
    tasks: list[str | dict[str, Any]] = Field(min_length=1)
    """Task names, or mappings with `task`, an optional `name`, that task's settings, `n`, `splits`, `seed`, `each`.

    In place of a task the folder of a dataset, such as one of `assay import`."""
    models: list[str | dict[str, Any]] = Field(min_length=1)
    """Model names, or mappings with `model`, an optional `name`, that model's settings, `each`, and `on`: its tasks."""
    seeds: list[int] = Field([0], min_length=1)
    challenges: list[str | dict[str, Any]] = [PLAIN]
    """What is done to the data before training: `plain`, or mappings with `challenge` (a name), `annotate`, `n`."""
    analyses: list[str | dict[str, Any]] = []
    """What is done with every run besides scoring: `intervene`, `leakage`, `probe`, or mappings with `analysis`, its
    settings, and `models`: the names of those that it is for."""
    folds: int = Field(0, ge=0, le=1000)
    """Cross-validation: split the training examples into so many parts with equal labels, hold each out in turn."""
    n: int | None = Field(None, ge=1)
    """The number of training examples, for tasks that do not say."""
    epochs: int | None = Field(None, ge=1)
    """The number of epochs, for models that do not say."""
    patience: int | None = Field(None, ge=1)
    """After how many epochs without a better score training stops, for models that do not say."""
    metrics: list[str] = ["label_f1", "concept_f1", "collapse", "rule_consistency"]
    """The metrics of the report's tables."""
    splits: list[str] = ["test", "ood", "hard"]
    """The splits of the report's tables, those that there are."""
    diagnose: dict[str, Any] = {}
    """Thresholds of the diagnosis, such as `memorised.drop: 0.2`; `assay list thresholds` has all."""
    findings: list[str] = []
    """Files with findings of your own, `FILE.py` or `FILE.py:Name`, which `--allow-code` must allow."""
    baseline: str | None = None
    """The name of the model that the others are compared with, in pairs of equal seeds; by default the first."""
    published: list[dict[str, Any]] = []
    """Numbers to put beside ours: `task`, `model`, `metric`, `split`, `challenge`, `value`, `deviation`, `source`."""


@dataclass(frozen=True)
class Study(Steps):
    """What a study file asks for."""

    config: StudyConfig = field(kw_only=True)
    absent: tuple[str, ...] = ()
    """What a ready study asks for and this installation does not have."""

    @property
    def baseline(self) -> str:
        """The name of the model that the others are compared with."""
        return self.config.baseline or (self.runs[0].label if self.runs else "")

    def with_log(self, kind: str | None) -> "Study":
        """Return the study with all runs logged to a service."""
        return replace(self, runs=tuple(replace(run, log=kind) for run in self.runs))

    def only(self, models: Sequence[str] = (), seeds: int | None = None) -> "Study":
        """Return the study with the runs of some models, of its first so many seeds, and the steps that these need."""
        labels = list(dict.fromkeys(run.label for run in self.runs))
        for model in models:
            if model not in labels:
                raise UnknownName(f"the study has no model called {model!r}{suggestion(model, labels)}")
        chosen = [
            run
            for run in self.runs
            if run.label in (models or labels) and run.seed in self.config.seeds[: seeds or None]
        ]
        needed = {run.name for run in chosen} | {run.needs for run in chosen}
        runs = tuple(run for run in self.runs if run.name in needed)
        data = {run.data for run in runs} | {name for run in runs for name in _tried_on(run)}
        copies = tuple(copy for copy in self.copies if copy.name in data)
        data |= {copy.parent for copy in copies}
        return replace(self, datasets=tuple(d for d in self.datasets if d.name in data), copies=copies, runs=runs)


def _tried_on(run: RunStep) -> set[str]:
    """Return the other datasets that a run is tried on."""
    return {name for _, settings in run.analyses for name in settings.values.get("folders", {}).values()}


@dataclass
class _Collected:
    """Steps as they are collected, each once."""

    datasets: dict[str, DataStep] = field(default_factory=dict)
    copies: dict[str, CopyStep] = field(default_factory=dict)
    runs: dict[str, RunStep] = field(default_factory=dict)
    data: dict[tuple[str, str], str] = field(default_factory=dict)
    """The dataset of each task under each challenge."""
    names: dict[tuple[str, str, int, int | None], str] = field(default_factory=dict)
    """The run of each dataset, model, seed and fold."""


def load_study(path: Path, output: Path | None = None, code: Sequence[Path] = ()) -> Study:
    """Read a study file; of Python files that it names, only those in `code` are run."""
    settings = allow_code(load_yaml(path), path, code)
    if output is None:
        _refuse_elsewhere(settings)
    return study_from(settings, output)


def _refuse_elsewhere(settings: Settings) -> None:
    """Refuse an output that lies outside of the folder that one is in: a file that was sent must not choose it."""
    folder = settings.values.get("output")
    if isinstance(folder, str) and (Path(folder).is_absolute() or ".." in Path(folder).parts):
        raise ConfigError(
            f"{settings.place('output')}output: {folder!r} lies outside of this folder; to write there, say -o"
        )


def study_from(settings: Settings, output: Path | None = None, lenient: bool = False) -> Study:
    """Return the study that settings describe; unknown tasks and models are errors before anything runs.

    A `lenient` study leaves out what this installation has not, and says so.

    Parameters
    ----------
    settings
        What a study's file says.
    output
        The folder, by default as the settings say.
    lenient
        Leave out models and tasks that are not installed here, instead of refusing.
    """
    config = validate(StudyConfig, settings)
    for metric in config.metrics:
        if split_reference(metric) is not None:
            METRICS.entry(metric)  # refuses it: a file is not run because a study names it
    judged_by = JudgedBy.of(config.diagnose, config.findings, settings)
    if len(set(config.seeds)) < len(config.seeds):
        raise ConfigError(f"{settings.place('seeds')}seeds: each once, not {config.seeds}")
    absent: list[str] = []
    tasks = entries("task", config.tasks, settings, TASKS, absent if lenient else None)
    models = entries("model", config.models, settings, MODELS, absent if lenient else None)
    challenges = entries("challenge", config.challenges, settings, None, None)
    for model in models:
        _check_model(model, config, {task.label for task in tasks}, settings)
    if lenient:
        models = [model for model in models if _is_ready(model, config, settings, absent)]
    steps = _Collected()
    labels = {model.label for model in models}
    for task, challenge in itertools.product(tasks, challenges):
        trained_on = any(not model.on or task.label in model.on for model in models)
        change = (
            challenge if trained_on else StudyEntry(PLAIN, PLAIN, Settings({}))
        )  # runs are only tried on the others
        steps.data[task.label, challenge.label] = _data(task, change, config, steps, settings)
    for task, challenge in itertools.product(tasks, challenges):
        for model in sorted(models, key=lambda model: model.settings.values.get(PERCEPTION) in labels):
            if not model.on or task.label in model.on:
                _add_runs(steps, task, challenge, model, config, settings)
    if not steps.runs and not absent:
        raise ConfigError("the study has no run; let some model be 'on' some task")
    _check_baseline(config, models, settings)
    return Study(
        config.name,
        output or Path(config.output),
        tuple(steps.datasets.values()),
        tuple(steps.copies.values()),
        tuple(replace(run, judged_by=judged_by) for run in steps.runs.values()),
        tuple(absent),
        config=config,
    )


def _data(task: StudyEntry, challenge: StudyEntry, config: StudyConfig, steps: _Collected, settings: Settings) -> str:
    """Add the dataset of a task under a challenge, and return its name."""
    if is_dataset(task.name):
        return _annotated(_folder_data(task, challenge, steps), challenge, steps)
    own = task.settings
    if config.n is not None:
        own = Settings({"n": config.n}, {"n": settings.places.get("n", "n")}).merge(own)
    if "n" in challenge.settings.values:
        own = own.merge(challenge.settings.only({"n"}))
    try:
        recipe = recipe_from(task.name, own)
        plan = recipe.to_dict()  # builds the task and its splits
    except AssayError as error:
        raise ConfigError(_with_place(task.place, error)) from None
    name = f"{recipe.task.name}-{short_hash(plan)}"
    steps.datasets[name] = DataStep(name, recipe)
    return _annotated((name, recipe.task.name, plan), challenge, steps)


def _folder_data(task: StudyEntry, challenge: StudyEntry, steps: _Collected) -> tuple[str, str, Any]:
    """Add a dataset that is there; return its name, that of its task, and what stands for its contents."""
    given = [*task.settings.values, *(["n"] if "n" in challenge.settings.values else [])]
    if given:
        raise ConfigError(f"{task.place}: {task.name!r} is a dataset that is there; {given[0]!r} cannot change it")
    dataset = Dataset.open(task.name)
    name = f"{dataset.name}-{dataset.fingerprint[:8]}"
    steps.datasets[name] = DataStep(name, None, str(Path(task.name).resolve()))
    return name, dataset.name, dataset.fingerprint


def _annotated(data: tuple[str, str, Any], challenge: StudyEntry, steps: _Collected) -> str:
    """Add the copy of a dataset that a challenge asks for, and return its name; without one, that of the dataset."""
    name, task, plan = data
    strangers = challenge.settings.values.keys() - {"annotate", "n"}
    if strangers:
        raise ConfigError(f"challenge {challenge.label!r}: unknown key {sorted(strangers)[0]!r}; there are annotate, n")
    annotation = challenge.settings.values.get("annotate")
    if not annotation:
        return name
    validate(Annotation, Settings(annotation, dict.fromkeys(annotation, challenge.settings.places.get("annotate", ""))))
    copy = f"{task}-{challenge.label}-{short_hash([plan, annotation])}"
    steps.copies[copy] = CopyStep(copy, name, annotation)
    return copy


def _with_place(place: str, error: AssayError) -> str:
    file = place.partition(" line ")[0]
    return str(error) if not file or str(error).startswith(file) else f"{place}: {error}"


def _check_model(model: StudyEntry, config: StudyConfig, tasks: set[str], settings: Settings) -> None:
    for task in model.on:
        if task not in tasks:
            raise ConfigError(f"{settings.place('models')}on: no task is called {task!r}{suggestion(task, tasks)}")
    MODELS[model.name].configure(_training_settings(model, config, settings), {})


def _is_ready(model: StudyEntry, config: StudyConfig, settings: Settings, absent: list[str]) -> bool:
    """Return whether what a model needs is installed; if not, it is among what is absent."""
    try:
        kind = MODELS[model.name]
        kind.ready(kind.configure(_training_settings(model, config, settings), {}))
    except MissingExtra as error:
        absent.append(f"{model.label}: {error}")
        return False
    return True


def _training_settings(model: StudyEntry, config: StudyConfig, settings: Settings) -> Settings:
    """Return the settings of a model, with the study's epochs and patience where it sets none."""
    known = MODELS[model.name].Config.model_fields
    shared = {"epochs": config.epochs, "patience": config.patience}
    values = {key: value for key, value in shared.items() if value is not None and key in known}
    return Settings(values, {key: settings.places.get(key, key) for key in values}).merge(model.settings)


def _add_runs(
    steps: _Collected,
    task: StudyEntry,
    challenge: StudyEntry,
    model: StudyEntry,
    config: StudyConfig,
    settings: Settings,
) -> None:
    """Add the runs of a model on a task under a challenge; a run that was added before may predict their concepts."""
    data = steps.data[task.label, challenge.label]
    others = {label: name for (label, other), name in steps.data.items() if other == challenge.label}
    analyses = analyses_from(config.analyses, settings.place("analyses"), model.label, others)
    elsewhere = [asked.values["folders"] for name, asked in analyses if name == "transfer"]
    own = _training_settings(model, config, settings)
    folds: list[int | None] = list(range(config.folds)) if config.folds else [None]
    for seed, fold in itertools.product(config.seeds, folds):
        parts = [task.label, model.label, *([] if challenge.label == PLAIN else [challenge.label]), f"seed{seed}"]
        parts += [] if fold is None else [f"fold{fold}"]
        needs = steps.names.get((data, str(own.values.get(PERCEPTION)), seed, fold), "")
        content = [data, model.name, dict(own.values), seed, fold, config.folds, config.analyses, needs]
        content += elsewhere + [code.sha256 for code in _code_of(model, config)]
        name = "-".join([*parts, short_hash(content)])
        steps.names[data, model.label, seed, fold] = name
        steps.runs[name] = RunStep(
            *(name, data, task.label, challenge.label, model.name, model.label, own, seed, fold, config.folds),
            analyses=analyses,
            needs=needs,
        )


def _code_of(model: StudyEntry, config: StudyConfig) -> list[CodeFile]:
    """Return the user's files that decide the numbers of a model's runs: its own, and those of the metrics."""
    known = [METRICS.entry(name).code for name in config.metrics if name in METRICS]
    return [code for code in [MODELS.entry(model.name).code, *known] if code is not None]


def _check_baseline(config: StudyConfig, models: list[StudyEntry], settings: Settings) -> None:
    labels = [model.label for model in models]
    if config.baseline is not None and labels and config.baseline not in labels:
        raise ConfigError(
            f"{settings.place('baseline')}baseline: no model is called {config.baseline!r}"
            f"{suggestion(config.baseline, labels)}"
        )

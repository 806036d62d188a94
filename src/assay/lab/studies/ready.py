"""Ready studies: the papers' experiments, each in a `small` size for two processors and in the `paper`'s own.

How they compare with what was published says `fidelity.yaml`, a row for each published model: what the paper and the
released code have of examples, input, backbone, optimiser and supervision, where ours departs and why, and what the
paper calls each of our metrics. `departures` compares it with the study itself, so that neither can change without the
other.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from assay.base import Config, ConfigError, DataError, Settings, UnknownName, load_yaml, suggestion, validate
from assay.lab.steps import DataStep, RunStep
from assay.lab.studies.study import Study, load_study, study_from
from assay.models import MODELS
from assay.tasks import TASKS

Size = Literal["small", "paper"]
FOLDER = "papers"
MNIST = "ASSAY_MNIST"
"""The environment variable that names a folder with the idx files of MNIST, for studies in the paper's size."""
FILE = "fidelity.yaml"


@dataclass(frozen=True)
class ReadyStudy:
    """A study that comes with Assay: settings for all sizes, and what each size adds."""

    name: str
    about: str
    settings: Mapping[str, Any]

    def at_size(self, size: Size) -> Settings:
        """Return the settings of the study in a size."""
        sizes = self.settings.get("sizes", {})
        shared = {key: value for key, value in self.settings.items() if key != "sizes"}
        return Settings({**shared, **sizes.get(size, {}), "name": f"{self.settings['name']} ({size})"})


def ready_studies() -> dict[str, ReadyStudy]:
    """Return the ready studies by name."""
    return {name: _read(name, path) for name, path in _study_files().items()}


def _study_files() -> dict[str, Path]:
    paths = [Path(str(path)) for path in files("assay.lab.studies").joinpath(FOLDER).iterdir()]
    return {path.stem: path for path in sorted(paths) if path.suffix == ".yaml"}


@cache
def _read(name: str, path: Path) -> ReadyStudy:
    values = load_yaml(path).values
    return ReadyStudy(name, values["about"], values)


def find_study(name: str, size: Size = "small", output: Path | None = None, code: Sequence[Path] = ()) -> Study:
    """Return the study of a file, which may run the files in `code`, or the ready one of that name in a size.

    Parameters
    ----------
    name
        A YAML file, or the name of a ready study.
    size
        Of a ready study: `small` for minutes, `paper` as published.
    output
        The folder, by default as the study says.
    code
        Files with tasks, models or findings of one's own.
    """
    if name.endswith((".yaml", ".yml")) or Path(name).is_file():
        return load_study(Path(name), output, code)
    known = _study_files()
    if name not in known:
        raise UnknownName(f"no study file and no ready study named {name!r}{suggestion(name, known)}")
    settings, lacking = _read(name, known[name]).at_size(size), list[str]()
    if size == "paper":
        settings, lacking = _with_all_digits(settings)
    study = study_from(settings, output or Path("out") / f"{name}-{size}", lenient=True)
    study = replace(study, absent=(*study.absent, *lacking))
    if not study.runs:
        raise ConfigError(f"study {name!r} has nothing to run here; left out: {'; '.join(study.absent)}")
    return study


def _with_all_digits(settings: Settings) -> tuple[Settings, list[str]]:
    """Return the study with handwritten digits from the folder that is set, or what is to be said if none is."""
    entries = [{"task": entry} if isinstance(entry, str) else entry for entry in settings.values["tasks"]]
    handwritten = [entry["task"] in TASKS and "digits" in TASKS[entry["task"]].Config.model_fields for entry in entries]
    folder = os.environ.get(MNIST)
    if not any(handwritten):
        return settings, []
    if not folder:
        return settings, [f"the 60,000 digits of MNIST: 5,000 installed ones serve; set {MNIST}=FOLDER for all"]
    tasks = [
        {**entry, "digits": folder} if is_digits else entry
        for entry, is_digits in zip(entries, handwritten, strict=True)
    ]
    return settings.merge(Settings({"tasks": tasks})), []


class AsReleased(Config):
    """The row of ours that has the fault of the released code, where the published number rests on one."""

    model: str
    task: str | None = None
    """By default that of the published row."""
    metrics: dict[str, str] = {}
    """Where another metric of ours is the one that was computed."""
    suffix: str = ""
    """Added to the names of all other metrics."""
    fault: str
    """What the fault is."""

    def metric(self, name: str) -> str:
        """Return the metric of ours that is computed as the published one was."""
        return self.metrics.get(name, name + self.suffix)


class FidelityRow(Config):
    """What was published of one model of a study."""

    paper: dict[str, Any] = {}
    """Settings as printed in the paper: those of our models, and `examples`, `input`, `test`, `seeds`."""
    released: dict[str, Any] = {}
    """Where the released code has others."""
    departs: dict[str, str] = {}
    """Where ours are others than both, and why."""
    as_released: AsReleased | None = None
    reasons: dict[str, str] = {}
    """Why our number differs, by metric; `all` stands for the rest."""


class StudyFidelity(Config):
    """What was published as one table or figure."""

    table: str
    """What it is in its paper: the paper's name, and its table or figure."""
    quantities: dict[str, str] = {}
    """What the paper calls each metric of ours that stands beside a published number."""
    paper: dict[str, Any] = {}
    """Settings that the paper prints for all rows."""
    rows: dict[str, FidelityRow] = {}
    not_run: str = ""
    """Why it was not run in the paper's size."""
    needs: str = ""
    """What it cannot be run without, and does not come with Assay; empty if it wants computing time only."""


class Absent(Config):
    """A published table or figure that no study repeats."""

    table: str
    numbers: int
    """How many numbers it prints; 0 for a figure without any."""
    why: str
    needs: str = ""
    """As of a study."""


@dataclass(frozen=True)
class Departure:
    """A setting of ours that is not the published one."""

    study: str
    model: str
    setting: str
    published: Any
    ours: Any
    why: str
    """Empty where nobody has said why."""


class Fidelity(Config):
    """What was published: for each ready study, and what no study repeats."""

    studies: dict[str, StudyFidelity]
    absent: list[Absent]


@cache
def fidelity() -> Fidelity:
    """Return what was published."""
    return validate(Fidelity, load_yaml(Path(str(files("assay.lab.studies").joinpath(FILE)))))


def departures(name: str) -> list[Departure]:
    """Return every setting of a ready study, in the paper's size, that is not the published one.

    A row that says of a setting that ours departs, and it does not, is an error: it is out of date.
    """
    study, published_of, found = find_study(name, "paper"), fidelity().studies, list[Departure]()
    if name not in published_of:
        raise UnknownName(f"nothing published is known of study {name!r}{suggestion(name, published_of)}")
    known = published_of[name]
    for model, row in known.rows.items():
        ours = _settings_of(study, model)
        for key, published in {**known.paper, **row.paper}.items():
            if key not in ours:
                raise DataError(f"{FILE}: {name}, {model}: there is no setting {key!r}{suggestion(key, ours)}")
            if ours[key] not in (published, row.released.get(key, published)):
                found.append(Departure(name, model, key, published, ours[key], row.departs.get(key, "")))
        stale = row.departs.keys() - {departure.setting for departure in found if departure.model == model}
        if stale:
            raise DataError(f"{FILE}: {name}, {model}: ours does not depart in {sorted(stale)[0]!r}")
    return found


def _settings_of(study: Study, label: str) -> Mapping[str, Any]:
    """Return all that decides the runs of a model of a study."""
    steps = [run for run in study.runs if run.label == label]
    if not steps:
        raise DataError(f"{FILE}: {study.name} has no model called {label!r}")
    run = steps[-1]
    data = next(step for step in study.datasets if step.name in (run.data, *_parents(study, run)))
    return {**_data_settings(data, run), "seeds": len(study.config.seeds) * max(1, study.config.folds)}


def _parents(study: Study, run: RunStep) -> Iterator[str]:
    return (copy.parent for copy in study.copies if copy.name == run.data)


def _data_settings(step: DataStep, run: RunStep) -> dict[str, Any]:
    """Return the settings of a run with those that follow from its data: sizes, the input, the backbone."""
    recipe = step.recipe
    assert recipe is not None, "a ready study makes its data"
    model, task = MODELS[run.model], recipe.task
    config = model.configure(run.settings, task.backbones())
    sizes = {split.name: split.size for split in recipe.splits}
    examples = sizes["train"]
    layout, boxes = task.layout, list(task.layout.regions.values())
    part = boxes[0] if boxes and getattr(model, "role", "") == "concept" else None
    height, width = (layout.height, layout.width) if part is None else (part.bottom - part.top, part.right - part.left)
    own = {**config.model_dump(mode="json"), "examples": examples, "test": sizes.get("test")}
    if layout.width:
        own["input"] = [layout.channels, height, width]
    if "supervised_share" in own:
        own["supervised_examples"] = round(own["supervised_share"] * examples)
    return {**own, **{f"task.{key}": value for key, value in task.config.model_dump(mode="json").items()}}

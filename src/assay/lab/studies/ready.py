"""Ready studies: the papers' experiments, each in a `small` size for two processors and in the `paper`'s own."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from assay.base import ConfigError, Settings, UnknownName, load_yaml, suggestion
from assay.lab.studies.study import Study, load_study, study_from
from assay.tasks import TASKS

Size = Literal["small", "paper"]
FOLDER = "papers"
MNIST = "ASSAY_MNIST"
"""The environment variable that names a folder with the idx files of MNIST, for studies in the paper's size."""


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
    """Return the study of a file, which may run the files in `code`, or the ready one of that name in a size."""
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

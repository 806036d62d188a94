"""Ready studies: the papers' experiments, each in a `small` size for two processors and in the `paper`'s own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from assay.config import Settings, load_yaml
from assay.errors import ConfigError, UnknownName, suggestion
from assay.studies.study import Study, load_study, study_from

Size = Literal["small", "paper"]
FOLDER = "papers"


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
    paths = [Path(str(path)) for path in files("assay.studies").joinpath(FOLDER).iterdir()]
    return {path.stem: path for path in sorted(paths) if path.suffix == ".yaml"}


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
    study = study_from(_read(name, known[name]).at_size(size), output or Path("out") / f"{name}-{size}", lenient=True)
    if not study.runs:
        raise ConfigError(f"study {name!r} has nothing to run here; left out: {'; '.join(study.absent)}")
    return study

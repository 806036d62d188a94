"""What the viewer serves: the datasets and runs in the folders of the command line, and nothing else.

The page names datasets and runs by keys that are made here, never by paths. Files that a manifest or a link places
outside of its own folder are refused.
"""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from assay.base import AssayError, DataError, UnknownName, suggestion
from assay.contracts import PAIRS, SplitRecord, read_parquet
from assay.dataset import NAME, Dataset, read_manifest
from assay.runs import RUN, RunFolder

SEARCH_DEPTH = 3


@dataclass(frozen=True)
class ServedRun:
    """A trained run or a predictions file: its key and name, and the files of its answers by split."""

    key: str
    name: str
    folder: Path
    model: str
    answers: dict[str, Path]
    live: bool
    """Whether there is a model that can be asked, or only its predictions."""
    title: str
    """What people call it, such as `dpl on mnadd-evenodd, seed 0`."""
    label: str
    """The model's name in its study, or the model's."""
    seed: int | None


@dataclass(frozen=True)
class ServedDataset:
    """A dataset with the runs that were trained on it, or predicted for it."""

    key: str
    dataset: Dataset
    runs: dict[str, ServedRun] = field(default_factory=dict)

    def run(self, key: str) -> ServedRun:
        """Return the run of this key."""
        if key not in self.runs:
            raise UnknownName(f"no run {key!r} of {self.key!r}{suggestion(key, self.runs)}")
        return self.runs[key]

    @property
    def splits(self) -> list[SplitRecord]:
        """What the manifest says of each split, that of counterfactual pairs last."""
        pairs = self.dataset.pairs
        found = self.dataset.manifest.splits
        if pairs is None:
            return found
        named = {"where": pairs.where, **pairs.to_dict(), "name": PAIRS, "pool": f"those of {pairs.split}"}
        return [*found, SplitRecord.model_validate(named)]

    def split(self, name: str) -> SplitRecord:
        """Return what the manifest says of a split."""
        for split in self.splits:
            if split.name == name:
                return split
        raise UnknownName(f"no split named {name!r}{suggestion(name, [split.name for split in self.splits])}")

    def short_names(self) -> dict[str, str]:
        """Return a short name for each run by its key: its label where no other has it, with the seed, or its own."""
        names: dict[str, str] = {}
        for run in self.runs.values():
            seeded = f"{run.label}, seed {run.seed}"
            alike = [other for other in self.runs.values() if other.label == run.label]
            same_seed = [other for other in alike if other.seed == run.seed]
            names[run.key] = run.label if len(alike) == 1 else seeded if len(same_seed) == 1 else run.name
        return names


@dataclass(frozen=True)
class Broken:
    """A folder that looks like a dataset or run and cannot be shown, and why."""

    folder: str
    why: str


@dataclass(frozen=True)
class Workspace:
    """All that is served."""

    datasets: dict[str, ServedDataset]
    broken: tuple[Broken, ...] = ()

    def __getitem__(self, key: str) -> ServedDataset:
        if key not in self.datasets:
            raise UnknownName(f"no dataset {key!r}{suggestion(key, self.datasets)}")
        return self.datasets[key]

    def title(self, key: str) -> str:
        """Return what people call a dataset: its task where no other here is of it, or else its key."""
        name = str(self[key].dataset.name)
        alike = [served for served in self.datasets.values() if served.dataset.name == name]
        return name if len(alike) == 1 else key

    def places(self) -> list[Path]:
        """Return the folders of all that is here and those around them, the innermost first."""
        runs = [run.folder for served in self.datasets.values() for run in served.runs.values()]
        datasets = [served.dataset.folder.resolve() for served in self.datasets.values()]
        folders = [*runs, *datasets, *(Path(one.folder) for one in self.broken)]
        around = {place for folder in folders for place in (folder, *folder.parents) if place.name}
        return sorted(around, key=lambda place: (-len(place.parts), place))


def inside(folder: Path, name: str | Path) -> Path:
    """Return a file of a folder, refusing one that lies outside of it, by its name or by a link."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError(f"{str(name)!r} lies outside of {str(folder)!r}: it is not shown")
    return path


def open_workspace(paths: Sequence[Path]) -> Workspace:
    """Open the datasets and runs in folders."""
    return _Search().all(paths)


@dataclass
class _Search:
    """A search for datasets, then for runs, each of which is added to its dataset."""

    datasets: dict[str, ServedDataset] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)

    def all(self, paths: Sequence[Path]) -> Workspace:
        """Look through folders."""
        for path in paths:
            if not path.exists():
                raise DataError(f"no folder {str(path)!r}")
        folders = [entry for path in paths for entry in _entries(path.resolve(), path.resolve())]
        for folder in dict.fromkeys(folders):
            if (folder / NAME).is_file():
                self.attempt(folder, self.add_dataset)
        for folder in dict.fromkeys(folders):
            if not (folder / NAME).is_file():
                self.attempt(folder, self.add_run)
        if not self.datasets:
            where = ", ".join(repr(str(path)) for path in paths)
            raise DataError(
                self.broken[0].why if self.broken else f"no dataset or run in {where}; make one: assay make"
            )
        return Workspace(self.datasets, tuple(self.broken))

    def attempt(self, folder: Path, add: Callable[[Path], object]) -> None:
        """Add a folder, or remember why not."""
        try:
            add(folder)
        except (AssayError, OSError) as error:
            self.broken.append(Broken(str(folder), str(error)))

    def add_dataset(self, folder: Path) -> ServedDataset:
        """Open a dataset, all files of which lie in its folder."""
        for shard in read_manifest(folder).shards:
            inside(folder, shard.file)
        dataset = Dataset.open(folder)
        _ = dataset.knowledge  # a rule that cannot be read is reported now
        key = _key(folder.name, self.datasets)
        self.datasets[key] = ServedDataset(key, dataset)
        return self.datasets[key]

    def add_run(self, folder: Path) -> None:
        """Add a run, or a predictions file, to its dataset; the run's own dataset is opened if it was not named."""
        run = RunFolder(folder)
        if folder.is_file():
            fingerprint, split = _of_predictions(folder)
            model, seed, answers = "predictions", None, {split: folder}
        else:
            record = run.record
            fingerprint, model, seed = record.data.fingerprint, record.model, record.seed
            paths = sorted((folder / "predictions").glob("*.parquet"))
            answers = {path.stem: inside(folder, path) for path in paths}
        served = self.of(fingerprint)
        if served is None and folder.is_file():
            raise DataError(f"{str(folder)!r} is about the dataset with fingerprint {fingerprint}; give its folder too")
        served = served or self.add_dataset(run.dataset().fetch_all().folder.resolve())
        known = {split: path for split, path in answers.items() if split in served.dataset}
        key = _key(folder.stem if folder.is_file() else folder.name, served.runs)
        served.runs[key] = ServedRun(
            key, folder.name, folder, model, known, folder.is_dir(), run.title, run.label, seed
        )

    def of(self, fingerprint: str) -> ServedDataset | None:
        """Return the dataset of this fingerprint, if it was found."""
        return next((served for served in self.datasets.values() if served.dataset.fingerprint == fingerprint), None)


def _entries(path: Path, root: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the datasets, runs and predictions files at or under a path; links that lead outside are left alone."""
    if path.is_file():
        if depth == 0:
            yield path
    elif (path / NAME).is_file() or (path / RUN).is_file():
        yield path
    elif depth < SEARCH_DEPTH:
        for child in sorted(path.iterdir()):
            if child.is_dir() and not child.name.startswith(".") and child.resolve().is_relative_to(root):
                yield from _entries(child.resolve(), root, depth + 1)


def _of_predictions(path: Path) -> tuple[str, str]:
    """Return the fingerprint and the split that a predictions file is about."""
    try:
        row = read_parquet(path, ["fingerprint", "split"]).slice(0, 1).to_pylist()[0]
        return str(row["fingerprint"]), str(row["split"])
    except (pa.ArrowException, OSError, LookupError):
        raise DataError(f"{str(path)!r} is no predictions file") from None


def _key(name: str, taken: Container[str]) -> str:
    """Return a short key for a folder, safe in addresses and as a file name."""
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "data"
    key, number = base, 1
    while key in taken:
        number += 1
        key = f"{base}-{number}"
    return key

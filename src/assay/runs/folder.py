"""A run's folder: what was trained on what, what it predicts, and what is written into it last. Needs no torch.

The record has hashes of itself and of what was learned, so that damage does not pass for a result.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.base import DataError, folder_at, is_remote, refuse_links, refuse_named, remove_leftovers, write_atomically
from assay.contracts import (
    PAIRS,
    Predictions,
    RunRecord,
    read_predictions,
    sealed,
    to_json,
)
from assay.dataset import Dataset, SplitData
from assay.logic import Knowledge

RUN = "run.json"
WEIGHTS = "model.safetensors"
INPUT = "input.json"
"""What a network reads instead of pictures: the words, columns or features that it learned from."""
PROGRAM = "program.json"
"""What a symbolic model has learned, in words."""
LOGS = "logs"
"""What `--log` keeps in a run's folder."""
CHECKPOINT = "checkpoint.safetensors"
"""Where an unfinished run goes on from."""
STAGES = "stages"
"""What each stage of continual learning left."""
USAGE = "usage.json"
"""What training took, where it was measured."""
PARTS = {WEIGHTS, INPUT, PROGRAM, CHECKPOINT, STAGES, "history.json", "predictions", LOGS, USAGE}
"""What an unfinished run may have left."""
LEARNED = {WEIGHTS: "the weights in {} cannot be read", PROGRAM: "what {} has learned cannot be read"}
UNITS = "units.json"
"""The split whose pictures are shown, and each unit with the concept value that it matches and its top examples."""
KEYS = {"unit", "name", "value", "matched", "direction", "f1", "share", "rows", "has"}
NO_SIZES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, or a single predictions file that stands for one."""

    folder: Path

    def claim(self) -> None:
        """Make the folder, refusing one that holds anything but an unfinished run."""
        try:
            refuse_links(self.folder)
            if self.is_finished:
                raise DataError(f"{str(self.folder)!r} holds a finished run; choose another folder")
            if self.folder.is_file():
                raise DataError(f"{str(self.folder)!r} is a file, not a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
            strangers = [path.name for path in self.folder.iterdir() if not path.name.startswith(".")]
            if not PARTS.issuperset(strangers):
                raise DataError(f"{str(self.folder)!r} holds other files; choose another folder")
        except OSError as error:
            raise DataError(f"cannot use folder {str(self.folder)!r}: {error.strerror}") from None

    @property
    def is_finished(self) -> bool:
        """Whether all of the run was written."""
        return (self.folder / RUN).exists()

    def release(self) -> None:
        """Take away a folder that holds nothing: a run that could not begin leaves no trace."""
        with suppress(OSError):
            self.folder.rmdir()

    def predictions(self, split: str) -> Path:
        """Return where the predictions for a split are."""
        return self.folder / "predictions" / f"{split}.parquet"

    @property
    def record(self) -> RunRecord:
        """What was trained on what."""
        refuse_links(self.folder, unread=LOGS)
        try:
            text = (self.folder / RUN).read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            raise DataError(f"{str(self.folder)!r} holds no finished run (no {RUN})") from None
        except (OSError, ValueError):
            text = ""
        return RunRecord.parse(text, self.folder / RUN)

    def check_learned(self, record: RunRecord) -> None:
        """Refuse files that do not match the hashes in the run's record."""
        for name, sha256 in record.files.items():
            path = self.folder / name
            if name in LEARNED and (not path.is_file() or _hash(path) != sha256):
                what = LEARNED[name].format(repr(str(self.folder)))
                raise DataError(f"{what}: {name} does not match its hash: it is damaged")

    def metadata(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return self.record.to_dict()

    @property
    def label(self) -> str:
        """What the model is called: in its study, or else by its own name; a predictions file by the file's."""
        if self.folder.is_file():
            return self.folder.stem
        record = self.record
        return record.model if record.called.model is None else record.called.model

    @property
    def task(self) -> str:
        """What the task is called: in the run's study, or else by its own name; a predictions file does not say."""
        if self.folder.is_file():
            return ""
        record = self.record
        return record.called.task or record.data.task or Path(record.data.folder).name

    @property
    def title(self) -> str:
        """The name that people use, such as `dpl on mnadd-evenodd, seed 0`; hashes are for paths."""
        if self.folder.is_file():
            return self.folder.stem
        record = self.record
        fold = "" if record.fold is None else f", fold {record.fold.number}"
        return f"{self.label} on {self.task}, seed {record.seed}{fold}"

    def all_predictions(self, knowledge: Knowledge, sizes: Mapping[str, int] = NO_SIZES) -> dict[str, Predictions]:
        """Return the predictions for every split that has them, test first; not those for counterfactual worlds."""
        if self.folder.is_file():
            found = read_predictions(self.folder, knowledge, sizes)
            return {found.split: found}
        if not self.folder.exists():
            raise DataError(f"no run or predictions file {str(self.folder)!r}")
        refuse_links(self.folder, unread=LOGS)
        there = (self.folder / "predictions").glob("*.parquet")
        paths = sorted((path for path in there if path.stem != PAIRS), key=_test_first)
        if not paths:
            raise DataError(f"{str(self.folder)!r} has no predictions; make some: assay predict RUN DATA --split test")
        return {path.stem: read_predictions(path, knowledge, sizes) for path in paths}

    def dataset(self, known: Dataset | None = None) -> Dataset:
        """Open the dataset that the run was trained on, where it was then, or moved along with the run.

        An address is not opened unless `permit_remote` says so; `known` is the dataset if it lies at that address.
        """
        data = self.record.data
        if known is not None and str(known.origin) == data.folder and known.fingerprint == data.fingerprint:
            return known
        refuse_named(data.folder, self.folder / RUN)
        moved = self.folder.resolve() / (data.from_run or data.folder)
        here = is_remote(data.folder) or Path(data.folder).exists()
        folder = folder_at(data.folder) if here else moved
        if not here and not folder.exists():
            raise DataError(
                f"the dataset of {str(self.folder)!r} is no longer in {data.folder!r}; move it back, or train again"
            )
        dataset = Dataset.open(folder)
        if dataset.fingerprint != data.fingerprint:
            raise DataError(f"{str(folder)!r} is no longer the dataset that {str(self.folder)!r} was trained on")
        return dataset


def _test_first(path: Path) -> tuple[int, str]:
    order, kind = ["test", "ood", "hard", "valid"], path.stem.partition("_")[0]
    return (order.index(kind) if kind in order else len(order), path.stem)


def split_for(dataset: Dataset, name: str) -> str:
    """Return the split of this name, or the first stage of it where the dataset has stages."""
    if name in dataset or f"{name}_1" not in dataset:
        return name
    return f"{name}_1"


def check_dataset(run: RunFolder, dataset: Dataset) -> None:
    """Refuse a dataset that is not the one that a run was trained on."""
    trained_on = run.record.data.fingerprint
    if dataset.fingerprint != trained_on:
        raise DataError(
            f"{str(run.folder)!r} was trained on a dataset with fingerprint {trained_on}, "
            f"{str(dataset.folder)!r} has {dataset.fingerprint}; for other data: assay predict RUN DATA -o FOLDER"
        )


def write_pairs(predict: Callable[[SplitData], Predictions], dataset: Dataset, run: RunFolder) -> str:
    """Write the predictions for the split of counterfactual worlds, and say how many, or why there are none.

    Parameters
    ----------
    predict
        Gives the predictions for a split.
    dataset
        The dataset, which may have no such split.
    run
        The folder of the run.
    """
    if dataset.pairs is None:
        return f"none: {dataset.why_no_pairs}"
    try:
        predictions = predict(dataset[PAIRS])
    except DataError as error:
        return f"none: {error}"
    predictions.write(run.predictions(PAIRS), dataset.knowledge)
    return f"{len(predictions.index)} of split {dataset.pairs.split}"


def write_record(run: RunFolder, dataset: Dataset, about: Mapping[str, Any]) -> None:
    """Write that a run is finished: what was trained on what; a folder without it holds no run.

    Parameters
    ----------
    run
        The folder of the run, with all else written.
    dataset
        What it was trained on.
    about
        Who the model is, and what else is to be recorded of it.
    """
    remove_leftovers(run.folder)
    learned = {name: _hash(run.folder / name) for name in LEARNED if (run.folder / name).is_file()}
    plain = json.loads(to_json({**about, "data": dataset.place(run.folder), "files": learned}))
    write_atomically(run.folder / RUN, to_json(sealed(plain)))


def _hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def units_of(folder: Path) -> dict[str, Any] | None:
    """Return the units of a run's folder, None for a run that has none."""
    path = folder / UNITS
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if all(unit.keys() >= KEYS for unit in content["units"]) and isinstance(content["split"], str):
            return {"split": content["split"], "units": content["units"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise DataError(f"{UNITS} of {folder.name!r} cannot be read")

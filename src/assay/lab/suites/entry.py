"""Entries: a folder of predictions by anyone, with `entry.yaml`, checked and scored as rows of the board.

entry.yaml                        suite, name, link, level, seeds, trained_on, refused
DATASET/seed0/test.parquet        a predictions file for every split but those of training and validation
DATASET/seed0/pairs.parquet       and for the counterfactual worlds, where the dataset has some
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import Field

from assay.base import (
    Codes,
    Config,
    ConfigError,
    DataError,
    Settings,
    find_rows,
    load_yaml,
    refuse_links,
    safe_link,
    validate,
)
from assay.contracts import PAIRS, Prediction, Predictions, read_predictions
from assay.dataset import Dataset
from assay.diagnosis import diagnose_predictions
from assay.lab.suites.rows import TEST, BoardRow, Judged, add_entry, hash_of_files, refuse_second, row_of_predictions
from assay.lab.suites.running import DATA, open_data
from assay.lab.suites.suite import TEST_CONCEPTS, Suite, SuiteDataset, find_suite

ENTRY = "entry.yaml"
LEARNED_FROM = ("train", "valid")
"""The splits that an entry may learn from and choose by."""


class EntryConfig(Config):
    """The keys of `entry.yaml`."""

    suite: str
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """What the board calls it."""
    level: str
    """What it saw, as a level of the suite."""
    seeds: list[int] = Field(min_length=1)
    link: str = Field("", pattern=r"^(https?://.*)?$")
    trained_on: list[str] = list(LEARNED_FROM)
    """The splits that it learned from."""
    refused: dict[str, str] = {}
    """The datasets that it cannot take, each with the reason."""
    parameters: float = float("nan")
    seconds: float = float("nan")


@dataclass(frozen=True)
class SuiteEntry:
    """An entry's folder, its facts checked against the suite."""

    folder: Path
    suite: Suite
    config: EntryConfig

    @classmethod
    def open(cls, folder: Path) -> "SuiteEntry":
        """Read `entry.yaml`, and refuse what the suite does not allow."""
        refuse_links(folder)
        settings = load_yaml(folder / ENTRY)
        config = validate(EntryConfig, settings)
        if safe_link(config.link) != config.link:
            raise ConfigError(f"{settings.place('link')}link: {config.link!r} is no address of http or https")
        suite = find_suite(config.suite)
        suite.level(config.level)
        _refuse(config, suite, settings)
        return cls(folder, suite, config)

    @cached_property
    def scored(self) -> str:
        """The hash of all its files."""
        return hash_of_files(self.folder)

    def sees(self, what: str) -> bool:
        """Return whether the level sees something."""
        return what in self.suite.level(self.config.level).sees

    def judged(self, dataset: str, seed: int) -> Judged:
        """Return who is judged on what."""
        config = self.config
        return Judged(self.suite.name, dataset, config.name, config.level, seed, link=config.link, scored=self.scored)


def _refuse(config: EntryConfig, suite: Suite, settings: Settings) -> None:
    """Refuse facts of an entry that break a rule of the suite."""
    if config.name in suite.config.models:
        raise ConfigError(f"{settings.place('name')}name: {config.name!r} is a baseline of the suite; choose another")
    if len(set(config.seeds)) < len(config.seeds):
        raise ConfigError(f"{settings.place('seeds')}seeds: each once, not {config.seeds}")
    for split in config.trained_on:
        if split not in LEARNED_FROM:
            raise ConfigError(
                f"{settings.place('trained_on')}trained_on: level {config.level!r} forbids to learn from {split!r}; "
                f"an entry learns from {' and '.join(LEARNED_FROM)}"
            )
    for name in config.refused:
        suite.dataset(name)


def score_entry(
    folder: Path, output: Path, records: Path, watch: Callable[[int, int], None] = lambda done, whole: None
) -> list[BoardRow]:
    """Check an entry against the suite's datasets, add its rows to the records, and return them.

    Nothing is scored unless all is there: each dataset with all seeds, or a reason; nor if there are rows of another
    entry of its name.

    Parameters
    ----------
    folder
        The entry: `entry.yaml`, and predictions files by dataset and seed.
    output
        The folder of the suite, whose `data` has the datasets.
    records
        The folder that gets the rows, a file for each model.
    watch
        Is told how many of how many datasets are scored.
    """
    entry = SuiteEntry.open(folder)
    refuse_second(entry.config.name, entry.scored, records)
    wanted = [d for d in entry.suite.datasets.values() if d.name not in entry.config.refused]
    rows = [_refused(entry, name, seed) for name in entry.config.refused for seed in entry.config.seeds]
    found = {d.name: {seed: _folder(entry, d, seed) for seed in entry.config.seeds} for d in wanted}
    for place, dataset in enumerate(wanted):
        watch(place, len(wanted))
        opened = open_data(entry.suite, dataset, output / DATA / dataset.name)
        rows += [_score(entry, opened, dataset.name, seed, found[dataset.name][seed]) for seed in entry.config.seeds]
    add_entry(rows, records)
    return rows


def _folder(entry: SuiteEntry, dataset: SuiteDataset, seed: int) -> Path:
    folder = entry.folder / dataset.name / f"seed{seed}"
    if not folder.is_dir():
        raise DataError(
            f"no predictions for dataset {dataset.name!r} with seed {seed}: {str(folder)!r} is not there; "
            f"or say in {ENTRY} why: refused: {{{dataset.name}: ...}}"
        )
    return folder


def _refused(entry: SuiteEntry, dataset: str, seed: int) -> BoardRow:
    reason, fingerprint = entry.config.refused[dataset], entry.suite.dataset(dataset).fingerprint
    return entry.judged(dataset, seed).row(status="refused", reason=reason, fingerprint=fingerprint)


def _score(entry: SuiteEntry, dataset: Dataset, name: str, seed: int, folder: Path) -> BoardRow:
    """Return the row of one dataset and seed."""
    predictions = checked_predictions(entry, dataset, folder)
    by = entry.suite.judged_by
    diagnosis = diagnose_predictions(dataset, predictions, thresholds=by.settings())
    sees = entry.sees("concepts")
    row = row_of_predictions(entry.judged(name, seed), diagnosis, by, predictions[TEST], dataset, sees)
    return replace(row, parameters=entry.config.parameters, seconds=entry.config.seconds)


def checked_predictions(entry: SuiteEntry, dataset: Dataset, folder: Path) -> dict[str, Predictions]:
    """Read the predictions for every split that is judged, and refuse what is not whole or breaks the level."""
    names = [name for name in dataset.split_names if not name.startswith(LEARNED_FROM)]
    names += [PAIRS] if dataset.pairs is not None else []
    predictions = {name: _checked(entry, dataset, folder / f"{name}.parquet", name) for name in names}
    if not entry.sees(TEST_CONCEPTS):
        _refuse_copied(entry, dataset, predictions, folder)
    return predictions


def _checked(entry: SuiteEntry, dataset: Dataset, path: Path, split: str) -> Predictions:
    where = f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
    try:
        predictions = read_predictions(path, dataset.knowledge, dataset.sizes)
    except DataError as error:
        raise DataError(str(error).replace(path.name, where, 1) if path.exists() else str(error)) from None
    if predictions.fingerprint != dataset.fingerprint:
        raise DataError(
            f"{where} is about data with fingerprint {predictions.fingerprint}, the suite's is {dataset.fingerprint}"
        )
    if predictions.split != split:
        raise DataError(f"{where} is about split {predictions.split!r}, not {split!r}")
    index = dataset.symbols(split, styles=False).index
    missing = index[find_rows(index, predictions.index) < 0]
    if len(missing):
        raise DataError(f"{where} leaves out {len(missing)} of {len(index)} examples, such as number {missing[0]}")
    if len(predictions.index) > len(index):
        raise DataError(f"{where} has {len(predictions.index)} rows for {len(index)} examples")
    for name in dataset.knowledge.label_names:
        answer = predictions.labels.get(name)
        if answer is None or (answer.codes < 0).any():
            raise DataError(f"{where}: label {name!r} is not predicted in every row")
    if predictions.concepts and not (entry.sees("concepts") or entry.sees("rule")):
        raise DataError(f"{where} predicts concepts, and level {entry.config.level!r} sees none; declare another level")
    return predictions


def _refuse_copied(entry: SuiteEntry, dataset: Dataset, predictions: dict[str, Predictions], folder: Path) -> None:
    """Refuse concepts that are right and certain in every example of every split: so speaks who was shown them."""
    examples = 0
    for name, found in predictions.items():
        data = dataset.symbols(name, styles=False)
        truth = data.concepts[find_rows(found.index, data.index)]
        if len(found.concepts) < truth.shape[1] or not _is_copied(found, truth, dataset):
            return
        examples += len(truth)
    raise DataError(
        f"{folder.parent.name}/{folder.name}: every concept of all {examples:,} examples is right and certain, as if "
        f"read off the truth, which level {entry.config.level!r} does not see"
    )


def _is_copied(predictions: Predictions, truth: Codes, dataset: Dataset) -> bool:
    """Return whether all concepts are right and none is doubted."""
    for place, name in enumerate(dataset.knowledge.space.names):
        answer = predictions.concepts[name]
        if not np.array_equal(answer.codes, truth[:, place]) or _is_doubted(answer):
            return False
    return True


def _is_doubted(answer: Prediction) -> bool:
    rows = answer.probabilities
    return rows is not None and bool(((rows > 0) & (rows < 1)).any())

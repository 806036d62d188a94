"""What a round is trained on and how: the dataset with what was acquired, and the settings that this needs.

Examples that are drawn anew have the same worlds with another value of the nuisance; further examples have further
worlds. Both are sampled by the dataset's task. Marks that were planted on pictures, imported ones included, need no
task: the pictures without marks are marked anew.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import Array, Codes, ConfigError, DataError, open_atomically
from assay.contracts import GIVEN, MENDING, Manifest, SplitRecord
from assay.dataset import (
    NUISANCES,
    REVERSED,
    Confounder,
    Coupling,
    Dataset,
    SplitData,
    couplings_of,
    file_names,
    further_worlds,
    replace_dataset,
    reversed_worlds,
    split_counts,
    table_of,
    task_of,
    versions,
    write_description,
    write_shards,
)
from assay.exchange import Annotation, Copying, annotate
from assay.lab.acquisition.situation import AcquiredData, MendSettings
from assay.tasks import Task
from assay.worlds import Split, World

ALL_SUPERVISED = {"supervised_concepts": None, "supervised_values": None, "supervised_share": 1.0}
"""Of a round that learns from bought labels: those that there are, and no others, are in its dataset."""
TRAIN = "train"


@dataclass(frozen=True)
class RoundData:
    """What there was at first, and what there is now."""

    dataset: Dataset
    first: AcquiredData
    now: AcquiredData
    settings: MendSettings

    @property
    def has_labels(self) -> bool:
        """Whether concept labels were bought."""
        return self.now.labels > self.first.labels

    def write(self, folder: Path) -> Dataset:
        """Write the dataset of the round and open it; where nothing was bought that a dataset holds, the first one."""
        if self.has_labels:
            return self._write_labels(folder)
        if self.now.redrawn or self.now.fresh:
            return self._write_examples(folder)
        return self.dataset

    def model_settings(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of the first run, with those that what was bought needs."""
        now, settings, updates = self.now, self.settings, dict[str, Any]()
        if self.has_labels:
            weight = config["concept_weight"] or settings.concept_weight
            updates = {**ALL_SUPERVISED, "concept_weight": weight, "supervised_replay": settings.replay}
        elif "keeps" in config:  # validation shares the confounder
            updates = {"keeps": "last"}
        if now.nuisances:
            updates |= {"group_step": settings.group_step, "group_examples": now.nuisances}
        if now.masks:
            updates |= {"reasons_weight": settings.reasons_weight, "reasons_examples": now.masks}
        return {**config, **updates}

    def _write_labels(self, folder: Path) -> Dataset:
        """Write a copy whose annotated concepts are those that were bought.

        Validation keeps its annotated concepts only if the first run learned from some; else it has none either.
        """
        train, valid = self.dataset["train"], self.dataset["valid"]
        given = {"train": _by_index(train, self.now.concepts)}
        if not self.first.labels:
            given["valid"] = _by_index(valid, np.full(valid.concepts.shape, -1))
        annotate(self.dataset, Annotation.model_validate({"splits": list(given)}), folder, given, MENDING)
        return Dataset.open(folder)

    def _write_examples(self, folder: Path) -> Dataset:
        """Write a copy with the examples that were drawn anew."""
        drawing, now = TrainingRedraw(self.dataset, self.settings.clean), self.now
        tables = [drawing.redraw(np.array(now.redrawn))] if now.redrawn else []
        tables += [drawing.draw_further(now.fresh, len(now.redrawn))] if now.fresh else []
        about = {"redrawn": list(now.redrawn), "fresh": now.fresh}
        add_examples(self.dataset, pa.concat_tables(tables), folder, about)
        return Dataset.open(folder)


def _by_index(data: SplitData, codes: Codes) -> Codes:
    """Return codes in the places of the examples' numbers, as annotations by a machine are given."""
    placed = np.full((1 + int(data.index.max(initial=-1)), codes.shape[1]), -1)
    placed[data.index] = codes
    return placed


@dataclass(frozen=True)
class TrainingRedraw:
    """The training split of a dataset, some of whose examples are drawn anew."""

    dataset: Dataset
    clean: str | None = None
    """Where the dataset without marks lies, if marks were planted on its pictures."""

    @cached_property
    def training(self) -> SplitData:
        """The training split."""
        return self.dataset[TRAIN]

    @cached_property
    def couplings(self) -> tuple[Coupling, ...]:
        """The confounders that the dataset declares."""
        planted = self.dataset.manifest.task.confound
        if not planted:
            raise ConfigError(
                f"{str(self.dataset.folder)!r} declares no confounder to break; assay audit names what goes with the "
                "label, assay confound plants a mark"
            )
        return couplings_of([Confounder(**entry) for entry in planted], self.dataset.knowledge)

    def rows_that_fit(self) -> Array:
        """Return the rows in which a nuisance is as it goes with the label, so that another value would break that."""
        couplings, data, found = self.couplings, self.training, np.zeros(len(self.training), dtype=bool)
        codes = [json.loads(style)[NUISANCES] for style in data.table["style"].to_pylist()]
        for coupling in couplings:
            partner = coupling.partner(data.concepts, data.labels)
            bound = partner > 0 if coupling.confounder.one_sided else partner >= 0
            found |= bound & (np.array([row[coupling.name] for row in codes]) == partner)
        return np.flatnonzero(found)

    def redraw(self, rows: Array) -> pa.Table:
        """Return rows of the training split with another value of a nuisance, as further rows of it."""
        if self.dataset.manifest.confounded_from is not None:
            return self._marked_anew(rows)
        return self._table(reversed_worlds(self._task, self._split, self._seed, self.training.index[rows]))

    def draw_further(self, count: int, after: int) -> pa.Table:
        """Return further examples, drawn as those of the training split; `after` so many other new rows."""
        if self.dataset.manifest.confounded_from is not None:
            raise ConfigError(
                f"{str(self.dataset.folder)!r} was marked after it was drawn, so no further examples can be drawn; "
                "choose --strategy augment"
            )
        return self._table(further_worlds(self._task, self._split, self._seed, count), after)

    def _marked_anew(self, rows: Array) -> pa.Table:
        clean = self._unmarked
        data = clean[TRAIN].take(rows)
        copying = Copying(clean, self.couplings, Path())
        codes = copying.codes(REVERSED, data, data.index)
        index = self._new_index(len(rows), 0)
        table = copying.mark_rows(data.full_table(), TRAIN, codes)
        return table.set_column(table.column_names.index("index"), table.field("index"), pa.array(index, pa.int64()))

    @cached_property
    def _unmarked(self) -> Dataset:
        """The dataset whose pictures were marked."""
        wanted = self.dataset.manifest.confounded_from
        if self.clean is None:
            raise ConfigError(
                f"the pictures of {str(self.dataset.folder)!r} were marked after they were drawn; name the dataset "
                "without marks: --set clean=FOLDER"
            )
        clean = Dataset.open(self.clean)
        if clean.fingerprint != wanted:
            raise ConfigError(
                f"clean: {self.clean!r} is not the dataset that was marked, whose fingerprint is {wanted}"
            )
        return clean

    @cached_property
    def _task(self) -> Task:
        return task_of(self.dataset)

    @property
    def _seed(self) -> int:
        return int(self.dataset.manifest.seed)

    @cached_property
    def _split(self) -> Split:
        """The training split as its task draws it, in the size that it has."""
        own = next(split for split in self._task.splits() if split.name == TRAIN)
        return replace(own, size=len(self.training))

    def _new_index(self, count: int, after: int) -> Array:
        return np.arange(count) + int(self.training.index.max()) + 1 + after

    def _table(self, worlds: list[World], after: int = 0) -> pa.Table:
        index = self._new_index(len(worlds), after)
        return table_of(self._task, worlds, file_names(TRAIN, index), index)


def add_examples(dataset: Dataset, table: pa.Table, folder: Path, about: Mapping[str, Any]) -> None:
    """Write a copy of a dataset with further training rows, a shard of their own; all other files are as they were."""
    if any(name.startswith(GIVEN) for name in dataset[TRAIN].columns):
        raise DataError(
            f"{str(dataset.folder)!r} is an annotated copy; add examples to the dataset that it was made of"
        )
    with replace_dataset(folder, lambda there: (there.task.added or {}).get("parent") == dataset.fingerprint) as half:
        _write(dataset.fetch_all(), table, half, about)


def _write(dataset: Dataset, table: pa.Table, folder: Path, about: Mapping[str, Any]) -> None:
    old = dataset.manifest
    for shard in old.shards:
        with (dataset.folder / shard.file).open("rb") as source, open_atomically(folder / shard.file) as copy:
            shutil.copyfileobj(source, copy)
    splits = [
        entry.but(**_extended(dataset, table, folder, entry)) if entry.name == TRAIN else entry for entry in old.splits
    ]
    added = {"parent": dataset.fingerprint, "split": TRAIN, "examples": table.num_rows, **about}
    body = {**old.to_dict(), "task": old.task.but(added=added), "splits": splits, "versions": versions()}
    write_description(folder, Manifest.of(body))


def _extended(dataset: Dataset, table: pa.Table, folder: Path, entry: SplitRecord) -> dict[str, Any]:
    """Write the further rows as a shard, and return what of the split's entry changes."""
    whole = dataset[entry.name].table
    return {
        "size": whole.num_rows + table.num_rows,
        "shards": [*entry.shards, *write_shards(entry.name, [table], folder, len(entry.shards))],
        **split_counts(dataset.knowledge, [whole, table]),
    }

"""Training examples drawn anew: the same worlds with another value of the nuisance, or further worlds.

Worlds are drawn by the dataset's task. Marks that were planted on pictures that were there, imported ones included,
need no task: the pictures without marks are marked anew.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from assay.base import Array, ConfigError
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
    reversed_worlds,
    table_of,
    task_of,
)
from assay.exchange import Copying
from assay.tasks import Task
from assay.worlds import Split, World

TRAIN = "train"


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

"""The task that a dataset was made by, built again from the manifest, so that its worlds can be rendered anew."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.base import DataError, Settings, explain_missing, require_same
from assay.dataset.confounding.confounder import Confounder
from assay.dataset.confounding.task import with_confounders
from assay.dataset.dataset import Dataset, SplitData
from assay.dataset.shard import file_names, table_of
from assay.tasks import TASKS, Task
from assay.worlds import World


@dataclass(frozen=True)
class Redrawing:
    """Changes worlds of a dataset and draws them, by its task."""

    task: Task

    def change(self, world: World, place: int, code: int) -> World | None:
        """Return the world with one concept changed, and what must follow from that; None where that cannot be."""
        concept, knowledge = self.task.space.concepts[place], self.task.knowledge
        if world.codes[place] == code:
            return world
        after = self.task.change_world(world, {concept.name: concept.values[code]})
        if after is None or after.codes[place] != code:
            return None
        possible = knowledge.can_be(np.array([after.codes], dtype=np.int64))[0]
        return after if possible else None

    def draw(self, data: SplitData, worlds: Sequence[World]) -> SplitData:
        """Return the split with these worlds in the place of its own."""
        table = table_of(self.task, worlds, file_names(data.name, data.index), data.index)
        return replace(data, table=table, stored=None)  # its pictures are in the table, not in the shards


def check_code(dataset: Dataset, tasks: Sequence[str]) -> None:
    """Refuse a task's file that the user gave, if it is not the one that the dataset was made by."""
    name = dataset.manifest.task.name
    if name in tasks:
        require_same(TASKS.entry(name).code, dataset.manifest.code, repr(str(dataset.folder)))


def redrawing_for(kind: str, dataset: Dataset) -> Redrawing | None:
    """Return what draws changed worlds, for the one kind of intervention that needs it: manipulation."""
    return Redrawing(task_of(dataset)) if kind == "manipulation" else None


def task_of(dataset: Dataset, settings: Settings | None = None) -> Task:
    """Return the task of a dataset, with settings on top that say where its sources lie now."""
    manifest = dataset.manifest
    about, record = manifest.task, manifest.code
    name, folder = about.name, repr(str(dataset.folder))
    if about.imported is not None:
        raise DataError(f"{folder} was imported from {about.imported.layout}: it cannot be redrawn")
    if name not in TASKS:  # a name in a manifest is never taken for a file
        raise DataError(explain_missing("task", name, record, folder))
    require_same(TASKS.entry(name).code, record, folder)
    make = TASKS[name]
    if make.version != about.version:
        raise DataError(f"{folder} is of version {about.version} of its task, this is {make.version}")
    task: Task = make(Settings({**about.config, **manifest.local}).merge(settings or Settings()))
    if task.sources() != manifest.sources:
        raise DataError(f"{folder} was made from other source images than those at hand")
    if task.space != dataset.knowledge.space:
        raise DataError(f"the concepts of {folder} are not those of its task, so nothing is drawn anew")
    return with_confounders(task, [Confounder(**entry) for entry in about.confound])

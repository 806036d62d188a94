"""Worlds of a dataset drawn again by its task, which is built from the manifest: counterfactual worlds above all.

A counterfactual world is one of the test split with one concept changed, the style kept. Half of the changes, where
there are such, lead across the boundary of the rule, half along it. Every value of a changed world is one that training
shows: of others a model cannot know. They are a function of the dataset and lie in it as a split of their own, `pairs`:
each row names the example that it was changed from and the concept that was changed. A model of any kind predicts for
that split as for any other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from assay.base import (
    Array,
    Codes,
    DataError,
    SeededPermutation,
    Settings,
    UnknownName,
    explain_missing,
    from_pairs,
    require_same,
    rng_for,
    suggestion,
)
from assay.contracts import CONCEPT, GIVEN, PAIR_CONCEPT, PAIR_ROW, PAIRS, ShardRecord, from_column, numbers, strings
from assay.dataset.confounded import with_confounders
from assay.dataset.confounders import Confounder
from assay.dataset.dataset import Dataset
from assay.dataset.folder import pairs_split
from assay.dataset.recipe import MOST_PAIRS
from assay.dataset.shard import ShardJob, ShardWriter, file_names, table_of
from assay.dataset.split import ShownValues, SplitData
from assay.logic import ConceptSpace, Knowledge, Value
from assay.tasks import TASKS, Intervention, Task
from assay.worlds import World

MOST_CHANGES = 400
TRIES = 6
TRAINING = "train"
"""What the names of training splits begin with: `train`, and `train_1`, `train_2` of stages."""
MOST_DRAWN = 1000
"""How many worlds of each training split are drawn for a dataset that holds none."""


@dataclass(frozen=True)
class Change:
    """Which example, which concept, and the world after the change."""

    row: int
    concept: str
    world: World

    @property
    def value(self) -> Value:
        """The new value of the concept."""
        return self.world[self.concept]


@dataclass(frozen=True)
class PairsJob(ShardJob):
    """A shard of counterfactual worlds; carries the worlds, so that whoever draws it reads no other shard."""

    changes: tuple[Change, ...] = field(default=(), compare=False)
    start: int = 0

    def rows(self, writer: ShardWriter) -> int:
        """Return how many rows the shard has."""
        return len(self.changes)

    def fits(self, record: ShardRecord) -> bool:
        """Return whether a shard that was found holds as many worlds; another number may have been asked for then."""
        return record.rows == len(self.changes)

    def table(self, writer: ShardWriter) -> pa.Table:
        """Return the rows of the shard."""
        return self.drawn_by(writer.task)

    def drawn_by(self, task: Task) -> pa.Table:
        """Return the rows of the shard, drawn by a task."""
        places = np.arange(self.start, self.start + len(self.changes))
        table = table_of(task, [c.world for c in self.changes], file_names(PAIRS, places), places)
        table = table.append_column(PAIR_ROW, numbers(np.array([c.row for c in self.changes])))
        return table.append_column(PAIR_CONCEPT, strings([c.concept for c in self.changes], pa.string()))


def concept_columns(space: ConceptSpace) -> list[str]:
    """Return the names of the columns that hold the true concepts."""
    return [CONCEPT + name for name in space.names]


def shown_in(tables: Iterable[pa.Table], task: Task, seed: int) -> ShownValues | None:
    """Return the values in the rows of training; where there are none, those in worlds that the task would train on.

    None where the task itself has no training split: then any value may be one that a model knows.
    """
    space, found = task.space, None
    for table in tables:
        columns = [from_column(table[CONCEPT + c.name], c.values, c.name) for c in space.concepts]
        here = ShownValues.of(space, np.stack(columns, axis=1))
        found = here if found is None else found | here
    if found is not None:
        return found
    for split in task.splits():
        if split.name.startswith(TRAINING):
            codes = task.source_for(split, seed).codes(np.arange(min(split.size, MOST_DRAWN)))
            here = ShownValues.of(space, codes)
            found = here if found is None else found | here
    return found


def shown_by(dataset: Dataset, task: Task) -> ShownValues | None:
    """Return the values that the training of a dataset shows."""
    names = [name for name in dataset.split_names if name.startswith(TRAINING)]
    columns = concept_columns(dataset.knowledge.space)
    return shown_in((dataset.read(name, columns).table for name in names), task, dataset.manifest.seed)


def choose_changes(
    data: SplitData, task: Task, seed: int, count: int = MOST_PAIRS, shown: ShownValues | None = None
) -> list[Change]:
    """Return changes of worlds of a split, each of one concept and of another example.

    Worlds before and after have none but the values shown; None restricts nothing.
    """
    rng = rng_for(seed, "pairs", data.fingerprint, data.name)
    rows = SeededPermutation(len(data), seed, "pairs", data.name).deal(np.arange(len(data)))
    if shown is not None:
        rows = rows[shown.holds(data.concepts[rows]).all(axis=1)]
    changes = list[Change]()
    for place, row in enumerate(rows[:count].tolist()):
        found = _changed(task, data.world(row), rng, across=place % 2 == 0, shown=shown)
        if found is not None:
            changes.append(Change(row, *found))
    if count and not changes:
        within = "" if shown is None else " within the values that training shows"
        raise DataError(f"no world of split {data.name!r} can be drawn again with one concept changed{within}")
    return changes


def pairs_jobs(changes: Sequence[Change], rows: int) -> list[PairsJob]:
    """Return the shards that counterfactual worlds are written in, so many in each."""
    starts = range(0, len(changes), rows)
    return [PairsJob(PAIRS, i, tuple(changes[start : start + rows]), start) for i, start in enumerate(starts)]


@dataclass(frozen=True)
class Pairs:
    """Worlds before and after a change: row `i` of `data` and row `i + len(changes)`."""

    data: SplitData
    changes: tuple[Change, ...]

    def __len__(self) -> int:
        return len(self.changes)


def pairs_of(dataset: Dataset, split: str, task: Task, count: int | None = None, pictures: bool = True) -> Pairs:
    """Return worlds of any split before and after a change; without pictures where only the symbols are wanted.

    Of a split other than that of `pairs`, which may be made to show more than training does, its own values count too.

    Parameters
    ----------
    dataset
        The dataset.
    split
        The split whose worlds are changed.
    task
        Its task, built again.
    count
        How many at most; by default as many as a dataset is made with.
    pictures
        Whether pictures are read and drawn, or the symbols alone.
    """
    data = dataset[split] if pictures else dataset.symbols(split)
    shown = shown_by(dataset, task)
    if shown is not None and split != pairs_split(dataset.split_names):
        shown |= ShownValues.of(task.space, data.concepts)
    changes = choose_changes(data, task, dataset.manifest.seed, count or MOST_PAIRS, shown)
    return _paired(data, f"{split}-{PAIRS}", task, changes, pictures)


def intervened(dataset: Dataset, split: str, task: Task, do: Sequence[str], pictures: bool = True) -> Pairs:
    """Return all worlds of a split that an intervention is for, before it and after it.

    What comes out may be a world that the task never draws; its labels are what the rule says of it.

    Parameters
    ----------
    dataset
        The dataset.
    split
        The split whose worlds are changed.
    task
        Its task, built again.
    do
        One name of the task's interventions, or changes such as `car1.colour=red`.
    pictures
        Whether pictures are read and drawn, or the symbols alone.
    """
    name, change = intervention_of(task, do)
    data = dataset[split] if pictures else dataset.symbols(split)
    after = [(row, change(data.world(row))) for row in range(len(data))]
    changes = [Change(row, name, world) for row, world in after if world is not None]
    if not changes:
        raise DataError(f"{name!r} is for no world of split {split!r}")
    return _paired(data, f"{split}-{name}", task, changes, pictures)


def intervention_of(task: Task, do: Sequence[str]) -> tuple[str, Intervention]:
    """Return the named intervention, or the one that sets concepts, where that changes a world and leaves it whole."""
    if len(do) == 1 and "=" not in do[0]:
        known = task.interventions
        if do[0] not in known:
            raise UnknownName(f"no intervention named {do[0]!r}{suggestion(do[0], known)}, or CONCEPT=VALUE")
        return do[0], known[do[0]]
    changes = {name: _value(task, name, value) for name, value in from_pairs(do, "--do").values.items()}
    unlimited = Knowledge(task.space, ())  # it says of a world only that slots are whole

    def change(world: World) -> World | None:
        made = world.do(changes)
        whole = bool(unlimited.can_be(np.array([made.codes], dtype=np.int64))[0])
        return made if whole and made.codes != world.codes else None

    return "do", change


def _value(task: Task, name: str, value: Value) -> Value:
    """Return a value as the concept has it, though YAML may have read a word as a truth."""
    concept = task.space.concept(name)
    named = {str(own).lower(): own for own in concept.values}
    return named.get(str(value).lower(), value)


def _paired(data: SplitData, name: str, task: Task, changes: Sequence[Change], pictures: bool) -> Pairs:
    """Return worlds beside what they were changed to."""
    before = data.take(np.array([change.row for change in changes], dtype=np.int64)).full_table()
    before = before.select([name for name in before.column_names if not name.startswith(GIVEN)])
    places, after = np.arange(len(changes)), [change.world for change in changes]
    changed = table_of(task, after, file_names(name, places), places, pictures)
    table = pa.concat_tables([before, changed.select(before.column_names)])
    table = table.set_column(table.column_names.index("index"), "index", numbers(np.arange(2 * len(changes))))
    made = SplitData(name, data.fingerprint, data.knowledge, data.layout, table, data.where)
    return Pairs(made, tuple(changes))


def _changed(
    task: Task, world: World, rng: np.random.Generator, across: bool, shown: ShownValues | None = None
) -> tuple[str, World] | None:
    """Return a concept and the world with it changed, if possible across the boundary, or along it.

    Changes that are possible by themselves come first; of others, such as one of several values of which exactly one
    must hold, the task knows what must follow.
    """
    knowledge = task.knowledge
    places, codes = _options(knowledge, np.array(world.codes, dtype=np.int64), rng, shown)
    if not len(places):
        return None
    possible = knowledge.can_be(codes)
    labels = knowledge.labels_of(np.concatenate([codes, [world.codes]]))
    crosses = (labels[:-1] != labels[-1]).any(axis=1)
    order = np.lexsort((crosses != across, ~possible))
    for option in order[:TRIES].tolist():
        concept = task.space.concepts[places[option]]
        made = task.change_world(world, {concept.name: concept.values[codes[option, places[option]]]})
        if made is not None and made.codes != world.codes and _may_be(knowledge, made, shown):
            return concept.name, made
    return None


def _may_be(knowledge: Knowledge, made: World, shown: ShownValues | None) -> bool:
    """Return whether a world breaks no constraint, and what followed from the change is shown too."""
    codes = np.array([made.codes], dtype=np.int64)
    return bool(knowledge.can_be(codes)[0]) and (shown is None or bool(shown.holds(codes).all()))


def _options(
    knowledge: Knowledge, world: Array, rng: np.random.Generator, shown: ShownValues | None = None
) -> tuple[Array, Codes]:
    """Return single changes of a world in random order: the concept's place, and the concepts after it."""
    pairs = [(place, code) for place, size in enumerate(knowledge.space.sizes) for code in range(size)]
    chosen = np.array([pair for pair in pairs if world[pair[0]] != pair[1]]).reshape(-1, 2)
    chosen = chosen[rng.permutation(len(chosen))]
    if shown is not None:
        chosen = chosen[[bool(shown.tables[place][code]) for place, code in chosen.tolist()]]
    chosen = chosen[:MOST_CHANGES]
    codes = np.repeat(world[None, :], len(chosen), axis=0)
    codes[np.arange(len(chosen)), chosen[:, 0]] = chosen[:, 1]
    return chosen[:, 0], codes


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

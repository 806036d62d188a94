"""Planted faults: what a predictor's answers are, in the worlds of a task, and the findings that must be reported.

Every specimen lives in a habitat: the rule of a task and the worlds of its splits, without pictures. Its answers are
built from the truth, so that its fault is known.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from assay.base import Array, AssayError, Codes, Settings
from assay.contracts import rule_head
from assay.dataset import recipe_from
from assay.diagnosis import kinds_in_order, new_worlds, used_concepts
from assay.logic import Knowledge
from assay.metrics import Evidence

T = TypeVar("T")
SIZES = {"train": 2000, "test": 450, "ood": 300, "hard": 200}
KINDS: tuple[str, ...] = kinds_in_order()
FAULTS: frozenset[str] = frozenset(KINDS) - {"sound", "too few"}


@dataclass(frozen=True)
class ZooTask:
    """A rule, the worlds of the splits, and those that training showed."""

    task: str
    seed: int
    knowledge: Knowledge
    splits: Mapping[str, Codes]
    training: Codes

    @property
    def used(self) -> list[int]:
        """The columns of the concepts that the rule uses."""
        return sorted(used_concepts(self.knowledge))

    @property
    def unused(self) -> list[int]:
        """The columns of the concepts that it does not use."""
        return sorted(set(range(len(self.knowledge.space))) - set(self.used))

    def keeps(self, read: Callable[[Codes], Codes], splits: Sequence[str] = ()) -> bool:
        """Return whether every training world, and every world of these splits, keeps its labels when read this way."""
        worlds = np.concatenate([self.training, *(self.splits[name] for name in splits)])
        return bool((self.knowledge.labels_of(read(worlds)) == self.knowledge.labels_of(worlds)).all())


def zoo_task(task: str, seed: int = 0, sizes: Mapping[str, int] | None = None) -> ZooTask:
    """Return the habitat of a task: the worlds of its splits, as `assay make` would sample them.

    Parameters
    ----------
    task
        The name of a task.
    seed
        The seed of its worlds.
    sizes
        How many worlds of each split, by default some hundreds.
    """
    built = recipe_from(task, Settings({})).task
    most, splits = {**SIZES, **(sizes or {})}, {}
    for split in built.splits():
        if split.name in most:
            splits[split.name] = built.source_for(split, seed).codes(np.arange(min(split.size, most[split.name])))
    training = splits.pop("train")
    return ZooTask(task, seed, built.knowledge, splits, training)


@dataclass(frozen=True)
class Planted:
    """A predictor's answers by split, and the findings that must and must not be reported."""

    evidence: Mapping[str, Evidence]
    required: tuple[frozenset[str], ...]
    """Of each set at least one kind must be reported."""
    forbidden: frozenset[str]
    concepts: frozenset[str] = frozenset()
    """Concepts that the findings must name."""
    note: str = ""
    """A word that the text must hold."""
    first: frozenset[str] = frozenset()
    """The words of which one must come first, where that is planted too."""


Plant = Callable[[ZooTask, np.random.Generator], Planted | None]
"""Builds a predictor; None where the habitat has no room for its fault."""
FAULTY_PREDICTORS: dict[str, tuple[str, Plant]] = {}


class NoRoom(Exception):
    """A habitat has no room for a fault."""


def specimen(name: str, about: str = "", **settings: Any) -> Callable[[Callable[..., Planted]], Callable[..., Planted]]:
    """Register a predictor with a planted fault, which its docstring or `about` tells; where is no room, it is None."""

    def register(plant: Callable[..., Planted]) -> Callable[..., Planted]:
        def in_a_habitat(home: ZooTask, rng: np.random.Generator) -> Planted | None:
            try:
                return plant(home, rng, **settings)
            except NoRoom:
                return None

        FAULTY_PREDICTORS[name] = (about or plant.__doc__ or "", in_a_habitat)
        return plant

    return register


def need(room: object) -> None:
    """Leave a habitat that has no room for a fault."""
    if not room:
        raise NoRoom


def leading(evidence: Mapping[str, Evidence], kinds: frozenset[str], forbidden: frozenset[str], **more: Any) -> Planted:
    """Return a fault of which one of some kinds must be reported, and come first."""
    return Planted(evidence, (kinds,), forbidden, first=kinds, **more)


def one_of(*kinds: str) -> frozenset[str]:
    """Return alternatives."""
    return frozenset(kinds)


def all_but(*kinds: str) -> frozenset[str]:
    """Return every kind of finding but these; `too few` is never forbidden with them."""
    return frozenset(KINDS) - frozenset(kinds) - {"too few"}


def true_labels(home: ZooTask, split: str) -> Codes:
    """Return the labels that the rule gives for the worlds of a split."""
    return home.knowledge.labels_of(home.splits[split])


def other_labels(home: ZooTask, labels: Codes, rows: Array, rng: np.random.Generator) -> Codes:
    """Return labels with another value in these rows."""
    changed = labels.copy()
    for place, label in enumerate(home.knowledge.labels):
        shift = rng.integers(1, len(label.values), size=len(labels))
        changed[:, place] = np.where(rows, (labels[:, place] + shift) % len(label.values), labels[:, place])
    return changed


def first_rows(home: ZooTask, rows: int) -> ZooTask:
    """Return the habitat with the first rows of the test split alone."""
    return replace(home, splits={"test": home.splits["test"][:rows]})


def with_value(worlds: Codes, rows: Array, columns: Array | int, value: Array | int) -> Codes:
    """Return worlds with a value in some columns of some rows."""
    changed = worlds.copy()
    changed[rows, columns] = value
    return changed


def silence(worlds: Codes) -> Codes:
    """Return that no concept is said."""
    return np.full_like(worlds, -1)


def answers(
    home: ZooTask,
    split: str,
    concepts: Codes,
    labels: Codes | None = None,
    confidence: Sequence[Array | float | None] | None = None,
) -> Evidence:
    """Return the evidence of a predictor that says these concepts, and these labels or those that the rule gives."""
    knowledge, worlds = home.knowledge, home.splits[split]
    spoken = knowledge.labels_of(np.maximum(concepts, 0)) if labels is None else labels
    sure = confidence or [None] * len(knowledge.space)
    sizes = knowledge.space.sizes
    probabilities = tuple(None if c is None else certain(concepts[:, i], sizes[i], c) for i, c in enumerate(sure))
    silent = (None,) * len(knowledge.labels)
    return Evidence(knowledge, split, knowledge.labels_of(worlds), worlds, spoken, concepts, silent, probabilities)


def certain(codes: Codes, size: int, confidence: Array | float) -> Array:
    """Return probabilities that give each code this confidence and share the rest alike.

    Parameters
    ----------
    codes
        The predicted value of each example.
    size
        How many values there are.
    confidence
        The probability of the predicted value, for all examples or for each.
    """
    sure = np.broadcast_to(np.asarray(confidence, dtype=float), codes.shape)
    rest = (1 - sure) / max(1, size - 1)
    probabilities = np.repeat(rest[:, None], size, axis=1)
    probabilities[np.arange(len(codes)), np.maximum(codes, 0)] = sure if size > 1 else 1.0
    return probabilities


def misread(
    home: ZooTask, worlds: Codes, share: float, rng: np.random.Generator, columns: Sequence[int] | None = None
) -> Codes:
    """Return worlds with another value, drawn evenly, in a share of the cells of some columns, or of all."""
    read, sizes = worlds.copy(), home.knowledge.space.sizes
    for column in range(len(sizes)) if columns is None else columns:
        rows = rng.random(len(worlds)) < share
        shift = rng.integers(1, sizes[column], size=len(worlds)) if sizes[column] > 1 else 0
        read[:, column] = np.where(rows, (worlds[:, column] + shift) % sizes[column], worlds[:, column])
    return read


def everywhere(home: ZooTask, read: Callable[[Codes], Codes]) -> dict[str, Evidence]:
    """Return a predictor that reads every split this way and reasons by the rule."""
    return on_each(home, lambda split, worlds: answers(home, split, read(worlds)))


def on_each(home: ZooTask, answer: Callable[[str, Codes], Evidence]) -> dict[str, Evidence]:
    """Return what a predictor says of the worlds of each split."""
    return {split: answer(split, worlds) for split, worlds in home.splits.items()}


def by_inference(evidence: Evidence) -> Evidence:
    """Return the evidence with the labels that the rule makes most probable for the concepts."""
    head = rule_head(evidence.knowledge)([p for p in evidence.concept_probabilities if p is not None])
    return replace(evidence, predicted_labels=np.stack([p.argmax(axis=1) for p in head], axis=1))


def by_tables(tables: Mapping[int, Array]) -> Callable[[Codes], Codes]:
    """Return a reading that maps the values of some columns."""

    def read(worlds: Codes) -> Codes:
        codes = worlds.copy()
        for column, table in tables.items():
            codes[:, column] = table[worlds[:, column]]
        return codes

    return read


def draw_shortcut(home: ZooTask, rng: np.random.Generator, tries: int = 20) -> Callable[[Codes], Codes]:
    """Return a reading that keeps every training label and misreads what the rule uses, drawn from all there are."""
    from assay.counting import count_shortcuts

    worlds = np.unique(home.training, axis=0)
    try:
        counted = count_shortcuts(home.knowledge, "shared", worlds[:: max(1, len(worlds) // 400)], seconds=60.0)
    except AssayError:
        raise NoRoom from None
    readings, space = counted.readings, home.knowledge.space
    if readings is None or counted.total == 1:
        raise NoRoom
    groups = {group.name: [space.place(name) for name in group.concepts] for group in space.encoders}
    for reading in readings.sample(rng, tries):
        tables = {c: np.arange(space.sizes[c]) for columns in groups.values() for c in columns}
        for entry, code in zip(readings.problem.entries, reading, strict=True):
            for column in groups[entry.owner]:
                concept = space.concepts[column]
                tables[column][concept.code(entry.truth[0])] = concept.code(entry.values[code])
        read = by_tables(tables)
        if home.keeps(read) and visible(home, read, home.used):
            return read
    raise NoRoom


def visible(home: ZooTask, read: Callable[[Codes], Codes], columns: Sequence[int], share: float = 0.1) -> bool:
    """Return whether a reading is wrong in enough examples of the test split, in some of these columns."""
    worlds = home.splits["test"]
    return bool(((read(worlds) != worlds)[:, columns]).any(axis=1).mean() >= share)


def find_exchangeable(home: ZooTask, rng: np.random.Generator, splits: Sequence[str] = ()) -> tuple[int, int]:
    """Return two concepts of the rule that can be exchanged without changing a label."""
    space, pairs = home.knowledge.space, []
    for i in home.used:
        for j in home.used:
            if i < j and space.concepts[i].values == space.concepts[j].values:
                read = exchange(i, j)
                if visible(home, read, [i, j]) and home.keeps(read, splits):
                    pairs.append((i, j))
    return pick(pairs, rng)


def pick(options: Sequence[T], rng: np.random.Generator) -> T:
    """Return one of some options, all equally likely."""
    need(options)
    return options[int(rng.integers(len(options)))]


def exchange(i: int, j: int) -> Callable[[Codes], Codes]:
    """Return the reading that takes two concepts for each other."""

    def read(worlds: Codes) -> Codes:
        codes = worlds.copy()
        codes[:, [i, j]] = worlds[:, [j, i]]
        return codes

    return read


def find_exchangeable_values(home: ZooTask, rng: np.random.Generator) -> tuple[int, Callable[[Codes], Codes]]:
    """Return a concept of the rule of which two values can be exchanged without changing a training label."""
    space, readings = home.knowledge.space, []
    for column in home.used:
        for value in range(space.sizes[column]):
            for other in range(value):
                table = np.arange(space.sizes[column])
                table[[value, other]] = other, value
                read = by_tables({column: table})
                if visible(home, read, [column]) and home.keeps(read):
                    readings.append((column, read))
    return pick(readings, rng)


def names(home: ZooTask, columns: Sequence[int]) -> frozenset[str]:
    """Return the names of columns."""
    return frozenset(home.knowledge.space.names[column] for column in columns)


def varying_columns(home: ZooTask, columns: Sequence[int], least: float = 0.1) -> list[int]:
    """Return the columns in which two values or more are frequent on the test split."""
    worlds = home.splits["test"]
    sizes = home.knowledge.space.sizes
    shares = {c: np.sort(np.bincount(worlds[:, c], minlength=sizes[c]))[::-1] / len(worlds) for c in columns}
    return [c for c in columns if len(shares[c]) > 1 and shares[c][1] >= least]


def rows_in_training(home: ZooTask, split: str) -> Array:
    """Return which examples of a split have a world that training showed."""
    evidence = answers(home, split, home.splits[split])
    new = new_worlds(evidence, home.training)
    return np.zeros(len(evidence), dtype=bool) if new is None else ~new

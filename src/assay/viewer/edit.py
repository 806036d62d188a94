"""Change concepts of a sample by hand: the world drawn anew, what the rule says of it, and what a model answers.

A *counterfactual* is the changed world's picture, shown to the model. An *intervention* leaves the picture as it is and
sets the concepts inside of the model.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from assay.base import AssayError, ConfigError, DataError
from assay.dataset import SplitData, table_of
from assay.logic import Value
from assay.tasks import Task
from assay.viewer.answers import plain, violated_constraints
from assay.viewer.pictures import picture_to_dict
from assay.viewer.state import State
from assay.viewer.table import SplitTable
from assay.worlds import LUCK, World

Changes = Mapping[str, int]
"""Concepts and the codes that they are set to."""


def edit_sample(state: State, key: str, split: str, row: int, changes: Changes) -> dict[str, Any]:
    """Return the world with concepts changed: its picture, its labels by the rule, and the constraints it breaks.

    Where the task is not at hand nothing is drawn, and `undrawn` says why; the rule still speaks.
    """
    table: SplitTable = state.table(key, split)
    before, named = table.world(row), _named(table, changes)
    try:
        task: Task = state.task(key)
    except AssayError as error:
        seen: dict[str, Any] = {"pictures": {}, "things": [], "text": None, "undrawn": str(error)}
        world = before.do(named)
    else:
        world = _changed(task, before, named)
        seen = {**picture_to_dict(task.render(world), tuple(task.columns)), "undrawn": None}
    return {
        **seen,
        "concepts": list(world.codes),
        "follows": [name for name in _moved(before, world) if name not in changes],
        "labels": _labels(table, world),
        "tags": _tags(table, world),
        "violated": violated_constraints(table.knowledge, np.array([world.codes], dtype=np.int64)),
        "world": world.text,
    }


def ask_model(state: State, key: str, split: str, row: int, run: str, changes: Changes) -> dict[str, Any]:
    """Return what a model says of the sample, of the changed picture, and of the sample with the concepts set."""
    table: SplitTable = state.table(key, split)
    model = state.shelf[key].run(run)
    if state.models is None or not model.live:
        raise DataError(f"{model.name!r} is only a file of predictions: there is no model that can be asked")
    ask, knowledge = state.models.predict, table.knowledge
    own = table.data(table.row(row))
    found: dict[str, Any] = {"own": plain(ask(model.folder, own, None), 0, knowledge)}
    if not changes:
        return found
    do = {name: np.array([changes[name]]) for name in _named(table, changes)}
    found["intervention"] = or_why(lambda: plain(ask(model.folder, own, do), 0, knowledge))
    found["counterfactual"] = or_why(
        lambda: plain(ask(model.folder, _drawn_anew(state, key, table, row, changes), None), 0, knowledge)
    )
    return found


def or_why(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return an answer, or why there is none: that a world cannot be changed so is an answer too."""
    try:
        return answer()
    except AssayError as error:
        return {"error": str(error)}


def _drawn_anew(state: State, key: str, table: SplitTable, row: int, changes: Changes) -> SplitData:
    """Return the changed world as a row that a model can be shown."""
    task: Task = state.task(key)
    world = _changed(task, table.world(row), _named(table, changes))
    return table.data(table_of(task, [world], ["edited.png"], np.zeros(1, dtype=np.int64)))


def _named(table: SplitTable, changes: Changes) -> dict[str, Value]:
    """Return the values that concepts are set to, refusing codes that there are not."""
    named = {}
    for name, code in changes.items():
        concept = table.knowledge.space.concept(name)
        if not 0 <= code < len(concept.values):
            raise ConfigError(f"concept {name!r} has codes from 0 to {len(concept.values) - 1}, not {code}")
        named[name] = concept.values[code]
    return named


def _changed(task: Task, world: World, named: Mapping[str, Value]) -> World:
    """Return the world that a task makes of changes; refuse those that it cannot draw."""
    made = task.change_world(world, named) if named else world
    if made is None:
        told = ", ".join(f"{name} = {value}" for name, value in named.items())
        raise DataError(f"there is no such world: with {told} this picture cannot be drawn")
    return made


def _moved(before: World, after: World) -> list[str]:
    """Return the concepts that differ between two worlds."""
    pairs = zip(before.space.names, before.codes, after.codes, strict=True)
    return [name for name, one, other in pairs if one != other]


def _labels(table: SplitTable, world: World) -> list[int]:
    """Return the labels that the rule gives; one that is left to chance keeps its luck."""
    codes = np.array([world.codes], dtype=np.int64)
    knowledge = table.knowledge
    knowledge.require_rule("changing concepts by hand")
    if min(world.codes) < 0:
        raise DataError("some concepts of this example are not known, so that the rule gives no label")
    drawn_by_luck = knowledge.stochastic and LUCK in world.style
    labels = (
        knowledge.drawn_labels(codes, np.array([world.style[LUCK]])) if drawn_by_luck else knowledge.labels_of(codes)
    )
    return [int(code) for code in labels[0]]


def _tags(table: SplitTable, world: World) -> dict[str, list[str]]:
    """Return where the world lies in the rule of each label that the dataset has tags for."""
    codes = np.array([world.codes], dtype=np.int64)
    pairs = zip(table.knowledge.label_names, table.knowledge.boundaries, strict=True)
    return {name: boundary.tags(codes)[0].split("; ") for name, boundary in pairs if name in table.sides}

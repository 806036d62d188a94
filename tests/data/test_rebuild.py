"""Worlds of a dataset changed and drawn again by its task."""

import numpy as np
import pytest

from assay.data import Dataset, redrawing_for, task_of
from assay.data.rebuild import Redrawing
from assay.logic import Constraint, Knowledge, parse


def test_worlds_that_are_not_changed_are_drawn_as_they_were(mnlogic: Dataset) -> None:
    data = mnlogic["test"][:4]
    again = redrawing_for("manipulation", mnlogic).draw(data, [data.world(row) for row in range(4)])
    assert again.pngs == data.pngs and (again.concepts == data.concepts).all() and (again.labels == data.labels).all()
    assert again.index.tolist() == data.index.tolist() and again.fingerprint == data.fingerprint
    assert redrawing_for("confirmation", mnlogic) is None


def test_one_concept_changes_and_the_style_stays(mnlogic: Dataset) -> None:
    redraw, world = redrawing_for("manipulation", mnlogic), mnlogic["test"].world(0)
    for place in range(3):
        after = redraw.change(world, place, 1 - world.codes[place])
        expected = list(world.codes)
        expected[place] = 1 - expected[place]
        assert list(after.codes) == expected and after.style == world.style
        assert redraw.change(world, place, world.codes[place]) is world
    drawn = redraw.draw(mnlogic["test"][:1], [after])
    assert drawn.concepts.tolist() == [expected] and drawn.pngs != mnlogic["test"][:1].pngs
    assert drawn.labels.tolist() == mnlogic.knowledge.labels_of(np.array([expected])).tolist()


def test_worlds_that_cannot_be_are_not_made(mnlogic: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    task, world = task_of(mnlogic), mnlogic["test"].world(0)
    names, now = mnlogic.knowledge.space.names, dict(zip(mnlogic.knowledge.space.names, world.codes, strict=True))
    fixed = Knowledge.of(
        task.space, {"y": names[1]}, [Constraint("fixed", parse(names[0] if now[names[0]] else f"not {names[0]}"))]
    )
    monkeypatch.setattr(type(task), "knowledge", property(lambda self: fixed))
    redraw = Redrawing(task)
    assert redraw.change(world, 0, 1 - world.codes[0]) is None
    assert redraw.change(world, 1, 1 - world.codes[1]).codes[1] == 1 - world.codes[1]
    monkeypatch.setattr(type(task), "change_world", lambda self, world, changes: world)
    assert redraw.change(world, 1, 1 - world.codes[1]) is None  # asked for and not done
    monkeypatch.setattr(type(task), "change_world", lambda self, world, changes: None)
    assert redraw.change(world, 1, 1 - world.codes[1]) is None

"""Worlds of a dataset changed and drawn again by its task."""

import numpy as np

from assay.dataset import Dataset, redrawing_for
from assay.logic import Constraint, Knowledge, parse
from tests.auditing.planted import Squares
from tests.auditing.planted import made as registered


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


class Limited(Squares):
    """Squares of which some are light; the third follows the first, and the fourth is not changed."""

    name = "limited-squares"

    @property
    def knowledge(self):
        limit = Constraint("some light", parse("a or b or c or d"))
        return Knowledge.of(Squares.knowledge.func(self).space, {"y": self.rule}, [limit])

    def change_world(self, world, changes):
        return None if "d" in changes else world if "b" in changes else world.do(changes)


def test_worlds_that_cannot_be_are_not_made(tmp_path, monkeypatch):
    data = registered(Limited, tmp_path / "data", monkeypatch, train=20, valid=0, test=60, hard=0)
    redraw, test = redrawing_for("manipulation", data), data["test"]
    for row in range(20):
        world = test.world(row)
        for place, name in enumerate("abcd"):
            made = redraw.change(world, place, 1 - world.codes[place])
            alone = sum(world.codes) == 1 and world[name]
            assert (made is None) == (alone or name in "bd")  # impossible, not done, or not to be done

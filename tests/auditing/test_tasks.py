"""Every registered task makes data that passes the audit; presets that copy a published defect fail by its name.

The changed worlds beside it have no value that training does not show.
"""

from typing import ClassVar

import numpy as np
import pytest

from assay.auditing import audit, audited_dataset
from assay.tasks import TASKS
from tests.auditing.planted import Squares, examined_task, finding
from tests.conftest import write
from tests.quick import COUSINS, tasks

SMALL = {"train": 160, "valid": 50, "test": 120, "ood": 40, "hard": 40}
SLOW = {"chess-flat", "sdd-oia", "trains", "clevr-small", "cocologic", "raven"}
"""Others whose pictures take long."""
SIZES = {
    "cocologic": {"train": 300, "valid": 250, "test": 250, "hard": 100},  # ten labels, each rare
}


def sizes(name):
    """Return small sizes of the splits that a task has."""
    try:
        task = TASKS[name]()
    except ImportError as error:
        pytest.skip(f"not ready: {error}")
    held = {split.name: split.size for split in task.splits()}
    wanted = SIZES.get(name, SMALL)
    return {split: min(size, wanted.get(split, size)) for split, size in held.items()}


def checked(data):
    return {finding.check: finding for finding in audit(audited_dataset(data)).results}


@pytest.mark.parametrize("name", tasks(COUSINS | SLOW))
def test_every_task_passes(name, tmp_path):
    data = write(tmp_path / "data", name, splits=sizes(name), **TASKS[name].trial)
    found = checked(data)
    assert not [(one.check, one.text) for one in found.values() if one.status == "fail"]
    assert found["labels"].status == found["visible"].status == "pass"
    assert found["ceilings"].numbers["concepts"] > 0.9
    if "pairs" in data:
        train, pairs = data.symbols("train").concepts, data.symbols("pairs")
        before = data.symbols("test").concepts[pairs.pair_rows]
        for place, column in enumerate(train.T):
            assert np.isin(pairs.concepts[:, place], column).all() and np.isin(before[:, place], column).all()


PUBLISHED = {
    "robots as in the paper": ("robots", {"preset": "paper"}, {"sources", "visible"}),
    "robots without knees": ("robots", {"visible": {"knees": 0.0}}, {"visible"}),
}


@pytest.mark.parametrize("case", PUBLISHED)
def test_published_defects_are_named(case, tmp_path):
    name, settings, failing = PUBLISHED[case]
    sizes = {"train": 300, "valid": 100, "test": 300, "hard": 60}
    found = checked(write(tmp_path / "data", name, splits=sizes, **settings))
    assert {one.check for one in found.values() if one.status == "fail"} == failing
    assert "changing knees alters nothing" in found["visible"].text
    assert found["ceilings"].status == "note"
    assert found["ceilings"].numbers["visible concepts"] < found["ceilings"].numbers["concepts"]


class Stuck(Squares):
    """Squares of which some cannot be changed."""

    name = "stuck"
    fixed: ClassVar[tuple[str, ...]] = ("d",)

    def change_world(self, world, changes):
        return None if set(changes) & set(self.fixed) else super().change_world(world, changes)


class AllStuck(Stuck):
    """Squares none of which can be changed."""

    name = "all-stuck"
    fixed: ClassVar[tuple[str, ...]] = ("a", "b", "c", "d")


def test_concepts_of_which_no_change_can_be_drawn_are_noted(tmp_path, monkeypatch):
    some = examined_task(Stuck, tmp_path / "some", monkeypatch)
    status, text = finding(some, "visible")
    assert status == "note" and "but for d, which no world could be drawn again with" in text
    none = examined_task(AllStuck, tmp_path / "none", monkeypatch)
    assert finding(none, "visible") == ("not checked", "no world can be drawn again with a concept changed")

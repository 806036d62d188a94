"""Old rooms: they give what they offered for one release, each time with a warning that says where it is now."""

import importlib
import warnings
from importlib.util import find_spec
from types import ModuleType

import pytest

from assay.base import Settings
from assay.renamed import NAMES, ROOMS
from assay.tasks import Task
from assay.worlds import Source, Split


def with_warnings(room: str, name: str) -> tuple[object, list[str]]:
    """Return what an old room gives, and the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = getattr(importlib.import_module(f"assay.{room}"), name)
    assert all(warning.category is DeprecationWarning for warning in caught)
    return found, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("room", ROOMS)
def test_an_old_room_gives_its_names_from_where_they_are_now(room: str) -> None:
    for now in ROOMS[room]:
        door = importlib.import_module(f"assay.{now}")
        name = next(name for name in names_of(door) if offered_by(name, room) is door)
        found, warned = with_warnings(room, name)
        assert found is getattr(door, name)
        assert warned == [f"assay.{room}.{name} is now assay.{now}.{name}; the old name goes with the next release"]


def names_of(module: ModuleType) -> list[str]:
    """Return what a door offers; where an old module is another module now, what that has."""
    return [name for name in getattr(module, "__all__", vars(module)) if not name.startswith("_")]


def offered_by(name: str, room: str) -> ModuleType:
    """Return the first of the new rooms of an old one that offers a name."""
    doors = [importlib.import_module(f"assay.{now}") for now in ROOMS[room]]
    return next(door for door in doors if name in names_of(door))


def test_the_warning_is_about_the_line_that_uses_the_old_name() -> None:
    with pytest.warns(DeprecationWarning, match=r"assay.config.Settings is now assay.base.Settings") as caught:
        settings = importlib.import_module("assay.config").Settings
    assert settings is Settings and caught[0].filename == __file__


@pytest.mark.parametrize("room", ROOMS)
def test_no_other_name_is_found_in_an_old_room(room: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'assay.{room}' has no attribute 'nonsense'"):
        importlib.import_module(f"assay.{room}").nonsense


@pytest.mark.parametrize("name", ["assay.nonsense", "assay.config.deeper", "assay.logic.nonsense"])
def test_no_other_module_is_found(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module(name)


def test_an_old_room_is_no_room_any_more_and_the_new_ones_are() -> None:
    rooms = {room for now in ROOMS.values() for room in now}
    assert all(find_spec(f"assay.{room}").origin for room in rooms)
    assert not any(find_spec(f"assay.{room}").origin for room in ROOMS)


@pytest.mark.parametrize("room", NAMES)
def test_a_renamed_name_gives_what_it_is_called_now(room: str) -> None:
    door = importlib.import_module(room)
    for old, new in NAMES[room].items():
        with pytest.warns(DeprecationWarning, match=f"{room}.{old} is now {room}.{new}; the old name goes"):
            assert getattr(door, old) is getattr(door, new)


def test_a_task_may_define_its_source_of_worlds_by_the_old_name() -> None:
    def source(self: Task, split: Split, seed: int) -> Source:
        raise NotImplementedError

    with pytest.warns(DeprecationWarning, match="Mine.worlds_in is now Mine.source_for"):
        task = type("Mine", (Task,), {"worlds_in": source})
    assert task.source_for is source

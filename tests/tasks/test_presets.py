"""Presets are the tasks they are made from, but for what they declare."""

import pytest
from pydantic import Field

from assay.base import AssayError, UnknownName
from assay.families import FAMILIES
from assay.tasks import TASKS, Preset, TaskConfig
from tests.samples import SAMPLES
from tests.toys import Shelf

PRESETS = [name for name in TASKS if isinstance(TASKS.entry(name), Preset)]


def shelves():
    registry = type(TASKS)()
    registry.add("shelf", "boxes", Shelf)
    registry.preset(
        "shelf-half", "half of them", "shelf", "Half of the boxes.", {"stages": []}, prop_in_distribution=0.5
    )
    return registry


def test_a_preset_changes_defaults_only():
    registry = shelves()
    task = registry["shelf-half"]
    assert issubclass(task, Shelf) and task is registry["shelf-half"] and task.version == Shelf.version
    assert (task.name, task().summary, task.trial) == ("shelf-half", "Half of the boxes.", {"stages": []})
    assert task().config.prop_in_distribution == 0.5 and Shelf().config.prop_in_distribution == 1.0
    assert list(task().config.model_dump()) == list(Shelf().config.model_dump())
    assert task(prop_in_distribution=0.9).config.prop_in_distribution == 0.9
    with pytest.raises(AssayError, match="prop_in_distribution: Input should be less than or equal to 1"):
        task(prop_in_distribution=2)


def test_a_preset_may_take_away_what_its_base_has_and_keeps_what_it_does_not_change():
    class Shy(Shelf):
        """Boxes that no recipe shows."""

        name, seconds, trial = "shy", 3.0, {"per_type": 1}

        class Config(TaskConfig):
            secret: int = Field(2, ge=1, le=5, exclude=True)

    registry = type(TASKS)()
    registry.add("shy", "boxes", Shy)
    registry.preset("bare", "bare", "shy", "Bare.", trial={}, seconds=0.0, secret=4)
    registry.preset("same", "same", "shy", "Same.")
    bare, same = registry["bare"], registry["same"]
    assert (bare.trial, bare.seconds, bare().summary) == ({}, 0.0, "Bare.")
    assert (same.trial, same.seconds, same().summary) == ({"per_type": 1}, 3.0, "Same.")
    assert bare().config.secret == 4 and same().config.secret == 2
    assert "secret" not in bare().config.model_dump()  # no recipe shows it here either
    for wrong in (0, 6):
        with pytest.raises(AssayError, match="secret"):
            bare(secret=wrong)


def test_a_preset_of_nothing_is_refused_when_it_is_asked_for():
    registry = type(TASKS)()
    registry.preset("lone", "of nothing", "no-task", "Nothing.")
    with pytest.raises(UnknownName, match="no task named 'no-task'"):
        registry["lone"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_registered_preset_is_of_the_family_of_its_base(name):
    base = TASKS[TASKS.entry(name).target]
    assert TASKS[name].__module__ == base.__module__ and TASKS[name]().config != base().config


def test_samples_are_missing_with_their_family_only():
    for family, names in SAMPLES.items():
        assert all((name in TASKS.entries) == (family in FAMILIES) for name in names), family


def test_what_tasks_read_from_disk_is_a_setting_that_no_recipe_holds():
    for setting in TASKS.sources:
        having = [TASKS[name].Config for name in TASKS if setting in TASKS[name].Config.model_fields]
        assert having and all(config.model_fields[setting].exclude for config in having)

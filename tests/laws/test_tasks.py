"""Laws over all registered tasks besides those of `check_task`: settings in and out, seeds, pools and labels."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from assay.base import AssayError
from assay.tasks import TASKS, Preset, Task
from tests.quick import tasks

NONSENSE = [None, True, -1, 1e9, float("nan"), "", "a\nb", [], [None], {"x": None}]
OWN = [param for param in tasks() if not isinstance(TASKS.entry(param.values[0]), Preset)]
"""Tasks with settings of their own: a preset has those of another task."""


@cache
def trial(name):
    return TASKS[name](**TASKS[name].trial)


@pytest.mark.parametrize("name", tasks())
def test_a_task_made_from_the_settings_that_it_tells_is_the_same(name):
    task = trial(name)
    for told in (task.config.model_dump(), task.config.model_dump(mode="json", exclude_defaults=True)):
        again = TASKS[name](**told)
        assert again.config == task.config and again.splits() == task.splits()
        assert again.knowledge.to_dict() == task.knowledge.to_dict()


@pytest.mark.parametrize("name", OWN)
def test_a_setting_that_there_is_not_is_refused_with_the_one_like_it(name):
    for key in TASKS[name].Config.model_fields:
        wrong = f"{key}s" if f"{key}s" not in TASKS[name].Config.model_fields else f"{key}_"
        with pytest.raises(AssayError) as caught:
            TASKS[name](**{wrong: 1})
        said = str(caught.value)
        assert f"unknown key '{wrong}'; did you mean '" in said and "\n" not in said and caught.value.exit_code == 2


NOT_YET = {("cocologic", "most"), ("cocologic-fs", "most")}
"""Settings of which some value still ends in a traceback or takes all memory."""


@pytest.mark.parametrize("name", OWN)
def test_any_value_of_a_setting_is_taken_or_refused_in_one_line(name):
    for key in TASKS[name].Config.model_fields:
        for value in NONSENSE if (name, key) not in NOT_YET else ():
            try:
                task = TASKS[name](**{**TASKS[name].trial, key: value})
                assert task.knowledge.space is task.space and task.splits()
            except AssayError as error:
                assert str(error) and "\n" not in str(error), (key, value)


@pytest.mark.parametrize("name", tasks())
def test_every_seed_draws_other_worlds(name):
    task = trial(name)
    first, second = (task.source_for(task.splits()[0], seed).worlds(np.arange(20)) for seed in (0, 1))
    assert len({world.text for world in first} & {world.text for world in second}) < 10


@pytest.mark.parametrize("name", tasks())
def test_what_pictures_are_made_of_is_of_one_pool_alone(name):
    task, parts = trial(name), {}
    for split in task.splits():
        worlds = task.source_for(split, 0).worlds(np.arange(min(40, split.size)))
        parts.setdefault(split.pool, set()).update(part for world in worlds for part in task.ingredients(world))
    assert sum(map(len, parts.values())) == len(set.union(*parts.values()))


@pytest.mark.parametrize("name", tasks())
def test_truths_that_are_balanced_come_evenly(name):
    task = trial(name)
    if task.sampling_note != Task.sampling_note:
        pytest.skip("its card says that worlds are chosen otherwise")
    for split in task.splits():
        if split.balance == "label" and split.quota is None:
            labels = task.knowledge.labels_of(task.source_for(split, 0).codes(np.arange(min(120, split.size))))
            counts = Counter(map(tuple, labels.tolist()))
            assert max(counts.values()) - min(counts.values()) <= 1, split.name

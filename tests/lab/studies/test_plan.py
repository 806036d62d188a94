"""What a study will cost is tried on a few examples: what is left, how long and how much; what cannot be tried is named."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.base import Settings
from assay.lab import plan_of, run_study, study_from
from tests.lab.studies.test_study import Here
from tests.pixels import TASK
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
PIXELS = {"task": "mnlogic", **TASK, "splits": {"valid": 16, "test": 48, "hard": 16}}


def study(folder: Path, **changes):
    given = {"tasks": [PIXELS], "models": ["tree", {"model": "blackbox", "epochs": 4}], "seeds": [0, 1], "n": 256}
    return study_from(Settings({**given, "output": str(folder / "out"), **changes}))


def test_time_and_disk_are_scaled_to_all_examples_and_runs(tmp_path):
    watched = []
    plan = plan_of(study(tmp_path), lambda *told: watched.append(told))
    assert (plan.datasets, plan.runs, plan.kept, plan.unknown) == (1, 4, 0, ("tree",))  # which has no epochs
    assert plan.cost.seconds > 0 and watched == [("trying", 0, 1)] and not (tmp_path / "out").exists()
    more = plan_of(study(tmp_path, seeds=list(range(40))))
    assert more.runs == 80 and more.cost.seconds > plan.cost.seconds
    run_study(study(tmp_path, models=["tree"], seeds=[0]), workers=Here())
    taken = sum(path.stat().st_size for path in (tmp_path / "out" / "data").rglob("*.parquet"))
    assert taken / 20 < plan.cost.bytes < 20 * taken


def test_what_is_finished_is_not_counted(tmp_path):
    run_study(study(tmp_path, models=["tree"], seeds=[0]), workers=Here())
    plan = plan_of(study(tmp_path), trial=False)
    assert (plan.datasets, plan.runs, plan.kept, plan.cost) == (0, 3, 1, None)
    assert plan.text(2) == "0 datasets and 3 runs to do, 1 runs kept"
    tried = plan_of(study(tmp_path))
    assert tried.cost.bytes == 0 and tried.cost.seconds > 0  # the data are there
    assert plan_of(study(tmp_path, models=["tree"], seeds=[0])).text(1) == "all 1 runs are kept"


def test_what_cannot_be_tried_in_time_or_at_all_is_named(tmp_path):
    made = study(tmp_path)
    assert plan_of(made, seconds=0).unknown == tuple(sorted((made.datasets[0].name, "blackbox", "tree")))
    always = study(tmp_path, tasks=[{**PIXELS, "formula": "a or not a"}])
    assert plan_of(always).unknown == (always.datasets[0].name,)


def test_a_dataset_that_is_there_is_only_copied(mnlogic, tmp_path):
    made = study(tmp_path, tasks=[str(mnlogic.folder)], n=None)
    there = sum(path.stat().st_size for path in mnlogic.folder.rglob("*.parquet"))
    plan = plan_of(made)
    assert (plan.cost.bytes, plan.cost.seconds) == (there, 0.0) and plan.unknown == ("blackbox", "tree")


@pytest.mark.parametrize(("workers", "seconds", "told"), [(1, 600.0, "about 10 min"), (2, 600.0, "about 5 min")])
def test_workers_share_the_time(tmp_path, workers, seconds, told):
    plan = plan_of(study(tmp_path), seconds=0)
    plan = replace(plan, cost=replace(plan.cost, seconds=seconds, bytes=2_000_000))
    text = plan.text(workers)
    assert f"{told} and 2.0 MB" in text and re.search("not counting blackbox, .*tree", text)

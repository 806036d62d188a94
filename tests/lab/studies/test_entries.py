"""Entries of a study's lists: every combination of `each`, names that tell them apart, nothing listed twice."""

import pytest

from assay.base import AssayError, ConfigError, Settings
from assay.lab import study_from
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
TASKS = [{"task": "mnlogic", "name": name, "k": k} for name, k in (("two", 2), ("three", 3))]


def made(*models, **more):
    return study_from(Settings({"tasks": TASKS[:1], "models": list(models), **more}))


def listed(*models):
    return [(run.label, dict(run.settings.values)) for run in made(*models).runs]


def test_each_makes_every_combination_with_a_name_of_its_own():
    each = {"mode": ["joint", "sequential"], "concept_weight": [1.0, 0.5]}
    assert listed({"model": "cbm", "epochs": 3, "each": each}) == [
        (f"cbm-{mode}-concept_weight{weight}", {"epochs": 3, "mode": mode, "concept_weight": weight})
        for mode in each["mode"] for weight in each["concept_weight"]
    ]  # fmt: skip
    assert [label for label, _ in listed({"model": "cbm", "each": {"epochs": [3, 4]}})] == [
        "cbm-epochs3",
        "cbm-epochs4",
    ]
    widths = [["a", "b"], ["c"]]
    deep = listed({"model": "cbm", "each": {"supervised_concepts": widths}})
    labels = [label for label, _ in deep]
    assert len(set(labels)) == 2 and all(label.startswith("cbm-supervised_concepts-") for label in labels)


def test_each_goes_before_what_the_entry_says():
    assert listed({"model": "cbm", "epochs": 3, "each": {"epochs": [4]}}) == [("cbm-epochs4", {"epochs": 4})]


def test_names_tell_entries_apart():
    found = listed(
        "cbm", {"model": "cbm", "epochs": 3}, {"model": "cbm", "epochs": 4}, {"model": "dpl", "name": "Mi.n-e"}
    )
    assert [label for label, _ in found] == ["cbm", "cbm-2", "cbm-3", "Mi.n-e"]


@pytest.mark.parametrize(
    "models",
    [["cbm", "cbm"], ["cbm", {"model": "cbm"}], ["cbm", {"model": "cbm", "name": "other"}],
     [{"model": "cbm", "each": {"epochs": [3, 3]}}]],
)  # fmt: skip
def test_the_same_settings_twice_are_refused_whatever_they_are_called(models):
    with pytest.raises(ConfigError, match="is listed twice with the same settings"):
        made(*models)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"epochs": 3}, "an entry without 'model'"),
        ("cbmm", "no model named 'cbmm'; did you mean 'cbm'"),
        ({"model": "cbm", "each": {"epochs": []}}, "expected 'key: \\[value, ...\\]'"),
        ({"model": "cbm", "each": [1]}, "expected 'key: \\[value, ...\\]'"),
        *(({"model": "cbm", "name": name}, "must be letters, digits") for name in ("a b", "a/b", "ä:ö", "../x")),
        ({"model": "cbm", "on": ["tow"]}, "on: no task is called 'tow'; did you mean 'two'"),
        ({"model": "cbm", "deep": 2}, "unknown key 'deep'"),
    ],
)
def test_what_is_no_entry_is_told(entry, why):
    with pytest.raises(AssayError, match=why):
        made(entry)


def test_an_entry_may_be_for_some_tasks_only_and_that_is_no_setting():
    study = made("tree", {"model": "cbm", "on": ["three"], "epochs": 2}, tasks=TASKS)
    assert [(run.label, run.task) for run in study.runs] == [("tree", "two"), ("tree", "three"), ("cbm", "three")]
    assert dict(study.runs[-1].settings.values) == {"epochs": 2}


def test_a_study_that_may_lack_models_names_all_that_it_lacks():
    given = {"tasks": ["mnlogic"], "models": ["gone", {"model": "lost", "epochs": 1}, "tree"], "baseline": "tree"}
    found = study_from(Settings(given), lenient=True)
    assert [run.label for run in found.runs] == ["tree"]
    assert found.absent == ("model 'gone', which is not there", "model 'lost', which is not there")
    with pytest.raises(AssayError, match="no model named 'gone'"):
        study_from(Settings(given))

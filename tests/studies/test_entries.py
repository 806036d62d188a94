"""Entries of a study's lists: every combination of `each`, names that tell them apart, nothing listed twice."""

import math

import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.studies.entries import entries, short_hash
from assay.studies.records import _number

KNOWN = ["cbm", "dpl"]


def made(listed, absent=None):
    return entries("model", listed, Settings({"models": listed}), KNOWN, absent)


def test_each_makes_every_combination_with_a_name_of_its_own():
    found = made([{"model": "cbm", "epochs": 3, "each": {"mode": ["joint", "sequential"], "hard": [True, False]}}])
    assert [(entry.label, dict(entry.settings.values)) for entry in found] == [
        ("cbm-joint-hard-yes", {"epochs": 3, "mode": "joint", "hard": True}),
        ("cbm-joint-hard-no", {"epochs": 3, "mode": "joint", "hard": False}),
        ("cbm-sequential-hard-yes", {"epochs": 3, "mode": "sequential", "hard": True}),
        ("cbm-sequential-hard-no", {"epochs": 3, "mode": "sequential", "hard": False}),
    ]
    assert {entry.name for entry in found} == {"cbm"}
    deep = made([{"model": "cbm", "each": {"widths": [[1, 2], [3]]}}])
    assert [entry.label for entry in deep] == [f"cbm-widths-{short_hash([1, 2])}", f"cbm-widths-{short_hash([3])}"]


def test_names_tell_entries_apart():
    found = made(
        ["cbm", {"model": "cbm", "epochs": 3}, {"model": "cbm", "epochs": 4}, {"model": "dpl", "name": "Mine"}]
    )
    assert [entry.label for entry in found] == ["cbm", "cbm-2", "cbm-3", "Mine"]


@pytest.mark.parametrize(
    "listed",
    [["cbm", "cbm"], ["cbm", {"model": "cbm"}], ["cbm", {"model": "cbm", "name": "other"}],
     [{"model": "cbm", "each": {"epochs": [3, 3]}}]],
)  # fmt: skip
def test_the_same_settings_twice_are_refused_whatever_they_are_called(listed):
    with pytest.raises(ConfigError, match="is listed twice with the same settings"):
        made(listed)


def test_the_same_settings_of_two_models_are_two():
    assert [entry.name for entry in made([{"model": "cbm", "epochs": 3}, {"model": "dpl", "epochs": 3}])] == KNOWN


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"epochs": 3}, "an entry without 'model'"),
        ("cbmm", "no model named 'cbmm'; did you mean 'cbm'"),
        ({"model": "cbm", "each": {"epochs": []}}, "expected 'key: \\[value, ...\\]'"),
        ({"model": "cbm", "each": [1]}, "expected 'key: \\[value, ...\\]'"),
        ({"model": "cbm", "name": "a b"}, "'a b' must be letters, digits"),
    ],
)
def test_what_is_no_entry_is_told(entry, why):
    with pytest.raises(ConfigError, match=why):
        made([entry])


def test_what_is_not_there_may_be_left_out():
    absent = []
    assert [entry.name for entry in made(["cbmm", "cbm"], absent)] == ["cbm"]
    assert absent == ["model 'cbmm', which is not there"]


def test_a_number_that_is_missing_is_none():
    assert math.isnan(_number(None)) and _number(3) == 3.0

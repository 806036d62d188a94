"""Entries of a study's lists: every combination of `each`, names that tell them apart, nothing listed twice."""

import math

import pytest

from assay.config import Settings
from assay.errors import ConfigError
from assay.studies import short_hash
from assay.studies.entries import _word, entries
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


def test_each_goes_before_what_the_entry_says_and_knows_its_line():
    listed = [{"model": "cbm", "epochs": 3, "each": {"epochs": [4, 5], "rate": [0.5]}}]
    places = {
        "models": "s line 2",
        "models.0": "s line 3",
        "models.0.model": "s line 3",
        "models.0.each": "s line 5",
        "models.0.epochs": "s line 4",
    }
    first, second = entries("model", listed, Settings({"models": listed}, places), KNOWN, None)
    assert (first.label, dict(first.settings.values)) == ("cbm-epochs4-rate0.5", {"epochs": 4, "rate": 0.5})
    assert (second.label, second.settings.place("epochs"), second.settings.place("rate")) == (
        "cbm-epochs5-rate0.5",
        "s line 5: ",
        "s line 5: ",
    )
    assert first.place == "s line 3" and first.on == ()
    alone = entries(
        "model",
        [{"model": "cbm", "lr": 1}],
        Settings({}, {"models.0": "s line 3", "models.0.lr": "s line 9"}),
        KNOWN,
        None,
    )
    assert alone[0].settings.place("lr") == "s line 9: " and alone[0].place == "s line 3"
    assert (
        entries("model", [{"model": "cbm", "lr": 1}], Settings({}), KNOWN, None)[0].settings.place("lr") == "models: "
    )


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("theory_x", "theory_x"), ("a/b c.d-e", "a-b-c.d-e"), (100, "n100"), (0.25, "n0.25"), (True, "n-yes"), (False, "n-no"),
        (None, f"n-{short_hash(None)}"), ({"b": 1, "a": 2}, f"n-{short_hash({'a': 2, 'b': 1})}"), ([2, 1], f"n-{short_hash([2, 1])}"),
    ],
)  # fmt: skip
def test_values_are_words_of_a_name(value, word):
    assert _word("n", value) == word
    assert short_hash([1, 2]) != short_hash([2, 1]) and len(short_hash(value)) == 8


@pytest.mark.parametrize("name", ["a.b", "v1.0-x", "9", "x_y", "-"])
def test_names_may_have_dots_and_dashes(name):
    assert [entry.label for entry in made([{"model": "cbm", "name": name}])] == [name]


@pytest.mark.parametrize("name", ["a/b", "a b", "ä:ö", "../x"])
def test_names_that_are_no_folders_are_refused(name):
    with pytest.raises(ConfigError, match="must be letters, digits"):
        made([{"model": "cbm", "name": name}])


def test_tasks_that_an_entry_is_for_are_no_setting():
    (entry,) = made([{"model": "cbm", "on": ["a", 7], "epochs": 2}])
    assert entry.on == ("a", "7") and dict(entry.settings.values) == {"epochs": 2}


def test_those_that_are_not_there_are_all_named():
    absent = []
    assert made(["x", {"model": "y", "epochs": 1}], absent) == []
    assert absent == ["model 'x', which is not there", "model 'y', which is not there"]
    assert [entry.name for entry in entries("challenge", ["anything"], Settings({}), None, None)] == ["anything"]

"""The suite's file: every family, known names, pinned bytes; what does not agree is refused in a line."""

import re
from collections import Counter

import pytest

from assay.base import ConfigError, UnknownName
from assay.families import FAMILIES
from assay.lab import find_suite, make_data, suite_names
from assay.models import MODELS
from assay.tasks import TASKS
from tests.lab.suites.conftest import CONFIG, Here, suite_of
from tests.samples import MISSING, skip_without

SUITE = find_suite()
CHEAP = ("digits-parity", "robots-parts", "robots-missing")
FAILURES = {
    *("reasoning shortcut", "boundary", "long composition", "counting", "relations", "constraints"),
    *("missing concepts", "label noise", "transfer"),
}
LATER = {"raven", "bongard"}
"""Families that came after the suite was fixed."""


def test_there_is_one_suite_and_it_is_the_usual_one():
    assert suite_names() == ["assay-1"] and SUITE.name == "assay-1"


def test_every_family_and_every_failure_has_a_dataset():
    datasets = SUITE.datasets.values()
    assert len(datasets) >= 12
    assert {data.config.shows for data in datasets} >= FAILURES
    if not MISSING:
        assert {data.config.family for data in datasets} == set(FAMILIES) - LATER
        assert all(data.config.task in TASKS for data in datasets if data.config.task)


def test_every_model_is_a_baseline():
    registered = Counter(model.model or name for name, model in SUITE.config.models.items())
    assert set(registered) == set(MODELS)
    assert len(SUITE.config.seeds) == 3


def test_every_dataset_is_pinned():
    prints = [data.fingerprint for data in SUITE.datasets.values()]
    assert all(re.fullmatch(r"[0-9a-f]{32}", text) for text in prints) and len(set(prints)) == len(prints)


@pytest.mark.parametrize("name", list(SUITE.datasets))
def test_the_bytes_are_those_of_the_suite(name, tmp_path):
    source = SUITE.dataset(SUITE.dataset(name).config.of or name)
    skip_without(source.config.task)
    assert make_data(SUITE, tmp_path, [name], workers=Here()).faults == {}


@pytest.mark.parametrize("name", list(SUITE.config.models))
def test_settings_of_a_baseline_are_known_to_its_model(name):
    model, settings = SUITE.settings_of(name)
    MODELS[model].configure(settings, {})


def test_settings_of_baselines_are_the_suites_where_they_have_such_and_then_their_own(suite):
    models = {"cbm": {"level": "concepts"}, "slow": {"level": "concepts", "model": "cbm", "settings": {"epochs": 7}}}
    made = suite_of({**CONFIG, "training": {"epochs": 2, "beam": 5}, "models": models})
    assert [(model, dict(given.values)) for model, given in map(made.settings_of, models)] == [
        ("cbm", {"epochs": 2}), ("cbm", {"epochs": 7}),
    ]  # fmt: skip


def test_a_dataset_that_cannot_be_made_does_not_stop_the_rest(suite, tmp_path):
    config = {**CONFIG["datasets"]["plain"], "settings": {"k": 1}, "fingerprint": "0" * 32}
    datasets = {"wrong": config, **{n: d.config.model_dump() for n, d in suite.datasets.items()}}
    made = make_data(suite_of({**CONFIG, "datasets": datasets}), tmp_path, workers=Here())
    assert list(made.there) == ["plain", "noisy"] and "k:" in made.faults["wrong"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {"cbm": {"level": "concept"}}}, "no level named 'concept'; did you mean 'concepts'"),
        ({"datasets": {"a": {"family": "f", "shows": "s", "about": "a"}}}, "give a task, or 'of' another dataset"),
        (
            {"datasets": {"a": {"family": "f", "shows": "s", "about": "a", "of": "b", "annotate": {"seed": 1}}}},
            "'of' must name a dataset that has a task, not 'b'",
        ),
        *(
            ({"datasets": {**CONFIG["datasets"], "new": {"family": "f", "shows": "s", "about": "a", **change}}}, why)
            for change, why in (
                ({"task": "mnlogic", "of": "plain", "annotate": {"seed": 1}}, "give a task, or 'of' another dataset"),
                ({"of": "plain"}, "'of' and 'annotate' go together"),
                ({"task": "mnlogic", "annotate": {"seed": 1}}, "go together"),
                ({"of": "noisy", "annotate": {"seed": 1}}, "'of' must name a dataset that has a task"),
            )
        ),
        ({"seeds": []}, "seeds"),
        ({"levels": {"labels": {"sees": [], "about": "x"}}}, "levels.labels.sees"),
    ],
)
def test_what_does_not_agree_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        suite_of({**CONFIG, **change})


def test_unknown_names_are_refused_with_a_suggestion(suite):
    for ask in (suite.dataset, suite.level, suite.baseline, find_suite):
        with pytest.raises(UnknownName, match="no "):
            ask("nothing of this name")
    with pytest.raises(UnknownName, match="did you mean 'assay-1'"):
        find_suite("assay1")

"""`assay study`: what is ready, in which size, and where it departs from what was published."""

import json

import yaml

from assay.lab import departures, ready_studies


def test_ready_studies_are_listed(assay):
    told = json.loads(assay("study", "list", "--json").out)
    assert [one["name"] for one in told] == list(ready_studies()) and all(one["about"] for one in told)
    table = assay("study", "list").out
    assert all(name in table for name in ready_studies())


def test_a_study_is_shown_as_the_file_that_would_run_it_in_each_size(assay):
    name = next(name for name, ready in ready_studies().items() if ready.at_size("small") != ready.at_size("paper"))
    ready = ready_studies()[name]
    for size in ("small", "paper"):
        shown = yaml.safe_load(assay("study", "show", name, "--size", size).out)
        assert shown == json.loads(json.dumps(dict(ready.at_size(size).values)))
    assert yaml.safe_load(assay("study", "show", name).out) == yaml.safe_load(
        assay("study", "show", name, "--size", "small").out
    )
    assert (
        "did you mean" in assay("study", "show", name[:-1]).error
        or "no ready study" in assay("study", "show", name[:-1]).error
    )


def test_departures_are_listed_with_their_reasons(assay):
    name = next(name for name in ready_studies() if departures(name))
    told = json.loads(assay("study", "fidelity", name, "--json").out)
    expected = departures(name)
    assert [(one["model"], one["setting"], one["why"]) for one in told] == [
        (d.model, d.setting, d.why) for d in expected
    ]
    assert expected[0].setting in assay("study", "fidelity", name).out

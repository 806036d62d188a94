"""What a study will cost is said in words, and which analyses are for which model."""

import pytest

from assay.errors import AssayError, ConfigError
from assay.files import size_in_words
from assay.progress import duration
from assay.studies.analyses import ANALYSES, analyses_from
from assay.studies.plan import Cost, StudyPlan


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"), (0.4, "1 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h"),
        (172_799, "48.0 h"), (172_800, "2.0 days"), (864_000, "10.0 days"),
    ],
)  # fmt: skip
def test_times_in_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (999_999, "1000.0 kB"), (1e6, "1.0 MB"), (1e9, "1.0 GB"), (2.5e12, "2.5 TB")],
)  # fmt: skip
def test_sizes_in_words(count, words):
    assert size_in_words(count) == words


def test_costs_add_up_and_workers_share_the_time():
    cost = Cost(100.0, 10) + Cost(500.0, 2_000_000)
    assert cost == Cost(600.0, 2_000_010)
    plan = StudyPlan(2, 6, 1, cost, ("mine",))
    assert plan.text(1) == "2 datasets and 6 runs to do, 1 runs kept; about 10 min and 2.0 MB, not counting mine"
    assert "about 5 min and 2.0 MB" in plan.text(2)
    assert StudyPlan(2, 6, 1, None, ()).text(2) == "2 datasets and 6 runs to do, 1 runs kept"
    assert StudyPlan(0, 0, 7, cost, ()).text(2) == "all 7 runs are kept"
    assert StudyPlan(0, 1, 7, cost, ()).text(2).startswith("0 datasets and 1 runs to do")


def test_analyses_are_for_all_models_or_for_those_named():
    given = ["leakage", {"analysis": "intervene", "budget": "0,1", "models": ["cbm"]}]
    assert [(name, dict(settings.values)) for name, settings in analyses_from(given)] == [
        ("leakage", {}), ("intervene", {"budget": "0,1"}),
    ]  # fmt: skip
    assert [name for name, _ in analyses_from(given, model="cbm")] == ["leakage", "intervene"]
    assert [name for name, _ in analyses_from(given, model="dpl")] == ["leakage"]


def test_runs_are_tried_on_the_datasets_of_other_tasks():
    given = [{"analysis": "transfer", "to": ["there"]}]
    ((_, settings),) = analyses_from(given, others={"there": "there-0123", "else": "else-0123"})
    assert settings.values["folders"] == {"there": "there-0123"}
    with pytest.raises(ConfigError, match="study.yaml: transfer: no task is called 'there'"):
        analyses_from(given, "study.yaml: ", others={"else": "else-0123"})


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("leak", "no analysis named 'leak'; did you mean 'leakage'"),
        ({"analysis": "leakage", "models": "cbm"}, "expected a list of names, not 'cbm'"),
        ({"analysis": "leakage", "spilt": "test"}, "unknown key 'spilt'"),
        ({"analysis": "change"}, "do"),
        ({"split": "test"}, "no analysis named ''"),
    ],
)
def test_what_is_no_analysis_is_told(entry, why):
    with pytest.raises(AssayError, match=why):
        analyses_from([entry])
    assert set(ANALYSES) == {"intervene", "leakage", "probe", "change", "align", "swap_rule", "transfer"}


def test_a_plan_of_data_alone_is_no_study_that_is_kept():
    cost = Cost(90.0, 1_500)
    assert StudyPlan(1, 0, 4, cost, ()).text(1) == "1 datasets and 0 runs to do, 4 runs kept; about 2 min and 1.5 kB"
    assert StudyPlan(1, 0, 4, cost, ("a", "b")).text(3).endswith("; about 30 s and 1.5 kB, not counting a, b")
    assert StudyPlan(0, 0, 4, None, ("a",)).text(1) == "all 4 runs are kept"

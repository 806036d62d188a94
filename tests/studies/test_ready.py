"""The papers' experiments: each can be planned in both sizes, and speaks of tasks, models and metrics that there are."""

import pytest

from assay.errors import ConfigError, UnknownName
from assay.metrics import METRICS
from assay.models import MODELS
from assay.studies import find_study, ready_studies
from assay.studies.results import tables_of
from assay.studies.summary import ALL

READY = ready_studies()
ASKED = {
    *("rsbench-table-2", "rsbench-table-4", "rsbench-table-5", "rsbench-table-6", "rsbench-table-7"),
    *(
        "rsbench-table-29",
        "rsbench-table-30",
        "rsbench-table-31",
        *(f"vlol-challenge-{number}" for number in range(1, 7)),
    ),
    *("cocologic-table-2", "cocologic-table-3", "concept-benchmark-table-2", "concept-benchmark-table-3"),
    *("concept-benchmark-table-6", "concept-benchmark-figure-6", "concept-benchmark-figure-7", "valued-table-1"),
}
ANALYSES = (
    *("accuracy_", "coverage_", "selective_accuracy_", "net_work_automated_", "after_", "before_", "ctl_", "icl_"),
    *("probe_", "concept_accuracy_", "concept_f1_", "concept_mean_f1_", "rsbench_concept_f1_", "collapse_"),
    *("rsbench_label_f1_", "label_mean_f1_ambulance", "label_accuracy_on_", "training_", "test_", "gain_"),
)


def test_the_papers_are_there():
    assert set(READY) >= ASKED


ALIKE = {*(f"vlol-challenge-{number}" for number in (1, 2, 3, 5, 6)), "cocologic-table-2"}
"""Studies that differ little from another."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in ALIKE else ()) for n in sorted(READY)])
def test_a_ready_study_is_planned_in_both_sizes(name, tmp_path):
    small, paper = (find_study(name, size, tmp_path) for size in ("small", "paper"))
    assert 0 < len(small.runs) <= len(paper.runs) and name.split("-")[0] in READY[name].about.lower().replace(
        "v-lol", "vlol"
    )
    for study in (small, paper):
        assert study.config.name.endswith(")") and tables_of(study, []) == []
        for metric in study.config.metrics:
            assert metric in METRICS or metric.startswith(ANALYSES), metric
    tasks, labels = {run.task for run in paper.runs} | {ALL}, {run.label for run in paper.runs}
    for entry in paper.config.published:
        assert entry["task"] in tasks and entry["metric"] in paper.config.metrics, entry
        assert entry["model"] in labels, entry


@pytest.mark.parametrize("name", sorted(n for n in READY if n.startswith("rsbench")))
def test_rsbenchs_f1_stands_beside_no_other(name, tmp_path):
    study = find_study(name, "small", tmp_path)
    compared = [*study.config.metrics, *(str(entry["metric"]) for entry in study.config.published)]
    assert not [metric for metric in compared if metric.startswith(("label_f1", "concept_f1"))]


def test_what_is_not_there_is_said_and_the_rest_is_run(monkeypatch, tmp_path):
    monkeypatch.delenv("ASSAY_POPPER", raising=False)
    monkeypatch.setattr(
        MODELS, "registered", {name: MODELS.entry(name) for name in MODELS if name not in ("ilp", "aleph")}
    )
    study = find_study("vlol-challenge-4", "small", tmp_path)
    assert {text for text in study.absent if "not there" in text} == {
        "model 'ilp', which is not there",
        "model 'aleph', which is not there",
    }
    assert {run.label for run in study.runs} == {"ResNet", "detector", "alphaILP"}
    assert (
        "Popper-GT: the model 'popper' needs a checkout of Popper 4.4 or 3.1: set popper=FOLDER or ASSAY_POPPER"
        in study.absent
    )
    monkeypatch.setattr(MODELS, "registered", {})
    with pytest.raises(
        ConfigError,
        match="study 'vlol-challenge-4' has nothing to run here; left out: model 'blackbox', which is not there",
    ):
        find_study("vlol-challenge-4", "small", tmp_path)


def test_an_unknown_study_is_refused_with_a_suggestion():
    with pytest.raises(UnknownName, match="no study file and no ready study named 'rsbench-table-3'.*rsbench-table-"):
        find_study("rsbench-table-3")

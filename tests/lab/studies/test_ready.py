"""The papers' experiments: each can be planned in both sizes, speaks of what there is, and has the published settings or
says why not.
"""

from pathlib import Path

import pytest

from assay.base import UnknownName
from assay.lab import departures, fidelity, find_study, ready_studies, tables_of
from assay.metrics import METRICS

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
    tasks, labels = {run.task for run in paper.runs} | {"all"}, {run.label for run in paper.runs}
    for entry in paper.config.published:
        assert entry["task"] in tasks and entry["metric"] in paper.config.metrics, entry
        assert entry["model"] in labels, entry


@pytest.mark.parametrize("name", sorted(n for n in READY if n.startswith("rsbench")))
def test_rsbenchs_f1_stands_beside_no_other(name, tmp_path):
    study = find_study(name, "small", tmp_path)
    compared = [*study.config.metrics, *(str(entry["metric"]) for entry in study.config.published)]
    assert not [metric for metric in compared if metric.startswith(("label_f1", "concept_f1"))]


def test_what_is_not_there_is_said_and_the_rest_is_run(monkeypatch, tmp_path):
    for name in ("ASSAY_POPPER", "ASSAY_MNIST"):
        monkeypatch.delenv(name, raising=False)
    study = find_study("vlol-challenge-4", "small", tmp_path)
    assert any("the model 'popper' needs a checkout of Popper" in text for text in study.absent)
    assert {"ResNet", "detector", "alphaILP"} <= {run.label for run in study.runs}
    lacking = {size: find_study("rsbench-table-2", size, tmp_path).absent for size in ("small", "paper")}
    assert not [text for text in lacking["small"] if "digits of MNIST" in text]
    assert len([text for text in lacking["paper"] if "set ASSAY_MNIST=FOLDER for all" in text]) == 1


def test_a_ready_study_writes_to_a_folder_of_its_name_and_size():
    assert find_study("rsbench-table-2").output == Path("out/rsbench-table-2-small")


KNOWN = fidelity().studies


def test_every_ready_study_has_an_entry_of_what_was_published():
    assert set(KNOWN) == set(READY)
    assert all(absent.why and absent.numbers >= 0 for absent in fidelity().absent)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_settings_are_the_published_ones_or_the_departure_is_explained(name):
    unexplained = [departure for departure in departures(name) if not departure.why]
    assert not unexplained, unexplained


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_published_numbers_stand_beside_the_quantity_that_they_are(name):
    study, entry = find_study(name, "paper"), KNOWN[name]
    for published in study.config.published:
        assert published["metric"] in entry.quantities, published
        assert published["model"] in entry.rows, published
    assert set(entry.quantities) <= set(study.config.metrics)


def test_an_unknown_study_is_refused_with_a_suggestion():
    with pytest.raises(UnknownName, match="no study file and no ready study named 'rsbench-table-3'.*rsbench-table-"):
        find_study("rsbench-table-3")

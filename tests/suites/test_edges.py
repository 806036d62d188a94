"""Rows of runs and entries field by field, and what lies just at the limits of a board, a matrix and a suite."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from assay.concepts import bits
from assay.config import Settings, validate
from assay.errors import AssayError, DataError, RunFailed
from assay.logic import Knowledge
from assay.models import MODELS
from assay.predictions import Answer, Predictions
from assay.suites import (
    BoardRow,
    entry,
    find_suite,
    judging,
    making,
    matrix,
    ranks,
    running,
    site,
    steps,
    suite_names,
    summary_of,
)
from assay.suites.board import BoardCell, SuiteBoard
from assay.suites.judging import Judged
from assay.suites.ranks import MeanRank
from assay.suites.suite import TEST_CONCEPTS, suite_from
from tests.suites.conftest import CONFIG

SUITE = suite_from(Settings(CONFIG))
KNOWLEDGE = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
JUDGED = Judged("tiny", "plain", "cbm", "concepts", 3, "run", "link")
SCORES = dict.fromkeys(("label_f1", "concept_f1", "collapse", "rule_consistency", "label_ece", "concept_ece"), 0.5)


def row(model="cbm", dataset="plain", seed=0, verdict="sound", level="concepts", status="done", **more):
    return BoardRow("tiny", dataset, model, level, seed, status, verdict=verdict, **more)


# rows of runs and of predictions


@pytest.fixture
def judged_by(monkeypatch):
    monkeypatch.setattr(judging, "gather_from", lambda data, found: ("evidence of", found))
    monkeypatch.setattr(judging, "_errors", lambda evidence, index, data: {"wrong": str(evidence[1].split), "misread": str(index)})  # fmt: skip
    monkeypatch.setattr(judging, "_seen", lambda data, sees: {"examples": 9.0, "concept_labels": 4.0 if sees else 0.0})


DATA = SimpleNamespace(knowledge=KNOWLEDGE, fingerprint="ff", sizes={})


def test_the_row_of_a_run_has_what_its_record_says(judged_by, monkeypatch, tmp_path):
    said = {name: SimpleNamespace(split=name, index=f"index of {name}") for name in ("test", "ood")}
    monkeypatch.setattr(judging.RunFolder, "all_predictions", lambda self, knowledge, sizes: said)
    about = {"parameters": 77}
    monkeypatch.setattr(judging.RunFolder, "about", lambda self: about)
    scores = [{"metric": name, "value": 0.1 + n / 10} for n, name in enumerate(SCORES)]
    record = {
        "scores": {"test": [*scores, {"metric": "near_accuracy", "value": None}], "ood": [{"metric": "label_f1", "value": 0.35}]},
        "numbers": [{"metric": "accuracy_k0", "value": 0.5}, {"metric": "accuracy_k1", "value": 0.75}, {"metric": "accuracy_max", "value": 1.0}],
        "headline": {"verdict": "noisy", "tone": "weak", "why": "because"},
        "findings": ["noisy", "boundary", "leaky"],
        "counterfactuals": {"all": {"follows": {"value": 0.25}}},
    }  # fmt: skip
    (tmp_path / "records.json").write_text(json.dumps(record))
    assert judging.RECORDS == "records.json"
    made = judging.row_of_run(JUDGED, tmp_path, DATA, True)
    assert math.isnan(made.seconds) and math.isnan(made.boundary)
    (tmp_path / "usage.json").write_text('{"seconds": 12.5}')
    made = asdict(judging.row_of_run(JUDGED, tmp_path, DATA, True))
    assert math.isnan(made.pop("boundary")) and math.isnan(made.pop("certainty")) and made.pop("assay")
    assert made.pop("scored") == judging.hash_of_files(tmp_path / "predictions")
    assert made.pop("diagnosis") == 1 and made.pop("statistics")  # a record of before says nothing of these
    assert {name: made.pop(name) for name in SCORES} == {name: 0.1 + n / 10 for n, name in enumerate(SCORES)}
    assert made == {
        **{"suite": "tiny", "dataset": "plain", "model": "cbm", "level": "concepts", "seed": 3, "status": "done"},
        **{"reason": "", "verdict": "noisy", "tone": "weak", "why": "because", "also": "boundary, leaky"},
        **{"follows": 0.25, "ood": 0.35, "intervention_area": 0.75, "parameters": 77.0, "examples": 9.0},
        **{"concept_labels": 4.0, "seconds": 12.5, "fingerprint": "ff", "run": "run", "link": "link"},
        **{"wrong": "test", "misread": "index of test"},
    }
    about.clear()
    again = judging.row_of_run(JUDGED, tmp_path, DATA, False)
    assert math.isnan(again.parameters) and again.concept_labels == 0


# entries


def entered(level="concepts", **more):
    facts = {"suite": "tiny", "name": "theirs", "level": level, "seeds": [4, 2], **more}
    return entry.SuiteEntry(Path("nowhere"), SUITE, validate(entry.EntryConfig, Settings(facts)))


def test_every_split_but_those_of_learning_is_asked_for(monkeypatch, tmp_path):
    read, copied = [], []
    monkeypatch.setattr(entry, "_checked", lambda given, data, path, name: read.append((path, name)) or name)
    monkeypatch.setattr(entry, "_refuse_copied", lambda *given: copied.append(given[3]))
    names = ("train", "train_2", "valid", "valid_1", "test", "ood", "hard")
    data = SimpleNamespace(split_names=names, pairs={"split": "test"})
    assert list(entry.checked_predictions(entered(), data, tmp_path)) == ["test", "ood", "hard", "pairs"]
    assert read[0] == (tmp_path / "test.parquet", "test") and copied == [tmp_path]
    data.pairs = None
    assert list(entry.checked_predictions(entered("symbols"), data, tmp_path)) == ["test", "ood", "hard"]
    assert copied == [tmp_path] and entered("symbols").sees(TEST_CONCEPTS) and not entered().sees(TEST_CONCEPTS)


def says(a, b=None, index=(0, 1)):
    concepts = {"a": a} if b is None else {"a": a, "b": b}
    return Predictions("ff", "test", np.array(index), {}, concepts)


def test_only_certain_and_right_concepts_are_copied(tmp_path):
    truth = np.array([[0, 1], [1, 1]])
    data = SimpleNamespace(
        knowledge=KNOWLEDGE, symbols=lambda name, styles: SimpleNamespace(concepts=truth, index=np.array([0, 1]))
    )
    right = Answer(np.array([0, 1])), Answer(np.array([1, 1]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    doubted = Answer(np.array([1, 1]), np.array([[0.0, 1.0], [0.001, 0.999]]))
    assert entry._is_doubted(doubted) and not entry._is_doubted(right[0]) and not entry._is_doubted(right[1])
    assert entry._is_copied(says(*right), truth, data)
    assert not entry._is_copied(says(right[0], doubted), truth, data)
    assert not entry._is_copied(says(right[0], Answer(np.array([1, 0]))), truth, data)
    turned = says(Answer(np.array([1, 0])), right[1], (1, 0))
    folder = tmp_path / "plain" / "seed4"
    for found in ({"test": says(*right)}, {"test": turned}, {"test": says(*right), "hard": turned}):
        words = f"plain/seed4: every concept of all {2 * len(found)} examples is right and certain.*'concepts' does"
        with pytest.raises(DataError, match=words):
            entry._refuse_copied(entered(), data, found, folder)
    entry._refuse_copied(entered(), data, {"test": says(right[0])}, folder)
    entry._refuse_copied(entered(), data, {"test": says(*right), "hard": says(right[0], doubted)}, folder)


def test_defaults_and_names_of_an_entry():
    config = entered().config
    assert config.trained_on == ["train", "valid"] and config.refused == {} and config.link == ""
    assert math.isnan(config.parameters) and math.isnan(config.seconds)
    for good in ("a", "A.b-c_9", "9"):
        assert entered(name=good).config.name == good
    for wrong in ({"name": "-a"}, {"name": ""}, {"name": "a b"}, {"seeds": []}, {"link": "ftp://x"}):
        with pytest.raises(AssayError):
            entered(**wrong)
    assert entered(link="http://x").config.link == "http://x"


# board, ranks, pages


def test_spreads_are_of_shares_and_not_of_counts():
    def cell(*values):
        return BoardCell("m", "d", tuple(row(seed=seed, label_f1=value) for seed, value in enumerate(values)))

    assert cell(10.0, 8.0).text("label_f1") == "9.00 ± 1.41" and cell(10.5, 8.0).text("label_f1") == "9.25"
    assert cell(10.0, 10.02).text("label_f1") == "10" and cell(1234.4).short("label_f1") == "1,234"
    assert cell(0.0, 0.0).text("label_f1") == "0.00 ± 0.00"


def test_refusals_that_share_a_reason_are_one_line():
    rows = (
        row("cbm", "plain", status="refused", verdict="", reason="no"),
        row("cbm", "noisy", status="refused", verdict="", reason="no"),
        row("cem", "plain", status="failed", verdict="", reason="no"),
        row("cem", "noisy"),
    )
    board = SuiteBoard(SUITE, rows)
    assert sorted(board.refusals) == [
        ("cbm", "refused: no", ["plain", "noisy"]),
        ("cem", "failed: no", ["plain"]),
    ]
    assert [model.name for model in board.models] == ["cem", "cbm"] and list(board.meanings) == ["sound"]


def test_intervals_hold_95_of_100_resamples():
    rng = np.random.default_rng(1)
    values = rng.random((3, 5, 4))
    rows = [
        row(model, f"d{d}", seed, label_f1=values[m, d, seed])
        for m, model in enumerate("xyz") for d in range(5) for seed in range(4)
    ]  # fmt: skip
    found = [rank for rank in ranks.ranks_of(rows) if rank.measure == "label_f1"]
    drawn = np.sort(ranks._resampled(values, "concepts", "label_f1"), axis=0)
    means = ranks.rank_each(values.mean(axis=2)).mean(axis=1)
    for place, rank in enumerate(found):
        assert (rank.model, rank.level, rank.of) == ("xyz"[place], "concepts", 3)
        assert rank.mean == pytest.approx(means[place])
        assert rank.low == pytest.approx(np.quantile(drawn[:, place], 0.025))
        assert rank.high == pytest.approx(np.quantile(drawn[:, place], 0.975))
    assert MeanRank("m", "l", "x", 2.04, 1.0, 3.96, 4).text == "2.0 (1.0–4.0)"


def test_data_is_opened_for_pictures_where_it_is_there(monkeypatch, tmp_path):
    monkeypatch.setattr(site, "open_data", lambda suite, data, folder: (suite.name, data.name, folder))
    (tmp_path / "plain").mkdir()
    assert site._opened(SUITE, "plain", tmp_path) == ("tiny", "plain", tmp_path / "plain")
    assert site._opened(SUITE, "noisy", tmp_path) is None and site._opened(SUITE, "plain", None) is None
    assert (site.MOST_PICTURES, site.MOST_NAMED) == (12, 4)
    wrong = json.dumps({str(n): "x" for n in range(20)})
    misread = json.dumps({str(n): "r" for n in range(5, 40)})
    shown = site._errors(SuiteBoard(SUITE, (row(wrong=wrong, misread=misread),)), None, "plain", tmp_path)
    assert [error.number for error in shown] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert shown[5].misread == ("cbm: r",) and shown[6].wrong == (("x", 1),) and shown[0].missed == 1


# running, making, steps


def test_models_are_trained_a_few_at_a_time(monkeypatch, tmp_path):
    config = {**CONFIG, "models": {f"m{n}": {"level": "rule", "model": "dpl"} for n in range(6)}}
    for name in ("plain", "noisy"):
        config["datasets"] = {**config["datasets"], name: {**config["datasets"][name], "fingerprint": "ff"}}
    suite, told, done = suite_from(Settings(config)), [], []
    made = making.MadeData({"plain": SimpleNamespace(fingerprint="ff")}, {"noisy": "broke"})
    asked = []
    monkeypatch.setattr(running, "make_data", lambda *given: asked.append(given[2]) or made)
    monkeypatch.setattr(running, "perform_steps", lambda study, *rest: done.append([run.label for run in study.runs]))
    monkeypatch.setattr(running.RowKeeper, "has", lambda self, step: step.label == "m1")
    with pytest.raises(RunFailed, match="1 of 2 datasets failed; noisy: broke"):
        running.run_suite(running.SuiteOrder(suite, seeds=(1,)), tmp_path, say=told.append)
    assert asked == [["plain", "noisy"]] and done == [["m0", "m2", "m3"], ["m4", "m5"]]
    assert told == ["tiny: 5 runs to do, 1 rows kept"]
    made.faults.clear()
    done.clear()
    order = running.SuiteOrder(suite, ("m5", "m0"), ("plain",))
    assert running.run_suite(order, tmp_path) == [] and not order.discard
    assert asked[1] == ["plain"] and done == [["m5", "m5", "m0", "m0"]]


def test_data_with_another_fingerprint_is_a_fault(monkeypatch, tmp_path):
    def refuse(suite, data, folder):
        raise DataError(f"{data.name} is odd")

    monkeypatch.setattr(making, "perform_steps", lambda *given: [])
    monkeypatch.setattr(making, "open_data", refuse)
    (tmp_path / "data" / "plain").mkdir(parents=True)
    made = making.make_data(SUITE, tmp_path, ["noisy"])
    assert made.there == {} and made.faults == {"plain": "plain is odd", "noisy": "plain: plain is odd"}


def test_the_name_of_a_run_has_all_that_decides_it():
    def name(data=None, training=None, model="cbm", seed=0, **settings):
        changed = {**CONFIG["datasets"]["plain"], "fingerprint": "ff", **(data or {})}
        config = {
            **CONFIG,
            "training": training or {"epochs": 2},
            "models": {"cbm": {"level": "concepts", "settings": settings}, "dpl": {"level": "rule"}},
            "datasets": {"plain": changed},
        }
        suite = suite_from(Settings(config))
        return steps.run_step(suite, model, suite.dataset("plain"), seed).name

    plain = name()
    assert plain == name() and plain.startswith("plain-cbm-seed0-")
    others = [
        name(data={"fingerprint": "gg"}), name(training={"epochs": 3}), name(seed=1).replace("seed1", "seed0"),
        name(batch_size=8), name(model="dpl").replace("dpl", "cbm"), name(data={"settings": {"k": 9}}),
    ]  # fmt: skip
    assert len({plain, *others}) == 7
    assert steps.study_config(SUITE, []).name == "tiny" and (steps.POLICY, steps.PARTS) == ("uncertainty", 4)


# suites and the matrix


def test_suites_are_found_by_name_or_file(tmp_path):
    assert "assay-1" in suite_names() and suite_names() == sorted(suite_names()) and find_suite().name == "assay-1"
    for ending in ("yaml", "yml"):
        (tmp_path / f"mine.{ending}").write_text(yaml.safe_dump(CONFIG))
        assert find_suite(str(tmp_path / f"mine.{ending}")).name == "tiny"
    told = summary_of(SUITE)
    assert told["seeds"] == [0, 1] and list(told["models"]) == ["blackbox", "cbm", "dpl", "tree", "popper"]
    recipe = SUITE.dataset("plain").recipe
    assert recipe.task_name == "mnlogic" and dict(recipe.sizes)["pairs"] == 12 and recipe.seed == 0
    assert SUITE.dataset("noisy").recipe is None
    for wrong in ({"seeds": []}, {"levels": {"labels": {"sees": [], "about": "x"}}}):
        with pytest.raises(AssayError):
            suite_from(Settings({**CONFIG, **wrong}))


def test_concepts_must_be_said_again_too(monkeypatch):
    def said(shift, name="a"):
        soft = np.array([[1.0, 0.0], [shift, 1 - shift]])
        return Predictions("p", "test", np.arange(2), {}, {name: Answer(np.array([0, 1]), soft)})

    matrix._require_same(said(0.5), said(0.50005))
    with pytest.raises(RunFailed, match="saved and loaded, it says something else of 'a'"):
        matrix._require_same(said(0.5), said(0.5003))
    silent = Predictions("p", "test", np.arange(2), {"y": Answer(np.array([-1, -1]))})
    matrix._require_same(silent, silent)
    monkeypatch.setattr(matrix, "try_cell", lambda model, family, data: (model, family, data))
    assert list(matrix.matrix_cells({"f": 1})) == [(model, "f", 1) for model in MODELS]
    asked = []
    monkeypatch.undo()
    monkeypatch.setattr(matrix, "_live_through", lambda model, settings, data, folder: asked.append(settings.values))
    assert matrix.try_cell("dpl", "f", "data").outcome == "works"
    assert (asked[0]["epochs"], asked[0]["device"]) == (2, "cpu") and "clauses" not in asked[0]
    assert matrix.QUICK["seconds"] == 0.5 and matrix.QUICK["members"] == 2 and matrix.QUICK["programs"] == 2000

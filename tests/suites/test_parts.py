"""The parts of a suite, word for word: cells and tables of a board, rows, errors, areas, steps, matrix cells."""

import json
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.errors import AssayError, ConfigError, DataError, RunFailed, UnknownName
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.predictions import Answer, Predictions
from assay.suites import (
    BoardRow,
    find_suite,
    judging,
    making,
    matrix,
    matrix_table,
    plain,
    read_rows,
    running,
    site,
    steps,
    write_rows,
)
from assay.suites.board import BoardCell, SuiteBoard, rank_table, verdict_table
from assay.suites.judging import Judged, area_under
from assay.suites.making import MadeData, open_data
from assay.suites.matrix import MatrixCell, try_cell
from assay.suites.ranks import _resampled, _seed_means, rank_each, ranks_of
from assay.suites.rows import MEASURES, RANKED, by_model, measures_of, merged
from assay.suites.steps import budgets_for, data_steps, run_step
from assay.suites.suite import check_seeds, suite_from
from tests.samples import skip_without

skip_without("mnlogic")

TEXT = {
    "name": "tiny", "about": "A suite.", "seeds": [0, 3], "training": {"epochs": 2, "beam": 5},
    "levels": {"labels": {"sees": ["labels"], "about": "x"}, "concepts": {"sees": ["labels", "concepts"], "about": "y"}},
    "models": {"cbm": {"level": "concepts"}, "slow": {"level": "concepts", "model": "cbm", "settings": {"epochs": 7}}, "blackbox": {"level": "labels"}},
    "datasets": {
        "first": {"family": "f", "shows": "s", "about": "a", "task": "mnlogic", "settings": {"k": 3}, "splits": {"train": 9}, "seed": 4, "fingerprint": "ff"},
        "second": {"family": "f", "shows": "s", "about": "a", "of": "first", "annotate": {"label_noise": 0.1}, "fingerprint": "gg"},
        "third": {"family": "g", "shows": "s", "about": "a", "task": "mnlogic"},
    },
}  # fmt: skip
SUITE = suite_from(Settings(TEXT))


def row(model="cbm", dataset="first", seed=0, verdict="sound", level="concepts", status="done", **more):
    return BoardRow("tiny", dataset, model, level, seed, status, verdict=verdict, **more)


# board


def test_a_cell_over_its_seeds():
    cell = BoardCell("m", "d", (
        row(seed=0, verdict="noisy", label_f1=0.5, tone="weak", why="first", seconds=100.0), row(seed=1, verdict="sound", label_f1=0.75, tone="good", why="second", seconds=1300.0),
        row(seed=2, verdict="noisy", tone="weak", why="third"), row(seed=3, verdict="", status="failed", reason="broke", label_f1=9.0),
    ))  # fmt: skip
    assert cell.verdicts == (("noisy", 2), ("sound", 1)) and cell.verdict == "noisy" and cell.seeds == "2 of 3"
    assert cell.other == "sound 1" and (cell.tone, cell.why) == ("weak", "first")
    assert cell.values("label_f1") == [0.5, 0.75] and cell.mean("label_f1") == 0.625
    assert cell.short("label_f1") == "0.62" and cell.text("label_f1") == "0.62 ± 0.18"
    assert cell.short("seconds") == "700" == cell.text("seconds") and cell.short("ood") == "–" == cell.text("ood")
    assert BoardCell("m", "d", (row(label_f1=10.0),)).short("label_f1") == "10.00"
    assert BoardCell("m", "d", (row(label_f1=0.5),)).text("label_f1") == "0.50"
    equal = BoardCell("m", "d", (row(verdict="sound"), row(verdict="shortcut", seed=1)))
    assert equal.verdict == "shortcut" and equal.seeds == "1 of 2"
    refused = BoardCell("m", "d", (row(status="refused", verdict="", reason="no rule"),))
    assert (refused.verdict, refused.seeds, refused.why, refused.tone, refused.grave) == (
        "refused",
        "",
        "no rule",
        "none",
        0,
    )
    empty = BoardCell("m", "d", ())
    assert (empty.verdict, empty.why, empty.grave) == ("", "not run", 0) and math.isnan(empty.mean("ood"))
    assert (
        0 < BoardCell("m", "d", (row(verdict="shortcut"),)).grave < BoardCell("m", "d", (row(verdict="sound"),)).grave
    )


def test_a_board_is_ordered_by_level_and_soundness():
    rows = (
        row("cem", "third"), row("cem", "first", verdict="noisy", link="http://x"), row("cbm", "first"), row("cbm", "third"),
        row("blackbox", "first", level="labels", verdict="opaque"), row("blackbox", "third", level="labels", status="refused", verdict="", reason="no"),
        row("acm", "third"),
    )  # fmt: skip
    board = SuiteBoard(SUITE, rows)
    assert [data.name for data in board.datasets] == ["first", "third"]
    assert [model.name for model in board.models] == ["blackbox", "cbm", "acm", "cem"]
    assert [model.sound for model in board.models] == [0, 2, 1, 1]
    assert board.models[3].counts == {"noisy": 1, "sound": 1} and board.models[2].counts == {"sound": 1}
    assert [(model.name, cell.verdict) for model, cell in board.on("third")] == [
        ("blackbox", "refused"),
        ("cbm", "sound"),
        ("acm", "sound"),
        ("cem", "sound"),
    ]
    assert list(board.meanings) == ["noisy", "opaque", "sound"] and board.measures is MEASURES
    assert board.refusals == [("blackbox", "refused: no", ["third"])]
    table = verdict_table(board)
    assert table.head == ("level", "model", "first", "third") and table.stubs == 2 and table.caption == "tiny: verdicts"
    assert table.rows == (
        ("labels", "blackbox", "opaque 1 of 1", "refused"), ("concepts", "cbm", "sound 1 of 1", "sound 1 of 1"),
        ("concepts", "acm", "–", "sound 1 of 1"), ("concepts", "cem", "noisy 1 of 1", "sound 1 of 1"),
    )  # fmt: skip


def test_ranks_of_a_board():
    rows = tuple(row(model, data, seed, label_f1=value + seed / 100, collapse=value) for seed in (0, 1)
                 for model, data, value in (("cbm", "first", 0.9), ("cem", "first", 0.5), ("cbm", "third", 0.2), ("cem", "third", 0.1)))  # fmt: skip
    board = SuiteBoard(SUITE, rows)
    found = board.ranks["cbm", "label_f1"]
    assert (found.mean, found.low, found.high, found.of, found.level) == (1.0, 1.0, 1.0, 2, "concepts")
    assert board.ranks["cbm", "collapse"].mean == 2.0  # less is better
    table = rank_table(board)
    assert table.head == ("level", "model", *(measure.title for measure in RANKED)) and len(RANKED) == 10
    assert table.rows[0][:3] == ("concepts", "cbm", "1.0 (1.0–1.0)") and table.rows[0][3] == "–"
    assert {measure.name for measure in RANKED if not measure.rising} == {"collapse", "label_ece", "concept_ece"}
    assert ranks_of([row("cbm", label_f1=1.0)]) == []


def test_ranks_by_hand():
    values = np.array([[[0.9, 0.5], [0.2, 0.3]], [[0.9, np.nan], [0.2, 0.1]]])
    assert _seed_means(values).tolist() == [pytest.approx([0.7, 0.25]), pytest.approx([0.9, 0.15])]
    assert np.isnan(_seed_means(np.full((1, 1, 2), np.nan))).all()
    assert rank_each(np.array([[3.0, 1.0], [2.0, 1.0], [1.0, np.nan]])).tolist() == [[1, 1.5], [2, 1.5], [3, 3]]
    drawn = _resampled(values, "level", "measure")
    assert drawn.shape == (1000, 2) and np.allclose(drawn.sum(axis=1), 3.0)
    # on the first dataset the first ties or loses, on the second it wins or ties: all means from 1 to 2 can be
    assert drawn.min() == 1.0 and drawn.max() == 2.0 and 1.3 < drawn[:, 0].mean() < 1.7


# rows


def test_rows_are_kept_in_order_and_replaced(tmp_path):
    rows = [row(seed=3), row(dataset="a", seed=1), row(seed=0, label_f1=0.5)]
    write_rows(rows, tmp_path / "cbm.parquet")
    assert [(r.dataset, r.seed) for r in read_rows(tmp_path / "cbm.parquet")] == [("a", 1), ("first", 0), ("first", 3)]
    write_rows([row("abc")], tmp_path / "abc.parquet")
    assert [r.model for r in read_rows(tmp_path)] == ["abc", "cbm", "cbm", "cbm"] and read_rows(
        tmp_path / "no.parquet"
    ) == []
    (tmp_path / "bad.parquet").write_bytes(b"x")
    with pytest.raises(DataError, match="holds no rows of a suite, or is damaged"):
        read_rows(tmp_path / "bad.parquet")
    new = merged(rows, [row(seed=0, label_f1=0.75), row(seed=9)])
    assert [(r.dataset, r.seed, r.label_f1) for r in new if not math.isnan(r.label_f1)] == [("first", 0, 0.75)] and len(
        new
    ) == 4
    assert plain(rows[2])["label_f1"] == 0.5 and plain(rows[0])["label_f1"] is None and plain(rows[0])["seed"] == 3
    assert {
        name: [r.seed for r in group] for name, group in by_model([row("b"), row("a"), row("b", seed=2)]).items()
    } == {"b": [0, 2], "a": [0]}
    assert measures_of(rows[2])["label_f1"] == 0.5 and len(measures_of(rows[2])) == len(MEASURES)


# judging


def test_measures_of_scores():
    same = {
        "label_f1": 0.9,
        "concept_f1": 0.8,
        "collapse": 0.1,
        "rule_consistency": 0.7,
        "label_ece": 0.05,
        "concept_ece": 0.06,
        "near_accuracy": 0.4,
    }
    nan = math.nan
    found = judging._measures({"test": same, "hard": {"near_accuracy": 0.3}, "ood": {"label_f1": 0.5}, "ood_2": {"label_f1": 0.25}, "ood_3": {"label_f1": nan}},
                              {"all": {"follows": {"value": 0.6}}})  # fmt: skip
    assert found == {
        **{k: v for k, v in same.items() if k != "near_accuracy"},
        "boundary": 0.3,
        "follows": 0.6,
        "ood": 0.375,
    }
    bare = judging._measures({"test": same}, None)
    assert bare["boundary"] == 0.4 and math.isnan(bare["follows"]) and math.isnan(bare["ood"])
    assert math.isnan(judging._measures({"test": same}, {"all": {"follows": {"value": None}}})["follows"])


def test_the_area_under_interventions():
    assert area_under(
        {"accuracy_k0": 0.5, "accuracy_k1": 0.7, "accuracy_max": 1.0, "coverage_k1": 9.0}, 4
    ) == pytest.approx((0.5 + 0.7) / 2 * 0.25 + (0.7 + 1.0) / 2 * 0.75)
    assert math.isnan(area_under({"accuracy_k0": 0.5}, 4)) and math.isnan(
        area_under({"accuracy_k1": 0.5, "accuracy_max": 1.0}, 4)
    )


SPACE = ConceptSpace(tuple(Concept(name, (0, 1, 2)) for name in "abcd"))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a > b", "n": "c"})


def test_errors_of_the_first_examples():
    concepts = np.array([[0, 0, 0, 0], [1, 1, 1, -1], [2, 2, 2, 2], [0, 0, 0, 0], [1, 1, 1, 1]])
    labels = np.array([[0, 0], [0, 1], [0, 2], [0, 0], [0, 1]])
    said = np.array([[1, 2], [0, 1], [0, 2], [1, 0], [-1, 1]])
    read = np.array(
        [[0, 0, 2, 0], [1, 0, 1, 2], [1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 1]]
    )  # also where labels are wrong
    silent = (None,) * 2, (None,) * 4
    evidence = Evidence(KNOWLEDGE, "test", labels, concepts, said, read, *silent)
    found = judging._errors(evidence, np.array([99, 7, 3, 100, 5]), SimpleNamespace(knowledge=KNOWLEDGE))
    assert json.loads(found["wrong"]) == {"99": "True, 2", "5": "none, 1"} and list(json.loads(found["wrong"])) == [
        "5",
        "99",
    ]
    assert json.loads(found["misread"]) == {"3": "a 2→1, b 2→0, c 2→1 and 1 more", "7": "b 1→0"}


def test_what_a_model_saw():
    train = SimpleNamespace(given_concepts=np.array([[0, -1], [1, 2], [-1, -1]]))
    data = SimpleNamespace(
        read=lambda split: type("Rows", (), {"__len__": lambda self: 3, "given_concepts": train.given_concepts})()
    )
    assert judging._seen(data, True) == {"examples": 3.0, "concept_labels": 3.0}
    assert judging._seen(data, False) == {"examples": 3.0, "concept_labels": 0.0}
    made = Judged("tiny", "first", "cbm", "concepts", 3, "run", "link").row(status="failed", reason="x")
    assert (made.suite, made.dataset, made.model, made.level, made.seed, made.run, made.link, made.status, made.reason) == (
        "tiny", "first", "cbm", "concepts", 3, "run", "link", "failed", "x",
    )  # fmt: skip
    assert made.assay and made.tone == "unknown"


# the site


def test_pages_show_the_commonest_errors(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "MOST_PICTURES", 4)
    rows = [
        row("cbm", seed=0, wrong='{"1": "x", "2": "x"}', misread='{"8": "a 0→1"}'), row("cbm", seed=1, wrong='{"2": "y", "3": "x"}', misread='{"8": "later"}'),
        row("cem", seed=0, wrong='{"2": "x"}', misread='{"7": "q", "8": "b 1→0", "2": "z"}'), row("cem", dataset="third", wrong='{"9": "x"}'),
        row("cem", seed=1, status="failed", wrong='{"1": "x", "3": "y"}'),
    ]  # fmt: skip
    shown = site._errors(SuiteBoard(SUITE, tuple(rows)), None, "first", tmp_path)
    assert [error.number for error in shown] == [2, 1, 8, 7]
    first, _, third, _ = shown
    assert (
        first.wrong == (("x", 2), ("y", 1)) and first.missed == 3 and first.misread == ("cem: z",) and first.runs == 3
    )
    assert third.wrong == () and third.misread == ("cbm: a 0→1", "cem: b 1→0") and third.picture == ""
    split = SimpleNamespace(
        index=np.array([5, 2]),
        labels=np.array([[0, 1], [1, 2]]),
        files=lambda rows: [f"file of row {rows[0]}".encode()],
    )
    data = type("Data", (dict,), {"knowledge": KNOWLEDGE})(test=split)
    made = site._shown(2, data, "first", tmp_path, Counter({"x": 2}), {}, rows)
    assert made.picture == "pictures/first-2.png" and made.labels == "True, 2"
    assert (tmp_path / made.picture).read_text() == "file of row 1"
    many = site._shown(
        2, None, "first", tmp_path, Counter(dict.fromkeys("abcdef", 1)), dict.fromkeys("abcdef", "r"), rows
    )
    assert len(many.wrong) == len(many.misread) == 4
    with pytest.raises(DataError, match="no rows of suite 'tiny' in .*run: assay suite run"):
        site.write_board(SUITE, [tmp_path / "none"], tmp_path / "out")


# suites and steps


def test_settings_of_baselines_are_the_suites_and_then_their_own():
    assert SUITE.settings_of("cbm") == ("cbm", Settings({"epochs": 2})) and SUITE.settings_of("slow") == (
        "cbm",
        Settings({"epochs": 7}),
    )
    for ask, why in ((lambda: SUITE.baseline("cbn"), "no model named 'cbn'; did you mean 'cbm'"), (lambda: SUITE.dataset("frist"), "no dataset named 'frist'"),
                     (lambda: SUITE.level("lables"), "no level named 'lables'; did you mean 'labels'"), (lambda: find_suite("assay-0"), "no suite named 'assay-0'")):  # fmt: skip
        with pytest.raises(UnknownName, match=why):
            ask()
    assert [data.name for data in SUITE.with_parents(["second"])] == ["first", "second"]
    assert [data.name for data in SUITE.with_parents()] == ["first", "second", "third"] and [
        d.name for d in SUITE.with_parents(["third"])
    ] == ["third"]
    assert check_seeds(SUITE, []) == [0, 3] and check_seeds(SUITE, [3]) == [3]
    with pytest.raises(ConfigError, match=r"seed 1 is none of the suite's; there is: \[0, 3\]"):
        check_seeds(SUITE, [3, 1])


def test_a_dataset_is_a_task_or_a_copy():
    for change, why in (
        ({"task": "mnlogic", "of": "first", "annotate": {"x": 1}}, "give a task, or 'of' another dataset"), ({}, "give a task, or 'of'"),
        ({"of": "first"}, "'of' and 'annotate' go together"), ({"task": "mnlogic", "annotate": {"x": 1}}, "go together"),
        ({"of": "second", "annotate": {"x": 1}}, "'of' must name a dataset that has a task"), ({"of": "no", "annotate": {"x": 1}}, "must name a dataset"),
    ):  # fmt: skip
        datasets = {**TEXT["datasets"], "new": {"family": "f", "shows": "s", "about": "a", **change}}
        with pytest.raises(AssayError, match=why):
            suite_from(Settings({**TEXT, "datasets": datasets}))
    with pytest.raises(AssayError, match="model 'cbm': no level named 'odd'"):
        suite_from(Settings({**TEXT, "models": {"cbm": {"level": "odd"}}}))


def test_steps_of_a_suite():
    made, copies = data_steps(list(SUITE.datasets.values()))
    assert (
        [step.name for step in made] == ["first", "third"]
        and made[0].recipe.seed == 4
        and dict(made[0].recipe.sizes) == {"train": 9}
    )
    assert [(step.name, step.parent, step.annotation) for step in copies] == [("second", "first", {"label_noise": 0.1})]
    step = run_step(SUITE, "slow", SUITE.dataset("second"), 3)
    assert (step.data, step.task, step.model, step.label, step.seed) == ("second", "second", "cbm", "slow", 3)
    assert step.name.startswith("second-slow-seed3-") and step.settings == Settings({"epochs": 7})
    assert step.analyses == (("intervene", Settings({"policy": "uncertainty", "budget": "0,1,2,max"})),)
    assert step.name != run_step(SUITE, "slow", SUITE.dataset("second"), 0).name
    with pytest.raises(ConfigError, match="dataset 'third' of suite 'tiny' has no fingerprint yet"):
        run_step(SUITE, "cbm", SUITE.dataset("third"), 0)
    assert [budgets_for(n) for n in (1, 3, 4, 9)] == ["0,max", "0,1,2,max", "0,1,2,3,max", "0,2,4,6,max"]
    study = steps.suite_study(
        SUITE, ["cbm", "blackbox"], [SUITE.dataset("first"), SUITE.dataset("second")], [0, 3], "out"
    )
    assert [(run.data, run.label, run.seed) for run in study.runs] == [
        (data, model, seed) for data in ("first", "second") for model in ("cbm", "blackbox") for seed in (0, 3)
    ]
    assert study.config.name == "tiny" and study.output == "out"


def test_made_data_is_all_there_or_says_why(monkeypatch):
    assert MadeData({"a": 1}, {}).require_all() == {"a": 1}
    with pytest.raises(RunFailed, match="2 of 3 datasets failed; b: broke"):
        MadeData({"a": 1}, {"b": "broke", "c": "too"}).require_all()
    monkeypatch.setattr(making.Dataset, "open", lambda folder: SimpleNamespace(fingerprint=folder))
    assert open_data(SUITE, SUITE.dataset("first"), "ff").fingerprint == "ff"
    with pytest.raises(DataError, match="has fingerprint hh, dataset 'first' of suite 'tiny' ff; delete"):
        open_data(SUITE, SUITE.dataset("first"), "hh")
    with pytest.raises(DataError, match="dataset 'third' of suite 'tiny' none yet;"):
        open_data(SUITE, SUITE.dataset("third"), "hh")


def test_copies_fail_with_what_they_are_copied_from(monkeypatch, tmp_path):
    outcomes = [SimpleNamespace(name="first", fault="broke"), SimpleNamespace(name="third", fault=None)]
    asked = []
    monkeypatch.setattr(
        making, "perform_steps", lambda study, say, watch, workers: asked.append((study, workers)) or outcomes
    )
    monkeypatch.setattr(making, "open_data", lambda suite, data, folder: (data.name, folder))
    (tmp_path / "data" / "third").mkdir(parents=True)
    made = making.make_data(SUITE, tmp_path, workers="workers")
    assert made.there == {"third": ("third", tmp_path / "data" / "third")} and made.faults == {
        "first": "broke",
        "second": "first: broke",
    }
    assert asked[0][1] == "workers" and [step.name for step in asked[0][0].datasets] == ["first", "third"]


def keeper(tmp_path, discard=False):
    order = running.SuiteOrder(SUITE, discard=discard)
    data = {"first": SimpleNamespace(fingerprint="ff")}
    step = run_step(SUITE, "cbm", SUITE.dataset("first"), 3)
    return running.RowKeeper(order, tmp_path, tmp_path / "records", data, {step.name: step}), step


@pytest.mark.parametrize("discard", [True, False])
def test_a_row_is_kept_of_each_run(tmp_path, monkeypatch, discard):
    rows, step = keeper(tmp_path, discard)
    (tmp_path / "runs" / step.name).mkdir(parents=True)
    seen = []

    def judge(judged, folder, data, sees):
        seen.append((judged, folder, sees))
        return judged.row(status="done", verdict="sound")

    monkeypatch.setattr(running, "row_of_run", judge)
    assert not rows.has(step) and rows.rows() == []
    rows.add(SimpleNamespace(name="another", fault=None, refused=False))
    rows.add(SimpleNamespace(name=step.name, fault="no\n rule", refused=True))
    (refused,) = rows.rows()
    assert (refused.status, refused.reason, refused.fingerprint, refused.level) == (
        "refused",
        "no rule",
        "ff",
        "concepts",
    ) and not rows.has(step)
    rows.add(SimpleNamespace(name=step.name, fault="broke", refused=False))
    assert rows.rows()[0].status == "failed"
    rows.add(SimpleNamespace(name=step.name, fault=None, refused=False))
    assert rows.has(step) and len(rows.rows()) == 1
    assert seen == [(Judged("tiny", "first", "cbm", "concepts", 3, step.name), tmp_path / "runs" / step.name, True)]
    assert (tmp_path / "runs" / step.name).exists() is not discard

    def fail(judged, folder, data, sees):
        raise DataError("damaged")

    monkeypatch.setattr(running, "row_of_run", fail)
    rows.add(SimpleNamespace(name=step.name, fault=None, refused=False))
    assert (rows.rows()[0].status, rows.rows()[0].reason) == ("failed", "damaged")


# the matrix


@pytest.mark.parametrize(
    ("error", "outcome", "why"),
    [(None, "works", ""), (RunFailed("it broke"), "crashes", "it broke"), (ConfigError("no rule"), "refuses", "no rule"), (ValueError("odd"), "crashes", "ValueError: odd")],
)  # fmt: skip
def test_a_cell_of_the_matrix(monkeypatch, error, outcome, why):
    seen = []

    def live(model, settings, dataset, folder):
        seen.append((model, dict(settings.values), dataset))
        if error:
            raise error

    monkeypatch.setattr(matrix, "_live_through", live)
    clock = iter([10.0, 12.5])
    monkeypatch.setattr(matrix.time, "perf_counter", lambda: next(clock))
    assert try_cell("cbm", "digits", "data", {"epochs": 9}) == MatrixCell("cbm", "digits", outcome, why, 2.5)
    assert (
        seen[0][0] == "cbm" and seen[0][1]["epochs"] == 9 and seen[0][1]["device"] == "cpu" and "beam" not in seen[0][1]
    )


def test_the_matrix_as_a_table():
    cells = [
        MatrixCell("cbm", "f", "works"),
        MatrixCell("cbm", "g", "refuses", "no"),
        MatrixCell("dpl", "g", "crashes", "x"),
    ]
    table = matrix_table(cells)
    assert table.head == ("model", "f", "g") and table.rows == (
        ("cbm", "works", "refuses: no"),
        ("dpl", "", "crashes: x"),
    )


def said(shift):
    return Predictions(
        "p", "test", np.arange(2), {"y": Answer(np.array([0, 1]), np.array([[1.0, 0.0], [shift, 1 - shift]]))}
    )


def test_saved_and_loaded_says_the_same():
    matrix._require_same(said(0.5), said(0.5 + 5e-5))
    with pytest.raises(RunFailed, match="saved and loaded, it says something else of 'y'"):
        matrix._require_same(said(0.5), said(0.501))


class Trained(SimpleNamespace):
    pass


@pytest.mark.parametrize(
    ("can", "concepts", "changed", "takes", "why"),
    [
        (True, True, 0.0, True, None), (True, True, 0.25, True, "answers that repeat 'm''s own concepts change 0.25 of labels"),
        (False, True, 0.0, False, None), (True, False, 0.0, False, None), (False, True, 0.0, True, "'m' says that it cannot be intervened on, and can"),
    ],
)  # fmt: skip
def test_interventions_are_as_declared(monkeypatch, tmp_path, can, concepts, changed, takes, why):
    from assay.models.core import runs

    monkeypatch.setattr(matrix, "taught_by", lambda dataset: "taught")
    monkeypatch.setattr(
        runs, "train_run", lambda order, dataset, folder: Trained(can_intervene=can, has_concepts=concepts)
    )
    monkeypatch.setattr(runs, "load_model", lambda folder: Trained(predict=lambda data: said(0.5), intervene=None))
    monkeypatch.setattr(matrix.RunFolder, "all_predictions", lambda self, knowledge: {"test": said(0.5)})
    diagnosed = []
    monkeypatch.setattr(matrix, "diagnose_run", lambda run, dataset, taught: diagnosed.append(taught))

    def intervene(plan, dataset, answering):
        assert (plan.policy, plan.budget) == ("uncertainty", "0,1,max")
        if not takes:
            raise ConfigError("cannot")
        return SimpleNamespace(control_changed=changed)

    monkeypatch.setattr(matrix, "intervene", intervene)
    data = type("Data", (dict,), {"knowledge": None})(test="test")
    if why is None:
        matrix._live_through("m", Settings({}), data, tmp_path)
    else:
        with pytest.raises(RunFailed, match=why):
            matrix._live_through("m", Settings({}), data, tmp_path)
    assert diagnosed == ["taught"]


def test_small_datasets_are_of_the_suites_first_of_a_family(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(matrix, "make", lambda recipe, folder: made.append((recipe, folder)))
    monkeypatch.setattr(matrix.Dataset, "open", lambda folder: folder.name)
    assert matrix.small_datasets(SUITE, tmp_path, ["f", "g"]) == {"f": "f", "g": "g"}
    sizes = dict(made[0][0].sizes)
    assert (
        made[0][0].seed == 4
        and sizes["train"] == 40
        and sizes["valid"] == 12
        and sizes["test"] == 20
        and sizes["pairs"] == 8
    )
    assert {sizes[name] for name in sizes if name not in ("train", "valid", "test", "pairs")} == {0}
    with pytest.raises(UnknownName, match="no family named 'digit'; did you mean 'digits'"):
        matrix._recipe_of("digit", SUITE)
    assert matrix._recipe_of("digits", SUITE).task.name
    monkeypatch.setattr(matrix, "try_cell", lambda model, family, data: (model, family, data))
    assert list(matrix.matrix_cells({"f": 1, "g": 2}, ["a", "b"])) == [
        ("a", "f", 1),
        ("b", "f", 1),
        ("a", "g", 2),
        ("b", "g", 2),
    ]

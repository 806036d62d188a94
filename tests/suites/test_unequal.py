"""Rows that differ in all they can: seeds that are missing, statuses side by side, orders that are not the usual."""

import json
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.diagnosis import kinds_in_order
from assay.errors import ConfigError, RunFailed, UnknownName
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.models.core import runs
from assay.predictions import Answer, Predictions
from assay.seeds import rng_for
from assay.studies import JudgedBy
from assay.suites import (
    BoardRow,
    SuiteOrder,
    entry,
    judging,
    making,
    matrix,
    plain,
    ranks,
    read_rows,
    run_suite,
    running,
    site,
    steps,
    write_rows,
)
from assay.suites.board import BoardCell, SuiteBoard, rank_table
from assay.suites.judging import area_under
from assay.suites.rows import RANKED, merged
from assay.suites.running import RowKeeper
from assay.suites.suite import suite_from
from assay.tasks import TASKS
from tests.samples import needs_task
from tests.suites.conftest import CONFIG
from tests.suites.test_edges import SUITE, entered, row

NAN = math.nan


# ranks


def resampled_by_hand(values, level, measure):
    """Draw as the module says it does, in loops: datasets for all models alike, and for each model one of its seeds."""
    models, datasets, _ = values.shape
    rng = rng_for(0, "ranks", level, measure)
    columns = rng.integers(datasets, size=(1000, 1, datasets))[:, 0]
    draws = rng.random((1000, models, datasets))
    found = np.empty((1000, models))
    for number in range(1000):
        means = []
        for place, column in enumerate(columns[number]):
            drawn = []
            for model in range(models):
                seeds = [value for value in values[model, column] if not math.isnan(value)]
                drawn.append(seeds[int(draws[number, model, place] * len(seeds))] if seeds else -math.inf)
            means.append([1 + sum(b > a for b in drawn) + (drawn.count(a) - 1) / 2 for a in drawn])
        found[number] = np.mean(means, axis=0)
    return found


def test_resamples_draw_datasets_for_all_and_a_seed_for_each():
    values = np.array(
        [
            [[0.9, NAN, 0.1, 0.4], [NAN, NAN, NAN, NAN], [0.3, 0.8, 0.3, 0.6]],
            [[0.5, 0.2, 0.7, NAN], [0.6, 0.1, NAN, 0.2], [NAN, NAN, NAN, 0.3]],
        ]
    )
    wanted = resampled_by_hand(values, "rule", "ood")
    assert np.allclose(ranks._resampled(values, "rule", "ood"), wanted)
    assert not np.allclose(ranks._resampled(values, "labels", "ood"), wanted)
    assert not np.allclose(ranks._resampled(values, "rule", "collapse"), wanted)


def test_a_rank_is_told_with_both_ends_of_its_interval():
    values = {"a": [[0.9, 0.2], [0.1, 0.6]], "b": [[0.4, 0.5], [0.5, 0.3]], "c": [[0.6, 0.2], [0.2, 0.4]]}
    rows = [
        row(model, f"d{place}", 5 * seed, collapse=value)
        for model, cells in values.items() for place, cell in enumerate(cells) for seed, value in enumerate(cell)
    ]  # fmt: skip
    rows += [row("z", "d0", level="rule", collapse=0.0), row("y", "d9", label_f1=0.5)]
    found = ranks.ranks_of(rows)
    drawn = resampled_by_hand(-np.array(list(values.values())), "concepts", "collapse")
    means = [[0.55, 0.35], [0.45, 0.4], [0.4, 0.3]]
    assert np.allclose(np.array(list(values.values())).mean(axis=2), means)
    assert [(rank.model, rank.level, rank.measure, rank.of) for rank in found] == [
        (model, "concepts", "collapse", 3) for model in "abc"
    ]
    assert [rank.mean for rank in found] == [2.5, 2.5, 1.0]
    assert [(rank.low, rank.high) for rank in found] == [
        pytest.approx(tuple(np.percentile(drawn[:, place], [2.5, 97.5]))) for place in range(3)
    ]
    assert all(rank.low < rank.high for rank in found)


def test_a_table_of_ranks_has_each_measure_in_its_place():
    rows = [
        row("cbm", "plain", label_f1=0.9, collapse=0.5, label_ece=0.1), row("cem", "plain", label_f1=0.5, collapse=0.1),
        row("cem", "noisy", label_f1=0.4), row("dcr", "plain", level="rule", label_f1=0.4), row("ltn", "plain", concept_f1=0.5),
    ]  # fmt: skip
    table = rank_table(SuiteBoard(SUITE, tuple(rows)))
    place = {measure.name: 2 + number for number, measure in enumerate(RANKED)}
    assert [found[:2] for found in table.rows] == [("concepts", "cem"), ("concepts", "cbm")]
    told = {found[1]: {name: found[at] for name, at in place.items() if found[at] != "–"} for found in table.rows}
    assert set(told["cem"]) == set(told["cbm"]) == {"label_f1", "collapse"}
    assert told["cbm"]["label_f1"].startswith("1.5 (1.0–2.0") and told["cem"]["label_f1"].startswith("1.5 (")
    assert told["cbm"]["collapse"] == "2.0 (2.0–2.0)" and told["cem"]["collapse"] == "1.0 (1.0–1.0)"


# the board


def test_a_cell_without_a_verdict_speaks_by_its_first_row():
    cell = BoardCell("m", "d", (row(status="refused", verdict="", reason="no", why="x"), row(status="failed", verdict="", reason="broke")))  # fmt: skip
    assert (cell.verdict, cell.why, cell.seeds, cell.other, cell.tone, cell.grave) == ("refused", "no", "", "", "none", 0)  # fmt: skip
    kinds = kinds_in_order()
    graves = [BoardCell("m", "d", (row(verdict=kind),)).grave for kind in kinds]
    assert graves == sorted(set(graves)) and graves[0] > cell.grave
    five = [row(verdict=kinds[place], seed=seed) for seed, place in enumerate([3, 1, 3, 0, 2])]
    assert BoardCell("m", "d", tuple(five)).other == f"{kinds[0]} 1, {kinds[1]} 1, {kinds[2]} 1"


@pytest.mark.parametrize(
    ("values", "short", "text"),
    [
        ((10.0, 10.0), "10.00", "10.00 ± 0.00"),
        ((10.004,), "10", "10"),
        ((9.996, 2.0, NAN, 4.0), "5.33", "5.33 ± 4.16"),
        ((0.125,), "0.12", "0.12"),
        ((NAN, NAN), "–", "–"),
    ],
)
def test_numbers_of_a_cell(values, short, text):
    cell = BoardCell("m", "d", tuple(row(seed=seed, ood=value) for seed, value in enumerate(values)))
    assert (cell.short("ood"), cell.text("ood")) == (short, text)


def test_a_model_of_the_board_is_what_its_first_row_says():
    rows = (
        row("theirs", "noisy", link="first", level="rule"),
        row("theirs", "plain", link="later", level="labels"),
        row("other", "noisy", verdict="noisy", level="rule"),
    )
    theirs, other = SuiteBoard(SUITE, rows).models
    assert (theirs.name, theirs.level, theirs.link) == ("theirs", "rule", "first") and other.sound == 0
    assert [[one.link for one in cell.rows] for cell in theirs.cells] == [["later"], ["first"]]
    assert [(cell.model, cell.dataset) for cell in theirs.cells] == [("theirs", "plain"), ("theirs", "noisy")]


# pages


def test_errors_are_told_the_most_frequent_first(tmp_path):
    told = Counter({"rare": 1, "often": 5, "some": 3, "few": 2, "more": 4})
    misread = {name: name.upper() for name in "edcba"}
    shown = site._shown(7, None, "plain", tmp_path, told, misread, [row(), row(), row()])
    assert shown.wrong == (("often", 5), ("more", 4), ("some", 3), ("few", 2)) and shown.missed == 14
    assert shown.misread == ("e: E", "d: D", "c: C", "b: B") and (shown.number, shown.runs) == (7, 3)


def test_the_pages_of_a_board_are_of_all_its_rows(tmp_path):
    write_rows([row("cbm", label_f1=0.5), row("cbm", "noisy", wrong='{"4": "true"}')], tmp_path / "a" / "cbm.parquet")
    write_rows([row("cem", verdict="noisy", label_f1=0.25)], tmp_path / "b.parquet")
    strange = BoardRow("other", "plain", "strange", "concepts", 0, "done", verdict="sound")
    write_rows([strange], tmp_path / "a" / "strange.parquet")
    index = site.write_board(SUITE, [tmp_path / "a", tmp_path / "b.parquet"], tmp_path / "out", viewer="https://x/y//")
    assert index == tmp_path / "out" / "index.html"
    names = ["board.md", "board.tex", "index.html", "noisy.html", "plain.html"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    text = {name: (tmp_path / "out" / name).read_text(encoding="utf-8") for name in names}
    assert all("strange" not in page for page in text.values())
    assert all("cem" in text[name] for name in names if name != "noisy.html")
    assert "example 4" in text["noisy.html"] and "example 4" not in text["plain.html"]
    assert "https://x/y/plain/index.html" in text["plain.html"]
    verdicts, rank = (text["board.tex"].index(words) for words in ("tiny: verdicts", "tiny: mean ranks"))
    assert verdicts < rank


# rows


def test_rows_come_back_as_they_were(tmp_path):
    whole = row("cem", "noisy", 12, "noisy", reason="r", tone="weak", why="w", also="a", label_f1=0.5, seconds=2.0, fingerprint="f", run="n", assay="1", link="l", wrong='{"1": "x"}', misread='{"2": "ü→"}', parameters=3.0)  # fmt: skip
    write_rows([whole, row("cem", "noisy", 2), row("cem", "a", 30)], tmp_path / "cem.parquet")
    back = read_rows(tmp_path / "cem.parquet")
    assert [one.key for one in back] == [("a", 30), ("noisy", 2), ("noisy", 12)]
    assert plain(back[2]) == plain(whole) and plain(whole)["ood"] is None and plain(whole)["seconds"] == 2.0
    newer = merged(back, [row("cem", "noisy", 2, "weak"), row("cem", "noisy", 3)])
    assert [(one.key, one.verdict) for one in newer] == [
        (("a", 30), "sound"), (("noisy", 2), "weak"), (("noisy", 12), "noisy"), (("noisy", 3), "sound"),
    ]  # fmt: skip


# judging


def test_the_area_is_under_points_in_their_order_whatever_order_they_come_in():
    curve = {"accuracy_k4": 0.7, "accuracy_max": 0.9, "accuracy_k0": 0.2, "accuracy_k1": 0.6, "k1": 8.0}
    assert area_under(curve, 8) == pytest.approx(0.4 / 8 + 0.65 * 3 / 8 + 0.8 * 4 / 8)
    assert area_under({"accuracy_k0": 0.25, "accuracy_max": 0.75}, 3) == pytest.approx(0.5)


def test_only_splits_out_of_distribution_count_as_such():
    names = ("label_f1", "concept_f1", "collapse", "rule_consistency", "label_ece", "concept_ece", "near_accuracy")
    test = {name: 0.1 + place / 10 for place, name in enumerate(names)}
    others = {
        "no_ood": {"label_f1": 0.9},
        "ood_2": {"label_f1": 0.25},
        "ood": {"label_f1": 0.75},
        "valid": {"label_f1": 0.1},
    }
    found = judging._measures({**others, "test": test}, None)
    assert found["ood"] == 0.5 and found["boundary"] == test["near_accuracy"] and math.isnan(found["follows"])
    assert {name: found[name] for name in names[:-1]} == {name: test[name] for name in names[:-1]}


def test_what_was_not_said_is_not_misread():
    space = ConceptSpace(tuple(Concept(name, (4, 5, 6)) for name in "abcd"))
    knowledge = Knowledge.of(space, {"y": "a > b", "n": "c"})
    labels = np.array([[0, 0], [1, 2], [1, 1], [0, 2]])
    read = np.array([[0, 1, 2, 0], [-1, 0, 2, 2], [2, 1, -1, 1], [1, 2, 0, 2]])
    true = np.array([[1, 2, 2, 0], [2, 0, 1, 1], [2, 1, 1, 1], [0, 0, 1, 2]])
    silent = (None,) * 2, (None,) * 4
    evidence = Evidence(knowledge, "test", labels, true, np.array([[0, 0], [1, 2], [1, 1], [0, 1]]), read, *silent)
    found = judging._errors(evidence, np.array([50, 20, 30, 10]), SimpleNamespace(knowledge=knowledge))
    assert json.loads(found["misread"]) == {"20": "c 5→6, d 5→6", "50": "a 5→4, b 6→5"}
    assert list(json.loads(found["misread"])) == ["20", "50"] and "→" in found["misread"]
    assert json.loads(found["wrong"]) == {"10": "False, 5"}
    three = Evidence(knowledge, "test", labels[:1], true[:1], labels[:1], np.array([[0, 0, 0, 0]]), *silent)
    one = judging._errors(three, np.array([0]), SimpleNamespace(knowledge=knowledge))
    assert json.loads(one["misread"]) == {"0": "a 5→4, b 6→4, c 6→4"}


# making, running, steps


def test_only_what_broke_is_a_fault(monkeypatch, tmp_path):
    suite = suite_from(Settings(CONFIG))
    outcomes = [SimpleNamespace(name="plain", fault=None), SimpleNamespace(name="noisy", fault="broke")]
    asked = []
    monkeypatch.setattr(making, "perform_steps", lambda study, *rest: asked.append(study) or outcomes)
    monkeypatch.setattr(making, "open_data", lambda suite, data, folder: folder)
    for name in ("plain", "noisy"):
        (tmp_path / "data" / name).mkdir(parents=True)
    made = making.make_data(suite, tmp_path, ["noisy"])
    assert made.there == {"plain": tmp_path / "data" / "plain"} and made.faults == {"noisy": "broke"}
    (study,) = asked
    assert [step.name for step in study.datasets] == ["plain"] and study.output == tmp_path and study.runs == ()
    assert [(step.name, step.parent) for step in study.copies] == [("noisy", "plain")]


def test_every_model_is_looked_up_before_anything_is_made(tmp_path):
    with pytest.raises(UnknownName, match="no model named 'cbn'"):
        run_suite(SuiteOrder(SUITE, ("cbm", "dpl", "cbn")), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_rows_are_given_model_by_model_and_only_those_asked_for(tmp_path):
    wanted = {
        name: SimpleNamespace(name=name, label=label, data="plain", seed=0, judged_by=JudgedBy())
        for name, label in (("r1", "dpl"), ("r2", "cbm"), ("r3", "dpl"))
    }
    keeper = RowKeeper(SuiteOrder(SUITE), tmp_path, tmp_path / "rows", {}, wanted)
    write_rows([row("cbm", run="r2", seed=1), row("cbm", run="old", seed=0)], keeper.file("cbm"))
    write_rows([row("dpl", run="r3", seed=4, status="failed"), row("dpl", run="r1", seed=7)], keeper.file("dpl"))
    assert keeper.file("cbm") == tmp_path / "rows" / "cbm.parquet"
    assert [one.run for one in keeper.rows()] == ["r3", "r1", "r2"]
    assert [keeper.has(step) for step in wanted.values()] == [True, True, False]


def test_a_study_names_the_datasets_and_all_models_of_a_suite():
    config = steps.study_config(SUITE, [SUITE.dataset("noisy"), SUITE.dataset("plain")])
    assert (config.name, list(config.seeds)) == ("tiny", [0, 1])
    assert [str(task) for task in config.tasks] == ["noisy", "plain"]
    assert [str(model) for model in config.models] == list(CONFIG["models"])
    assert [str(task) for task in steps.study_config(SUITE, []).tasks] == ["tiny"]


def test_concepts_are_counted_of_what_a_copy_is_made_of():
    assert steps._concepts(SUITE, SUITE.dataset("noisy")) == steps._concepts(SUITE, SUITE.dataset("plain")) == 3
    bare = SimpleNamespace(name="bare", recipe=None, config=SimpleNamespace(of=None))
    with pytest.raises(entry.DataError, match="dataset 'bare' of suite 'tiny' has no task"):
        steps._concepts(SUITE, bare)


# entries


@pytest.mark.parametrize("split", ["train_1", "valid_2", "ood", ""])
def test_only_the_two_splits_themselves_may_be_learned_from(split):
    given = entered(trained_on=["valid", split])
    with pytest.raises(ConfigError, match=f"forbids to learn from {split!r}; an entry learns from train and valid"):
        entry._refuse(given.config, SUITE, Settings({}))
    entry._refuse(entered(trained_on=[]).config, SUITE, Settings({}))


def test_all_seeds_of_all_datasets_are_scored_in_order(monkeypatch, tmp_path):
    three = {**CONFIG["datasets"], "third": {**CONFIG["datasets"]["plain"], "fingerprint": "33"}}
    suite = suite_from(Settings({**CONFIG, "datasets": three}))
    given = entry.SuiteEntry(tmp_path, suite, entered(refused={"plain": "too plain"}).config)
    monkeypatch.setattr(entry.SuiteEntry, "open", lambda folder: given)
    monkeypatch.setattr(entry, "open_data", lambda suite, data, folder: (data.name, folder))
    monkeypatch.setattr(entry, "_score", lambda given, opened, name, seed, folder: (opened, name, seed, folder))
    for name in ("noisy", "third"):
        for seed in (2, 4):
            (tmp_path / name / f"seed{seed}").mkdir(parents=True)
    told = []
    rows = entry.score_entry(tmp_path, tmp_path / "data", lambda *numbers: told.append(numbers))
    assert [(one.dataset, one.seed, one.status, one.reason) for one in rows[:2]] == [
        ("plain", 4, "refused", "too plain"), ("plain", 2, "refused", "too plain"),
    ]  # fmt: skip
    assert rows[2:] == [
        ((name, tmp_path / "data" / name), name, seed, tmp_path / name / f"seed{seed}")
        for name in ("noisy", "third") for seed in (4, 2)
    ]  # fmt: skip
    assert told == [(0, 2), (1, 2)]


@pytest.mark.parametrize("split", ["test_2", "tes", "hard"])
def test_a_file_about_a_split_of_a_like_name_is_refused(monkeypatch, tmp_path, split):
    monkeypatch.setattr(
        entry, "read_predictions", lambda path, knowledge, sizes: Predictions("ff", split, np.arange(2), {})
    )
    data = SimpleNamespace(knowledge=None, fingerprint="ff", sizes={})
    with pytest.raises(entry.DataError, match=f"seed0/test.parquet is about split '{split}', not 'test'"):
        entry._checked(entered(), data, tmp_path / "plain" / "seed0" / "test.parquet", "test")


def said(index=(7, 2, 5), codes=(0, 1, 1), concepts=True, **more):
    """Return predictions for examples by their numbers."""
    labels = {"y": Answer(np.array(codes)), "z": Answer(np.zeros(len(index), dtype=int))}
    facts = {"fingerprint": "ff", "split": "test", "index": np.array(index), "labels": labels, **more}
    return Predictions(**facts, concepts={"a": Answer(np.zeros(len(index), dtype=int))} if concepts else {})


@pytest.mark.parametrize(
    ("level", "given", "message"),
    [
        ("concepts", said(), None),
        ("rule", said(), None),
        ("labels", said(concepts=False), None),
        ("labels", said(), "predicts concepts, and level 'labels' sees none; declare another level"),
        ("concepts", said(fingerprint="fg"), "is about data with fingerprint fg, the suite's is ff"),
        ("concepts", said((2, 5, 9)), "leaves out 1 of 3 examples, such as number 7"),
        ("concepts", said((5, 2), (0, 1)), "leaves out 1 of 3 examples, such as number 7"),
        ("concepts", said((7, 2, 5, 9), (0, 1, 1, 0)), "has 4 rows for 3 examples"),
        ("concepts", said(codes=(0, -1, 1)), "label 'y' is not predicted in every row"),
        ("concepts", said(labels={"y": Answer(np.array([0, 1, 1]))}), "label 'z' is not predicted in every row"),
    ],
)
def test_predictions_of_an_entry_are_checked(monkeypatch, tmp_path, level, given, message):
    asked = []
    monkeypatch.setattr(
        entry, "read_predictions", lambda path, knowledge, sizes: asked.append((path, knowledge)) or given
    )
    knowledge = SimpleNamespace(label_names=("y", "z"))
    symbols = SimpleNamespace(index=np.array([2, 7, 5]))
    data = SimpleNamespace(knowledge=knowledge, fingerprint="ff", sizes={}, symbols=lambda split, styles: symbols)
    path = tmp_path / "plain" / "seed0" / "test.parquet"
    if message is None:
        assert entry._checked(entered(level=level), data, path, "test") is given and asked == [(path, knowledge)]
    else:
        with pytest.raises(entry.DataError, match=f"^plain/seed0/test.parquet:? {message}"):
            entry._checked(entered(level=level), data, path, "test")


def test_how_much_is_kept_and_drawn():
    assert running.AT_ONCE == 4 and judging.SHOWN == 100 and judging.MOST_MISREAD == 3 and ranks.ENDS == (2.5, 97.5)


# ties and orders that the usual rows do not show


def test_what_is_unknown_ranks_last_also_below_zero():
    values = np.array([[-0.5, NAN, NAN], [NAN, -2.0, NAN], [-0.75, -1.0, -9.0], [-0.5, -2.0, NAN]])
    assert ranks.rank_each(values).tolist() == [[1.5, 4.0, 3.0], [4.0, 2.5, 3.0], [3.0, 1.0, 1.0], [1.5, 2.5, 3.0]]
    rows = [row("a", "d0", collapse=0.9), row("b", "d0", collapse=0.5), row("b", "d1", collapse=0.4)]
    assert [(rank.model, rank.mean) for rank in ranks.ranks_of(rows)] == [("a", 2.0), ("b", 1.0)]


def test_examples_are_shown_by_how_many_runs_miss_them_and_not_by_how_many_answers(tmp_path):
    rows = (
        row(seed=0, wrong='{"9": "x", "4": "u", "30": "v"}', misread='{"12": "r"}'),
        row(seed=1, wrong='{"30": "v", "9": "x", "4": "w"}', misread='{"12": "s", "11": "s"}'),
        row("cem", wrong='{"9": "x"}', misread='{"11": "t", "9": "t"}'),
    )
    shown = site._errors(SuiteBoard(SUITE, rows), None, "plain", tmp_path)
    assert [(error.number, error.wrong, error.misread, error.missed, error.runs) for error in shown] == [
        (9, (("x", 3),), ("cem: t",), 3, 3),
        (4, (("u", 1), ("w", 1)), (), 2, 3),
        (30, (("v", 2),), (), 2, 3),
        (11, (), ("cbm: s", "cem: t"), 0, 3),
        (12, (), ("cbm: r",), 0, 3),
    ]


def test_the_matrix_keeps_the_order_in_which_cells_come():
    cells = [
        matrix.MatrixCell("z", "y", "refuses", "no"),
        matrix.MatrixCell("b", "x", "crashes", "odd"),
        matrix.MatrixCell("z", "x", "works", "never told"),
    ]
    table = matrix.matrix_table(cells)
    assert table.head == ("model", "y", "x")
    assert table.rows == (("z", "refuses: no", "works"), ("b", "", "crashes: odd"))


def test_a_family_is_tried_with_its_first_dataset_of_the_suite():
    usual = CONFIG["datasets"]["plain"]
    datasets = {
        "other": {**usual, "family": "boards", "seed": 1},
        "copy": {**CONFIG["datasets"]["noisy"], "of": "other"},
        "one": {**usual, "seed": 2},
        "two": {**usual, "seed": 3},
    }
    suite = suite_from(Settings({**CONFIG, "datasets": datasets}))
    assert matrix._recipe_of("digits", suite).seed == 2 and matrix._recipe_of("boards", suite).seed == 1


def test_a_model_that_says_something_else_once_loaded_breaks_its_cell(monkeypatch, tmp_path):
    written, again = said((7, 2, 5), (0, 1, 1)), said((7, 2, 5), (0, 1, 1))
    written.labels["y"] = Answer(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]))
    again.labels["y"] = Answer(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]))
    asked = []
    trained = SimpleNamespace(can_intervene=True, has_concepts=True)
    loaded = SimpleNamespace(predict=lambda data: asked.append(data) or again, intervene="loaded")
    monkeypatch.setattr(matrix, "taught_by", lambda dataset: None)
    monkeypatch.setattr(runs, "train_run", lambda order, dataset, folder: asked.append((order, folder)) or trained)
    monkeypatch.setattr(runs, "load_model", lambda folder: asked.append(folder) or loaded)
    monkeypatch.setattr(matrix.RunFolder, "all_predictions", lambda self, knowledge: {"test": written, "ood": again})
    data = type("Data", (dict,), {"knowledge": None})(test="test data", ood="ood data")
    settings = Settings({"epochs": 3})
    with pytest.raises(RunFailed, match="saved and loaded, it says something else of 'y'"):
        matrix._live_through("m", settings, data, tmp_path)
    assert asked == [(runs.Order("m", settings), tmp_path), tmp_path, "test data"]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"level": "all"}, "suite 'tiny' has no level named 'all'"),
        ({"name": "dpl"}, "name: 'dpl' is a baseline of the suite; choose another"),
        ({"seeds": [3, 1, 3]}, r"seeds: each once, not \[3, 1, 3\]"),
        ({"refused": {"plain": "x", "nosy": "y"}}, "no dataset named 'nosy'; did you mean 'noisy'"),
    ],
)
def test_an_entry_is_refused_as_it_is_opened(monkeypatch, tmp_path, facts, message):
    usual = {"suite": "tiny", "name": "noisy", "level": "rule", "seeds": [3, 1], "refused": {"noisy": "z"}}
    (tmp_path / "entry.yaml").write_text(yaml.safe_dump(usual))
    monkeypatch.setattr(entry, "find_suite", lambda name: {"tiny": SUITE}[name])
    opened = entry.SuiteEntry.open(tmp_path)
    assert (opened.folder, opened.suite, opened.config.name, opened.config.seeds) == (tmp_path, SUITE, "noisy", [3, 1])
    assert opened.sees("rule") and not opened.sees("concepts")
    (tmp_path / "entry.yaml").write_text(yaml.safe_dump({**usual, **facts}))
    with pytest.raises((ConfigError, UnknownName), match=message):
        entry.SuiteEntry.open(tmp_path)


@pytest.mark.parametrize("given", [True, False])
def test_rows_are_kept_where_they_are_asked_to_be(monkeypatch, tmp_path, given):
    datasets = {name: {**own, "fingerprint": "ff"} for name, own in CONFIG["datasets"].items()}
    suite, seen, told = suite_from(Settings({**CONFIG, "datasets": datasets})), [], []
    made = making.MadeData({"noisy": SimpleNamespace(fingerprint="ff")}, {})
    monkeypatch.setattr(running, "make_data", lambda *given: seen.append(given) or made)
    monkeypatch.setattr(running, "perform_steps", lambda *given: told.append(given))
    where = tmp_path / ("elsewhere" if given else "records")
    order = SuiteOrder(suite, ("dpl", "tree"), ("noisy",), (1,))
    names = {model: steps.run_step(suite, model, suite.dataset("noisy"), 1).name for model in order.models}
    write_rows([row("dpl", "noisy", 1, run=names["dpl"]), row("dpl", "noisy", 0)], where / "dpl.parquet")
    write_rows([row("tree", "noisy", 1, status="failed", run=names["tree"])], where / "tree.parquet")
    found = run_suite(order, tmp_path, where if given else None, "say".count, "watch", "pool")
    assert [(one.model, one.seed, one.status) for one in found] == [("dpl", 1, "done"), ("tree", 1, "failed")]
    assert seen == [(suite, tmp_path, ["noisy"], "say".count, "watch", "pool")]
    ((study, say, watch, pool, add),) = told
    assert [(run.label, run.data, run.seed) for run in study.runs] == [("tree", "noisy", 1)]
    assert (say, watch, pool, study.output) == ("say".count, "watch", "pool", tmp_path)
    keeper = add.__self__
    assert (keeper.records, keeper.output, keeper.order) == (where, tmp_path, order) and keeper.datasets is made.there
    assert {name: step.label for name, step in keeper.steps.items()} == {name: own for own, name in names.items()}


# what is handed on


def test_a_table_of_ranks_is_titled_and_begins_with_level_and_model():
    rows = (row("cbm", label_f1=0.9), row("cem", label_f1=0.5), row("cem", "noisy", label_f1=0.4, level="rule"))
    table = rank_table(SuiteBoard(SUITE, rows))
    assert (table.caption, table.stubs, table.head[:3]) == ("tiny: mean ranks within each level", 2, ("level", "model", "label F1"))  # fmt: skip
    assert "1,000 resamples" in table.note and "A model that refuses a dataset ranks last there." in table.note


def test_a_dataset_that_is_refused_is_named_by_its_fingerprint():
    datasets = {name: {**own, "fingerprint": name * 2} for name, own in CONFIG["datasets"].items()}
    suite = suite_from(Settings({**CONFIG, "datasets": datasets}))
    given = entry.SuiteEntry(Path("nowhere"), suite, entered(refused={"plain": "p", "noisy": "n"}).config)
    found = entry._refused(given, "noisy", 2)
    assert (found.suite, found.dataset, found.model, found.level, found.seed) == ("tiny", "noisy", "theirs", "concepts", 2)  # fmt: skip
    assert (found.status, found.reason, found.fingerprint, found.verdict) == ("refused", "n", "noisynoisy", "")


def test_an_example_is_shown_with_its_picture_and_all_that_was_said_of_it(tmp_path):
    space = ConceptSpace((Concept("a", (False, True)), Concept("n", (4, 5, 6))))
    knowledge = Knowledge.of(space, {"y": "a", "n2": "n"})
    split = SimpleNamespace(
        index=np.array([30, 7, 12]), labels=np.array([[1, 0], [0, 2], [1, 1]]),
        files=lambda places: [f"picture {place}".encode() for place in places],
    )  # fmt: skip
    data = type("Data", (dict,), {"knowledge": knowledge})(test=split, train=None)
    said, read = Counter({"True, 4": 1, "True, 5": 3}), {"cem": "a 0→1", "cbm": "n 5→4"}
    shown = site._shown(7, data, "plain", tmp_path, said, read, [row(), row(), row(), row(), row()])
    assert shown == site.ShownError(
        7, "pictures/plain-7.png", "False, 6", (("True, 5", 3), ("True, 4", 1)), ("cem: a 0→1", "cbm: n 5→4"), 5
    )
    assert (tmp_path / "pictures" / "plain-7.png").read_bytes() == b"picture 1" and shown.missed == 4


@needs_task("mnlogic")
def test_a_family_that_the_suite_lacks_is_tried_with_its_first_task():
    first = next(name for name in TASKS.entries if "digits" in TASKS[name].__module__.split("."))
    datasets = {"other": {**CONFIG["datasets"]["plain"], "family": "boards"}}
    recipe = matrix._recipe_of("digits", suite_from(Settings({**CONFIG, "datasets": datasets})))
    assert recipe.task_name == TASKS[first].name and recipe.settings.values == dict(TASKS[first].trial)


def test_a_run_that_cannot_be_judged_has_a_row_of_its_data(monkeypatch, tmp_path):
    def damaged(judged, folder, data, sees):
        raise entry.DataError(f"{folder.name} is damaged, {sees}")

    monkeypatch.setattr(running, "row_of_run", damaged)
    step = SimpleNamespace(name="r", label="tree", data="noisy", seed=5)
    keeper = RowKeeper(SuiteOrder(SUITE), tmp_path, tmp_path, {"noisy": SimpleNamespace(fingerprint="gg")}, {"r": step})
    monkeypatch.setattr(running, "folder_of", lambda step, output: output / "runs" / step.name)
    found = keeper._row(step, SimpleNamespace(fault=None, refused=False))
    assert (found.status, found.reason, found.fingerprint) == ("failed", "r is damaged, True", "gg")
    assert (found.dataset, found.model, found.level, found.seed, found.run) == ("noisy", "tree", "symbols", 5, "r")
    broke = keeper._row(step, SimpleNamespace(fault=" a\n\tb  c ", refused=False))
    assert (broke.status, broke.reason, broke.fingerprint) == ("failed", "a b c", "gg")

"""Examples drawn anew, rounds as they are trained and values that are planned, where rows, numbers and order differ."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from assay.data import REVERSED, TRIES
from assay.errors import ConfigError
from assay.mending import MendSettings, confounders, loop, redrawing
from assay.mending.holdings import Holdings
from assay.mending.redrawing import MARKED, TrainingRedraw
from assay.runs import RunFolder
from assay.seeds import rng_for
from assay.worlds import Split

INDEX = np.array([30, 7, 12, 41])


class Rows(SimpleNamespace):
    """Examples whose numbers are not their rows."""

    def __len__(self):
        return len(self.index)

    def take(self, rows):
        return Rows(index=self.index[rows], full_table=lambda: rows)


def coupling(name, partners, one_sided=False):
    partner = np.array(partners)
    return SimpleNamespace(
        name=name, confounder=SimpleNamespace(one_sided=one_sided), partner=lambda concepts, labels: partner
    )


def redraw_of(couplings, styles=(), **manifest):
    texts = [json.dumps({"nuisances": style}) for style in styles]
    training = Rows(index=INDEX, concepts=None, labels=None, table={"style": SimpleNamespace(to_pylist=lambda: texts)})
    dataset = type("Data", (dict,), {"manifest": {"seed": "9", "task": {}, **manifest}, "folder": "here"})(
        train=training
    )
    made = TrainingRedraw(dataset, "clean")
    made.__dict__["couplings"] = tuple(couplings)
    return made


def test_rows_fit_where_any_nuisance_goes_with_its_partner():
    styles = [{"frame": 0, "dot": 1}, {"frame": 1, "dot": 0}, {"frame": 0, "dot": 0}, {"frame": 2, "dot": 1}]
    frame = coupling("frame", [0, 0, -1, 2])
    assert redraw_of([frame], styles).rows_that_fit().tolist() == [0, 3]
    dot = coupling("dot", [0, 0, 1, 0], one_sided=True)
    assert redraw_of([frame, dot], styles).rows_that_fit().tolist() == [0, 3]  # code 0 is bound to nothing
    both = coupling("dot", [0, 0, 1, 0])
    assert redraw_of([frame, both], styles).rows_that_fit().tolist() == [0, 1, 3]
    assert redraw_of([coupling("dot", [1, 0, 0, 1], one_sided=True)], styles).rows_that_fit().tolist() == [0, 3]


@pytest.fixture
def worlds(monkeypatch):
    """A task whose worlds say what they were drawn from."""
    asked = []

    class Source:
        def __init__(self, *given):
            asked.append(given)

        def worlds(self, places):
            return [f"world {place}" for place in places.tolist()]

    task = SimpleNamespace(
        splits=lambda: [Split("valid", 5), Split("train", 999)],
        worlds_in=lambda split, seed: Source("own", split, seed),
    )
    unconfounded = SimpleNamespace(worlds_in=lambda split, seed: ("plain", split, seed))
    monkeypatch.setattr(redrawing, "task_of", lambda dataset: task)
    monkeypatch.setattr(redrawing, "plain", lambda given: unconfounded if given is task else None)
    monkeypatch.setattr(redrawing, "ConfoundedSource", Source)
    monkeypatch.setattr(redrawing, "table_of", lambda *given: (given[0] is task, *given[1:]))
    monkeypatch.setattr(redrawing, "file_names", lambda split, index: (split, index.tolist()))
    return asked


def test_worlds_are_drawn_again_by_the_numbers_of_their_rows(worlds):
    own, drawn, names, index = redraw_of(["c"]).redraw(np.array([2, 0]))
    ((kind, split, seed), reversed_split, couplings, other) = worlds[0]
    assert own and drawn == ["world 12", "world 30"] and index.tolist() == [42, 43] and names == ("train", [42, 43])
    assert (kind, split.name, split.size, seed) == ("plain", "train", 4, 9)
    assert (reversed_split.name, reversed_split.size, couplings, other) == (REVERSED, 4, ("c",), 9)


def test_further_worlds_lie_beyond_those_that_confounders_take(worlds):
    _, drawn, names, index = redraw_of(["c"]).draw_further(3, after=2)
    assert drawn == [f"world {4 * TRIES + place}" for place in range(3)] and index.tolist() == [44, 45, 46]
    kind, split, seed = worlds[0]
    assert (kind, split.name, split.size, seed, names[0]) == ("own", "train", 4, 9, "train")


def test_pictures_are_marked_anew_in_the_order_that_is_asked_for(monkeypatch):
    asked = []

    class Marking:
        def __init__(self, *given):
            asked.append(given)

        def codes(self, split, data, index):
            return split, data.index.tolist(), index.tolist()

        def mark_rows(self, rows, split, codes):
            asked.append((rows.tolist(), split, codes))
            return pa.table({"label": ["x"] * len(rows), "index": pa.array([0] * len(rows), pa.int64())})

    clean = type("Data", (dict,), {"fingerprint": "ff"})(train=Rows(index=INDEX + 100))
    monkeypatch.setattr(redrawing, "Copying", Marking)
    monkeypatch.setattr(redrawing.Dataset, "open", lambda folder: clean if folder == "clean" else None)
    found = redraw_of(["c"], **{MARKED: "ff"}).redraw(np.array([3, 1]))
    assert asked[0] == (clean, ("c",), Path())
    assert asked[1] == ([3, 1], "train", (REVERSED, [141, 107], [141, 107]))
    assert found["index"].to_pylist() == [42, 43] and found.column_names == ["label", "index"]
    with pytest.raises(ConfigError, match="clean: 'clean' is not the dataset that was marked, whose fingerprint is ee"):
        redraw_of(["c"], **{MARKED: "ee"}).redraw(np.array([0]))


# -- choices -----------------------------------------------------------------------------------------------------------


def test_rows_are_drawn_by_chance_and_labels_take_turns(monkeypatch):
    fits = np.array([1, 2, 4, 5, 7, 8, 9])
    monkeypatch.setattr(
        confounders, "TrainingRedraw", lambda dataset, clean: SimpleNamespace(rows_that_fit=lambda: fits)
    )
    own = np.array([0, 1, 0, 1, 0, 0, 2, 0, 0, 1])
    held = Holdings(np.zeros((10, 1)), redrawn=(4,))

    def bought(budget, seed=0):
        situation = SimpleNamespace(
            holdings=held, training=SimpleNamespace(labels=np.stack([own, 1 - own], axis=1)), dataset=None,
            settings=MendSettings(), budget=budget, rng=rng_for(seed, "test"),
        )  # fmt: skip
        return confounders.augmented_examples(situation).redrawn

    left = np.array([1, 2, 5, 7, 8, 9])
    order = left[rng_for(0, "test").permutation(6)].tolist()
    by_label = {label: [row for row in order if own[row] == label] for label in (0, 1)}
    turns = {row: place for rows in by_label.values() for place, row in enumerate(rows)}
    assert bought(9) == (4, *sorted(order, key=lambda row: (turns[row], order.index(row))))
    assert bought(3) == bought(9)[:4] and len({bought(6, seed) for seed in range(4)}) > 1


# -- rounds ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def rounds(monkeypatch, tmp_path):
    """A mending under way, and what its rounds are trained with."""
    notes = []

    class Model:
        has_concepts = True

        @staticmethod
        def saved_settings(folder, about):
            return {"of": str(folder), **about["config"]}

    class Data:
        def __init__(self, *given):
            notes.append(("data", *given))

        def write(self, folder):
            return f"written {folder.name}"

        def model_settings(self, config):
            return {**config, "more": 1}

    def train(order, data, folder, report):
        notes.append(("train", order.model, dict(order.settings.values), order.seed, data, folder))
        report(SimpleNamespace(number=2), 5)

    monkeypatch.setattr(loop, "MODELS", {"m": Model})
    monkeypatch.setattr(loop, "RoundData", Data)
    monkeypatch.setattr(loop, "train_run", train)
    monkeypatch.setattr(loop, "check_dataset", lambda run, data: notes.append(("check", run.folder, data)))
    dataset = SimpleNamespace(knowledge=SimpleNamespace(has_rule=True), fingerprint="ff")
    made = loop._Mending(
        RunFolder(Path("start")), dataset, MendSettings(budget=40, first=3), tmp_path, lambda *said: notes.append(said)
    )
    made.__dict__["about"] = {"model": "m", "seed": 8, "config": {"epochs": 2}, "files": {"a": "hash"}}
    made.__dict__["first"] = Holdings(np.full((1, 2), -1))
    return made, notes


def test_a_round_is_trained_from_the_first_run_unless_it_is_finished(rounds, monkeypatch, tmp_path):
    made, notes = rounds
    made.purchases.append(Holdings(np.array([[-1, 0]])).purchase_since(made.first))
    bought = Holdings(np.array([[1, 0]]))
    run, data = made._train(3, bought)
    assert (run.folder, data) == (tmp_path / "round-3", "written data-3")
    assert notes == [
        ("data", made.dataset, made.first, bought, made.settings),
        ("train", "m", {"of": "start", "epochs": 2, "more": 1}, 8, "written data-3", tmp_path / "round-3"),
        ("round 3", 2, 5, "epoch 2 of 5"),
        ("check", tmp_path / "round-3", "written data-3"),
    ]
    monkeypatch.setattr(loop.RunFolder, "is_finished", property(lambda self: True))
    notes.clear()
    made._train(3, bought)
    assert [note[0] for note in notes] == ["data", "check"]


def test_what_is_mended_how_is_told_apart(rounds):
    made, _ = rounds
    first = made.identity
    assert first["of"] == {"model": "m", "seed": 8, "config": {"epochs": 2}, "files": {"a": "hash"}}
    assert first["data"] == "ff" and first["settings"]["budget"] == 40 and set(first) == {"settings", "of", "data"}


def test_a_new_mending_needs_an_empty_folder_and_begins_with_the_run_as_it_is(rounds, monkeypatch, tmp_path):
    made, _ = rounds
    judged = []
    monkeypatch.setattr(loop._Mending, "_judge", lambda self, *given: judged.append(given[:4]))
    made._resume()
    assert judged == [(made.start, made.dataset, made.first, made.first)]
    (tmp_path / "note").write_text("mine")
    with pytest.raises(loop.DataError, match="is not an empty folder"):
        made._resume()


def test_rounds_are_judged_by_all_that_was_bought_and_keep_what_is_new(rounds, monkeypatch):
    made, _ = rounds
    facts = []
    monkeypatch.setattr(loop, "diagnose_run", lambda *given: "diagnosis")
    monkeypatch.setattr(loop, "taught_by", lambda data: None)
    monkeypatch.setattr(loop.MendingRound, "of", lambda diagnosis, **found: facts.append(found) or found)
    monkeypatch.setattr(loop._Mending, "_keep", lambda self, ended: None)
    before = Holdings(np.array([[1, -1]]), redrawn=(5,), searched=2)
    now = Holdings(np.array([[1, 0]]), redrawn=(5, 3), nuisances=4, searched=7)
    made._judge(RunFolder(Path("run")), "data", before, made.first, 0.0)
    made._judge(RunFolder(Path("run")), "data", now, before, 0.0)
    assert [(one["number"], one["spent"], one["searched"]) for one in facts] == [(0, 2, 2), (1, 8, 7)]
    assert facts[1]["bought"] == {"labels": 2, "redrawn": 2, "fresh": 0, "nuisances": 4, "masks": 0}
    assert [one["labels"] for one in made.purchases] == [[[0, 0, 1]], [[0, 1, 0]]]
    assert made.purchases[1] == {
        "labels": [[0, 1, 0]], "redrawn": [3], "fresh": 0, "nuisances": 4, "masks": 0, "searched": 5
    }  # fmt: skip
    held = made.holdings
    assert held.concepts.tolist() == [[1, 0]] and (held.redrawn, held.nuisances, held.searched) == ((5, 3), 4, 7)

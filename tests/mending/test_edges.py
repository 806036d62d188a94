"""Rounds as they are trained, judged and written, by made-up runs; settings at their limits."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.errors import DataError
from assay.logic import Knowledge
from assay.mending import MendingCurve, MendSettings, confounders, labels, loop, round_data
from assay.mending.holdings import Holdings
from assay.mending.situation import Situation
from tests.mending.test_parts import mending_round, under_way


def test_settings_just_at_their_limits():
    least = {"budget": 1, "first": 1, "growth": 1.0, "seed": 0, "replay": 0}
    assert MendSettings(**least).spending(9) == 1
    for wrong in ({"budget": 0}, {"first": 0}, {"growth": 0.99}, {"seed": -1}, {"replay": -1}, {"concept_weight": 0}, {"group_step": 0}, {"reasons_weight": 0}):  # fmt: skip
        with pytest.raises(ValueError):
            MendSettings(**wrong)


def test_only_an_ensemble_has_members():
    with pytest.raises(TypeError, match="a int is no ensemble"):
        labels._member_concepts(3, None)


def test_the_data_of_a_round_is_written(monkeypatch):
    asked = []
    monkeypatch.setattr(round_data, "annotate", lambda *given: asked.append(given))
    monkeypatch.setattr(round_data.Dataset, "open", lambda folder: f"opened {folder}")
    data = {
        "train": SimpleNamespace(index=np.array([2, 0])),
        "valid": SimpleNamespace(index=np.array([1]), concepts=np.zeros((1, 2))),
    }
    bare, now = Holdings(np.full((2, 2), -1)), Holdings(np.array([[1, -1], [-1, 0]]))
    made = round_data.RoundData(data, bare, now, MendSettings())
    assert made.write(Path("f")) == "opened f"
    _, annotation, folder, given, source = asked[0]
    assert list(annotation.splits) == ["train", "valid"] and (folder, source) == (Path("f"), round_data.MENDING)
    assert given["train"].tolist() == [[-1, 0], [-1, -1], [1, -1]] and given["valid"].tolist() == [[-1, -1]] * 2
    some = Holdings(np.array([[1, -1], [-1, -1]]))
    round_data.RoundData(data, some, now, MendSettings()).write(Path("f"))
    assert list(asked[1][3]) == ["train"]


def test_further_examples_come_after_those_drawn_anew(monkeypatch):
    class Redraw:
        def __init__(self, dataset, clean):
            self.clean = clean

        def redraw(self, rows):
            return f"redrawn {rows.tolist()} {self.clean}"

        def draw_further(self, count, after):
            return f"{count} after {after}"

    added = []
    monkeypatch.setattr(round_data, "TrainingRedraw", Redraw)
    monkeypatch.setattr(round_data.pa, "concat_tables", list)
    monkeypatch.setattr(round_data, "add_examples", lambda *given: added.append(given[1:]))
    monkeypatch.setattr(round_data.Dataset, "open", lambda folder: "opened")
    bare = np.full((2, 2), -1)
    for held in (Holdings(bare, (3, 1), 4), Holdings(bare, (3,)), Holdings(bare, (), 4)):
        assert round_data.RoundData("d", Holdings(bare), held, MendSettings(clean="c")).write(Path("f")) == "opened"
    assert added == [
        (["redrawn [3, 1] c", "4 after 2"], Path("f"), {"redrawn": [3, 1], "fresh": 4}),
        (["redrawn [3] c"], Path("f"), {"redrawn": [3], "fresh": 0}),
        (["4 after 0"], Path("f"), {"redrawn": [], "fresh": 4}),
    ]


def test_a_round_is_judged_by_what_its_labels_teach(monkeypatch, tmp_path):
    asked, facts = [], []
    monkeypatch.setattr(loop, "diagnose_run", lambda *given: asked.append(given[1:]) or "diagnosis")
    monkeypatch.setattr(loop, "taught_by", lambda data: f"taught by {data}")
    monkeypatch.setattr(loop.MendingRound, "of", lambda diagnosis, **found: facts.append(found) or "round")
    monkeypatch.setattr(loop._Mending, "_keep", lambda self, ended: facts.append(ended))
    monkeypatch.setattr(loop.time, "perf_counter", lambda: 7.12345)
    made = loop._Mending(None, "data", MendSettings(), tmp_path, lambda *words: None)
    bare = np.full((2, 2), -1)
    made.__dict__["first"] = Holdings(bare)
    run = SimpleNamespace(folder=tmp_path / "round-1")
    made._judge(run, "its data", Holdings(np.array([[1, 1], [-1, -1]]), searched=6), Holdings(bare), 5.0)
    made._judge(run, "its data", Holdings(bare, fresh=3), Holdings(bare), 5.0)
    made._judge(run, "its data", Holdings(bare, (1,)), Holdings(bare), 5.0)
    assert asked == [("its data", "taught by data"), ("its data", None), ("its data", None)]
    bought = {"labels": 2, "redrawn": 0, "fresh": 0, "nuisances": 0, "masks": 0}
    assert facts[0] == {"number": 0, "run": "round-1", "spent": 2, "searched": 6, "bought": bought, "seconds": 2.123}
    assert facts[1] is None and facts[2]["number"] == 1 and made.purchases[1]["fresh"] == 3


def test_further_examples_add_to_those_that_there_are():
    situation = SimpleNamespace(holdings=Holdings(np.zeros((2, 2)), fresh=4), budget=3)
    assert confounders.fresh_examples(situation).fresh == 7


def test_the_third_round_begins_with_the_second(tmp_path, monkeypatch):
    monkeypatch.setattr(loop.RunFolder, "dataset", lambda self, known=None: f"data of {self.folder.name}")
    told = []
    made = under_way(
        tmp_path, [mending_round(number, "noisy", 10 * number) for number in range(3)], first=10, budget=99
    )
    made.report = lambda *said: told.append(said)
    third = made._situation(3, "held")
    assert (third.run, third.current, third.budget) == (tmp_path / "round-2", "data of round-2", 40)
    assert (third.number, third.holdings, third.committee) == (3, "held", tmp_path / "committee-3")
    assert third.dataset is made.dataset and third.settings is made.settings
    assert told == [("choosing for round 3", 20, 99, "plan")]


def test_a_mending_on_other_data_or_of_another_run_is_not_taken_up(tmp_path):
    made = under_way(tmp_path, [mending_round(0, "noisy", 0)])
    made.purchases.append(made.first.purchase_since(made.first))
    made._keep(None)
    record = json.loads((tmp_path / "mending.json").read_text())
    of = record["of"]
    changes = [{"data": "ee"}, {"of": {**of, "seed": 2}}, {"of": {**of, "config": {"epochs": 3}}}, {"settings": {}}]
    for change in changes:
        (tmp_path / "mending.json").write_text(json.dumps({**record, **change}))
        with pytest.raises(DataError, match="holds another mending; choose another folder or delete it"):
            under_way(tmp_path, [])._resume()
    (tmp_path / "mending.json").write_text(json.dumps(record))
    again = under_way(tmp_path, [])
    again._resume()
    assert again.rounds == made.rounds


def facing(given, truth, held, budget=9):
    data = {"train": SimpleNamespace(given_concepts=np.array(given), concepts=np.array(truth))}
    return Situation(Path("r"), data, None, Holdings(np.array(held)), budget, 1, MendSettings(), Path("c"))


def test_the_first_value_is_an_annotation_like_any_other():
    made = facing([[0, -1], [-1, 0], [1, -1]], [[1, 0], [0, 1], [0, -1]], [[-1, 0], [-1, -1], [1, -1]])
    assert made.answers.tolist() == [[0, 0], [0, 0], [1, -1]]
    assert made.is_open.tolist() == [[True, False], [True, True], [False, False]]


def test_nuisances_and_masks_are_told_apart():
    bare = np.full((2, 2), -1)
    both = round_data.RoundData("d", Holdings(bare), Holdings(bare, nuisances=4, masks=6), MendSettings())
    assert both.model_settings({"keeps": "best", "group_step": 0.0, "x": 1}) == {
        "keeps": "last", "x": 1, "group_step": 0.05, "group_examples": 4, "reasons_weight": 10.0, "reasons_examples": 6
    }  # fmt: skip


def test_a_score_of_0_is_shown():
    one = mending_round(3, "noisy", 5, label_f1=0.0, concept_f1=None, accuracy={"ood": 0.0})
    assert one.cells[3:6] == ["0.00", "", "0.00"] and one.elsewhere == 0.0


def test_a_score_that_is_missing_in_any_round_is_not_drawn(monkeypatch):
    drawn = []
    monkeypatch.setattr("assay.mending.curve.curve_plot", lambda *given: drawn.append(given))
    rounds = (mending_round(0, "noisy", 0), mending_round(1, "sound", 7, concept_f1=None, accuracy={"test": 1.0}))
    curve = MendingCurve("plan", rounds, ("sound",), "the verdict is sound")
    curve.plot()
    assert drawn == [("spent", [0, 7], {"label F1": [0.5, 0.6]}, "noisy -> sound, 7 spent by 'plan'")]


def test_the_nearest_change_of_any_label_counts():
    space = ConceptSpace((Concept("n", (0, 1, 2, 3)), Concept("b", (False, True))))
    knowledge = Knowledge.of(space, {"y": "b", "z": "n >= 2"})
    concepts = [np.array([[0.05, 0.6, 0.3, 0.05], [0.1, 0.2, 0.3, 0.4]]), np.array([[0.75, 0.25], [0.2, 0.8]])]
    found = labels.boundary_distances(knowledge, concepts)
    np.testing.assert_allclose(found, [[np.log(2), np.log(3)], [np.log(2), np.log(4)]])


def test_a_committee_has_the_settings_that_both_know(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(labels, "train_run", lambda order, data, folder: asked.append((order, data, folder)))
    config = {"epochs": 3, "learning_rate": 0.25, "batch_size": 7, "not_known": 1}
    situation = SimpleNamespace(
        committee=tmp_path / "c", about={"config": config, "seed": 6}, current="now", dataset="first"
    )
    labels._train_committee(situation)
    ((order, data, folder),) = asked
    assert dict(order.settings.values) == {"epochs": 3, "learning_rate": 0.25, "batch_size": 7}
    assert (order.model, order.seed, data, folder) == ("bears", 6, "now", tmp_path / "c")

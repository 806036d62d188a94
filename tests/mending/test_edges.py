"""Rounds as they are trained, judged and written, by made-up runs; settings at their limits."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.mending import labels, loop, round_data
from assay.mending.holdings import Holdings
from assay.mending.situation import MendSettings


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

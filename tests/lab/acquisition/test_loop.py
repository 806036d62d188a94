"""The loop: from shortcut to sound, what rounds leave on disk, what is spent, going on after a kill, and refusals."""

import json

import numpy as np
import pytest

from assay.base import AssayError, ConfigError, DataError
from assay.diagnosis import diagnose_run
from assay.lab import STRATEGIES, AcquisitionCurve, MendingRound, MendSettings, mend_run
from assay.runs import RunFolder
from tests.pixels import pixels, trained

RECORD = "mending.json"
UNTRAINED = {"epochs": 1, "learning_rate": 1e-9}


def settings(**values):
    return MendSettings(**{"budget": 12, "first": 4, "concept_weight": 3.0, "replay": 8, **values})


@pytest.fixture(scope="module")
def mended(run, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mended") / "out"
    return folder, mend_run(run, data, settings(), folder)


def test_a_shortcut_becomes_sound_by_the_plan_of_count(mended):
    folder, curve = mended
    first, last = curve.rounds[0], curve.rounds[-1]
    assert (first.verdict, first.spent, last.verdict) == ("shortcut", 0, "sound")
    assert curve.mended is last and last.spent == last.bought["labels"] <= 12 and last.searched >= last.spent
    assert last.concept_f1 > 0.9 > first.concept_f1 and curve.ended == "the verdict is sound"
    assert json.loads((folder / RECORD).read_text())["spent_until_mended"] == last.spent


def test_a_round_is_an_ordinary_run_on_a_dataset_with_what_was_bought(mended, data):
    folder, curve = mended
    run = RunFolder(folder / curve.rounds[-1].run)
    own = run.dataset()
    assert diagnose_run(run, own).verdict == curve.rounds[-1].verdict
    given = own["train"].annotated_concepts
    assert (given >= 0).sum() == curve.spent and (own["valid"].annotated_concepts < 0).all()
    assert np.array_equal(given[given >= 0], data["train"].concepts[given >= 0])
    assert np.array_equal(own["test"].annotated_concepts, data["test"].concepts)
    assert "bought by `assay mend`" in (own.folder / "README.md").read_text()
    assert run.metadata()["config"]["concept_weight"] == 3.0


def weights(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("round-*/model.safetensors")}


def test_what_is_finished_is_not_done_again(mended, run, data):
    folder, curve = mended
    before = weights(folder)
    assert mend_run(run, data, settings(), folder) == curve and weights(folder) == before


def test_a_mending_that_was_killed_goes_on_with_its_round(run, data, tmp_path, mended):
    def kill_in_round_2(what, done, whole, note):
        if what == "round 2" and done > whole / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mend_run(
            run, data, settings(budget=9, strategy="random", concept_weight=1e-9), tmp_path / "out", kill_in_round_2
        )
    assert len(json.loads((tmp_path / "out" / RECORD).read_text())["rounds"]) == 2
    first = weights(tmp_path / "out")
    chosen = settings(budget=9, strategy="random", concept_weight=1e-9)
    again = mend_run(run, data, chosen, tmp_path / "out")
    alone = mend_run(run, data, chosen, tmp_path / "alone")

    def plain(found):
        return [{**vars(one), "seconds": 0, "run": ""} for one in found.rounds]

    assert plain(again) == plain(alone) and len(again.rounds) == 3
    assert {path: weights(tmp_path / "out")[path] for path in first if "round-1" in str(path)} == {
        path: time for path, time in first.items() if "round-1" in str(path)
    }


def test_no_more_is_spent_than_the_budget_and_no_less_while_it_is_not_mended(run, data, tmp_path):
    curve = mend_run(run, data, settings(strategy="random", budget=5, first=2, concept_weight=1e-9), tmp_path / "out")
    assert [one.spent for one in curve.rounds] == [0, 2, 5]
    assert curve.mended is None and curve.ended == "the budget is spent" and "not mended" in curve.text


def test_another_mending_or_other_files_are_not_written_over(mended, run, data, tmp_path):
    for other in (settings(seed=7), settings(budget=13), settings(strategy="random")):
        with pytest.raises(DataError, match="holds another mending; choose another folder or delete it"):
            mend_run(run, data, other, mended[0])
    (tmp_path / "note").write_text("mine")
    with pytest.raises(DataError, match="not an empty folder"):
        mend_run(run, data, settings(), tmp_path)
    (tmp_path / "note").unlink()
    for text in ("{", "{}", '{"rounds": 1}', "[]"):
        (tmp_path / RECORD).write_text(text)
        with pytest.raises(DataError, match="is damaged; delete the folder and mend again"):
            mend_run(run, data, settings(), tmp_path)


def test_refusals_say_what_to_do(run, data, tmp_path):
    with pytest.raises(AssayError, match="did you mean 'plan'"):
        mend_run(run, data, settings(strategy="plann"), tmp_path / "out")
    trained("blackbox", data, tmp_path / "box", UNTRAINED)
    with pytest.raises(ConfigError, match="model 'blackbox' does not learn from any; choose another strategy"):
        mend_run(tmp_path / "box", data, settings(), tmp_path / "out")


def test_where_all_is_supervised_nothing_is_left_to_buy(data, tmp_path):
    trained("dpl", data, tmp_path / "run", {**UNTRAINED, "concept_weight": 1.0})
    curve = mend_run(tmp_path / "run", data, settings(strategy="random"), tmp_path / "out")
    assert curve.ended == "nothing is left that it could buy" and curve.spent == 0


def test_settings_have_limits():
    assert all(callable(STRATEGIES[name]) for name in STRATEGIES)
    least = {"budget": 1, "first": 1, "growth": 1.0, "seed": 0, "replay": 0}
    assert MendSettings(**least).spending(9) == 1
    assert [MendSettings(first=3, growth=1.5).spending(number) for number in (1, 2, 3)] == [3, 4, 7]
    for wrong in ({"budget": 0}, {"first": 0}, {"growth": 0.99}, {"seed": -1}, {"replay": -1}, {"concept_weight": 0},
                  {"group_step": 0}, {"reasons_weight": 0}):  # fmt: skip
        with pytest.raises(ValueError):
            MendSettings(**wrong)


def test_a_curve_tells_when_a_model_was_mended_and_shows_what_every_round_has():
    def one(number, verdict, spent, concept_f1=0.25, **accuracy):
        facts = {"run": f"round-{number}", "searched": 0, "bought": {}, "kinds": (verdict,), "why": f"because {number}"}
        scores = {"label_f1": number / 10, "concept_f1": concept_f1, "accuracy": {"test": 0.9, **accuracy}}
        return MendingRound(number=number, verdict=verdict, spent=spent, seconds=1.25, **facts, **scores)

    rounds = (
        one(0, "shortcut", 0, ood=0.0),
        one(1, "sound", 30, ood=0.5, unconfounded=0.75),
        one(2, "sound", 70, ood=0.5),
    )
    curve = AcquisitionCurve("plan", rounds, ("sound",), "the verdict is sound")
    assert curve.mended is rounds[1] and curve.spent == 70 and curve.to_dict()["spent_until_mended"] == 30
    assert curve.text == "shortcut -> sound, 30 spent by 'plan'"
    assert [round.elsewhere for round in rounds] == [0.0, 0.75, 0.5] and rounds[0].cells[3:6] == [
        "0.00",
        "0.25",
        "0.00",
    ]
    failed = AcquisitionCurve("plan", (rounds[0], one(1, "noisy", 10, None)), ("sound",), "the budget is spent")
    assert failed.mended is None and failed.to_dict()["spent_until_mended"] is None
    assert failed.text == "shortcut -> noisy, not mended with 10 spent by 'plan': the budget is spent"
    (axes,) = curve.plot().axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["label F1", "concept F1", "elsewhere"]
    assert axes.lines[0].get_xdata().tolist() == [0, 30, 70] and axes.lines[0].get_ydata().tolist() == [0.0, 0.1, 0.2]
    drawn = failed.plot().axes[0].get_legend().get_texts()
    assert [text.get_text() for text in drawn] == ["label F1"]  # what is missing in any round is not drawn


def test_curves_are_frames_and_pictures(mended):
    curve = mended[1]
    assert list(curve.to_frame()["spent"]) == [one.spent for one in curve.rounds]
    assert "sound" in repr(curve) and "<table" in curve._repr_html_()
    assert curve.plot().axes[0].get_xlabel() == "spent"


def test_the_dataset_must_be_that_of_the_run(run, tmp_path):
    other = pixels(tmp_path / "other", seed=3)
    with pytest.raises(DataError, match="was trained on a dataset"):
        mend_run(run, other, settings(), tmp_path / "out")

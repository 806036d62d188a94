"""The loop: from shortcut to sound, what rounds leave on disk, what is spent, going on after a kill, and refusals."""

import json

import numpy as np
import pytest

from assay.data import Dataset
from assay.diagnosis import diagnose_run
from assay.errors import AssayError, ConfigError, DataError
from assay.mending import STRATEGIES, MendSettings, loop, mend_run
from assay.mending.loop import RECORD
from assay.runs import RunFolder
from tests.pixels import trained

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
    given = own["train"].given_concepts
    assert (given >= 0).sum() == curve.spent and (own["valid"].given_concepts < 0).all()
    assert np.array_equal(given[given >= 0], data["train"].concepts[given >= 0])
    assert np.array_equal(own["test"].given_concepts, data["test"].concepts)
    assert "bought by `assay mend`" in (own.folder / "README.md").read_text()
    assert run.about()["config"]["concept_weight"] == 3.0


def test_what_is_finished_is_not_done_again(mended, run, data, monkeypatch):
    folder, curve = mended
    monkeypatch.setattr(loop, "train_run", lambda *_: pytest.fail("trained again"))
    assert mend_run(run, data, settings(), folder) == curve


def test_a_mending_that_was_killed_goes_on_with_its_round(run, data, tmp_path, mended, monkeypatch):
    def kill(*_):
        raise KeyboardInterrupt

    usual = loop.diagnose_run
    calls = []

    def killed_in_round_1(*given):
        calls.append(given)
        return kill() if len(calls) == 2 else usual(*given)

    monkeypatch.setattr(loop, "diagnose_run", killed_in_round_1)
    with pytest.raises(KeyboardInterrupt):
        mend_run(run, data, settings(), tmp_path / "out")
    assert len(json.loads((tmp_path / "out" / RECORD).read_text())["rounds"]) == 1
    curve = mend_run(run, data, settings(), tmp_path / "out")

    def plain(found):
        return [{**vars(one), "seconds": 0, "run": ""} for one in found.rounds]

    assert plain(curve) == plain(mended[1])


def test_no_more_is_spent_than_the_budget_and_no_less_while_it_is_not_mended(run, data, tmp_path):
    curve = mend_run(run, data, settings(strategy="random", budget=5, first=2, concept_weight=1e-9), tmp_path / "out")
    assert [one.spent for one in curve.rounds] == [0, 2, 5]
    assert curve.mended is None and curve.ended == "the budget is spent" and "not mended" in curve.text


def test_another_mending_or_other_files_are_not_written_over(mended, run, data, tmp_path):
    with pytest.raises(DataError, match="holds another mending"):
        mend_run(run, data, settings(seed=7), mended[0])
    (tmp_path / "note").write_text("mine")
    with pytest.raises(DataError, match="not an empty folder"):
        mend_run(run, data, settings(), tmp_path)
    (tmp_path / "note").unlink()
    (tmp_path / RECORD).write_text("{}")
    with pytest.raises(DataError, match="is damaged"):
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


def test_every_strategy_is_there():
    assert all(callable(STRATEGIES[name]) for name in STRATEGIES)


def test_curves_are_frames_and_pictures(mended):
    curve = mended[1]
    assert list(curve.to_frame()["spent"]) == [one.spent for one in curve.rounds]
    assert "sound" in repr(curve) and "<table" in curve._repr_html_()
    assert curve.plot().axes[0].get_xlabel() == "spent"


def test_the_dataset_must_be_that_of_the_run(run, tmp_path):
    from tests.pixels import pixels

    other = pixels(tmp_path / "other", seed=3)
    with pytest.raises(DataError, match="was trained on a dataset"):
        mend_run(run, Dataset.open(other.folder), settings(), tmp_path / "out")

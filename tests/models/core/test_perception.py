"""Networks whose concepts come from another model: only the label head is learned, and everything else still works."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from assay import oracle, predict
from assay.base import ConfigError, DataError
from assay.contracts import Prediction
from assay.dataset import Dataset, redrawing_for
from assay.diagnosis import InterventionPlan, diagnose_run, intervene
from assay.models import MODELS, Subject, TrainSpec, load_model, train_run, train_together
from assay.runs import RunFolder
from tests.pixels import NETWORKS, QUICK, Settings, pixels, trained

PERCEIVING = [name for name in NETWORKS if MODELS[name].why_pictures is None]


def write_predictions(data, folder, change=lambda said: said, splits=("train", "valid", "test", "hard")):
    """Write what a model of any make says of some splits: it is right, unless that is changed."""
    folder.mkdir()
    for split in splits:
        change(oracle(data[split])).write(folder / f"{split}.parquet", data.knowledge)
    return folder


def perceived(name, data, folder, run, **settings):
    return trained(name, data, folder, {"perception": str(run), **settings})


def concepts_of(predictions):
    return np.concatenate([answer.probabilities for answer in predictions.concepts.values()], axis=1)


@pytest.mark.parametrize("name", PERCEIVING)
def test_its_concepts_are_those_of_the_run(name, data, run, tmp_path):
    model = perceived(name, data, tmp_path / "run", run, epochs=20)
    said, seen = model.predict(data["test"]), load_model(run).predict(data["test"])
    np.testing.assert_allclose(concepts_of(said), concepts_of(seen), atol=1e-6)
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9
    again = load_model(tmp_path / "run").predict(data["hard"])
    np.testing.assert_allclose(again.labels["y"].probabilities, model.predict(data["hard"]).labels["y"].probabilities)
    assert diagnose_run(RunFolder(tmp_path / "run"), data).verdict == "sound"
    assert (tmp_path / "run" / "predictions" / "pairs.parquet").exists()


def test_only_the_head_is_learned(data, run, tmp_path):
    model = perceived("cbm", data, tmp_path / "run", run)
    sizes = sum(data.knowledge.space.sizes)
    assert sum(p.numel() for p in model.parameters()) == (sizes + 1) * 2
    assert {epoch.phase for epoch in model.history} == {"labels"}
    given = perceived("dpl", data, tmp_path / "given", run)
    assert not list(given.parameters()) and [epoch.phase for epoch in given.history] == ["as given"]
    assert given.history[0].score == 1.0 and json.loads((tmp_path / "given" / "history.json").read_text())["epochs"]


def test_a_head_on_true_concepts_differs_from_one_on_perceived_ones(data, tmp_path):
    def turned(said):
        return replace(said, concepts={n: Prediction.of(a.probabilities[:, ::-1]) for n, a in said.concepts.items()})

    eye = write_predictions(data, tmp_path / "eye", lambda said: turned(certain(said, data)))
    settings = {"learning_rate": 0.1, "epochs": 15}
    seen = perceived("cbm", data, tmp_path / "seen", eye, **settings)
    told = perceived("cbm", data, tmp_path / "told", eye, mode="independent", **settings)
    truth = data["test"].labels[:, 0]
    assert (seen.predict(data["test"]).labels["y"].codes == truth).mean() > 0.95
    assert (told.predict(data["test"]).labels["y"].codes == truth).mean() < 0.8
    assert not (tmp_path / "seen" / "predictions" / "pairs.parquet").exists()  # nobody perceived the pairs


def certain(said, data):
    sizes = dict(zip(data.knowledge.space.names, data.knowledge.space.sizes, strict=True))
    return replace(said, concepts={n: Prediction.of(np.eye(sizes[n])[a.codes]) for n, a in said.concepts.items()})


def test_the_record_names_the_run_without_its_place(data, run, tmp_path):
    perceived("ltn", data, tmp_path / "run", run)
    text = (tmp_path / "run" / "run.json").read_text()
    about = json.loads(text)
    assert str(run.resolve()) not in text and about["config"]["perception"] == "run"
    assert about["perception"]["fingerprint"] and about["perception"]["folder"] == "run"
    assert load_model(tmp_path / "run").metadata()["perception"]["data"] == data.fingerprint


def test_both_can_be_moved_together_but_not_one_of_them(data, run, tmp_path):
    shutil.copytree(run, tmp_path / "here" / "eye")
    before = perceived("cbm", data, tmp_path / "here" / "run", tmp_path / "here" / "eye").predict(data["valid"])
    shutil.move(tmp_path / "here", tmp_path / "there")
    after = load_model(tmp_path / "there" / "run").predict(data["valid"])
    assert np.array_equal(before.labels["y"].codes, after.labels["y"].codes)
    shutil.move(tmp_path / "there" / "eye", tmp_path / "eye")
    with pytest.raises(DataError, match="the perception 'eye' of .* is no longer at '../eye', as seen from the run"):
        load_model(tmp_path / "there" / "run")


def test_a_perception_that_was_trained_anew_is_refused(data, run, tmp_path):
    shutil.copytree(run, tmp_path / "eye")
    perceived("dpl", data, tmp_path / "run", tmp_path / "eye")
    shutil.rmtree(tmp_path / "eye")
    trained("dpl", data, tmp_path / "eye", {"epochs": 1}, seed=5)
    with pytest.raises(DataError, match="has learned anew since .* was trained on its concepts"):
        load_model(tmp_path / "run")


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in PERCEIVING])
def test_models_that_read_pictures_say_why_and_which_can(name, data, run, tmp_path):
    with pytest.raises(ConfigError) as caught:
        perceived(name, data, tmp_path / "run", run)
    text = str(caught.value)
    assert text.startswith(f"{name!r} cannot take its concepts from perception: its ") and "\n" not in text
    assert "; cbm, semantic, dpl, ltn and all learners on concepts can" in text and not (tmp_path / "run").exists()


def test_what_draws_pictures_again_is_refused(data, run, tmp_path):
    with pytest.raises(ConfigError, match="reconstruction_weight draws pictures again, and with perception none are"):
        perceived("dpl", data, tmp_path / "run", run, reconstruction_weight=1.0)


@pytest.mark.parametrize("kind", ["confirmation", "manipulation"])
@pytest.mark.parametrize("name", ["cbm", "dpl", "tree"])
def test_interventions_go_through_perception(name, kind, data, run, tmp_path):
    settings = {"perception": str(run)} | ({} if name == "tree" else QUICK)
    model = train_run(TrainSpec(name, Settings(settings)), data, tmp_path / "run")
    plan = InterventionPlan(policy="random", budget="0,max", kind=kind, split="hard")
    found = intervene(plan, data, model.intervene, redrawing_for(kind, data))
    assert found.control_changed == 0 and found.curve.points[-1].accuracy > 0.9
    if kind == "manipulation":  # worlds that are drawn anew are looked at anew
        assert found.curve.points[-1].changed > 0.2


def test_predictions_are_not_taken_for_those_of_worlds_drawn_anew(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye")
    model = perceived("dpl", data, tmp_path / "run", eye)
    plan = InterventionPlan(policy="random", budget="max", kind="manipulation", split="hard")
    with pytest.raises(DataError, match="perception: 'eye' has no predictions for worlds drawn anew"):
        intervene(plan, data, model.intervene, redrawing_for("manipulation", data))


def test_splits_that_nobody_perceived_are_left_out_and_asked_for_later(data, run, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", splits=("train", "valid", "test"))
    perceived("dpl", data, tmp_path / "run", eye)
    files = sorted(path.stem for path in (tmp_path / "run" / "predictions").glob("*.parquet"))
    assert files == ["test", "valid"]
    oracle(data["hard"]).write(eye / "hard.parquet", data.knowledge)
    assert predict(tmp_path / "run", data, split="hard")[0].exists()
    lacking = write_predictions(data, tmp_path / "lacking", splits=("train", "test"))
    with pytest.raises(DataError, match="has no predictions for split 'valid'; add some"):
        perceived("cbm", data, tmp_path / "other", lacking)


def test_seeds_side_by_side(data, run, tmp_path):
    order = TrainSpec("cbm", Settings({**QUICK, "perception": str(run)}))
    folders = train_together(order, [0, 1], data, tmp_path)
    said = [concepts_of(load_model(folder).predict(data["test"])) for folder in folders]
    np.testing.assert_array_equal(*said)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> Dataset:
    return pixels(
        tmp_path_factory.mktemp("elsewhere") / "data", formula="a or b", splits={"train": 64, "valid": 32, "test": 32}
    )


def test_a_run_perceives_for_another_dataset(elsewhere, run, tmp_path):
    model = perceived("dpl", elsewhere, tmp_path / "run", run)
    assert (model.predict(elsewhere["test"]).labels["y"].codes == elsewhere["test"].labels[:, 0]).all()


def test_concepts_and_pictures_that_the_run_does_not_know_are_refused(run, tmp_path):
    wider = pixels(tmp_path / "wider", k=4, formula="a and b or c and d", splits={"train": 64, "valid": 32, "test": 32})
    with pytest.raises(DataError, match="the run reads pictures of 3 x 1 in 1 channel, and split 'train' has 4 x 1"):
        perceived("dpl", wider, tmp_path / "run", run)


def test_probing_asks_for_the_run_that_perceives(data, run, tmp_path):
    with pytest.raises(ConfigError, match="'cbm' reads no pictures, its concepts come from elsewhere: probe that run"):
        Subject.of(perceived("cbm", data, tmp_path / "run", run))

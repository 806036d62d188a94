"""What symbolic models share: perception, readings of uncertain concepts, interventions, and files."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.diagnosis import diagnose_run
from assay.errors import AssayError, ConfigError, DataError
from assay.logic import Knowledge, parse
from assay.models import MODELS, Order, load_model, train_run
from assay.models.core.runs import load_network
from assay.models.symbolic.formulas import LabelRule
from assay.predictions import Answer
from assay.runs import RunFolder
from assay.testing import oracle

SYMBOLIC = [name for name in MODELS if not MODELS[name].is_network and name not in ("aleph", "popper")]  # not installed


def learn(name, data, folder, seed=0, **settings):
    return train_run(Order(name, Settings(settings), seed), data, folder)


def write_predictions(data, folder, change=lambda said: said, splits=("train", "valid", "test", "hard")):
    folder.mkdir()
    for split in splits:
        change(oracle(data[split])).write(folder / f"{split}.parquet", data.knowledge)
    return folder


def without(*names):
    return lambda said: replace(said, concepts={n: a for n, a in said.concepts.items() if n not in names})


# -- formulas and uncertain concepts -----------------------------------------------------------------------------------


def test_uncertain_concepts_give_the_exact_probability():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (False, True)), Concept("c", ("x", "y"))))
    knowledge = Knowledge.of(space, {"y": "a > 0 and b or c == 'x'"})
    rng = np.random.default_rng(0)
    spreads = [rng.dirichlet(np.ones(size), 5) for size in space.sizes]
    found = LabelRule(space, knowledge.labels[0], {1: knowledge.labels[0].formula})(spreads)
    worlds = space.all_codes()
    mass = np.prod([spreads[place][:, worlds[:, place]] for place in range(3)], axis=0)
    expected = mass[:, knowledge.labels_of(worlds)[:, 0] == 1].sum(axis=1)
    np.testing.assert_allclose(found[:, 1], expected)


def test_the_first_of_several_formulas_holds_and_else_what_is_left():
    space = ConceptSpace((Concept("a", (0, 1, 2, 3)),))
    label = Knowledge.of(space, {"y": "a"}).labels[0]
    rule = LabelRule(space, label, {2: parse("a >= 2"), 1: parse("a >= 1")}, otherwise=3)
    assert rule.codes_of(np.array([[0], [1], [2], [3]])).tolist() == [3, 1, 2, 2]
    certain = [np.eye(4)]
    np.testing.assert_array_equal(rule(certain), rule([np.eye(4) * 0.999999 + 0.00000025]).round(3))


# -- perception --------------------------------------------------------------------------------------------------------


def test_without_perception_the_concepts_are_the_true_ones(data, tmp_path):
    said = learn("tree", data, tmp_path / "run").predict(data["test"])
    codes = np.stack([answer.codes for answer in said.concepts.values()], axis=1)
    assert (codes == data["test"].concepts).all() and said.about["perception"] is None


def test_a_run_can_be_what_perceives(data, run, tmp_path):
    model = learn("synthesis", data, tmp_path / "run", perception=str(run))
    seen, said = load_model(run).predict(data["test"]), model.predict(data["test"])
    for name, answer in said.concepts.items():
        np.testing.assert_allclose(answer.probabilities, seen.concepts[name].probabilities, atol=1e-6)
    record = (tmp_path / "run" / "run.json").read_text()
    about = json.loads(record)["perception"]
    assert (about["model"], about["folder"], about["data"]) == ("dpl", "run", data.fingerprint)
    assert len(about["fingerprint"]) == 32 and str(run.resolve()) not in record
    assert (tmp_path / "run" / "predictions" / "pairs.parquet").exists()  # the run is asked anew for these


def test_perception_is_found_again_where_both_were_moved(data, run, tmp_path):
    shutil.copytree(run, tmp_path / "here" / "eye")
    before = learn("rules", data, tmp_path / "here" / "run", perception=str(tmp_path / "here" / "eye"))
    one = before.predict(data["valid"])
    shutil.move(tmp_path / "here", tmp_path / "there")
    other = load_model(tmp_path / "there" / "run").predict(data["valid"])
    assert np.array_equal(one.labels["y"].codes, other.labels["y"].codes)


def test_predictions_of_any_make_can_be_what_perceives(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye")
    model = learn("synthesis", data, tmp_path / "run", perception=str(eye))
    assert (
        str(model.formulas["y"]) and (model.predict(data["test"]).labels["y"].codes == data["test"].labels[:, 0]).all()
    )
    assert not (tmp_path / "run" / "predictions" / "pairs.parquet").exists()  # nobody perceived the pairs


def test_a_class_that_a_detector_does_not_know_is_never_there(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", without("c"))
    said = learn("tree", data, tmp_path / "run", perception=str(eye)).predict(data["test"])
    assert (said.concepts["c"].codes == 0).all() and (data["test"].concepts[:, 2] == 1).any()


def test_splits_that_nobody_perceived_are_left_out(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", splits=("train", "test"))
    learn("linear", data, tmp_path / "run", perception=str(eye))
    assert [path.name for path in (tmp_path / "run" / "predictions").glob("*.parquet")] == ["test.parquet"]


def test_rules_learned_from_the_truth_differ_from_those_learned_from_what_is_perceived(data, tmp_path):
    def turned(said):
        return replace(said, concepts={n: Answer(1 - a.codes) for n, a in said.concepts.items()})

    eye = str(write_predictions(data, tmp_path / "eye", turned))
    seen = learn("synthesis", data, tmp_path / "seen", perception=eye)
    told = learn("synthesis", data, tmp_path / "told", perception=eye, learn_from="truth")
    truth = data["test"].labels[:, 0]
    assert (seen.predict(data["test"]).labels["y"].codes == truth).all()
    assert (told.predict(data["test"]).labels["y"].codes != truth).any()


@pytest.mark.parametrize(
    ("perception", "message"),
    [
        ("nowhere", "perception: no run or predictions file"),
        (".", "is no run, no predictions file and holds none"),
    ],
)
def test_perception_that_is_not_there_is_one_line(perception, message, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message) as caught:
        learn("tree", data, tmp_path / "run", perception=perception)
    assert "\n" not in str(caught.value) and not list(tmp_path.rglob("*.parquet"))


def test_perception_that_says_nothing_of_concepts_is_refused(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", without("a", "b", "c"))
    with pytest.raises(ConfigError, match="say nothing of concepts"):
        learn("tree", data, tmp_path / "run", perception=str(eye))


def test_perception_of_other_data_is_refused(data, tmp_path):
    eye = write_predictions(data, tmp_path / "eye", lambda said: replace(said, fingerprint="0" * 32))
    with pytest.raises(DataError, match="perception is of a dataset with fingerprint"):
        learn("tree", data, tmp_path / "run", perception=str(eye))


# -- files and interventions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_model_comes_back_as_it_was(name, data, tmp_path):
    before = learn(name, data, tmp_path / "run", seed=5)
    after = load_model(tmp_path / "run")
    assert (after.seed, after.config, after.in_words()) == (5, before.config, before.in_words())
    one, other = (model.predict(data["test"]).labels["y"].probabilities for model in (before, after))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("name", ["synthesis", "tree", "linear", "rules"])
def test_a_run_is_diagnosed(name, data, tmp_path):
    learn(name, data, tmp_path / "run")
    assert diagnose_run(RunFolder(tmp_path / "run"), data).verdict in ("sound", "inconsistent", "underfit")


@pytest.mark.parametrize("name", ["synthesis", "tree"])
def test_damaged_files_are_one_line(name, data, tmp_path):
    learn(name, data, tmp_path / "run")
    held = {"synthesis": "program.json", "tree": "model.safetensors"}[name]
    (tmp_path / "run" / held).write_bytes(b"{")
    with pytest.raises(DataError, match="cannot be read") as caught:
        load_model(tmp_path / "run")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", SYMBOLIC)
def test_concepts_can_be_set_and_the_labels_follow(name, data, tmp_path):
    model, test = learn(name, data, tmp_path / "run"), data["test"]
    every = model.predict(
        test, {"a": np.zeros(len(test), int), "b": np.zeros(len(test), int), "c": np.ones(len(test), int)}
    )
    assert len(set(every.labels["y"].codes.tolist())) == 1
    held = model.intervene(test)
    told = held.answer(slice(None), {2: np.eye(2)[np.ones(len(test), int)]})
    np.testing.assert_allclose(
        told.labels[0], model.predict(test, {"c": np.ones(len(test), int)}).labels["y"].probabilities
    )


def test_what_cannot_be_set_is_refused(data, tmp_path):
    model = learn("tree", data, tmp_path / "run")
    for given in (np.full(len(data["test"]), 2), np.zeros(3, int), np.full((len(data["test"]), 2), 0.7)):
        with pytest.raises(ConfigError, match="do: 'a' needs 64 codes from 0 to 1"):
            model.predict(data["test"], {"a": given})
    with pytest.raises(AssayError, match="no concept named"):
        model.predict(data["test"], {"d": np.zeros(64, int)})


def test_what_looks_into_layers_refuses_what_has_none(data, tmp_path):
    learn("tree", data, tmp_path / "run")
    with pytest.raises(ConfigError, match="holds 'tree', which is no network"):
        load_network(tmp_path / "run")


def test_symbolic_models_need_no_torch():
    modules = ["synthesis.learner", "tree", "linear", "mlp", "rules", "formulas"]
    code = f"import sys, assay.models.core.runs, {', '.join('assay.models.symbolic.' + m for m in modules)}; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"

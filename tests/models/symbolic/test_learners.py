"""All learners on concepts: what they can say they find, in any kind of label, and it comes back as it was."""

import json
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import Knowledge, bits, digits, evaluate, parse
from assay.base import AssayError, ConfigError, DataError
from assay.diagnosis import diagnose_run
from assay.models import load_model, one_hot
from assay.runs import RunFolder
from tests.models.symbolic.tables import (
    MIXED,
    OFFLINE,
    SYMBOLIC,
    a_rule,
    cars,
    drawn,
    learn,
    notes,
    said,
    taught,
    untaught,
)

FORMULAS = ["synthesis", "ilp", "alpha-ilp", "rules"]
"""Learners whose answers are those of a formula."""


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FORMULAS, "tree", "mlp"])
@pytest.mark.parametrize("seed", range(3))
def test_a_small_rule_over_all_worlds_is_found_exactly(name, seed):
    space = bits([*"abcd"])
    knowledge = Knowledge.of(space, {"y": a_rule(np.random.default_rng(seed))})
    codes = np.tile(space.all_codes().astype(np.int64), (4, 1))
    model = taught(name, knowledge, codes)
    assert (said(model, codes) == knowledge.labels_of(codes)).all(), knowledge.labels[0].formula
    if name in FORMULAS and name != "rules":
        assert (evaluate(model.formulas["y"], space, codes) == knowledge.labels_of(codes)[:, 0]).all()


@pytest.mark.parametrize("name", ["synthesis", "ilp", "alpha-ilp", "rules", "tree"])
def test_labels_of_any_kind_are_learned_from_concepts_of_any_kind(name):
    rules = {"y": "n >= 2 and b", "z": "n", "w": "'stop' if b else 'go'", "always": "n >= 0"}
    knowledge, codes = Knowledge.of(MIXED, rules), np.tile(MIXED.all_codes().astype(np.int64), (3, 1))
    model = taught(name, knowledge, codes)
    assert (said(model, codes) == knowledge.labels_of(codes)).all()
    assert model.describe()


@pytest.mark.parametrize("name", OFFLINE)
def test_a_label_that_never_changes_is_always_that(name):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    for code in (0, 1):
        codes = np.full((5, 2), code)
        model = taught(name, knowledge, codes)
        spread = model.labels_from_concepts(one_hot(codes, knowledge.space))[0]
        np.testing.assert_allclose(spread, np.eye(2)[[code] * 5], atol=1e-5)


@pytest.mark.parametrize("name", OFFLINE)
def test_only_annotated_labels_are_learned_from(name):
    """Rows without a label make no difference, whatever their concepts."""
    knowledge = Knowledge.of(MIXED, {"y": "n >= 2 and b"})
    codes = drawn(MIXED, 60)
    labels = knowledge.labels_of(codes).copy()
    labels[40:] = -1
    part, whole = taught(name, knowledge, codes[:40]), taught(name, knowledge, codes, labels)
    assert (said(part, codes) == said(whole, codes)).all() and part.describe() == whole.describe()


@pytest.mark.parametrize("name", OFFLINE)
def test_what_was_learned_reads_back_with_the_same_answers_and_the_same_seed_learns_the_same(name):
    space = cars(3, absent=True)
    rule = "any(x.colour == 'red' and x.load == 2 for x in cars)"
    knowledge, codes = Knowledge.of(space, {"y": rule, "k": "count(x.load == 1 for x in cars)"}), drawn(space, 80)
    model, again = (taught(name, knowledge, codes, seed=4) for _ in range(2))
    assert model.describe() == again.describe()
    back = untaught(name, knowledge, seed=4)
    back.set_state(json.loads(json.dumps(model.state())))
    back.set_arrays(model.arrays())
    fresh = drawn(space, 50, seed=1)
    rng = np.random.default_rng(0)
    for concepts in (one_hot(fresh, space), [rng.dirichlet(np.ones(size), 7) for size in space.sizes]):
        for other in (again, back):
            for one, two in zip(
                model.labels_from_concepts(concepts), other.labels_from_concepts(concepts), strict=True
            ):
                np.testing.assert_allclose(one, two, atol=1e-9)
    assert back.describe() == model.describe()


@pytest.mark.parametrize(("name", "settings"), [("synthesis", {}), ("ilp", {}), ("rules", {}),
                                                ("alpha-ilp", {"answers": "program"})])  # fmt: skip
def test_uncertain_concepts_give_the_exact_probability_of_each_answer(name, settings):
    """The sum over all worlds of how likely each is, where the learner gives that answer."""
    knowledge = Knowledge.of(MIXED, {"y": "n >= 2 and b or s == 'x'", "k": "min(n, 2)"})
    worlds = MIXED.all_codes().astype(np.int64)
    model = taught(name, knowledge, np.tile(worlds, (2, 1)), reading="soft", **settings)
    rng = np.random.default_rng(0)
    spreads = [rng.dirichlet(np.ones(size), 5) for size in MIXED.sizes]
    spreads[0][0] = [0, 1, 0, 0]  # one row has a concept that is certain
    mass = np.prod([spreads[place][:, worlds[:, place]] for place in range(3)], axis=0)
    answers = said(model, worlds)
    for place, spread in enumerate(model.labels_from_concepts(spreads)):
        np.testing.assert_allclose(spread, mass @ np.eye(spread.shape[1])[answers[:, place]], atol=1e-9)


@pytest.mark.parametrize("name", OFFLINE)
def test_the_hard_reading_takes_the_most_probable_value(name):
    knowledge, codes = Knowledge.of(MIXED, {"y": "n >= 2 and b"}), drawn(MIXED, 60)
    model = taught(name, knowledge, codes, reading="hard")
    rng = np.random.default_rng(1)
    spreads = [rng.dirichlet(np.ones(size), 9) for size in MIXED.sizes]
    certain = one_hot(np.stack([spread.argmax(axis=1) for spread in spreads], axis=1), MIXED)
    np.testing.assert_allclose(model.labels_from_concepts(spreads)[0], model.labels_from_concepts(certain)[0])


@pytest.mark.parametrize("name", ["synthesis", "ilp", "rules"])
def test_the_fit_that_is_told_is_that_of_the_answers(name):
    knowledge, codes = Knowledge.of(MIXED, {"y": "n >= 2 and b", "k": "n"}), drawn(MIXED, 70)
    labels = knowledge.labels_of(codes).copy()
    labels[::9, 0] ^= 1
    model = taught(name, knowledge, codes, labels)
    for place, label in enumerate(("y", "k")):
        fit = notes(model, label)["fit"]
        wrong = said(model, codes)[:, place] != labels[:, place]
        assert (fit["examples"], fit["right"]) == (70, int((~wrong).sum()))
        assert fit["exceptions"] == len(np.unique(codes[wrong], axis=0))
        assert any(line.startswith(f"{label}: right in {fit['right']} of 70") for line in model.coverage())


def test_an_untaught_learner_says_so():
    knowledge = Knowledge.of(bits(["a"]), {"y": "a"})
    with pytest.raises(ConfigError, match="has learned nothing yet of label 'y'"):
        untaught("rules", knowledge).label_probabilities(one_hot(np.zeros((1, 1), int), knowledge.space))


def test_a_rule_list_is_one_formula_of_the_labels_own_kind():
    knowledge = Knowledge.of(digits(["a", "b"], range(4)), {"y": "min(a, 1) + min(b, 1)"})
    codes = np.tile(knowledge.space.all_codes().astype(np.int64), (3, 1))
    model = taught("rules", knowledge, codes)
    (line,) = model.describe()
    written = parse(line.removeprefix("y: "))
    assert (evaluate(written, knowledge.space, codes) == knowledge.labels_of(codes)[:, 0]).all()
    few = taught("rules", knowledge, codes, rules=1)
    assert str(few.formulas["y"]).count(" if ") == 1


# -- runs --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(data, tmp_path_factory):
    """A run of each learner on the pixels, and the model that was trained."""
    folder = tmp_path_factory.mktemp("runs")
    return {name: (folder / name, learn(name, data, folder / name, seed=5)) for name in SYMBOLIC}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_run_comes_back_as_it_was_and_is_diagnosed(name, runs, data):
    folder, before = runs[name]
    after = load_model(folder)
    assert (after.seed, after.config, after.describe()) == (5, before.config, before.describe())
    one, other = (model.predict(data["test"]).labels["y"].probabilities for model in (before, after))
    assert np.array_equal(one, other)
    assert diagnose_run(RunFolder(folder), data).verdict


@pytest.mark.parametrize("name", SYMBOLIC)
def test_concepts_can_be_set_and_the_labels_follow(name, runs, data):
    model, test = runs[name][1], data["test"]
    zeros, ones = np.zeros(len(test), int), np.ones(len(test), int)
    every = model.predict(test, {"a": zeros, "b": zeros, "c": ones})
    assert len(set(every.labels["y"].codes.tolist())) == 1
    held = model.intervene(test).answer(slice(None), {2: np.eye(2)[ones]})
    np.testing.assert_allclose(held.labels[0], model.predict(test, {"c": ones}).labels["y"].probabilities)


def test_what_cannot_be_set_is_refused(runs, data):
    model, test = runs["tree"][1], data["test"]
    for given in (np.full(len(test), 2), np.zeros(3, int), np.full((len(test), 2), 0.7)):
        with pytest.raises(ConfigError, match="do: 'a' needs 64 codes from 0 to 1"):
            model.predict(test, {"a": given})
    with pytest.raises(AssayError, match="no concept named"):
        model.predict(test, {"d": np.zeros(64, int)})


@pytest.mark.parametrize(("name", "file"), [("synthesis", "program.json"), ("tree", "model.safetensors")])
def test_damaged_files_are_one_line(name, file, data, tmp_path):
    learn(name, data, tmp_path / "run")
    (tmp_path / "run" / file).write_bytes(b"{")
    with pytest.raises(DataError, match="cannot be read") as caught:
        load_model(tmp_path / "run")
    assert "\n" not in str(caught.value)


def test_what_looks_into_layers_refuses_what_has_none(runs, data, tmp_path):
    with pytest.raises(ConfigError, match="holds 'tree', which is no network"):
        assay.discover(data, "pca", source=str(runs["tree"][0]), device="cpu")


def test_symbolic_models_need_no_torch():
    names = [name for name in OFFLINE if name != "alpha-ilp"]
    code = f"import sys; from assay import MODELS; [MODELS[name] for name in {names}]; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"

"""Differentiable ILP: the weighted clauses, the program that is left of them and its Prolog agree; trains seen badly."""

import numpy as np
import pytest

from assay import Concept, ConceptSpace, Dataset, Knowledge, Prediction, Predictions, Recipe, bits, evaluate
from assay.base import ConfigError, Settings
from assay.dataset import make
from assay.logic import Slot
from assay.prolog import Worlds, formula_of, label, read_program
from tests.models.symbolic.tables import cars, drawn, notes, said, taught, trains, untaught

EITHER = "any(x.colour == 'red' and x.load == 2 for x in cars) or any(x.colour == y.colour for x, y in pairs(cars))"
WIDE = {"beam": 30, "depth": 4, "steps": 300, "seconds": 60.0}


def prolog(model, name="y"):
    return notes(model, name)["prolog"]


@pytest.mark.parametrize("way", ["noisy", "max"])
def test_a_model_says_the_same_in_prolog_as_a_formula_and_softly(way):
    space = cars(3, absent=True)
    knowledge, fresh = Knowledge.of(space, {"y": EITHER}), drawn(space, 300, seed=8)
    model = taught("alpha-ilp", knowledge, drawn(space, 300, seed=7), soft_or=way, **WIDE)
    by_formula = np.asarray(evaluate(model.formulas["y"], space, fresh), dtype=bool)
    read = formula_of(prolog(model), space, "y")
    assert (np.asarray(evaluate(read, space, fresh), dtype=bool) == by_formula).all()
    assert (label(read_program(prolog(model), "learned"), Worlds(space, fresh), head="y") == by_formula).all()
    truth = knowledge.labels_of(fresh)[:, 0]
    assert (by_formula == truth).all() and (said(model, fresh)[:, 0] == truth).all()
    assert prolog(model).splitlines() == model.describe()


@pytest.mark.parametrize("way", ["noisy", "max"])
def test_an_answer_does_not_depend_on_the_other_examples(way):
    space = cars(2, absent=True)
    knowledge = Knowledge.of(space, {"y": EITHER})
    model = taught("alpha-ilp", knowledge, drawn(space, 100), soft_or=way)
    rng = np.random.default_rng(0)
    spreads = [rng.dirichlet(np.ones(size), 6) for size in space.sizes]
    together = model.labels_from_concepts(spreads)[0]
    apart = np.concatenate([model.labels_from_concepts([one[[row]] for one in spreads])[0] for row in range(6)])
    np.testing.assert_allclose(together, apart, atol=1e-9)
    assert together.min() >= 0 and np.allclose(together.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("rule", "soft"),
    [
        ("a and b", lambda a, b: a * b),
        ("a or b", lambda a, b: 1 - (1 - a) * (1 - b)),  # of rules that are independent
    ],
)
def test_soft_answers_are_chances_of_independent_concepts(rule, soft):
    space = bits(["a", "b"])
    model = taught("alpha-ilp", Knowledge.of(space, {"y": rule}), np.tile(space.all_codes(), (20, 1)), **WIDE)
    a, b = np.linspace(0.1, 0.9, 5), np.linspace(0.8, 0.2, 5)
    spread = model.labels_from_concepts([np.stack([1 - part, part], axis=1) for part in (a, b)])[0]
    np.testing.assert_allclose(spread[:, 1], soft(a, b), atol=0.1)  # each rule has all but decided for one clause


def test_all_attributes_are_witnesses_that_an_object_is_there():
    """Its colour says that it is there, its load that it may be absent: the surer one decides."""
    space = cars(1, absent=True)
    model = taught("alpha-ilp", Knowledge.of(space, {"y": "any(x.colour == 'red' for x in cars)"}), drawn(space, 80))
    there = [np.array([[0.9, 0.05, 0.04, 0.01]]), np.array([[0.3, 0.3, 0.4]])]
    gone = [np.array([[0.6, 0.2, 0.1, 0.1]]), np.array([[0.01, 0.01, 0.98]])]
    assert model.labels_from_concepts(there)[0][0, 1] > 0.8 and model.labels_from_concepts(gone)[0][0, 1] < 0.3


def test_a_number_of_their_own_is_not_the_place_of_objects():
    slots = tuple(Slot(name, "cups", ("number",)) for name in ("p", "q"))
    space = ConceptSpace(tuple(Concept(f"{name}.number", (1, 2, 3)) for name in ("p", "q")), slots)
    knowledge = Knowledge.of(space, {"y": "any(x.number == 3 for x in cups)"})
    codes = np.tile(space.all_codes().astype(np.int64), (8, 1))
    assert (said(taught("alpha-ilp", knowledge, codes), codes) == knowledge.labels_of(codes)).all()


def test_programs_of_several_labels_have_heads_of_their_own():
    """A head that is also the name of a literal gets another name, and what never holds fails."""
    space = cars(2)
    rules = {"y": "any(x.colour == 'red' for x in cars)", "load_1": "any(x.load == 2 for x in cars)", "z": "1 if any(x.load == 2 for x in cars) else 0"}  # fmt: skip
    knowledge, codes = Knowledge.of(space, rules), drawn(space, 100)
    model = taught("alpha-ilp", knowledge, codes)
    for name in rules:
        heads = {line.split("(")[0] for line in prolog(model, name).splitlines()}
        assert {"y": {"y"}, "load_1": {"load_1_"}, "z": {"z_0", "z_1"}}[name] <= heads
    for place, (name, head) in enumerate((("y", "y"), ("load_1", "load_1_"))):
        held = label(read_program(prolog(model, name), "learned"), Worlds(space, codes), head=head)
        assert (held == knowledge.labels_of(codes)[:, place]).all()
    never = taught("alpha-ilp", Knowledge.of(space, {"y": "car1.load == 1"}), codes, np.zeros((100, 1), dtype=int))
    assert never.describe() == ["y(_) :- fail."]


def test_an_undecided_program_is_its_strongest_clause():
    """Where no clause has the weight that is asked for, the program has at most one for each rule."""
    knowledge, codes = Knowledge.of(bits([*"abc"]), {"y": "a and b or c"}), drawn(bits([*"abc"]), 60)
    for threshold in (0.0, 0.3, 1.0):
        model = taught("alpha-ilp", knowledge, codes, steps=0, threshold=threshold, rules=2)
        clauses = [line for line in model.describe() if line.startswith("y(")]
        assert 1 <= len(clauses) <= 2


def test_the_time_limit_holds():
    knowledge, codes = trains("theory_x", 1000)
    model = taught("alpha-ilp", knowledge, codes, seconds=0.5, beam=500, depth=6)  # would take minutes
    told = notes(model, "east")["True"]
    assert not told["complete"] and told["seconds"] < 20 and model.describe()


def test_bad_settings_are_one_line():
    with pytest.raises(ConfigError, match="rules: Input should be greater than or equal to 1") as caught:
        untaught("alpha-ilp", Knowledge.of(bits(["a"]), {"y": "a"}), rules=0)
    assert "\n" not in str(caught.value)


# -- trains that are seen badly ----------------------------------------------------------------------------------------


def seen_badly(data, folder, rate, seed):
    """Write what an eye says that takes each concept for another with some chance, and knows how often it errs."""
    folder.mkdir()
    for split in ("train", "valid", "test"):
        part, rng = data[split], np.random.default_rng([seed, len(split)])
        answers = {}
        for place, concept in enumerate(part.knowledge.space.concepts):
            size, true = len(concept.values), part.concepts[:, place]
            wrong = rng.random(len(true)) < rate
            seen = np.where(wrong, (true + rng.integers(1, size, len(true))) % size, true)
            answers[concept.name] = Prediction.of(
                np.eye(size)[seen] * (1 - rate - rate / (size - 1)) + rate / (size - 1)
            )
        Predictions(part.fingerprint, split, part.index, {}, answers).write(folder / f"{split}.parquet", data.knowledge)
    return str(folder)


@pytest.mark.slow
def test_theory_x_from_100_trains_and_noisy_concepts(tmp_path):
    sizes = (("train", 100), ("valid", 20), ("test", 500))
    make(Recipe("trains", Settings({"image": False}), sizes=sizes), tmp_path / "data")
    data = Dataset.open(tmp_path / "data")
    test, found = data["test"], {}
    for kind, rate in (("clean", 0.0), ("noisy", 0.1)):
        eye = seen_badly(data, tmp_path / kind, rate, 0)
        model = untaught("alpha-ilp", data.knowledge, perception=eye, **WIDE)
        model.fit(data["train"], data["valid"])
        found[kind] = float((model.predict(test).labels["east"].codes == test.labels[:, 0]).mean())
        assert any(line.startswith("east(W) :- has_car(W,X1)") for line in model.describe())
    assert found["clean"] > 0.97 and found["noisy"] > 0.7  # the true rule on these noisy concepts: about 0.86

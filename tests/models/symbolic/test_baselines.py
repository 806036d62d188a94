"""Baselines answer as scikit-learn's estimators do, from arrays alone, and rule lists are formulas."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.config import Settings
from assay.logic import Knowledge
from assay.models import MODELS
from assay.models.symbolic.baseline import columns
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.perception import one_hot

MIXED = ConceptSpace(
    (Concept("n", (0, 1, 2, 3), counts=True), Concept("b", (False, True)), Concept("s", ("x", "y", "z")))
)


def learned(name, knowledge, codes, **settings):
    model = MODELS[name](knowledge, None, Settings(settings))
    model.learn(Examples(knowledge, codes, one_hot(codes, knowledge.space), knowledge.labels_of(codes)))
    return model


def worlds(space, size, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, values, size) for values in space.sizes], axis=1)


def test_concepts_become_columns_of_numbers():
    spreads = one_hot(np.array([[2, 1, 0], [3, 0, 2]]), MIXED)
    assert columns(MIXED, spreads, "numbers").tolist() == [[2, 1, 1, 0, 0], [3, 0, 0, 0, 1]]
    assert columns(MIXED, spreads, "values").shape == (2, 9) and columns(MIXED, spreads, "both").shape == (2, 11)


def estimator(name, seed):
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "tree": DecisionTreeClassifier(random_state=seed),
        "linear": LogisticRegression(max_iter=1000, random_state=seed),
        "mlp": MLPClassifier((64,), max_iter=60, random_state=seed),
    }[name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["tree", "linear", "mlp"])
@pytest.mark.parametrize("rule", ["n >= 2 and b or s == 'y'", "n + b"])
def test_answers_are_those_of_scikit_learn(name, rule):
    knowledge = Knowledge.of(MIXED, {"y": rule})
    codes, fresh = worlds(MIXED, 60), worlds(MIXED, 40, seed=1)
    model = learned(name, knowledge, codes, scaled=False, **({"steps": 60} if name == "mlp" else {}))
    seed = int(model.rng("y").integers(2**31))
    inputs, later = (columns(MIXED, one_hot(c, MIXED), "numbers") for c in (codes, fresh))
    theirs = estimator(name, seed).fit(inputs, knowledge.labels_of(codes)[:, 0]).predict_proba(later)
    ours = model.labels_from_concepts(one_hot(fresh, MIXED))[0]
    np.testing.assert_allclose(ours[:, model.parts["y"]["classes"]], theirs, atol=1e-6)


@pytest.mark.parametrize("name", ["tree", "rules", "mlp"])
def test_a_simple_rule_is_learned(name):
    space = bits(["a", "b", "c"])
    knowledge = Knowledge.of(space, {"y": "a and not b or c"})
    codes = np.tile(space.all_codes().astype(np.int64), (6, 1))
    said = learned(name, knowledge, codes).labels_from_concepts(one_hot(codes, space))[0].argmax(axis=1)
    assert (said == knowledge.labels_of(codes)[:, 0]).all()


def test_a_line_cannot_say_either_or():
    space = bits(["a", "b"])
    knowledge = Knowledge.of(space, {"y": "a ^ b"})
    codes = np.tile(space.all_codes().astype(np.int64), (10, 1))
    said = learned("linear", knowledge, codes).labels_from_concepts(one_hot(codes, space))[0].argmax(axis=1)
    assert (said == knowledge.labels_of(codes)[:, 0]).mean() <= 0.75


@pytest.mark.parametrize("name", ["tree", "linear", "mlp", "rules"])
def test_a_label_that_never_changes_is_always_that(name):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    codes = np.zeros((5, 2), dtype=np.int64)
    said = learned(name, knowledge, codes).labels_from_concepts(one_hot(codes, knowledge.space))[0]
    assert said.tolist() == [[1.0, 0.0]] * 5


def test_a_rule_list_is_a_formula_of_the_labels_own_kind():
    knowledge = Knowledge.of(digits(["a", "b"], range(4)), {"y": "min(a, 1) + min(b, 1)"})
    codes = np.tile(knowledge.space.all_codes().astype(np.int64), (3, 1))
    model = learned("rules", knowledge, codes)
    (line,) = model.in_words()
    assert line.startswith("y: ") and " if " in line
    assert (
        model.labels_from_concepts(one_hot(codes, knowledge.space))[0].argmax(axis=1)
        == knowledge.labels_of(codes)[:, 0]
    ).all()

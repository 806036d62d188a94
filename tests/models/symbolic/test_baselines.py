"""Baselines answer as scikit-learn's estimators do, from arrays alone, and the leaves of a tree are true of the data."""

import re

import numpy as np
import pytest

from assay import Knowledge, bits, evaluate, parse
from assay.base import rng_for
from assay.models import one_hot
from tests.models.symbolic.tables import MIXED, drawn, said, taught

KNOWLEDGE = {rule: Knowledge.of(MIXED, {"y": rule}) for rule in ("n >= 2 and b or s == 'y'", "n + b")}
NUMBERS, TRUTH = np.array([[0.0], [1], [2], [3]]), np.array([[0.0], [1]])


def columns(spreads, encoding):
    """Return concepts as columns: numbers and truths as their means, symbols as a column for each value."""
    n, b, s = spreads
    means = {"numbers": [n @ NUMBERS, b @ TRUTH, s], "values": [n, b, s], "both": [n @ NUMBERS, n, b @ TRUTH, b, s]}
    return np.concatenate(means[encoding], axis=1)


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
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("encoding", ["numbers", "values", "both"])
@pytest.mark.parametrize("name", ["tree", "linear", "mlp"])
@pytest.mark.parametrize("rule", KNOWLEDGE)
def test_answers_are_those_of_scikit_learn(name, rule, encoding, scaled):
    """Also where concepts are uncertain; a value of the label that training lacks has probability 0."""
    knowledge, codes = KNOWLEDGE[rule], drawn(MIXED, 60)
    codes = codes[~((codes[:, 0] == 3) & (codes[:, 1] == 1))]  # so that one sum never occurs
    more = {"steps": 60} if name == "mlp" else {}
    model = taught(name, knowledge, codes, scaled=scaled, encoding=encoding, reading="soft", seed=3, **more)
    inputs, targets = columns(one_hot(codes, MIXED), encoding), knowledge.labels_of(codes)[:, 0]
    spreads = [rng_for(0, "spreads", size).dirichlet(np.ones(size), 20) for size in MIXED.sizes]
    later = columns(spreads, encoding)
    if scaled:
        deviation = inputs.std(axis=0)
        mean, deviation = inputs.mean(axis=0), np.where(deviation > 0, deviation, 1)
        inputs, later = (inputs - mean) / deviation, (later - mean) / deviation
    seed = int(rng_for(3, name, "y").integers(2**31))
    theirs = estimator(name, seed).fit(inputs, targets).predict_proba(later)
    ours = model.labels_from_concepts(spreads)[0]
    seen = np.unique(targets)
    np.testing.assert_allclose(ours[:, seen], theirs, atol=1e-6)
    assert np.delete(ours, seen, axis=1).sum() == 0


def test_a_line_cannot_say_either_or():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a ^ b"})
    codes = np.tile(knowledge.space.all_codes().astype(np.int64), (10, 1))
    assert (said(taught("linear", knowledge, codes), codes) == knowledge.labels_of(codes)).mean() <= 0.75


@pytest.mark.parametrize(("encoding", "settings"), [("numbers", {}), ("values", {"depth": 3}), ("both", {"leaf": 4})])
def test_the_leaves_of_a_tree_tell_what_they_hold_those_with_most_examples_first(encoding, settings):
    knowledge, codes = KNOWLEDGE["n + b"], drawn(MIXED, 80)
    labels = (knowledge.labels_of(codes) + (np.arange(80) % 7 == 0)[:, None]) % 5
    lines = taught("tree", knowledge, codes, labels, encoding=encoding, **settings).describe()
    left, counts = np.ones(80, dtype=bool), []
    for line in lines:
        told = re.fullmatch(r"y is (\d) in (\d+) of (\d+) where (.*)", line)
        if told is None:
            assert re.fullmatch(r"y: \d+ more leaves of fewer examples", line) and len(counts) == 12
            return
        value, right, count, where = told.groups()
        where = re.sub(r"s (==|!=) (\w)", r"s \1 '\2'", where)
        where = re.sub(r"b (==|!=) ", r"b \1 ", re.sub(r"n (<=|>) (\d)\.5", r"n \1 \2", where))
        inside = np.asarray(evaluate(parse(where), MIXED, codes), dtype=bool)
        assert inside.sum() == int(count) and (labels[inside, 0] == int(value)).sum() == int(right)
        assert left[inside].all()
        left &= ~inside
        counts.append(int(count))
    assert counts == sorted(counts, reverse=True) and not left.any()

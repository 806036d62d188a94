"""Metrics of labels that differ in kind, of concepts outside of objects, and bounds where shares are all or nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from assay.concepts import Concept, ConceptSpace, Slot
from assay.logic import Knowledge
from assay.metrics import METRICS, Evidence
from assay.metrics.average_interval import accuracy_of, interval_of
from assay.metrics.random_guesser import Guesser
from assay.metrics.transposed import transpose
from assay.seeds import rng_for
from tests.metrics.test_average_interval import interval_by_loop
from tests.metrics.test_random_guesser import KNOWN, Alone, guesses

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("m", (0, 1, 2))))


def evidence(rules, labels, said, probabilities=None):
    knowledge = Knowledge.of(SPACE, rules)
    concepts = np.zeros((len(labels), 3), dtype=int)
    chances = probabilities or (None,) * len(rules)
    return Evidence(knowledge, "test", np.array(labels), concepts, np.array(said), concepts, chances, (None,) * 3)


def test_a_closed_set_is_that_of_each_label_where_any_lacks_a_value():
    truth = np.array([[0, 0], [1, 1], [1, 3], [0, 3], [1, 1], [0, 0]])  # of s, 2 and 4 never occur
    tables = tuple(rng_for(0, "closed", size).dirichlet(np.ones(size), 6) for size in (2, 5))
    held = evidence({"y": "a", "s": "n + m"}, truth, truth * 0, tables)
    allowed = np.array([0, 1, 3])[tables[1][:, [0, 1, 3]].argmax(axis=1)]
    each = [f1_score(truth[:, 0], tables[0].argmax(axis=1), average="macro"),
            f1_score(truth[:, 1], allowed, average="macro", labels=[0, 1, 3])]  # fmt: skip
    assert METRICS["closed_label_f1"](held) == pytest.approx(np.mean(each)) and each[0] != each[1]
    for silent in ((None, tables[1]), (tables[0], None)):
        assert math.isnan(METRICS["closed_label_f1"](replace(held, label_probabilities=silent)))


def test_the_mean_f1_is_of_labels_that_are_true_or_false_not_of_numbers_of_two_values():
    truth, said = [[1, 1], [0, 0], [1, 0], [1, 1], [0, 1]], [[1, 0], [1, 0], [0, 0], [1, 1], [0, 1]]
    held = evidence({"y": "a", "odd": "n % 2"}, truth, said)
    assert [len(label.values) for label in held.knowledge.labels] == [2, 2]
    assert METRICS["label_mean_f1"](held) == pytest.approx(2 * 2 / (3 + 3))
    assert math.isnan(METRICS["label_mean_f1"](evidence({"odd": "n % 2", "s": "n + m"}, truth, said)))


def test_concepts_beside_objects_are_not_read_along_them():
    slots = tuple(Slot(f"o{number}", "object", ("s",)) for number in (1, 2, 3))
    concepts = [Concept(f"o{number}.s", (0, 1, 2)) for number in (1, 2, 3)]
    tables = tuple(rng_for(0, "beside", place).dirichlet(np.ones(3), 5) for place in range(4))
    for space in (
        ConceptSpace(tuple(concepts), slots),
        ConceptSpace((*concepts, Concept("free", (0, 1, 2))), slots),
    ):
        knowledge = Knowledge.of(space, {"y": "o1.s == 0"})
        codes = np.zeros((5, len(space)), dtype=int)
        given = tables[: len(space)]
        held = Evidence(knowledge, "test", codes[:, :1], codes, codes[:, :1], codes, (None,), given)
        found = transpose(held)
        assert (found is None) == (len(space) == 4)
        if found is not None:
            assert found.predicted_concepts.tolist() == np.stack(given, axis=1).argmax(axis=1).tolist()


def test_regions_that_are_all_right_and_all_wrong_have_no_variance_of_their_own():
    right = np.repeat([True, False], [12, 5])
    inside = np.stack([right, ~right], axis=1)
    often = np.arange(17) % 3 + 1
    average = accuracy_of(right, inside, often)
    assert average.interval == pytest.approx(interval_by_loop(average), abs=1e-12)
    low, high = average.interval
    assert 0 < low < 0.5 < high < 1
    assert interval_of([average]) == pytest.approx(average.interval, abs=1e-12)


@pytest.mark.parametrize("names", [None, ("r0", "r1"), ("r1", "r2"), ("r2", "r0")])
@pytest.mark.parametrize("seed", [0, 1])
def test_bounds_are_the_worst_rule_and_all_of_them_apart(names, seed):
    codes, weights, exact = guesses(KNOWN, seed)
    rough = Guesser(KNOWN, Alone(KNOWN), exact.distributions)
    places = [0, 1, 2] if names is None else [int(name[1]) for name in names]
    rates = (weights @ KNOWN.violations(codes))[places]
    found = rough.contradiction_rate(names)
    assert (found.low, found.high) == (pytest.approx(rates.max()), pytest.approx(min(1.0, rates.sum())))
    whole = rough.contradiction_rate()
    sane = rough.sane_f1(codes[:40])
    assert (sane.low, sane.high) == (0.0, pytest.approx(min(rough.set_f1(codes[:40]), 1 - whole.low)))


@pytest.mark.parametrize("name", ["concept_f1", "rsbench_concept_f1", "concept_mean_f1"])
def test_the_interval_is_of_concepts_of_which_something_is_known(name):
    rng = rng_for(0, "known")
    truth = rng.integers(0, [2, 3, 3], (40, 3))
    said = np.where(rng.random((40, 3)) < 0.7, truth, 0)
    labels = np.zeros((40, 1), dtype=int)
    knowledge = Knowledge.of(SPACE, {"y": "a"})
    unknown, silent = truth.copy(), said.copy()
    unknown[:, 0], silent[:, 0] = -1, -1
    held = Evidence(knowledge, "test", labels, unknown, labels, said, (None,), (None,) * 3)
    other = Evidence(knowledge, "test", labels, truth, labels, silent, (None,), (None,) * 3)
    assert METRICS[name].interval(held) == pytest.approx(METRICS[name].interval(other))
    assert METRICS[name](held) == pytest.approx(METRICS[name](other))
    nothing = replace(held, concepts=np.full_like(truth, -1))
    assert math.isnan(METRICS[name](nothing)) and all(map(math.isnan, METRICS[name].interval(nothing)))

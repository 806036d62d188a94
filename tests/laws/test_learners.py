"""Every learner on concepts, taught from irregular tables: it ends in answers that are probabilities, or in one line."""

import json

import numpy as np
import pytest

from assay import AssayError, Concept, ConceptSpace, Knowledge, bits
from assay.logic import ABSENT
from assay.models import Examples, one_hot
from tests.models.symbolic.tables import MIXED, OFFLINE, cars, drawn, taught, untaught

ONLY = ConceptSpace((Concept("always", ("x",)), Concept("b", (False, True))))
MAYBE = ConceptSpace((Concept("n", (3, 5, ABSENT)), Concept("t", (False, True, ABSENT))))
KNOWN = {
    "bits": Knowledge.of(bits([*"ab"]), {"y": "a and b"}),
    "mixed": Knowledge.of(MIXED, {"y": "n >= 2", "k": "n + b", "w": "'stop' if b else 'go'"}),
    "objects": Knowledge.of(cars(2, absent=True), {"y": "any(x.colour == 'red' for x in cars)"}),
    "one value": Knowledge.of(ONLY, {"y": "b", "z": "3 if b else 7"}),
    "may be absent": Knowledge.of(MAYBE, {"y": "n == 5"}),
}


def tables(knowledge, seed=0):
    """Give irregular tables: a name, codes and labels."""
    space = knowledge.space
    sizes = np.array([len(one.values) for one in knowledge.labels])
    rng = np.random.default_rng(seed)
    codes = drawn(space, 30, seed)
    labels = knowledge.labels_of(codes).copy()
    yield "empty", codes[:0], labels[:0]
    yield "one row", codes[:1], labels[:1]
    yield "two rows that contradict each other", codes[[0, 0]], np.stack([0 * sizes, sizes - 1])
    yield "the same row throughout", np.repeat(codes[:1], 9, axis=0), np.repeat(labels[:1], 9, axis=0)
    yield "no labels", codes, np.full_like(labels, -1)
    some = labels.copy()
    some[::2, 0] = -1
    yield "some labels", codes, some
    yield "one labelled row", codes, np.where(np.arange(30)[:, None] == 4, labels, -1)
    gaps = codes.copy()
    gaps[rng.random(gaps.shape) < 0.4] = -1
    yield "gaps", gaps, labels
    yield "no concepts", np.full_like(codes, -1), labels
    yield "labels that are noise", codes, rng.integers(0, sizes, labels.shape)


BRIEF = {"synthesis": {"programs": 500, "largest_group": 2}, "alpha-ilp": {"beam": 4, "depth": 2, "steps": 20}}
CASES = [(name, table) for name in OFFLINE for table in KNOWN]


@pytest.mark.parametrize(("name", "table"), CASES)
def test_irregular_tables_end_in_probabilities_or_in_one_line(name, table):

    knowledge = KNOWN[table]
    space, rng = knowledge.space, np.random.default_rng(1)
    fresh = drawn(space, 6, seed=2)
    asked = [one_hot(fresh, space), one_hot(fresh[:0], space), [rng.dirichlet(np.ones(s), 3) for s in space.sizes]]
    for what, codes, labels in tables(knowledge):
        spreads = one_hot(codes, space)
        model = untaught(name, knowledge, **BRIEF.get(name, {}))
        try:
            model.learn(Examples(knowledge, np.stack([own.argmax(axis=1) for own in spreads], axis=1), spreads, labels))
        except AssayError as error:
            assert "\n" not in str(error) and str(error), what
            assert (labels == -1).all(axis=0).any() or not len(labels), what  # nothing to learn some label from
            continue
        back = untaught(name, knowledge, **BRIEF.get(name, {}))
        back.set_state(json.loads(json.dumps(model.state())))
        back.set_arrays(model.arrays())
        for concepts in asked:
            answers = model.labels_from_concepts(concepts)
            for label, spread, again in zip(
                knowledge.labels, answers, back.labels_from_concepts(concepts), strict=True
            ):
                assert spread.shape == (len(concepts[0]), len(label.values)), what
                assert np.isfinite(spread).all() and (spread >= -1e-9).all(), what
                np.testing.assert_allclose(spread.sum(axis=1), 1, atol=1e-6, err_msg=what)
                np.testing.assert_allclose(spread, again, atol=1e-9, err_msg=what)
        assert all("\n" not in line for line in model.describe()), what


@pytest.mark.parametrize("name", OFFLINE)
def test_the_order_of_values_in_a_concept_makes_no_difference(name):
    """A truth value that is listed as True first is the same truth value."""
    spaces = [
        ConceptSpace((Concept("a", values), Concept("b", (False, True)))) for values in ((False, True), (True, False))
    ]
    one, other = (Knowledge.of(space, {"y": "a and not b"}) for space in spaces)
    codes = np.tile(one.space.all_codes().astype(np.int64), (6, 1))
    turned = codes.copy()
    turned[:, 0] = 1 - turned[:, 0]
    first = taught(name, one, codes).labels_from_concepts(one_hot(codes, one.space))[0]
    second = taught(name, other, turned).labels_from_concepts(one_hot(turned, other.space))[0]
    assert (first.argmax(axis=1) == second.argmax(axis=1)).all()

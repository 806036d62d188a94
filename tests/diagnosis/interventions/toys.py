"""Models for interventions: concepts of two to four values, groups, unequal costs, several labels."""

from types import SimpleNamespace

import numpy as np

from assay.base import rng_for
from assay.contracts import EVERY, BottleneckModel, LinearHead, one_hot, rule_head
from assay.diagnosis import Trial, Truth, Units
from assay.logic import Concept, ConceptSpace, Knowledge

SPACE = ConceptSpace(
    (Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("m", (0, 1, 2, 3)), Concept("b", (False, True)))
)
RULE = Knowledge.of(SPACE, {"y": "a and n > 0", "s": "(n + m) % 3", "z": "b"})
UNITS = Units.of(SPACE, {"am": ["a", "m"]}, {"n": 2.5, "am": 3.0})


def chances(rows=7, seed=0):
    return [rng_for(seed, "chances", place).dirichlet(np.ones(size), rows) for place, size in enumerate(SPACE.sizes)]


def by_rule(rows=7, seed=0):
    return BottleneckModel("toy", chances(rows, seed), rule_head(RULE))


def linear(rows=7, sizes=(2, 2, 2)):
    rng = rng_for(0, "linear", *sizes)
    weights = [rng.normal(size=(size, sum(sizes))) for size in SPACE.sizes]
    head = LinearHead(weights, rng.normal(size=sum(sizes)), sizes)
    return BottleneckModel("linear", chances(rows), head, head)


def truths(rows=7):
    return np.stack(
        [rng_for(1, "truth", place).integers(0, size, rows) for place, size in enumerate(SPACE.sizes)], axis=1
    )


def certain(codes, space=SPACE):
    """Codes as answers, -1 being none."""
    return [one_hot(codes[:, place], size) for place, size in enumerate(space.sizes)]


def trial(model, units=UNITS, truth=None, space=SPACE, decided=None, **more):
    """A trial with true answers; rows that are decided alone are not asked about."""
    truth = truths(len(model.concepts[0])) if truth is None else np.asarray(truth)
    labels = model.answer(EVERY, {}).label_codes
    closed = None if decided is None else SimpleNamespace(decides=lambda _: np.asarray(decided))
    return Trial(model, units, certain(truth, space), Truth(truth, labels), abstention=closed, **more)


def state(*given, **more):
    held = trial(*given, **more)
    return held.state(held.model.answer(EVERY, {}))

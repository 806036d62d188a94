"""Models drawn at random: rules or none, gaps, silence, noise, probabilities, few rows and many, one split or more."""

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, LabelNoise, Slot, bits, digits, parse
from tests.diagnosis.models import FINE, SIGNS, Model, Random, certain, evidence, redrawn, rule, unruled, worlds

LOOKS = (("shape", ("square", "circle", "star")), ("colour", ("red", "green", "blue")))
OBJECTS = ConceptSpace(
    tuple(Concept(f"o{i}.{what}", values) for i in (1, 2) for what, values in LOOKS),
    tuple(Slot(f"o{i}", "object", ("shape", "colour")) for i in (1, 2)),
    (EncoderGroup("shape", ("o1.shape", "o2.shape")), EncoderGroup("colour", ("o1.colour", "o2.colour"))),
)
ALWAYS = ConceptSpace((Concept("always", ("x",)), Concept("b", (False, True))))
PAIRS = [(x, z) for x in "abcd" for z in "abcd" if x != z]
RULES = (
    rule("a and b or c"),
    Knowledge.of(bits(list("pqr")), {"y": "xor(p, q, r)", "z": "p or q"}),
    Knowledge.of(digits(["u", "v"], range(5)), {"sum": "u + v"}),
    Knowledge.of(OBJECTS, {"same": "o1.shape == o2.shape"}),
    FINE,
    unruled(SIGNS),
    unruled(bits(["a", "b"]), range(7)),
    rule("b", ALWAYS),
    rule("n == 1 and b", ConceptSpace((Concept("n", (0, 1)), Concept("b", (True, False))))),
    Knowledge.of(
        bits(list("abc")), {"y": "a + b + c >= 2", "first": "a"}, odds={"y": LabelNoise(parse("a + b + c - 2"), 0.7)}
    ),
    Knowledge.of(bits(list("abcd")), {f"y{i}": f"{x} and {z}" for i, (x, z) in enumerate(PAIRS)}),
)
"""Bits, digits, objects, one value only, numbers that equal truths, many labels, labels that are drawn, and no rule."""
SPLITS = ("test", "ood", "valid", "hard")


def random_model(seed: int) -> Model:
    """Return the random model of a seed."""
    rng, knowledge = rng_for(seed, "random model"), RULES[seed % len(RULES)]
    names = SPLITS[: int(rng.integers(1, 4))]
    splits = {name: random_split(knowledge, name, rng) for name in names}
    training = worlds(knowledge.space, int(rng.choice([1, 5, 60])), rng) if rng.random() < 0.7 else None
    return Model(splits, training)


def random_split(knowledge: Knowledge, name: str, rng: Random):  # type: ignore[no-untyped-def]
    """Return what a random model predicts of a random split."""
    space = knowledge.space
    sizes, values = np.array(space.sizes), np.array([len(label.values) for label in knowledge.labels])
    count = int(rng.choice([1, 2, 7, 30, 90, 300]))
    truth, shape = worlds(space, count, rng), (count, len(values))
    labels = knowledge.labels_of(truth) if knowledge.has_rule and rng.random() < 0.8 else rng.integers(0, values, shape)
    said = redrawn(truth, float(rng.choice([0, 0.02, 0.15, 0.5])), rng, np.flatnonzero(sizes > 1), space)
    table = redrawn(truth, float(rng.choice([0, 0, 0.15])), rng, np.flatnonzero(sizes > 1), space)
    table = np.where(rng.random(table.shape) < rng.choice([0, 0, 0.05, 0.5, 1]), -1, table)
    predicted = knowledge.labels_of(said) if knowledge.has_rule and rng.random() < 0.5 else labels
    noise = rng.random(shape) < rng.choice([0, 0.2])
    predicted = np.where(noise, rng.integers(0, values, shape), predicted)
    said = np.where(rng.random(said.shape) < rng.choice([0, 0, 0.1, 1]), -1, said)
    soft, spoken = rng.random() < 0.5, (said >= 0).all(axis=0) & (sizes > 1)
    sure = [unsure(said[:, i], size, rng) if soft and spoken[i] else None for i, size in enumerate(sizes)]
    odds = [unsure(predicted[:, i], size, rng) if soft else None for i, size in enumerate(values)]
    return evidence(knowledge, table, said, predicted, labels, name, sure, odds)


def unsure(codes: Codes, size: int, rng: Random) -> Array:
    """Return probabilities that are highest for these codes."""
    return certain(codes, rng.uniform(1 / size + 0.01, 1, len(codes)), int(size))

"""Every learner on concepts learns what it did from small tables, and answers as it did, under most of its settings."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from assay.arrays import Array
from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits
from assay.config import Settings
from assay.logic import Knowledge
from assay.models import MODELS
from assay.models.symbolic.examples import Examples
from assay.models.symbolic.perception import one_hot
from assay.seeds import rng_for
from tests.models.pins import require_pins, summary
from tests.models.tiles import tiles

TIMES = ("seconds",)
"""What no two runs have in common."""
MIXED = ConceptSpace(
    (Concept("n", (0, 1, 2, 3), counts=True), Concept("b", (False, True)), Concept("s", ("x", "y", "z")))
)
CARS = ConceptSpace(
    tuple(
        concept
        for car in ("c1", "c2", "c3")
        for concept in (
            Concept(
                f"{car}.colour",
                ("red", "blue", *([ABSENT] if car == "c3" else [])),
                nothing=ABSENT if car == "c3" else None,
            ),
            Concept(
                f"{car}.load", (0, 1, 2, *([ABSENT] if car == "c3" else [])), nothing=ABSENT if car == "c3" else None
            ),
        )
    ),
    tuple(Slot(car, "cars", ("colour", "load")) for car in ("c1", "c2", "c3")),
)
TABLES = {
    "bits": (bits([*"abcd"]), {"y": "a and not b or xor(c, d)"}, 40, 0.0),
    "noisy bits": (bits([*"abcd"]), {"y": "a and b or c"}, 60, 0.1),
    "mixed": (MIXED, {"y": "n >= 2 and b or s == 'y'", "k": "n + b"}, 40, 0.0),
    "noisy mixed": (MIXED, {"y": "n >= 2 and not b", "k": "max(n, 1)"}, 50, 0.15),
    "cars": (CARS, {"east": "any(x.colour == 'red' and x.load >= 1 for x in cars)"}, 40, 0.0),
    "noisy cars": (CARS, {"east": "count(x.load == 2 for x in cars) >= 1"}, 40, 0.08),
}
NARROW = {"counts": 0, "triples": False, "objects": 2, "literals": 2, "seconds": 600}
SEARCH = {"seconds": 600, "largest_group": 2}
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{f"tree, {table}": ("tree", table, {}) for table in ("noisy bits", "mixed", "noisy cars")},
    "tree, values": ("tree", "mixed", {"encoding": "values", "depth": 2, "reading": "soft"}),
    "tree, both": ("tree", "noisy mixed", {"encoding": "both", "leaf": 6, "scaled": True, "reading": "soft"}),
    **{f"rules, {table}": ("rules", table, {}) for table in TABLES},
    "rules, few": ("rules", "mixed", {"rules": 2, "questions": 1, "beam": 2, "least": 5, "reading": "soft"}),
    "linear": ("linear", "noisy mixed", {}),
    "linear, values": ("linear", "mixed", {"encoding": "values", "scaled": False, "strength": 0.1, "reading": "soft"}),
    "linear, few steps": ("linear", "noisy bits", {"steps": 2, "encoding": "both"}),
    "mlp": ("mlp", "mixed", {"steps": 12, "hidden": [5]}),
    "mlp, deep": (
        "mlp",
        "noisy bits",
        {"steps": 9, "hidden": [4, 3], "learning_rate": 0.02, "decay": 0.5, "reading": "soft", "scaled": False},
    ),
    **{f"{model}, tiles": (model, "tiles", {}) for model in ("tree", "rules", "linear")},
    **{f"ilp, {table}": ("ilp", table, NARROW) for table in TABLES},
    "ilp, single": ("ilp", "cars", {**NARROW, "objects": 1, "others": False, "order": False, "comparisons": False}),
    "ilp, counts": ("ilp", "noisy cars", {**NARROW, "objects": 1, "counts": 2, "clauses": 1, "reading": "soft"}),
    "ilp, pairs": ("ilp", "noisy bits", {**NARROW, "clauses": 2, "literals": 3}),
    **{f"synthesis, {table}": ("synthesis", table, SEARCH) for table in ("bits", "mixed", "cars")},
    "synthesis, noisy": ("synthesis", "noisy bits", {**SEARCH, "programs": 300, "reading": "soft"}),
    "synthesis, cheap errors": ("synthesis", "noisy bits", {**SEARCH, "programs": 200, "error_bits": 1.0}),
    "synthesis, few programs": ("synthesis", "noisy cars", {"seconds": 600, "largest_group": 1, "programs": 100}),
}


@cache
def examples(table: str) -> Examples:
    """Return the examples of a table, of which some labels are wrong and one is missing."""
    space, rules, size, noise = TABLES[table]
    rng = rng_for(0, "tables", table)
    knowledge = Knowledge.of(space, rules)
    codes = np.stack([rng.integers(0, values, size) for values in space.sizes], axis=1)
    labels = np.array(knowledge.labels_of(codes))
    wrong = rng.random(labels.shape) < noise
    sizes = np.array([len(label.values) for label in knowledge.labels])
    labels = np.where(wrong, (labels + 1) % sizes, labels)
    labels[3, 0] = -1
    return Examples(knowledge, codes, one_hot(codes, space), labels)


def uncertain(space: ConceptSpace, size: int = 9) -> list[Array]:
    """Return probabilities of concepts."""
    rng = rng_for(0, "uncertain", space.names)
    return [rng.dirichlet(np.full(values, 0.6), size) for values in space.sizes]


def timeless(data: Any) -> Any:
    """Return plain data without what a clock says."""
    if isinstance(data, Mapping):
        return {str(key): timeless(part) for key, part in data.items() if key not in TIMES}
    return [timeless(part) for part in data] if isinstance(data, (list, tuple)) else data


def measure(name: str) -> Any:
    """Return what a learner learns from a table, and what it then answers."""
    model, table, settings = CASES[name]
    if table == "tiles":
        return fitted(model)
    data = examples(table)
    learner = MODELS[model](data.knowledge, None, Settings(settings), {}, 2)
    learner.learn(data)
    sure, unsure = (learner.labels_from_concepts(list(given)) for given in (data.probabilities, uncertain(data.space)))
    right = [
        int((label.argmax(axis=1) == data.labels[:, place])[data.labels[:, place] >= 0].sum())
        for place, label in enumerate(sure)
    ]
    half = [
        given[:9] if place % 2 else own
        for place, (given, own) in enumerate(zip(data.probabilities, uncertain(data.space), strict=True))
    ]
    return {
        "half": [summary(label) for label in learner.labels_from_concepts(half)],
        "state": timeless(learner.state()),
        "arrays": {part: [list(array.shape), *summary(array)] for part, array in learner.arrays().items()},
        "words": learner.in_words(),
        "right": right,
        "answers": [summary(label) for label in unsure],
    }


def fitted(model: str) -> Any:
    """Return what a learner learns from the true concepts of two tiles, and what it answers when some are set."""
    data = tiles()
    learner = MODELS[model](data.knowledge, data.layout, Settings({"reading": "soft"}), {}, 2)
    learner.fit(data["train"], data["valid"])
    test = data["test"]
    shares = np.tile([[0.2, 0.5, 0.3]], (len(test), 1))
    said = [learner.answers(test, do) for do in ({}, {0: np.zeros(len(test), dtype=int)}, {2: shares})]
    held = learner.answerer(test).answer(np.array([3, 1]), {0: np.eye(3)[[2, 1]]})
    return {
        "history": [[epoch.phase, epoch.number, epoch.loss, epoch.score, epoch.best] for epoch in learner.history],
        "answers": [summary(*own.labels, *own.concepts) for own in (*said, held)],
    }


@pytest.mark.parametrize("name", CASES)
def test_it_learns_what_it_did(name: str) -> None:
    require_pins(__file__, name, measure(name))

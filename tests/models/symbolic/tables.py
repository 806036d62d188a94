"""Learners on concepts, taught from tables of codes, and what they then say; runs and predictions to perceive by."""

from dataclasses import replace

import numpy as np

from assay import Concept, ConceptSpace, compile_diagram
from assay.base import Settings
from assay.logic import ABSENT, Slot
from assay.models import MODELS, Examples, TrainSpec, one_hot, train_run
from assay.tasks import TASKS
from assay.testing import oracle

SYMBOLIC = [name for name in MODELS if not MODELS[name].is_network and name not in ("aleph", "popper")]  # not installed
OFFLINE = [name for name in SYMBOLIC if name != "incontext"]
"""Those that are taught by tables alone: the other one asks an endpoint, with pictures or words."""
QUICK = {
    "synthesis": {"seconds": 60.0, "programs": 20_000, "largest_group": 3},
    "ilp": {"seconds": 60.0, "objects": 2, "literals": 3, "counts": 1, "triples": False},
    "alpha-ilp": {"seconds": 60.0, "beam": 12, "depth": 3, "steps": 200},
    "mlp": {"steps": 300},
}
MIXED = ConceptSpace(
    (Concept("n", (0, 1, 2, 3), counts=True), Concept("b", (False, True)), Concept("s", ("x", "y", "z")))
)


def cars(number=3, absent=False):
    """Return the space of some cars with a colour and a load; they may be absent."""
    more = (ABSENT,) if absent else ()
    slots = tuple(Slot(f"car{place + 1}", "cars", ("colour", "load")) for place in range(number))
    values = {"colour": ("red", "blue", "green", *more), "load": (1, 2, *more)}
    concepts = tuple(
        Concept(slot.concept(name), values[name], nothing=ABSENT if absent else None)
        for slot in slots
        for name in slot.attributes
    )
    return ConceptSpace(concepts, slots)


def drawn(space, size, seed=0):
    """Return worlds drawn evenly, in which a car is absent as a whole."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, len(concept.present), size) for concept in space.concepts], axis=1)
    for slot in space.slots:
        if space.concept(slot.concepts[0]).optional:
            gone = rng.random(size) < 0.3
            for name in slot.concepts:
                codes[gone, space.place(name)] = space.concept(name).nothing_code
    return codes


def untaught(name, knowledge, seed=0, **settings):
    """Return a learner before it has learned."""
    return MODELS[name](knowledge, None, Settings({**QUICK.get(name, {}), **settings}), {}, seed)


def taught(name, knowledge, codes, labels=None, seed=0, **settings):
    """Return a learner after learning from these worlds, of which the labels may be others than the rule's."""
    model = untaught(name, knowledge, seed, **settings)
    labels = knowledge.labels_of(codes) if labels is None else labels
    model.learn(Examples(knowledge, codes, one_hot(codes, knowledge.space), labels))
    return model


def said(model, codes):
    """Return the label codes that a model gives in these worlds."""
    spreads = model.labels_from_concepts(one_hot(codes, model.space))
    return np.stack([spread.argmax(axis=1) for spread in spreads], axis=1)


def notes(model, label="y"):
    """Return what the record keeps of the learning of a label."""
    return model.state()["labels"][label]["notes"]


def differing(one, other, space):
    """Count the worlds where two formulas differ, by a compiled diagram."""
    counts = compile_diagram([one, other], space).counts
    return sum(ways for outcome, ways in counts.items() if outcome[0] != outcome[1])


def trains(rule, size, seed=0):
    """Return the knowledge of trains and the codes of some."""
    task = TASKS["trains"](image=False, rule=rule)
    split = next(one for one in task.splits() if one.name == "train")
    return task.knowledge, task.source_for(replace(split, size=size), seed).codes(np.arange(size))


def learn(name, data, folder, seed=0, **settings):
    """Train a learner on a dataset and keep its run."""
    return train_run(TrainSpec(name, Settings(settings), seed), data, folder)


def write_predictions(data, folder, change=lambda evidence: evidence, splits=("train", "valid", "test", "hard")):
    """Write what an eye says that is right, or changed, about each split."""
    folder.mkdir()
    for split in splits:
        change(oracle(data[split])).write(folder / f"{split}.parquet", data.knowledge)
    return folder


def a_rule(rng, names="abcd"):
    """Draw a rule over bits: one or two conjunctions of one or two literals."""
    parts = []
    for _ in range(int(rng.integers(1, 3))):
        some = rng.choice(list(names), int(rng.integers(1, 3)), replace=False)
        parts.append(" and ".join(f"not {name}" if rng.random() < 0.4 else name for name in some))
    return " or ".join(f"({part})" for part in parts)

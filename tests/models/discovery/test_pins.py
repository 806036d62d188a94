"""Every method of discovery finds what it found in a few examples, and rules on top are learned as they were."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from assay.config import Settings, validate
from assay.models import METHODS, DiscoveryPlan, discover
from assay.models.discovery.method import Scaler, SplitRows
from assay.models.discovery.rule_on_top import learn_rule
from assay.models.discovery.slots import DrawnSize
from assay.models.discovery.sources import open_source, pictures_of
from assay.seeds import rng_for
from tests.models.pins import require_pins, summary
from tests.models.tiles import tiles

FEATURES = 7


def rows(split: str) -> SplitRows:
    """Return rows of the examples of a split: some features follow concepts, others are noise."""
    data = tiles()[split]
    rng = rng_for(0, "rows", split)
    ways = rng_for(0, "ways").normal(size=(data.concepts.shape[1], FEATURES))
    numbers = data.concepts @ ways + 0.3 * rng.normal(size=(len(data), FEATURES)) + 0.4
    return SplitRows(data, torch.from_numpy(numbers).float())


def method(name: str, settings: Mapping[str, Any], seed: int = 1) -> Any:
    """Return the units that a method finds, and the labels of its head."""
    make = METHODS[name]
    found = make(validate(make.Config, Settings({"device": "cpu", **settings})), seed)
    told = []
    train, valid = (
        pictures_of(tiles()[split]) if make.reads == "pictures" else rows(split) for split in ("train", "valid")
    )
    found.fit(train, valid, lambda *what: told.append(what))
    units = found.units(valid)
    labels = found.label_probabilities(units) or []
    free = name in ("ica", "nmf")  # their units come in any order and sign where sums are rounded otherwise
    return {
        "shape": list(units.shape),
        "units": summary(np.sort(np.abs(units).sum(axis=0))) if free else summary(units),
        "labels": [summary(own) for own in labels],
        "names": list(found.names),
        "notes": [note for note in found.notes if "explain" not in note],
        "told": [list(what) for what in told],
    }


def losses() -> Any:
    """Return the loss of a dictionary of which some units were idle for long, or nearly so."""
    make = METHODS["sae-topk"]
    found = make(validate(make.Config, Settings({"device": "cpu", "steps": 1, "units": 9, "active": 2})), 4)
    found.fit(rows("train"), rows("valid"), lambda *_: None)
    inputs = found.scaler(rows("valid").rows)
    idle = [torch.zeros(9), torch.full((9,), 50.0), torch.linspace(30, 90, 9)]
    return [[float(loss.detach()), *summary(units)] for loss, units in (found.loss(inputs, own) for own in idle)]


def rule(learner: str, noise: float) -> Any:
    """Return the rule learned from the concepts of examples, of which some are read wrongly."""
    knowledge = tiles().knowledge
    codes = np.concatenate([tiles()[split].concepts for split in ("train", "valid", "test")])
    labels = np.concatenate([tiles()[split].labels for split in ("train", "valid", "test")])
    rng = rng_for(0, "readings")
    wrong = rng.random(codes.shape) < noise
    read = np.where(wrong, (codes + 1) % np.array(knowledge.space.sizes), codes)
    concepts = [np.eye(size)[read[:, place]] * 0.8 + 0.2 / size for place, size in enumerate(knowledge.space.sizes)]
    learned = learn_rule(learner, knowledge, concepts, labels, 2)
    answers = [summary(own) for own in learned.labels(concepts)]
    texts = [[name, own["formulas"], own["otherwise"]] for name, own in learned.program["labels"].items()]
    return {**learned.to_dict(), "program": texts, "answers": answers}


def source(text: str, layer: str | None, most: int) -> Any:
    """Return the activations that a source gives."""
    torch.manual_seed(0)
    opened = open_source(text, layer, tiles(), most, "cpu")
    given = opened.rows(tiles()["test"])
    return [opened.name, opened.layer, list(given.rows.shape), *summary(given.rows)]


def sizes() -> Any:
    """Return scaled rows, and pictures in the size in which they are drawn."""
    images = pictures_of(tiles()["valid"]).rows
    drawn = DrawnSize.of(11, 16, 12).scaled_for(images)
    return {
        "scaled": summary(Scaler.of(rows("train").rows)(rows("valid").rows)),
        "drawn": [drawn.height, drawn.width, *summary([drawn.mean, drawn.deviation]), *summary(drawn(images))],
    }


def whole(name: str, settings: Mapping[str, Any]) -> Any:
    """Return a discovery from start to end."""
    plan = DiscoveryPlan.of(name, "mlp", Settings({"device": "cpu", "units": 5, "repetitions": 2, **settings}), (0, 2))
    found = discover(plan, tiles())
    record = found.to_dict()
    said = found.first.predict(found.read(tiles()["test"]))
    return {
        "model": found.model,
        **{
            key: record[key]
            for key in ("method", "source", "matched_on", "scored_on", "examples", "summary", "stability")
        },
        "rule": record["rule_from_true_concepts"]["text"],
        "seeds": [[seed["units"], seed["live_units"], seed["names"], len(seed["matches"])] for seed in record["seeds"]],
        "labels": [summary(answer.codes) for answer in said.labels.values()],
        "concepts": [summary(answer.probabilities) for answer in said.concepts.values()],
    }


SHORT = {"steps": 8, "batch_size": 10, "units": 6}
CASES: dict[str, Callable[[], Any]] = {
    "sae-topk": partial(method, "sae-topk", {**SHORT, "active": 2}),
    "sae-topk, losses": losses,
    "sae-l1": partial(method, "sae-l1", {**SHORT, "penalty": 0.3}),
    "sae-l1, fast": partial(method, "sae-l1", {"steps": 55, "units": 4, "learning_rate": 0.01}),
    "pca": partial(method, "pca", {"units": 3}),
    "pca, too many": partial(method, "pca", {"units": 30}),
    "ica": partial(method, "ica", {"units": 2, "steps": 200}),
    "nmf": partial(method, "nmf", {"units": 3, "steps": 40}),
    "kmeans": partial(method, "kmeans", {"units": 3}),
    "posthoc-cbm": partial(method, "posthoc-cbm", {}),
    "posthoc-cbm, ridge": partial(method, "posthoc-cbm", {"ridge": 0.7, "head_penalty": 0.05}),
    "random-directions": partial(method, "random-directions", {"units": 4}),
    "random": partial(method, "random", {"units": 4}, 3),
    "slots": partial(method, "slots", {"steps": 3, "batch_size": 5, "slots": 3, "width": 4, "side": 12}),
    "slots, rounds": partial(method, "slots", {"steps": 1, "batch_size": 2, "width": 6, "side": 8, "rounds": 1}),
    "rule of a tree": partial(rule, "tree", 0.0),
    "rule of a tree, noisy": partial(rule, "tree", 0.1),
    "rule of a list": partial(rule, "rules", 0.0),
    "pictures": partial(source, "input", None, 60),
    "a backbone": partial(source, "conv-pool", None, 20),
    "a layer of a backbone": partial(source, "conv-pool", "0.0", 100),
    "sizes": sizes,
    "whole, pca": partial(whole, "pca", {}),
    "whole, posthoc-cbm": partial(whole, "posthoc-cbm", {"learner": "rules", "examples": 21}),
}


def measure(name: str) -> Any:
    """Return what a case gives."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_it_finds_what_it_found(name: str) -> None:
    require_pins(__file__, name, measure(name))

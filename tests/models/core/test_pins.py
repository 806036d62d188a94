"""Training, supervision, inputs and answers under interventions give what they gave, for all values of each setting."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.config import Settings
from assay.logic import Knowledge
from assay.models import MODELS, Model, TorchSplit, supervised_labels
from assay.models.core.feeds import Feed
from assay.models.core.fitting import fit_together
from assay.models.core.losses import Supervision, supervision_mask
from assay.models.core.subconcepts import with_reading
from assay.models.core.tensors import Annotations, Batch, to_batch
from assay.render import Box, Layout
from tests.models.pins import require_pins, summary
from tests.models.steps import measure_network
from tests.models.tiles import batch, model_of, tiles

SHORT = {"epochs": 3, "batch_size": 10, "learning_rate": 0.02, "keeps": "last"}
CPU = torch.device("cpu")


def outcome(model: Model) -> dict[str, Any]:
    """Return how training went, and what a model answers after it."""
    answers = model.answers(tiles()["test"], {})
    return {
        "history": [[epoch.phase, epoch.number, round(epoch.loss, 6), epoch.best] for epoch in model.history],
        "scores": [round(epoch.score, 6) for epoch in model.history],
        "weights": summary(*model.parameters()),
        "answers": [summary(part) for part in (*answers.labels, *answers.concepts)],
        "facts": model.training_facts,
    }


def fit(name: str, settings: Mapping[str, Any]) -> Any:
    """Return what training a model on two tiles gives."""
    model = model_of(name, {**SHORT, **settings})
    model.fit(tiles()["train"], tiles()["valid"])
    return outcome(model)


def fit_many(name: str, settings: Mapping[str, Any]) -> Any:
    """Return what training three seeds side by side gives."""
    models = [model_of(name, {**SHORT, **settings}, seed=seed) for seed in (0, 3, 5)]
    fit_together(models, tiles()["train"], tiles()["valid"])
    return [outcome(model) for model in models]


def scores(name: str, settings: Mapping[str, Any]) -> Any:
    """Return the scores on validation of a network that is not trained."""
    model = model_of(name, settings)
    feed = Feed(tiles()["train"], CPU)
    kinds = ("labels", "concepts", "intervened", "all")
    return {what: round(float(model.validation_f1(feed, what)), 6) for what in kinds}


def under_interventions(name: str, settings: Mapping[str, Any]) -> Any:
    """Return how a network answers when concepts are set, all examples or some."""
    model, data = model_of(name, settings), tiles()["test"]
    answerer = model.answerer(data)
    rows = np.array([5, 2, 9])
    given = {1: np.eye(2)[[0, 1, 1]], 2: np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])}
    said = answerer.answer(rows, given)
    some = answerer.answer(slice(3, 8), {0: np.eye(3)[[2, 1, 0, 1, 2]]})
    parts = [*said.labels, *said.concepts, *some.labels, *some.concepts, *answerer.concepts]
    linear = answerer.linear
    return {
        "kind": type(answerer).__name__,
        "name": answerer.name,
        "soft": answerer.soft,
        "work": getattr(answerer, "work", 0),
        "answers": [summary(part) for part in parts],
        "linear": None if linear is None else [summary(*linear.weights), summary(linear.bias), list(linear.sizes)],
    }


def supervision(rules: Mapping[str, Any]) -> Any:
    """Return which concepts are supervised."""
    model = model_of("cbm", rules)
    mask = supervision_mask(Supervision(**rules), model.space, batch(), 3)
    return {"mask": [int(mask.sum()), *summary(mask)], "labels": summary(supervised_labels(model, tiles()["train"]))}


def made_of_cells(name: str, settings: Mapping[str, Any]) -> Any:
    """Return what a network computes whose concepts are made of cells, which it reads first."""
    cells = digits(["p", "q", "r"], range(3))
    made = {"up": "p < q", "down": "q < r", "most": "max(p, q)", "lit": "p == r"}
    finer = Knowledge.of(cells, made)
    space = ConceptSpace(
        (*bits(["up", "down", "lit", "free"]).concepts[:2], Concept("most", (0, 1, 2)), *bits(["lit", "free"]).concepts)
    )
    knowledge = Knowledge.of(space, {"y": "up and not down or free", "k": "most + lit"}, subconcepts=finer)
    layout = Layout(12, 4, 1, {cell: Box(4 * place, 0, 4 * place + 4, 4) for place, cell in enumerate("pqr")})
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 3, (16, 3))
    made_codes = {label.name: finer.labels_of(codes)[:, place] for place, label in enumerate(finer.labels)}
    concepts = np.stack([made_codes.get(name, rng.integers(0, 2, 16)) for name in space.names], axis=1)
    pictures = torch.from_numpy(rng.integers(0, 255, (16, 1, 4, 12), dtype=np.uint8))
    labels = torch.from_numpy(np.array(knowledge.labels_of(concepts)))
    model = MODELS[name](knowledge, layout, Settings({"backbone": "mlp", "device": "cpu", **settings}), {}, 3)
    usual, way = model.phases, model.config.subconcepts

    def phases(data: Annotations) -> Any:
        return with_reading(model, usual(data), codes, way, 4)

    model.phases = phases
    shown = Batch(labels, torch.from_numpy(concepts), torch.arange(16), pictures)
    facts = measure_network(model, shown)
    sizes = [[phase.batch_size, len(phase.parameters)] for phase in phases(shown)]
    return {**facts, "sizes": sizes}


def settings_of(name: str) -> Any:
    """Return the settings that a network has where none are given."""
    config = model_of(name, {}).config
    return {key: str(value) for key, value in config.model_dump().items() if key not in ("device", "backbone")}


def tensors(share: float, channels_last: bool) -> Any:
    """Return a split as a batch, as a torch dataset, and on its way to a network."""
    data = tiles()["valid"]
    whole, single, feed = to_batch(data, CPU), TorchSplit(data), Feed(data, CPU, share, channels_last)
    orders = torch.stack([torch.arange(len(data)), torch.arange(len(data)).flip(0)])
    parts = [[rows.tolist(), [] if own is None else summary(own)] for rows, own in feed.batches(orders, 9)]
    chosen = feed.choose(np.array([4, 1, 7])).chunks(2)
    return {
        "whole": [list(whole.images.shape), *(summary(own) for own in (whole.images, whole.concepts, whole.pictures))],
        "single": [summary(*single[-2]), summary(*(own for row in single.__getitems__([3, 0]) for own in row))],
        "feed": [len(feed), feed.is_held, *(summary(own) for own in feed.chunks(8))],
        "batches": parts,
        "chosen": [[list(own.shape), *summary(own)] for own in chosen],
    }


NETWORKS = [name for name in MODELS if MODELS[name].is_network]
CASES: dict[str, Callable[[], Any]] = {
    "sgd": partial(fit, "cbm", {"optimizer": "sgd", "learning_rate": 0.2}),
    "sgd, momentum, decay": partial(fit, "cbm", {"optimizer": "sgd", "momentum": 0.5, "weight_decay": 0.1}),
    "adam": partial(fit, "cbm", {}),
    "adam, decay": partial(fit, "cbm", {"weight_decay": 0.3}),
    "adamw": partial(fit, "cbm", {"optimizer": "adamw", "weight_decay": 0.9}),
    "rmsprop": partial(fit, "cbm", {"optimizer": "rmsprop", "learning_rate": 0.001, "momentum": 0.3}),
    "exponential": partial(fit, "dpl", {"optimizer": "sgd", "learning_rate": 0.5, "learning_rate_decay": 0.5}),
    "step": partial(
        fit, "dpl", {"optimizer": "sgd", "schedule": "step", "schedule_epochs": 2, "learning_rate_decay": 0.1}
    ),
    "cosine": partial(fit, "dpl", {"optimizer": "sgd", "schedule": "cosine", "learning_rate": 0.4}),
    "warm-up": partial(fit, "dpl", {"optimizer": "sgd", "warmup_epochs": 2, "learning_rate": 0.4}),
    "best epoch": partial(fit, "cbm", {"keeps": "best", "epochs": 4}),
    "patience": partial(fit, "dpl", {"keeps": "best", "epochs": 6, "patience": 1, "learning_rate": 1e-6}),
    "dropout": partial(fit, "blackbox", {"dropout": 0.6, "epochs": 2}),
    "strides": partial(fit, "cbm", {"backbone": "conv-stride", "epochs": 1, "optimizer": "sgd"}),
    "streamed": partial(fit, "cbm", {"memory_share": 0, "epochs": 2}),
    "some supervised": partial(fit, "cbm", {"supervised_share": 0.3, "supervised_values": [2, True]}),
    "replay": partial(fit, "cbm", {"supervised_share": 0.2, "supervised_replay": 4}),
    "groups": partial(fit, "cbm", {"group_step": 0.5, "group_examples": 15, "epochs": 2}),
    "all groups": partial(fit, "blackbox", {"group_step": 0.2, "epochs": 2}),
    "reasons": partial(fit, "blackbox", {"reasons_weight": 2.0, "reasons_examples": 9, "epochs": 2}),
    "all reasons": partial(fit, "cbm", {"reasons_weight": 0.5, "group_step": 0.1, "epochs": 1}),
    "text": partial(fit, "cbm", {"input": "text", "backbone": "bag-of-ngrams", "epochs": 2}),
    "cut text": partial(fit, "blackbox", {"input": "text", "backbone": "text-transformer", "tokens": 3, "epochs": 2}),
    "sequential": partial(fit, "cbm", {"mode": "sequential", "epochs": 2}),
    "independent": partial(fit, "cbm", {"mode": "independent", "epochs": 2, "head": "mlp"}),
    "cem": partial(fit, "cem", {"epochs": 2, "width": 4}),
    "semantic": partial(fit, "semantic", {"epochs": 2, "keeps": "best"}),
    "rising p": partial(fit, "ltn", {"last_p": 7.0}),
    "members": partial(fit, "bears", {"members": 2, "epochs": 2}),
    "side by side": partial(fit_many, "cbm", {"epochs": 2}),
    "side by side, phases": partial(fit_many, "cbm", {"mode": "sequential", "epochs": 2, "keeps": "best"}),
    "scores of cbm": partial(scores, "cbm", {}),
    "scores of cem": partial(scores, "cem", {}),
    "scores of dpl": partial(scores, "dpl", {}),
    "interventions on cbm": partial(under_interventions, "cbm", {}),
    "interventions on a hard cbm": partial(under_interventions, "cbm", {"hard": True}),
    "interventions on dpl": partial(under_interventions, "dpl", {}),
    "interventions on cem": partial(under_interventions, "cem", {}),
    "interventions on ecbm": partial(under_interventions, "ecbm", {"steps": 3}),
    "interventions on bears": partial(under_interventions, "bears", {"members": 2}),
    "supervised": partial(supervision, {}),
    "supervised concepts": partial(supervision, {"supervised_concepts": ["right.shade", "left.big"]}),
    "supervised values": partial(supervision, {"supervised_values": [0, False]}),
    "supervised share": partial(supervision, {"supervised_share": 0.45}),
    "none supervised": partial(supervision, {"supervised_share": 0.0}),
    "tensors": partial(tensors, 0.25, False),
    "tensors, channels last": partial(tensors, 0.25, True),
    "tensors, streamed": partial(tensors, 0.0, False),
    "cells": partial(made_of_cells, "cbm", {}),
    "cells, tuned": partial(made_of_cells, "cem", {"subconcepts": "tuned", "width": 3}),
    "cells, latent": partial(made_of_cells, "dpl", {"subconcepts": "latent"}),
    "cells, of features": partial(made_of_cells, "probcbm", {"samples": 2}),
    **{f"defaults of {name}": partial(settings_of, name) for name in NETWORKS},
}


def measure(name: str) -> Any:
    """Return what a case gives."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_it_gives_what_it_gave(name: str) -> None:
    require_pins(__file__, name, measure(name))

"""Fitting networks: one, or seeds of one side by side, each keeping the epoch that is best on validation."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from assay.base import ConfigError, RunFailed
from assay.dataset import SplitData
from assay.models.backbones.dropout import Dropout
from assay.models.core.devices import device_for, device_of, reuse_memory, seed_all, seed_of
from assay.models.core.feeds import Feed
from assay.models.core.losses import Supervision
from assay.models.core.model import Epoch, Report
from assay.models.core.replay import with_replay
from assay.models.core.robust import against_confounders
from assay.models.core.steps import ManySeeds, OneSeed
from assay.models.core.subconcepts import with_reading
from assay.models.core.training import Phase, Stepping, Trainee, train

if TYPE_CHECKING:
    from assay.models.core.neural import NeuralModel


def why_not_together(model: "NeuralModel") -> str | None:
    """Return why seeds of a model cannot be trained side by side, or None if they can."""
    if device_of(model.config.device).type == "cpu" and any(isinstance(part, Dropout) for part in model.modules()):
        return "on a CPU its dropout is drawn for one network at a time"
    if isinstance(model.config, Supervision) and model.config.supervised_share < 1:
        return "each seed is shown the concepts of other examples"
    if isinstance(model.config, Supervision) and model.config.supervised_replay:
        return "each seed is shown other examples again"
    if model.config.is_robust:
        return "training against confounders is of one network at a time"
    return None


def fit_together(
    models: "Sequence[NeuralModel]",
    train_data: SplitData,
    valid: SplitData,
    report: Report = lambda epoch, epochs: None,
) -> None:
    """Fit models that differ in their seed only, side by side in one process."""
    for model in models:
        model.see(train_data)
    why = why_not_together(models[0])
    if why is not None:
        raise ConfigError(f"seeds of {models[0].name!r} cannot be trained side by side: {why}")
    fit_models(models, train_data, valid, report, ManySeeds)


def fit_models(
    models: "Sequence[NeuralModel]", train_data: SplitData, valid: SplitData, report: Report, step: Stepping
) -> None:
    """Fit one model, or seeds of it side by side, each keeping the epoch that is best on validation."""
    first = models[0]
    device = device_for(first.config)
    if device.type == "cpu":
        reuse_memory()
    config = first.config.model_copy(update={"precision": first.training_precision(device)})
    if config.is_robust:  # its steps differ in size, and group weights are in no checkpoint
        config, first.checkpoint = config.model_copy(update={"captured": False}), None
    channels_last = device.type == "cuda" and config.channels_last and step is OneSeed
    for model in models:
        model.see(train_data)
        model.to(device)
        if channels_last:
            model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    feed, validation = (first.feed(data, device, channels_last, repeats=True) for data in (train_data, valid))
    orders = _seeded_orders(models, device) if step is ManySeeds else _seeded_alone(first)
    trainees = [
        Trainee(model, _phases(model, feed), partial(model.validation_f1, validation), order, model.seed)
        for model, order in zip(models, orders, strict=True)
    ]
    try:
        facts = train(trainees, feed, config, step, report, first.checkpoint)
    except torch.OutOfMemoryError:
        raise RunFailed(f"device {device} has not enough memory; lower batch_size") from None
    for model, trainee in zip(models, trainees, strict=True):
        model.history, model.training_facts = trainee.history or [_as_given(model, feed, validation)], facts
        model.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]


def _as_given(model: "NeuralModel", feed: Feed, validation: Feed) -> Epoch:
    """Return how a model answers that has nothing to learn: its concepts are perceived, and its rule is given."""
    right, score = (float(model.validation_f1(split, "labels")) for split in (feed, validation))
    return Epoch("as given", 1, 1 - right, score, True)


def _phases(model: "NeuralModel", feed: Feed) -> list[Phase]:
    """Return the parts of training, those of the model after that of its subconcepts."""
    phases, config = model.phases(feed.annotations), model.config
    if not isinstance(config, Supervision):
        return against_confounders(model, phases, feed.data)
    phases = with_reading(model, phases, feed.data.subconcepts, config.subconcepts, config.batch_size)
    phases = with_replay(model, phases, feed, config)
    return against_confounders(model, phases, feed.data)


def _seeded_alone(model: "NeuralModel") -> list[None]:
    """Seed torch for one model, whose examples are shuffled by the same stream of randomness."""
    seed_all(model.seed, model.name, "training")
    return [None]


def _seeded_orders(models: "Sequence[NeuralModel]", device: torch.device) -> list[torch.Generator]:
    """Seed torch for several models, and return what shuffles the examples of each, as if it were alone."""
    first = models[0]
    seed_all(first.seed, first.name, "side by side")
    return [torch.Generator(device).manual_seed(seed_of(model.seed, model.name, "training")) for model in models]

"""Strategies against confounders: other values of the nuisance, further examples, group weights, right reasons."""

from dataclasses import replace

import numpy as np

from assay.base import ConfigError
from assay.lab.acquisition.holdings import Holdings
from assay.lab.acquisition.redrawing import TrainingRedraw
from assay.lab.acquisition.situation import Situation
from assay.models import MASKS, Robustness


def augmented_examples(situation: Situation) -> Holdings:
    """Buy counterfactual examples: training examples once more with another value of the nuisance, the label kept.

    Only those count in which the nuisance is as it goes with the label; labels take turns.
    """
    held, data = situation.holdings, situation.training
    rows = TrainingRedraw(situation.dataset, situation.settings.clean).rows_that_fit()
    left = np.setdiff1d(rows, held.redrawn)
    order = left[situation.rng.permutation(len(left))]
    turns = np.zeros(len(order), dtype=np.int64)
    for label in np.unique(data.labels[:, 0]):
        same = data.labels[order, 0] == label
        turns[same] = np.arange(same.sum())
    chosen = order[np.argsort(turns, kind="stable")][: situation.budget]
    return replace(held, redrawn=(*held.redrawn, *chosen.tolist()))


def fresh_examples(situation: Situation) -> Holdings:
    """Buy further examples, drawn as training's own: the baseline of `augment`."""
    return replace(situation.holdings, fresh=situation.holdings.fresh + situation.budget)


def grouped_examples(situation: Situation) -> Holdings:
    """Buy annotations of the nuisance, and train by group DRO over groups of label and nuisance."""
    _require_network(situation)
    TrainingRedraw(situation.dataset).couplings  # noqa: B018 refuses a dataset without confounders
    held, size = situation.holdings, len(situation.training)
    return replace(held, nuisances=min(size, held.nuisances + situation.budget))


def masked_examples(situation: Situation) -> Holdings:
    """Buy masks of objects or parts, and train right for the right reasons: no gradient outside of them."""
    _require_network(situation)
    held, data = situation.holdings, situation.training
    if not set(MASKS) & set(data.columns):
        raise ConfigError(
            f"reasons: {str(situation.dataset.folder)!r} has no masks, neither {' nor '.join(MASKS)}; choose "
            "--strategy augment or reweight"
        )
    return replace(held, masks=min(len(data), held.masks + situation.budget))


def _require_network(situation: Situation) -> None:
    """Refuse a model whose training takes no settings against confounders."""
    if not issubclass(type(situation.model).Config, Robustness):
        raise ConfigError(
            f"strategy {situation.settings.strategy!r} changes how a network is trained, and model "
            f"{situation.model.name!r} is none; choose --strategy augment"
        )

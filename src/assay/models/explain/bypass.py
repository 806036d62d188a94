"""Bypass: does the label of a trained model survive when its concepts are another example's, or the same for all?

Where labels follow from concepts alone, the picture beside them does not matter. A model whose label stays with the
picture keeps a way past its concepts, whatever the leakage of the concepts themselves.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError, rng_for
from assay.contracts import Predictions
from assay.dataset import SplitData
from assay.models.core.model import Model

MOST_ROWS = 2000


@dataclass(frozen=True)
class Bypass:
    """What happens to labels when concepts are set; accuracies are over all labels alike."""

    rows: int
    accuracy: float
    """As the model answers."""
    true: float
    """With the true concepts set."""
    shuffled_own: float
    """With those of another example: how often the label is still that of the picture."""
    shuffled_other: float
    """With those of another example: how often it is that of the example which the concepts come from."""
    chance: float
    """How often the labels of the two agree."""
    by_picture: float
    """How often the label is another for another picture with the same concepts set: 0 without a bypass."""
    fixed: float
    """With the same concepts for all examples: how often the label is that of the picture."""
    majority: float
    """How often the commonest label would be."""

    @property
    def survival(self) -> float:
        """How much of the accuracy above chance survives the shuffle: 0 without a bypass, 1 if concepts are idle."""
        above = self.accuracy - self.chance
        return float(np.clip((self.shuffled_own - self.chance) / above, 0, 1)) if above > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**asdict(self), "survival": self.survival}


def bypass(model: Model, data: SplitData, seed: int = 0) -> Bypass:
    """Return what setting the concepts of a split does to a model's labels.

    Parameters
    ----------
    model
        A model whose concepts can be set.
    data
        The examples; at most 2,000 of them are used.
    seed
        Decides which examples, and whose concepts each is given.
    """
    if not model.can_intervene:
        raise ConfigError(f"model {model.name!r} has no concepts that can be set, so there is nothing to bypass")
    data = data.with_known_concepts("the bypass")
    if len(data) > MOST_ROWS:
        data = data.take(np.sort(rng_for(seed, "bypass", "rows").permutation(len(data))[:MOST_ROWS]))
    other = rng_for(seed, "bypass", "shuffle").permutation(len(data))
    common = [int(np.bincount(column).argmax()) for column in data.concepts.T]
    labels = data.labels

    def answers(codes: Codes | None) -> Array:
        do = None if codes is None else dict(zip(model.knowledge.space.names, codes.T, strict=True))
        return _codes(model.predict(data, do), model)

    mixed, true = answers(data.concepts[other]), answers(data.concepts)
    return Bypass(
        rows=len(data),
        accuracy=float((answers(None) == labels).mean()),
        true=float((true == labels).mean()),
        shuffled_own=float((mixed == labels).mean()),
        shuffled_other=float((mixed == labels[other]).mean()),
        chance=float((labels == labels[other]).mean()),
        by_picture=float((mixed != true[other]).mean()),
        fixed=float((answers(np.tile(common, (len(data), 1))) == labels).mean()),
        majority=float(np.mean([np.bincount(column).max() / len(column) for column in labels.T])),
    )


def _codes(predictions: Predictions, model: Model) -> Codes:
    return np.stack([predictions.labels[name].codes for name in model.knowledge.label_names], axis=1)

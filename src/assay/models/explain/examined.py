"""The model that is explained: a network, which has gradients, or anything else that answers pictures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from assay.base import Array, Codes, ConfigError, DataError
from assay.contracts import Prediction, Predictions
from assay.dataset import IMAGE, SplitData
from assay.logic import Knowledge, Value
from assay.models.concept.blackbox import BlackBox
from assay.models.core.model import Model
from assay.models.core.network import NeuralModel
from assay.models.explain.saliency_methods import Scores
from assay.render import encode_png

SMALLEST = 1e-30
UNSURE = 1e-6
"""The least probability of an answer that comes as numbers from elsewhere, where even 0 may be rounded."""
Answerer = Callable[[Tensor], list[Tensor]]
"""From pictures to the log-probabilities of each target's values (examples x values)."""


@dataclass(frozen=True)
class SaliencyTarget:
    """What is explained: the predicted value of a label or a concept."""

    kind: Literal["label", "concept"]
    name: str
    place: int
    values: tuple[Value, ...]

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"{self.kind} {self.name}"


def targets_of(knowledge: Knowledge, concepts: Sequence[str]) -> list[SaliencyTarget]:
    """Return all labels and these concepts as targets."""
    labels = [SaliencyTarget("label", label.name, i, label.values) for i, label in enumerate(knowledge.labels)]
    space = knowledge.space
    return labels + [
        SaliencyTarget("concept", name, space.place(name), space.concept(name).values) for name in concepts
    ]


class ExaminedModel(ABC):
    """A model whose answers are explained."""

    name: str
    has_concepts: bool
    network: NeuralModel | None
    """The model itself, if it is a network that reads pictures."""

    @abstractmethod
    def answerer(self, data: SplitData, targets: Sequence[SaliencyTarget]) -> Answerer:
        """Return what answers pictures in the place of those of a split."""

    @abstractmethod
    def metadata(self) -> dict[str, Any]:
        """Return who the model is, for the record."""

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return torch.device("cpu") if self.network is None else self.network.device

    def predict_codes(self, data: SplitData, targets: Sequence[SaliencyTarget], pictures: Tensor) -> list[Tensor]:
        """Return the predicted value of each target, as codes."""
        with torch.no_grad():
            return [logs.argmax(dim=1) for logs in self.answerer(data, targets)(pictures)]


class ExaminedNetwork(ExaminedModel):
    """A network that reads pictures."""

    network: NeuralModel

    def __init__(self, network: NeuralModel) -> None:
        if network.reads is not None:
            raise ConfigError(f"{network.name!r} reads {network.reads.kind}, not pictures: there is no map")
        self.network, self.name, self.has_concepts = network, network.name, network.has_concepts

    def answerer(self, data: SplitData, targets: Sequence[SaliencyTarget]) -> Answerer:
        """Return the log-probabilities that the network gives, with their derivatives."""
        network = self.network.eval()
        concepts = any(target.kind == "concept" for target in targets)

        def answer(pictures: Tensor) -> list[Tensor]:
            if isinstance(network, BlackBox) and not concepts:  # logits are finer than probabilities near 0 and 1
                logs = [scores.log_softmax(dim=1) for scores in network.logits(pictures)]
                return [logs[target.place] for target in targets]
            outputs = network.answer(pictures, {})
            parts = {"label": outputs.labels, "concept": outputs.concepts or []}
            return [parts[target.kind][target.place].clamp_min(SMALLEST).log() for target in targets]

        return answer

    def metadata(self) -> dict[str, Any]:
        """Return the network's own record."""
        return self.network.metadata()


class ExaminedPredictor(ExaminedModel):
    """Anything that predicts for a split whose pictures are others; it has no gradients."""

    def __init__(
        self, predict: Callable[[SplitData], Predictions], name: str, record: dict[str, Any], has_concepts: bool
    ) -> None:
        self.predict, self.name, self.record, self.has_concepts = predict, name, record, has_concepts
        self.network = None

    def answerer(self, data: SplitData, targets: Sequence[SaliencyTarget]) -> Answerer:
        """Return the log-probabilities of what is predicted for pictures in the place of a split's own."""

        def answer(pictures: Tensor) -> list[Tensor]:
            predictions = self.predict(with_pictures(data, pictures))
            parts = {"label": predictions.labels, "concept": predictions.concepts}
            return [_logs(parts[target.kind].get(target.name), target) for target in targets]

        return answer

    def metadata(self) -> dict[str, Any]:
        """Return what is known of it."""
        return self.record


def _logs(answer: Prediction | None, target: SaliencyTarget) -> Tensor:
    if answer is None:
        raise DataError(f"the model says nothing of {target.title}")
    probabilities = _one_hot(answer.codes, len(target.values)) if answer.probabilities is None else answer.probabilities
    return torch.from_numpy(np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), UNSURE)))


def _one_hot(codes: Codes, size: int) -> Array:
    return np.asarray(codes[:, None] == np.arange(size)[None, :], dtype=np.float64)


def with_pictures(data: SplitData, pictures: Tensor) -> SplitData:
    """Return the examples of a split with other pictures (numbers from 0 to 1) in the place of their own."""
    images = (pictures.detach().cpu().permute(0, 2, 3, 1) * 255).round().to(torch.uint8).numpy()
    cells = [{"bytes": encode_png(image), "path": f"{row}.png"} for row, image in enumerate(images)]
    rest = data.table.drop_columns(["image"]) if "image" in data.table.column_names else data.table
    table = rest.append_column("image", pa.array(cells, IMAGE))
    return replace(data, table=table, stored=None)  # pictures are in the table, not in the shards


def examine_model(model: Model) -> ExaminedModel:
    """Return a model of ours to be explained; refuse one that answers without looking at pictures."""
    if isinstance(model, NeuralModel) and model.perception is None:
        return ExaminedNetwork(model)
    if getattr(model.config, "perception", None) is None:
        raise ConfigError(f"{model.name!r} reads true concepts, not pictures: there is no map")
    return ExaminedPredictor(model.predict, model.name, model.metadata(), model.has_concepts)


def scores_of(answer: Answerer, codes: Sequence[Tensor]) -> Scores:
    """Return the log-probability of each target's value in each example."""

    def scores(pictures: Tensor) -> Tensor:
        pairs = zip(answer(pictures), codes, strict=True)
        return torch.stack([logs.gather(1, own.to(logs.device)[:, None])[:, 0] for logs, own in pairs])

    return scores

"""Concept bottlenecks made of a network that was trained without concepts. Their units have names.

Post-hoc CBM (Yuksekgonul et al., 2023): a unit for each concept value, the projection on its concept activation vector,
which takes annotated examples. Label-free CBM (Oikarinen et al., 2023): a unit for each text, a projection that follows
the similarity of pictures with the text by CLIP, which takes none. Labels follow from units by a sparse linear head.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from assay.base import Array, Codes, ConfigError, DataError, ProgressCallback, Settings, import_extra, validate
from assay.dataset import SplitData
from assay.logic import Knowledge
from assay.metrics import concept_values
from assay.models.explain.discovery import Discoverer, DiscoveryConfig, Scaler, SplitRows, seeded
from assay.models.explain.tcav import Directions, concept_directions
from assay.models.language.texts import ClipConfig, prompts

MIX = 0.99
"""How much of the head's penalty is on the sizes of weights (L1); the rest is on their squares, as published."""
TOLD = 50


class BottleneckConfig(DiscoveryConfig):
    """What both bottlenecks can set; `units` has no effect, since there is one for each concept value or text."""

    head_penalty: float = Field(0.002, gt=0)
    """The penalty on the weights of the label head: larger ones leave fewer weights."""


@dataclass(frozen=True)
class SparseHead:
    """A linear head for each label: its classes, a column of weights each, and their biases."""

    mean: Array
    deviation: Array
    sizes: tuple[int, ...]
    classes: tuple[Array, ...]
    weights: tuple[Array, ...]
    biases: tuple[Array, ...]

    @classmethod
    def fit(cls, units: Array, labels: Codes, knowledge: Knowledge, penalty: float, seed: int) -> "SparseHead":
        """Fit logistic regression with an elastic net, by stochastic descent, on the rows whose label is known."""
        library = import_extra("sklearn.linear_model", "a sparse label head")
        mean, deviation = units.mean(axis=0), np.where(units.std(axis=0) > 0, units.std(axis=0), 1.0)
        inputs = (units - mean) / deviation
        classes, weights, biases = [], [], []
        for place, label in enumerate(knowledge.labels):
            known = labels[:, place] >= 0
            if not known.any():
                raise DataError(f"no training example has the label {label.name!r}")
            present = np.unique(labels[known, place])
            classes.append(present)
            if len(present) == 1:
                weights.append(np.zeros((units.shape[1], 1)))
                biases.append(np.zeros(1))
                continue
            estimator = library.SGDClassifier(
                loss="log_loss", penalty="elasticnet", alpha=penalty, l1_ratio=MIX, random_state=seed
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the most steps were taken is no fault of the data
                estimator.fit(inputs[known], labels[known, place])
            sides = (-1, 1) if len(present) == 2 else (1,)
            weights.append(np.concatenate([side * estimator.coef_.T for side in sides], axis=1))
            biases.append(np.concatenate([side * estimator.intercept_ for side in sides]))
        sizes = tuple(len(label.values) for label in knowledge.labels)
        return cls(mean, deviation, sizes, tuple(classes), tuple(weights), tuple(biases))

    def probabilities(self, units: Array) -> list[Array]:
        """Return the probabilities of each label: those of one class against the rest, made to add up to 1."""
        inputs, answers = (units - self.mean) / self.deviation, []
        for size, classes, weights, bias in zip(self.sizes, self.classes, self.weights, self.biases, strict=True):
            chances = np.full((len(units), size), 1e-9)
            chances[:, classes] += 1 / (1 + np.exp(-np.clip(inputs @ weights + bias, -30, 30)))
            answers.append(chances / chances.sum(axis=1, keepdims=True))
        return answers

    @property
    def used(self) -> int:
        """How many weights are not 0."""
        return int(sum((np.abs(weights) > 0).sum() for weights in self.weights))


class NamedUnits(Discoverer):
    """What both bottlenecks share: a sparse label head on named units."""

    Config: ClassVar[type[DiscoveryConfig]] = BottleneckConfig
    config: BottleneckConfig
    head: SparseHead

    def fit_head(self, train: SplitRows) -> None:
        """Fit the label head on the units of the training examples."""
        units, knowledge = self.units(train), train.data.knowledge
        penalty = self.config.head_penalty
        self.head = SparseHead.fit(units, train.data.given_labels, knowledge, penalty, self.torch_seed())
        whole = sum(weights.size for weights in self.head.weights)
        self.notes.append(f"the label head uses {self.head.used:,} of {whole:,} weights")

    def label_probabilities(self, units: Array) -> list[Array]:
        """Return the labels by the sparse head."""
        return self.head.probabilities(units)


class PosthocConfig(BottleneckConfig):
    """Settings of the post-hoc CBM."""

    ridge: float = Field(0.01, gt=0)
    """The penalty of the concept activation vectors, as a share of the mean variance."""


class PosthocCBM(NamedUnits):
    """A unit for each concept value: how far an example lies along its concept activation vector."""

    name = "posthoc-cbm"
    Config: ClassVar[type[DiscoveryConfig]] = PosthocConfig
    config: PosthocConfig
    directions: Directions
    columns: list[int]

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Find the vectors on the training examples whose concepts are all annotated, then fit the head."""
        report(f"{self.name}, seed {self.seed}", 0, 1)
        space, codes = train.data.knowledge.space, train.data.annotated_concepts
        whole = np.flatnonzero((codes >= 0).all(axis=1))
        if len(whole) < 2:
            raise DataError(
                f"split {train.data.name!r} has {len(whole)} examples with every concept annotated; "
                "posthoc-cbm needs at least 2"
            )
        rows, known = train.rows[torch.from_numpy(whole)], torch.from_numpy(codes[whole])
        self.directions = concept_directions(rows, known, space.sizes, self.config.ridge)
        edges = np.cumsum([0, *space.sizes])
        values = concept_values(space)
        self.columns = [int(edges[value.concept]) + value.value for value in values]
        self.names = tuple(value.name for value in values)
        self.fit_head(train)

    def units(self, split: SplitRows) -> Array:
        """Return the projections on the vectors."""
        vectors = self.directions.columns[:, self.columns]
        units: Array = (self.directions.span.coordinates(split.rows) @ vectors).numpy()
        return units


class LabelFreeConfig(BottleneckConfig):
    """Settings of the label-free CBM."""

    clip: str = ""
    """The local folder with the weights of CLIP."""
    concepts: list[str] = []
    """Concepts in free words; by default every value of the dataset's concepts, in words."""
    template: str = "a photo with {value} {concept}"
    """The text for a value, with {value} and {concept} in plain words."""
    steps: int = Field(300, ge=1)
    """The steps of learning the projection."""
    learning_rate: float = Field(0.02, gt=0)
    cutoff: float = Field(0.45, ge=-1, le=1)
    """Concepts that the projection follows by less than this on validation are left out, as published."""


class LabelFreeCBM(NamedUnits):
    """A unit for each text: a projection of the activations that follows what CLIP says of it."""

    name = "label-free-cbm"
    Config: ClassVar[type[DiscoveryConfig]] = LabelFreeConfig
    config: LabelFreeConfig
    scaler: Scaler
    weights: Tensor
    scale: tuple[Tensor, Tensor]

    def fit(self, train: SplitRows, valid: SplitRows, report: ProgressCallback) -> None:
        """Learn the projection, leave out the texts that it does not follow, and fit the head."""
        if not self.config.clip:
            raise ConfigError("label-free-cbm needs a local folder with the weights of CLIP: --set clip=FOLDER")
        names, texts = self._texts(train.data.knowledge)
        similarities = [self._similarities(split.data, texts, report) for split in (train, valid)]
        self.scaler = Scaler.of(train.rows)
        weights = self._learn(self.scaler(train.rows), similarities[0], report)
        follows = cubed_similarity(self.scaler(valid.rows) @ weights, similarities[1])
        kept = torch.nonzero(follows >= self.config.cutoff)[:, 0]
        if not len(kept):
            raise ConfigError(
                f"label-free-cbm: the activations follow none of {len(names)} texts by {self.config.cutoff:g} "
                f"(at most by {float(follows.max()):.2f}); take another layer or backbone, or set cutoff lower"
            )
        if len(kept) < len(names):
            self.notes.append(f"{len(names) - len(kept)} of {len(names)} texts are left out: the layer does not follow")
        self.names = tuple(names[place] for place in kept.tolist())
        self.weights = weights[:, kept]
        projected = self.scaler(train.rows) @ self.weights
        self.scale = (projected.mean(dim=0), projected.std(dim=0).clamp_min(1e-12))
        self.fit_head(train)

    def _texts(self, knowledge: Knowledge) -> tuple[list[str], list[str]]:
        """Return the names of the units, and the texts that say them."""
        if self.config.concepts:
            return list(self.config.concepts), list(self.config.concepts)
        values = concept_values(knowledge.space)
        clip = validate(ClipConfig, Settings({"template": self.config.template}))
        said = [prompts(concept, clip) for concept in knowledge.space.concepts]
        return [value.name for value in values], [said[value.concept][value.value][0] for value in values]

    def _similarities(self, data: SplitData, texts: Sequence[str], report: ProgressCallback) -> Tensor:
        """Return how alike each picture and each text are, by CLIP."""
        from assay.models.language.clip import ClipReader

        settings: dict[str, Any] = {"concepts": list(texts), "device": self.config.device}
        return torch.from_numpy(
            ClipReader(Path(self.config.clip), validate(ClipConfig, Settings(settings)), report).scores(data)
        ).float()

    def _learn(self, rows: Tensor, wanted: Tensor, report: ProgressCallback) -> Tensor:
        """Return the projection whose units are most alike to what CLIP says, over the examples."""
        with seeded(self.torch_seed()):
            weights = (0.01 * torch.randn(rows.shape[1], wanted.shape[1])).requires_grad_(True)
        search = torch.optim.Adam([weights], lr=self.config.learning_rate)
        for step in range(self.config.steps):
            search.zero_grad()
            loss = -cubed_similarity(rows @ weights, wanted).mean()
            loss.backward()  # type: ignore[no-untyped-call]
            search.step()
            if step % TOLD == 0:
                report(f"{self.name}, seed {self.seed}", step, self.config.steps)
        return weights.detach()

    def units(self, split: SplitRows) -> Array:
        """Return the projections, with mean 0 and deviation 1 in training."""
        mean, deviation = self.scale
        units: Array = ((self.scaler(split.rows) @ self.weights - mean) / deviation).double().numpy()
        return units


def cubed_similarity(units: Tensor, wanted: Tensor) -> Tensor:
    """Return for each column the cosine of the cubes of both, each with mean 0 and deviation 1: the peaks count most.

    >>> column = torch.tensor([[0.0], [1.0], [5.0]])
    >>> [round(float(cubed_similarity(sign * column, column)), 4) for sign in (1, -1)]
    [1.0, -1.0]
    """
    cubes = []
    for columns in (units, wanted):
        centred = columns - columns.mean(dim=0)
        cubes.append((centred / centred.square().mean(dim=0).sqrt().clamp_min(1e-6)) ** 3)
    return torch.nn.functional.cosine_similarity(cubes[0], cubes[1], dim=0)

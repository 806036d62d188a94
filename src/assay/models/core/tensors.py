"""Splits as tensors, and what is computed of them: supervision, losses, the F1 that chooses an epoch, interventions.

The F1 is computed on the device: one number is copied back, not all predictions. `TorchSplit` is a split for a
DataLoader and a training loop of one's own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import Dataset

from assay.base import Array, ConfigError, SeededPermutation
from assay.dataset import SplitData
from assay.logic import ConceptSpace
from assay.models.core.settings import Supervision

SMALLEST = 1e-12
SAME = 1e-4
"""Probabilities in `do` that differ by no more from the model's own are no intervention."""
NONE = -1


@dataclass(frozen=True)
class Annotations:
    """Label codes and concept codes of examples, as annotated, on a device. A concept code of -1 is missing."""

    labels: Tensor
    concepts: Tensor
    rows: Tensor
    """Which rows of the whole split these are."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self.rows.device


@dataclass(frozen=True)
class Batch(Annotations):
    """Examples with their annotations and their pictures: bytes, examples x channels x height x width.

    Texts, tables, features, and where another model reads the pictures its concept probabilities take the place of
    pictures, as numbers that are not bytes.
    """

    images: Tensor

    @property
    def pictures(self) -> Tensor:
        """The pictures, or what takes their place, as numbers from 0 to 1."""
        return scaled(self.images)

    def only(self, rows: Tensor) -> "Batch":
        """Return some of the examples."""
        return Batch(self.labels[rows], self.concepts[rows], self.rows[rows], self.images[rows])

    def joined(self, other: "Batch") -> "Batch":
        """Return these examples, and then the others."""
        pairs = [(getattr(self, own.name), getattr(other, own.name)) for own in fields(self)]
        return Batch(*(torch.cat(pair) for pair in pairs))


@dataclass(frozen=True)
class Outputs:
    """Probabilities of the values of each label, and of each concept if the model has concepts."""

    labels: list[Tensor]
    concepts: list[Tensor] | None = None


def scaled(images: Tensor) -> Tensor:
    """Return bytes as numbers from 0 to 1, and other numbers as they are."""
    return images / 255 if images.dtype == torch.uint8 else images


def to_annotations(data: SplitData, device: torch.device) -> Annotations:
    """Return what a whole split says of its pictures, on a device."""
    labels, concepts = (torch.from_numpy(codes).to(device) for codes in (data.given_labels, data.annotated_concepts))
    return Annotations(labels, concepts, torch.arange(len(data), device=device))


def to_batch(data: SplitData, device: torch.device) -> Batch:
    """Return a whole split with its pictures on a device."""
    examples = to_annotations(data, device)
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous().to(device)
    return Batch(examples.labels, examples.concepts, examples.rows, images)


def one_hot_like(codes: Tensor, like: Tensor) -> Tensor:
    """Return the codes as one-hot, in the width and type of these probabilities."""
    return (codes[:, None] == torch.arange(like.shape[1], device=like.device)).to(like.dtype)


def supervision_mask(rules: Supervision, space: ConceptSpace, batch: Annotations, seed: int) -> Tensor:
    """Return which concepts are supervised (examples x concepts, true or false); never one that is missing."""
    _refuse_unknown(rules, space)
    mask = batch.concepts >= 0
    if rules.supervised_share < 1:
        size = len(batch)
        order: Array = SeededPermutation(size, seed, "supervision").deal(torch.arange(size).numpy())
        mask &= torch.from_numpy(order < rules.supervised_share * size).to(mask.device)[:, None]
    for place, concept in enumerate(space.concepts):
        if rules.supervised_concepts is not None and concept.name not in rules.supervised_concepts:
            mask[:, place] = False
        if rules.supervised_values is not None:
            codes = [code for code, value in enumerate(concept.values) if value in rules.supervised_values]
            allowed = torch.tensor(codes, device=mask.device, dtype=torch.long)
            mask[:, place] &= torch.isin(batch.concepts[:, place], allowed)
    return mask


def _refuse_unknown(rules: Supervision, space: ConceptSpace) -> None:
    """Refuse unknown concepts and values: a typo would silently leave the model without supervision."""
    for name in rules.supervised_concepts or []:
        space.concept(name)
    known = {value for concept in space.concepts for value in concept.values}
    for value in rules.supervised_values or []:
        if value not in known:
            raise ConfigError(f"supervised_values: no concept has the value {value!r}")


def concept_loss(logits: list[Tensor], concepts: Tensor, mask: Tensor) -> Tensor:
    """Return the mean cross-entropy of the supervised concepts; zero if there are none.

    Parameters
    ----------
    logits
        The scores of the values of each concept.
    concepts
        The true codes (examples x concepts).
    mask
        Which of them are supervised.
    """
    known = concepts.clamp(min=0)  # what is missing is masked
    losses = [F.cross_entropy(scores, known[:, i], reduction="none") for i, scores in enumerate(logits)]
    supervised = torch.stack(losses, dim=1) * mask
    return supervised.sum() / mask.sum().clamp(min=1)


def label_loss(logits: list[Tensor], labels: Tensor) -> Tensor:
    """Return the cross-entropy of the labels, averaged over labels."""
    losses = [F.cross_entropy(scores, labels[:, i]) for i, scores in enumerate(logits)]
    return losses[0] if len(losses) == 1 else torch.stack(losses).mean()


def entropy_loss(concepts: list[Tensor], groups: list[list[int]]) -> Tensor:
    """Return 1 - the entropy of the average concept distribution of each encoder group, as a share of its greatest."""
    losses = []
    for columns in groups:
        average = torch.cat([concepts[i] for i in columns]).mean(dim=0)
        entropy = -(average * average.clamp(min=SMALLEST).log()).sum()
        losses.append(1 - entropy / math.log(max(2, len(average))))  # a concept of one value has no entropy
    return torch.stack(losses).mean()


def f1_of_columns(truth: Tensor, probabilities: Sequence[Tensor]) -> Tensor:
    """Return the macro F1 of the most probable values where the truth is known (not -1), averaged over columns.

    A value counts where it occurs; the answer is 0 where no truth is known and NaN where an answer is no number.

    >>> answers = [torch.tensor([[0.9, 0.1], [0.8, 0.2]]), torch.tensor([[0.5, 0.5], [0.6, 0.4]])]
    >>> f1_of_columns(torch.tensor([[0, NONE], [1, NONE]]), answers)
    tensor(0.3333, dtype=torch.float64)
    """
    scores, counts = [], []
    for column, answers in zip(truth.T, probabilities, strict=True):
        f1, is_known = macro_f1(column, answers)
        scores.append(f1)
        counts.append(is_known)
    total = torch.stack(scores).sum() / torch.stack(counts).sum().clamp(min=1)
    finite = torch.stack([answers.isfinite().all() for answers in probabilities]).all()
    return torch.where(finite, total, torch.full_like(total, torch.nan))


def macro_f1(truth: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Return the macro F1 of one column, and whether any truth is known; the F1 is 0 if none is."""
    size = probabilities.shape[1]
    known = truth >= 0
    cells = truth.clamp(min=0) * size + probabilities.argmax(dim=1)
    counts = torch.zeros(size * size, dtype=torch.int64, device=truth.device)
    counts = counts.scatter_add(0, cells, known.long()).view(size, size)
    occurs = counts.sum(dim=1) > 0
    total = counts.sum(dim=1) + counts.sum(dim=0)
    f1 = torch.where(occurs, 2.0 * counts.diagonal().double() / total.clamp(min=1), 0.0)
    return f1.sum() / occurs.sum().clamp(min=1), known.any().double()


def softmax_each(logits: Sequence[Tensor]) -> list[Tensor]:
    """Return the probabilities of each label or concept from its logits."""
    return [scores.softmax(dim=1) for scores in logits]


def as_probabilities(setting: Tensor, own: Tensor) -> Tensor:
    """Return what a concept is set to, codes or probabilities, as probabilities like the model's own."""
    if setting.is_floating_point():
        return setting.to(own.dtype)
    return one_hot_like(setting, own)


def is_set(own: Tensor, setting: Tensor) -> Tensor:
    """Return in which examples a concept is set to something else than what the model predicts."""
    return (as_probabilities(setting, own) - own).abs().amax(dim=1) > SAME


def apply_interventions(concepts: list[Tensor], do: Mapping[int, Tensor]) -> list[Tensor]:
    """Return concept probabilities with those in `do` set; where `do` repeats the model's own, they stay."""
    changed = list(concepts)
    for place, setting in do.items():
        own = concepts[place]
        changed[place] = torch.where(is_set(own, setting)[:, None], as_probabilities(setting, own), own)
    return changed


class TorchSplit(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """A split as a torch dataset of (picture from 0 to 1, label codes, concept codes); decodes what is asked for."""

    def __init__(self, data: SplitData) -> None:
        self.data = data
        self.labels = torch.from_numpy(data.given_labels)
        self.concepts = torch.from_numpy(data.annotated_concepts)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return one example."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"split {self.data.name!r} has {len(self)} examples, so no example {row}")
        return self.__getitems__([row % len(self)])[0]

    def __getitems__(self, rows: Sequence[int]) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Return some examples, as a DataLoader asks for those of a batch."""
        pictures = torch.from_numpy(self.data.pictures(rows)).permute(0, 3, 1, 2).float() / 255
        return list(zip(pictures, self.labels[rows], self.concepts[rows], strict=True))

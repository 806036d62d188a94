"""Networks and losses for two digits as one would write them without this library, to compare speeds with."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from assay.dataset import Dataset

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""The loss of pictures, labels and concepts."""


class Pair(nn.Module):
    """Two digits read by one network, as the models here read them, and a label by a linear layer on both."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.ReLU(), nn.Dropout(),
            nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.ReLU(), nn.Dropout(),
            nn.Conv2d(64, 128, 4, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
        )  # fmt: skip
        self.head = nn.Linear(128 * 9, 10)
        self.label = nn.Linear(20, labels)

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        both = self.head(self.body(torch.cat([pictures[..., :28], pictures[..., 28:]])))
        return both.chunk(2)


class Whole(nn.Module):
    """Labels of the whole picture."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 14, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, labels),
        )  # fmt: skip

    def forward(self, pictures: Tensor) -> Tensor:
        answers: Tensor = self.body(pictures)
        return answers


def hand_written_loss(name: str, dataset: Dataset, device: torch.device) -> tuple[nn.Module, Loss]:
    """Return a network and its loss on (pictures, labels, concepts), as one would write them for two digits."""
    knowledge = dataset.knowledge
    values = len(knowledge.labels[0].values)
    worlds = np.array([[a, b] for a in range(10) for b in range(10)])
    sums = torch.from_numpy(knowledge.labels_of(worlds)[:, 0]).to(device)
    table = F.one_hot(sums, values).float()
    allowed = torch.from_numpy(~knowledge.violations(worlds).any(axis=1)).to(device).float()
    counts = table.sum(dim=0).clamp(min=1)
    network = (Whole if name == "blackbox" else Pair)(values).to(device)

    def joint(first: Tensor, second: Tensor) -> Tensor:
        return (first.softmax(1)[:, :, None] * second.softmax(1)[:, None, :]).flatten(1)

    def dpl(pictures: Tensor, labels: Tensor, concepts: Tensor) -> Tensor:
        return -(joint(*network(pictures)) @ table).clamp(min=1e-30).log().gather(1, labels).mean()

    def ltn(pictures: Tensor, labels: Tensor, concepts: Tensor) -> Tensor:
        cases = 1e-4 + (1 - 1e-4) * joint(*network(pictures))
        truths = ((cases.square() @ table) / counts).clamp(min=1e-12).sqrt().gather(1, labels)[:, 0]
        return (1 - (1 - 1e-4) * truths).square().mean().sqrt()

    def cbm(pictures: Tensor, labels: Tensor, concepts: Tensor) -> Tensor:
        logits = network(pictures)
        label = network.label(torch.cat([scores.softmax(1) for scores in logits], dim=1))
        supervised = sum(F.cross_entropy(scores, concepts[:, i]) for i, scores in enumerate(logits))
        return F.cross_entropy(label, labels[:, 0]) + supervised / 2

    def semantic(pictures: Tensor, labels: Tensor, concepts: Tensor) -> Tensor:
        logits = network(pictures)
        label = network.label(torch.cat([scores.softmax(1) for scores in logits], dim=1))
        supervised = sum(F.cross_entropy(scores, concepts[:, i]) for i, scores in enumerate(logits))
        kept = (joint(*logits) @ allowed).clamp(min=1e-30).log().mean()
        return F.cross_entropy(label, labels[:, 0]) + supervised / 2 - 0.1 * kept

    def blackbox(pictures: Tensor, labels: Tensor, concepts: Tensor) -> Tensor:
        return F.cross_entropy(network(pictures), labels[:, 0])

    losses = {"dpl": dpl, "ltn": ltn, "cbm": cbm, "semantic": semantic, "blackbox": blackbox}
    return network, losses[name]

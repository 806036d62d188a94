"""The models: small networks from pictures to concepts and labels, and heads from concepts to labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from torch import Tensor, nn
from torch.nn import functional

from assay.base import Array, Codes
from assay.logic import Knowledge

BATCH, RATE, TINY = 64, 3e-3, 1e-6


class ExactHead(nn.Module):
    """The rule over concept probabilities, summed exactly: one sweep over the layers of its decision diagram."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__()
        diagram = knowledge.diagram
        self.order, self.widths = diagram.order, diagram.next_widths
        self.layers = [torch.from_numpy(np.asarray(layer, dtype=np.int64)) for layer in diagram.layers]
        self.label_codes = [
            torch.tensor([label.values.index(outcome[i]) for outcome in diagram.outcomes])
            for i, label in enumerate(knowledge.labels)
        ]
        self.label_sizes = [len(label.values) for label in knowledge.labels]

    def forward(self, concepts: Sequence[Tensor]) -> list[Tensor]:
        """Return the log probabilities of each label."""
        mass = torch.ones(len(concepts[0]), 1)
        for place, layer, width in zip(self.order, self.layers, self.widths, strict=True):
            shares = (mass[:, :, None] * concepts[place][:, None, :]).reshape(len(mass), -1)
            mass = torch.zeros(len(mass), width).index_add(1, layer.reshape(-1), shares)
        sums = [
            torch.zeros(len(mass), size).index_add(1, codes, mass)
            for codes, size in zip(self.label_codes, self.label_sizes, strict=True)
        ]
        return [torch.log(part.clamp_min(TINY)) for part in sums]


class NetworkHead(nn.Module):
    """Labels from concept probabilities by a linear layer, or by a small network."""

    def __init__(self, concept_sizes: Sequence[int], label_sizes: Sequence[int], hidden: int) -> None:
        super().__init__()
        width = sum(concept_sizes)
        body = [nn.Linear(width, hidden), nn.ReLU()] if hidden else []
        self.parts = nn.ModuleList(nn.Sequential(*body, nn.Linear(hidden or width, size)) for size in label_sizes)

    def forward(self, concepts: Sequence[Tensor]) -> list[Tensor]:
        """Return the logits of each label."""
        together = torch.cat(list(concepts), dim=1)
        return [part(together) for part in self.parts]


class Network(nn.Module):
    """Two convolutions, a hidden layer, an output a concept, and, beside them, an output a label from the features."""

    def __init__(self, shape: Sequence[int], concept_sizes: Sequence[int], label_sizes: Sequence[int]) -> None:
        super().__init__()
        channels, height, width = shape
        self.body = nn.Sequential(
            nn.Conv2d(channels, 16, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * -(-height // 4) * -(-width // 4), 96), nn.ReLU(),
        )  # fmt: skip
        self.concepts = nn.ModuleList(nn.Linear(96, size) for size in concept_sizes)
        self.labels = nn.ModuleList(nn.Linear(96, size) for size in label_sizes)

    def forward(self, images: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return the logits of concepts and of labels."""
        features = self.body(images)
        return [part(features) for part in self.concepts], [part(features) for part in self.labels]


@dataclass(frozen=True)
class Plan:
    """What a network is trained on: concepts and labels by these weights, the labels by `head` if there is one."""

    epochs: int
    seed: int
    concept_weight: float = 1.0
    label_weight: float = 0.0
    decay: float = 0.0


def train_network(
    network: Network, head: nn.Module | None, images: Array, concepts: Codes, labels: Codes, plan: Plan
) -> None:
    """Train a network, and a head on its concept probabilities; a target of -1 is not supervised."""
    generator = torch.Generator().manual_seed(plan.seed)
    parts = [*network.parameters(), *(head.parameters() if head is not None else [])]
    optimiser = torch.optim.Adam(parts, lr=RATE, weight_decay=plan.decay)
    pictures, targets, answers = torch.from_numpy(images), torch.from_numpy(concepts), torch.from_numpy(labels)
    for _ in range(plan.epochs):
        for rows in torch.randperm(len(pictures), generator=generator).split(BATCH):
            concept_logits, label_logits = network(pictures[rows])
            loss = torch.zeros(())
            if plan.concept_weight:
                loss = loss + plan.concept_weight * _loss(concept_logits, targets[rows])
            if plan.label_weight:
                shares = [functional.softmax(logits, dim=1) for logits in concept_logits]
                loss = loss + plan.label_weight * _loss(label_logits if head is None else head(shares), answers[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    network.eval()


def _loss(logits: Sequence[Tensor], targets: Tensor) -> Tensor:
    known = [
        functional.cross_entropy(part, targets[:, i], ignore_index=-1)
        for i, part in enumerate(logits)
        if bool((targets[:, i] >= 0).any())
    ]
    return torch.stack(known).sum() if known else torch.zeros(())


@torch.no_grad()
def network_answers(network: Network, images: Array) -> tuple[list[Array], list[Array]]:
    """Return the probabilities of concepts and of labels."""
    concepts, labels = zip(*(network(part) for part in torch.from_numpy(images).split(256)), strict=True)
    return _shares(concepts), _shares(labels)


def _shares(parts: Sequence[Sequence[Tensor]]) -> list[Array]:
    return [torch.softmax(torch.cat(part), dim=1).numpy().astype(np.float64) for part in zip(*parts, strict=True)]


@torch.no_grad()
def head_answers(head: nn.Module, concepts: Sequence[Array]) -> list[Array]:
    """Return the label probabilities that a head of torch gives for concept probabilities."""
    logits = head([torch.from_numpy(np.asarray(part, dtype=np.float32)) for part in concepts])
    return [torch.softmax(part, dim=1).numpy().astype(np.float64) for part in logits]


def one_hot(codes: Codes, sizes: Sequence[int]) -> list[Array]:
    """Return certain probabilities of codes, an array a concept."""
    return [np.eye(size)[codes[:, i]] for i, size in enumerate(sizes)]


@dataclass(frozen=True)
class Fitted:
    """Estimators of scikit-learn, one a label, which know how many values each label has."""

    estimators: tuple[LogisticRegression | DecisionTreeClassifier | RandomForestClassifier, ...]
    sizes: tuple[int, ...]

    def answers(self, inputs: Array) -> list[Array]:
        """Return the probabilities of each label."""
        made = []
        for estimator, size in zip(self.estimators, self.sizes, strict=True):
            shares = np.zeros((len(inputs), size))
            shares[:, estimator.classes_] = estimator.predict_proba(inputs)
            made.append(shares)
        return made


def fit_estimators(kind: str, inputs: Array, labels: Codes, sizes: Sequence[int], seed: int) -> Fitted:
    """Fit `linear`, `tree`, `stump` (a tree of depth 2) or `forest` to labels."""
    fitted = []
    for column in labels.T:
        estimator = {
            "linear": LogisticRegression(max_iter=2000),
            "tree": DecisionTreeClassifier(random_state=seed),
            "stump": DecisionTreeClassifier(max_depth=2, random_state=seed),
            "forest": RandomForestClassifier(150, random_state=seed, n_jobs=1),
        }[kind]
        fitted.append(estimator.fit(inputs[column >= 0], column[column >= 0]))
    return Fitted(tuple(fitted), tuple(sizes))

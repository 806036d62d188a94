"""Every kind of model as one thing: what it answers to pictures, and what it answers where its concepts are set."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from assay.base import Array, Codes
from assay.logic import Knowledge
from benchmarks.trained.networks import (
    ExactHead,
    Network,
    NetworkHead,
    Plan,
    fit_estimators,
    head_answers,
    network_answers,
    one_hot,
    train_network,
)
from benchmarks.trained.setups import Setup

WIDTH = 32
Heads = Callable[[list[Array]], list[Array]]


@dataclass(frozen=True)
class Answers:
    """Probabilities of concepts, None where nothing is said of one, and of labels."""

    concepts: list[Array | None]
    labels: list[Array]


@dataclass(frozen=True)
class Trained:
    """A trained model: `answers` to pictures (and the true concepts, which some models are given)."""

    answers: Callable[[Array, Codes], Answers]
    intervened: Callable[[Codes], list[Array] | None]
    """The labels where all concepts are set; None for a model without a bottleneck."""


def train_model(setup: Setup, knowledge: Knowledge, images: Array, concepts: Codes, labels: Codes) -> Trained:
    """Train the model of a setup on pictures, and on concepts and labels as the table of training has them."""
    names = knowledge.space.names
    if setup.supervised is not None:
        concepts = np.where([[name in setup.supervised for name in names]], concepts, -1)
    data = _Data(setup, knowledge, images, concepts, labels)
    return {
        "independent": _bottleneck,
        "sequential": _bottleneck,
        "joint": _joint,
        "multitask": _multitask,
        "beside": _beside,
        "blackbox": _blackbox,
        "pixels": _pixels,
        "table": _table,
        "given": _given,
    }[setup.model](data)


@dataclass(frozen=True)
class _Data:
    setup: Setup
    knowledge: Knowledge
    images: Array
    concepts: Codes
    labels: Codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each concept has."""
        return self.knowledge.space.sizes

    @property
    def label_sizes(self) -> tuple[int, ...]:
        """How many values each label has."""
        return tuple(len(label.values) for label in self.knowledge.labels)

    @property
    def silence(self) -> list[Array | None]:
        """What a model says of concepts that predicts none."""
        return [None] * len(self.sizes)

    def network(self, concept_weight: float, label_weight: float, head: nn.Module | None = None) -> Network:
        """Return a network trained on concepts and labels by these weights."""
        setup = self.setup
        torch.manual_seed(setup.seed)
        network = Network(self.images.shape[1:], self.sizes, self.label_sizes)
        plan = Plan(setup.epochs, setup.seed, concept_weight, label_weight)
        train_network(network, head, self.images, self.concepts, self.labels, plan)
        return network

    def fitted(self, inputs: Array) -> Callable[[Array], list[Array]]:
        """Return an estimator of the labels, fitted on inputs."""
        head = "linear" if self.setup.head == "" else self.setup.head
        return fit_estimators(head, inputs, self.labels, self.label_sizes, self.setup.seed).answers


def _bottleneck(data: _Data) -> Trained:
    """Concepts first; then a head: the rule, or one fitted on true (independent) or predicted (sequential) concepts."""
    network = data.network(data.setup.concept_weight, 0.0)
    heads: Heads
    if data.setup.head == "rule":
        exact = ExactHead(data.knowledge)
        heads = lambda concepts: head_answers(exact, concepts)  # noqa: E731
    else:
        predicted = data.setup.model == "sequential"
        inputs = network_answers(network, data.images)[0] if predicted else one_hot(data.concepts, data.sizes)
        fitted = data.fitted(np.concatenate(inputs, axis=1))
        heads = lambda concepts: fitted(np.concatenate(concepts, axis=1))  # noqa: E731
    return _with_heads(data, network, heads)


def _joint(data: _Data) -> Trained:
    """Concepts and head together; by the labels alone where concepts weigh nothing."""
    setup = data.setup
    torch.manual_seed(setup.seed + 1)
    head: nn.Module
    if setup.head == "rule":
        head = ExactHead(data.knowledge)
    else:
        head = NetworkHead(data.sizes, data.label_sizes, WIDTH if setup.head == "hidden" else 0)
    network = data.network(setup.concept_weight, setup.label_weight or 1.0, head)
    return _with_heads(data, network, lambda concepts: head_answers(head, concepts))


def _with_heads(data: _Data, network: Network, heads: Heads) -> Trained:
    def answers(images: Array, _: Codes) -> Answers:
        concepts = network_answers(network, images)[0]
        return Answers(list(concepts), heads(concepts))

    return Trained(answers, lambda codes: heads(one_hot(codes, data.sizes)))


def _multitask(data: _Data) -> Trained:
    """Concepts and labels side by side, from the same features."""
    network = data.network(data.setup.concept_weight, data.setup.label_weight or 1.0)

    def answers(images: Array, _: Codes) -> Answers:
        concepts, labels = network_answers(network, images)
        return Answers(list(concepts), labels)

    return Trained(answers, lambda codes: None)


def _beside(data: _Data) -> Trained:
    """A network for the concepts, and another one, which knows nothing of it, for the labels."""
    first, second = data.network(1.0, 0.0), data.network(0.0, 1.0)

    def answers(images: Array, _: Codes) -> Answers:
        return Answers(list(network_answers(first, images)[0]), network_answers(second, images)[1])

    return Trained(answers, lambda codes: None)


def _blackbox(data: _Data) -> Trained:
    """Labels from pictures."""
    network = data.network(0.0, 1.0)
    return Trained(lambda images, _: Answers(data.silence, network_answers(network, images)[1]), lambda codes: None)


def _pixels(data: _Data) -> Trained:
    """Labels from pixels by an estimator of scikit-learn."""
    fitted = data.fitted(data.images.reshape(len(data.images), -1))
    return Trained(lambda x, _: Answers(data.silence, fitted(x.reshape(len(x), -1))), lambda codes: None)


def _table(data: _Data) -> Trained:
    """Labels from the true concepts as a table, by an estimator that predicts no concepts."""
    fitted = data.fitted(np.concatenate(one_hot(data.concepts, data.sizes), axis=1))

    def labels(codes: Codes) -> list[Array]:
        return fitted(np.concatenate(one_hot(codes, data.sizes), axis=1))

    return Trained(lambda _, codes: Answers(data.silence, labels(codes)), lambda codes: None)


def _given(data: _Data) -> Trained:
    """Concepts as people annotate them, and an estimator of the labels on these."""
    fitted = data.fitted(np.concatenate(one_hot(data.concepts, data.sizes), axis=1))

    def labels(codes: Codes) -> list[Array]:
        return fitted(np.concatenate(one_hot(codes, data.sizes), axis=1))

    return Trained(lambda _, codes: Answers(list(one_hot(codes, data.sizes)), labels(codes)), labels)

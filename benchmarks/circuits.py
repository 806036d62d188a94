"""Exact inference: the decision diagram against the enumerated world matrix that rsbench's DPL uses."""

import itertools

import numpy as np
import torch

from assay.families.digits.task import MNMath
from assay.logic import Knowledge, compile_diagram, digits
from assay.models import RuleLayer
from benchmarks.timing import Result, rate

BATCH = 64


def run() -> list[Result]:
    return [_probability(4), _training_step(4), _equations(), _compile()]


def _sum(k: int) -> Knowledge:
    names = [f"x{i}" for i in range(k)]
    return Knowledge.of(digits(names), {"sum": " + ".join(names)})


def _probability(k: int) -> Result:
    """P(sum of k digits) in numpy."""
    diagram = _sum(k).diagram
    spread = [np.random.default_rng(0).dirichlet(np.ones(10), size=BATCH) for _ in range(k)]
    worlds = np.array(list(itertools.product(range(10), repeat=k)))
    matrix = np.eye(9 * k + 1)[worlds.sum(axis=1)]

    def ours() -> int:
        diagram.probabilities(spread)
        return BATCH

    def enumerated() -> int:
        joint = np.ones((BATCH, 1))
        for p in spread:
            joint = (joint[:, :, None] * p[:, None, :]).reshape(BATCH, -1)
        joint @ matrix
        return BATCH

    return Result(f"P(sum of {k} digits)", "examples", rate(ours), rate(enumerated), "world matrix, numpy")


def _training_step(k: int) -> Result:
    """The likelihood of the sum of k digits and its gradient, in torch."""
    torch.set_num_threads(1)
    layer = RuleLayer(_sum(k)).diagram
    logits = [torch.randn(BATCH, 10, requires_grad=True) for _ in range(k)]
    worlds = torch.tensor(list(itertools.product(range(10), repeat=k)))
    matrix = torch.eye(9 * k + 1)[worlds.sum(dim=1)]

    def ours() -> int:
        layer([x.softmax(1) for x in logits])[:, 0].log().sum().backward()
        return BATCH

    def enumerated() -> int:
        joint = torch.ones(BATCH, 1)
        for x in logits:
            joint = (joint[:, :, None] * x.softmax(1)[:, None, :]).reshape(BATCH, -1)
        (joint @ matrix)[:, 0].log().sum().backward()
        return BATCH

    return Result(f"gradient of P(sum of {k} digits)", "examples", rate(ours), rate(enumerated), "world matrix, torch")


def _equations() -> Result:
    """Two equations of four digits each (MNMath): likelihood and gradient in logs, against a matrix for each equation.

    The matrices only serve because the equations share no digit; the diagram does not need that.
    """
    torch.set_num_threads(1)
    knowledge = MNMath().knowledge
    layer = RuleLayer(knowledge)
    logits = [torch.randn(BATCH, 10, requires_grad=True) for _ in range(8)]
    worlds = np.array(list(itertools.product(range(10), repeat=4)))
    sums = torch.from_numpy((worlds[:, 0] + worlds[:, 1] == worlds[:, 2] + worlds[:, 3]).astype(np.float32))
    products = torch.from_numpy((worlds[:, 0] * worlds[:, 1] == worlds[:, 2] * worlds[:, 3]).astype(np.float32))

    def ours() -> int:
        layer.logs([x.log_softmax(1) for x in logits])[:, 0].sum().backward()
        return 1

    def enumerated() -> int:
        total = torch.zeros(())
        for truths, own in ((sums, logits[:4]), (products, logits[4:])):
            joint = torch.ones(BATCH, 1)
            for x in own:
                joint = (joint[:, :, None] * x.softmax(1)[:, None, :]).reshape(BATCH, -1)
            total = total + (joint @ truths).clamp(min=1e-9).log().sum()
        total.backward()
        return 1

    return Result("MNMath, rule and gradient", "steps", rate(ours), rate(enumerated), "world matrices, torch")


def _compile() -> Result:
    """Counting the worlds of each sum of 7 digits: compile and count, against listing."""
    knowledge = _sum(7)

    def ours() -> int:
        compile_diagram([knowledge.labels[0].formula], knowledge.space).counts  # noqa: B018
        return 1

    def listing() -> int:
        np.bincount(knowledge.space.all_codes().sum(axis=1))
        return 1

    return Result("count worlds of each sum of 7 digits", "times", rate(ours), rate(listing), "list 10^7 worlds, numpy")

"""Differentiable forward reasoning, for all examples at once: from values of atoms to values of clauses and of rules.

A clause holds as much as some choice of objects makes its body hold: a soft "or" over choices of the product of its
atoms. A rule is a weighted choice of clauses, a program a soft "or" of rules. Bodies are sparse lists of atom numbers,
a row for each choice that can hold at all; values are gathered by them. No head occurs in a body, so that one step of
reasoning is all there is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array
from assay.models.symbolic.alpha_ilp.valuation import TRUE

SoftOr = Literal["noisy", "max"]
GAMMA = 0.01
NEARLY = 1 - 1e-6
CELLS = 1 << 20
"""How many values are held at once."""


@dataclass(frozen=True, eq=False)
class GroundBodies:
    """Ground bodies of several clauses: atom numbers (rows x longest body, filled up with true), and whose rows."""

    atoms: Tensor
    clause: Tensor
    clauses: int

    @classmethod
    def of(cls, rows: Sequence[Array]) -> "GroundBodies":
        """Return the bodies of clauses, each given as an array of choices x atoms."""
        longest = max((body.shape[1] for body in rows), default=0)
        ends = np.cumsum([0, *(len(body) for body in rows)])
        atoms = np.full((ends[-1], longest), TRUE, dtype=np.int64)
        for body, first in zip(rows, ends, strict=False):
            atoms[first : first + len(body), : body.shape[1]] = body
        clause = np.repeat(np.arange(len(rows)), np.diff(ends))
        return cls(torch.from_numpy(atoms), torch.from_numpy(clause), len(rows))


def clause_values(values: Tensor, bodies: GroundBodies, way: SoftOr = "noisy") -> Tensor:
    """Return how much each clause holds (clauses x examples), given the values of atoms (atoms x examples)."""
    truths = values.new_ones(len(bodies.atoms), values.shape[1])
    for column in bodies.atoms.unbind(dim=1):
        truths = truths * values.index_select(0, column)
    return _some_of(truths, bodies.clause, bodies.clauses, way)


def _some_of(truths: Tensor, owner: Tensor, size: int, way: SoftOr) -> Tensor:
    """Return the soft "or" of the rows of each owner, of each example by itself; nothing is false."""
    empty = truths.new_zeros(size, truths.shape[1])
    if way == "noisy":
        return 1 - torch.exp(empty.index_add(0, owner, torch.log1p(-truths.clamp(max=NEARLY))))
    rows = owner[:, None].expand_as(truths)
    top = empty.scatter_reduce(0, rows, truths.detach(), "amax")  # of each example: others in the batch have no say
    weights = torch.exp((truths - top[owner]) / GAMMA)
    below = empty.index_add(0, owner, weights)
    return empty.index_add(0, owner, weights * truths) / below.clamp_min(1e-9)


class Rules(nn.Module):
    """Several rules, each a weighted choice among the same clauses; the weights are all that is learned."""

    def __init__(self, logits: Tensor, way: SoftOr = "noisy") -> None:
        super().__init__()
        self.logits = nn.Parameter(logits)
        self.way: SoftOr = way

    @property
    def weights(self) -> Tensor:
        """The share of each clause in each rule (rules x clauses)."""
        return torch.softmax(self.logits, dim=1)

    def forward(self, truths: Tensor) -> Tensor:
        """Return how true the label is in each example, given how much each clause holds (clauses x examples)."""
        return program_value(self.weights, truths, self.way)


def program_value(weights: Tensor, truths: Tensor, way: SoftOr) -> Tensor:
    """Return the soft "or" of rules for each example, given the shares of clauses."""
    rule_values = weights @ truths
    return _some_of(rule_values, torch.zeros(len(rule_values), dtype=torch.int64), 1, way)[0]

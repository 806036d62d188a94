"""The weights of clauses, by gradient descent: cross-entropy on the labels, and a price for what is long or unclear."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from assay.base import Array
from assay.models.symbolic.alpha_ilp.beam_search import ClausePool
from assay.models.symbolic.alpha_ilp.soft_reasoning import Rules, SoftOr
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral
from assay.prolog import Bias

SHARP = 8.0
"""How strongly the initial weights follow the scores of the search."""
LEAST_WEIGHT = 1e-4
"""Clauses with less in every rule are forgotten."""
LITERAL = 0.005
"""What a literal costs in the loss."""
UNDECIDED = 0.02
"""What a rule costs in the loss that is undecided between clauses, by its entropy."""
DECIDED, LOOK = 0.999, 10
"""When every rule's strongest clause has so much weight, nothing more is learned; so often that is looked at."""
MARGIN = 1e-4
"""The least distance of probabilities from 0 and 1 in the loss."""


@dataclass(frozen=True, eq=False)
class WeightedClauses:
    """The clauses of one value of a label, and the weight of each in each rule."""

    clauses: tuple[IlpClause, ...]
    weights: Array

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; literals by name."""
        bodies = [[[placed.literal.name, list(placed.places)] for placed in clause.body] for clause in self.clauses]
        groups = [list(clause.groups) for clause in self.clauses]
        return {"groups": groups, "bodies": bodies, "weights": self.weights.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], bias: Bias) -> "WeightedClauses":
        """Return what `to_dict` wrote."""
        clauses = []
        for groups, body in zip(data["groups"], data["bodies"], strict=True):
            placed = tuple(PlacedLiteral(bias.by_name[name], tuple(places)) for name, places in body)
            clauses.append(IlpClause(tuple(groups), placed))
        weights = np.array(data["weights"], dtype=np.float64).reshape(len(data["weights"]), len(clauses))
        return cls(tuple(clauses), weights)

    def strongest(self, threshold: float) -> tuple[IlpClause, ...]:
        """Return the strongest clause of each rule that is strong enough, each once.

        Where no rule has one, the strongest of all is taken, unless it has less weight than that the rule is none.
        """
        if not self.clauses:
            return ()
        best = [(float(row.max()), int(row.argmax()), 1 - float(row.sum())) for row in self.weights]
        strong = [place for weight, place, _ in best if weight >= threshold]
        weight, place, none = max(best)
        return tuple(dict.fromkeys(self.clauses[at] for at in strong or ([place] if weight >= none else [])))


@dataclass(frozen=True)
class Descent:
    """How many rules there are, and how their weights are learned."""

    rules: int
    steps: int
    rate: float
    ends: float
    """When it must be over, on the clock of `time.monotonic`."""
    way: SoftOr = "noisy"


def warm_up() -> None:
    """Let torch load what it loads with its first optimizer (seconds), before any clock runs."""
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])


def learn_weights(pool: ClausePool, target: Tensor, how: Descent) -> tuple[WeightedClauses, float, int]:
    """Return the clauses with their weights, the loss, and how many steps were made."""
    values = torch.cat(
        [torch.zeros(1, len(target)), pool.values]
    )  # the first clause is never true: a rule that is none
    lengths = torch.tensor([0, *(len(clause) for clause in pool.clauses)]).to(values)
    rules = Rules(_start(pool, how.rules), how.way)
    optimizer = torch.optim.Adam(rules.parameters(), lr=how.rate)
    loss, steps = torch.zeros(()), 0
    while steps < how.steps and time.monotonic() < how.ends:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy(rules(values) * (1 - 2 * MARGIN) + MARGIN, target)
        (loss + _price(rules.weights, lengths, steps / how.steps)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        steps += 1
        if steps % LOOK == 0 and float(rules.weights.detach().amax(dim=1).min()) > DECIDED:
            break
    weights = rules.weights.detach().double().numpy()[:, 1:]
    relevant = np.flatnonzero((weights > LEAST_WEIGHT).any(axis=0))
    weighted = WeightedClauses(tuple(pool.clauses[place] for place in relevant), weights[:, relevant])
    return weighted, float(loss.detach()), steps


def _start(pool: ClausePool, rules: int) -> Tensor:
    """Return the logits to begin with: each rule prefers what its round of the search did, the others begin as none."""
    rounds = pool.scores.shape[1]
    scores = F.pad(pool.scores.T, (1, 0, 0, rules - rounds))
    scores[rounds:, 0] = 1
    return SHARP * scores


def _price(weights: Tensor, lengths: Tensor, done: float) -> Tensor:
    """Return what rules cost: so much a literal, and, more and more, for being undecided between clauses."""
    undecided = -(weights * torch.log(weights.clamp_min(MARGIN))).sum(dim=1)
    return (LITERAL * (weights @ lengths) + UNDECIDED * done * undecided).sum()

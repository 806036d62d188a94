"""A random guesser, scored exactly: what its guesses would give on average, without drawing any.

It draws every concept on its own, by default every value alike, as the guesser of VALUED's equation 8 does. How often
it breaks a rule is one sweep over the rule's decision diagram. Its F1 is an average of 2 h / (m + n) over guesses with
`n` things of which `h` are among the `m` true ones; as 1 / (m + n) is the integral of t^(m + n - 1) from 0 to 1, it is
the integral of a polynomial, which a quadrature of enough points gives exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from assay.base import Array, Codes
from assay.logic import ConceptSpace, Diagram, Knowledge, Limits, true_outcomes
from assay.metrics.interval import Between


def frequencies(codes: Codes, space: ConceptSpace) -> list[Array]:
    """Return the distributions of one who guesses each value as often as it occurs in these worlds."""
    columns = zip(codes.T, space.sizes, strict=True)
    return [np.bincount(column, minlength=size)[None] / len(codes) for column, size in columns]


@dataclass(frozen=True)
class Guesser:
    """One who draws each concept on its own: `distributions[i]` is one row, a number for each value of concept `i`."""

    knowledge: Knowledge
    limits: Limits
    distributions: Sequence[Array]

    @cached_property
    def rule_rates(self) -> Array:
        """How often each constraint is broken; NaN for one whose diagram is too large."""
        names = [constraint.name for constraint in self.knowledge.constraints]
        diagrams = [self.limits.diagram([name]) for name in names]
        return np.array([np.nan if x is None else 1 - self._chance(x) for x in diagrams])

    def _chance(self, diagram: Diagram) -> float:
        """Return the probability that a guess keeps the constraints of a diagram."""
        return float(diagram.probabilities(self.distributions)[:, true_outcomes(diagram)].sum(axis=1)[0])

    @property
    def mean_violations(self) -> float:
        """The number of constraints that a guess breaks, on average."""
        return float(self.rule_rates.sum())

    def contradiction_rate(self, names: Sequence[str] | None = None) -> Between:
        """Return how often some constraint is broken, of all or of those named; bounds where they are too many."""
        own = [constraint.name for constraint in self.knowledge.constraints]
        chosen = own if names is None else list(names)
        joint = self.limits.diagram(chosen) if chosen else None
        if joint is not None:
            rate = 1 - self._chance(joint)
            return Between(rate, rate)
        rates = np.array([self.rule_rates[own.index(name)] for name in chosen])
        most = self.limits.diagram(self.limits.as_many(chosen)) if chosen else None
        low = 0.0 if most is None else 1 - self._chance(most)
        low = max(low, float(np.nan_to_num(rates).max(initial=0.0)))
        return Between(low, max(low, min(1.0, float(np.nan_to_num(rates, nan=1.0).sum()))))

    def exact_match(self, truth: Codes) -> float:
        """Return how often a guess is right in every concept."""
        chances = [chance[0][column] for chance, column in zip(self.distributions, truth.T, strict=True)]
        return float(np.prod(chances, axis=0).mean())

    def set_f1(self, truth: Codes) -> float:
        """Return the set F1 of the guesses."""
        both = zip(self.distributions, self._nothing, strict=True)
        empty = float(np.prod([chance[0, n] if n >= 0 else 0.0 for chance, n in both]))
        return self._f1(truth, self._table(None), empty)

    def sane_f1(self, truth: Codes) -> Between:
        """Return the sane F1 of the guesses; bounds where one diagram cannot hold all constraints."""
        joint = self.limits.diagram([constraint.name for constraint in self.knowledge.constraints])
        if joint is None:
            return Between(0.0, min(self.set_f1(truth), 1 - self.contradiction_rate().low))
        nowhere = np.maximum(self._nothing, 0)[None]
        allowed = true_outcomes(joint)[joint.outcome_of(nowhere)[0]] and (self._nothing >= 0).all()
        chances = [chance[0, n] for chance, n in zip(self.distributions, nowhere[0], strict=True)]
        f1 = self._f1(truth, self._table(joint), float(np.prod(chances)) if allowed else 0.0)
        return Between(f1, f1)

    @cached_property
    def _nothing(self) -> Array:
        return np.array([concept.nothing_code for concept in self.knowledge.space.concepts])

    def _f1(self, truth: Codes, table: Array, empty: float) -> float:
        """Return the average over true worlds; `table[concept, code, m]` is what a hit adds among `m` true things."""
        there = truth != self._nothing
        sizes = there.sum(axis=1)
        hits = table[np.arange(truth.shape[1])[None], truth, sizes[:, None]]
        return float(np.where(sizes > 0, (hits * there).sum(axis=1), empty).mean())

    def _table(self, within: Diagram | None) -> Array:
        count = len(self.distributions)
        points, weights = np.polynomial.legendre.leggauss(count + 1)
        points, weights = (points + 1) / 2, weights / 2
        scaled = [
            chance * np.where(np.arange(chance.shape[1])[None] == n, 1.0, points[:, None])
            for chance, n in zip(self.distributions, self._nothing, strict=True)
        ]
        powers = points[:, None] ** np.maximum(np.arange(count + 1) - 1, 0) * weights[:, None]
        table = np.zeros((count, max(self.knowledge.space.sizes), count + 1))
        shares = _shares(scaled) if within is None else _shares_within(within, scaled)
        for place, share in enumerate(shares):
            table[place, : share.shape[1]] = 2 * share.T @ powers
        return table


def _shares(weights: Sequence[Array]) -> list[Array]:
    """Return for each concept and code the total weight of all worlds that have it."""
    sums = np.stack([weight.sum(axis=1) for weight in weights])
    ones = np.ones_like(sums[:1])
    before = np.concatenate([ones, np.cumprod(sums, axis=0)[:-1]])
    after = np.concatenate([np.cumprod(sums[::-1], axis=0)[::-1][1:], ones])
    return [weight * (before[i] * after[i])[:, None] for i, weight in enumerate(weights)]


def _shares_within(diagram: Diagram, weights: Sequence[Array]) -> list[Array]:
    """Return the same of the worlds for which a diagram's formula holds."""
    later = [np.broadcast_to(true_outcomes(diagram).astype(float), (len(weights[0]), len(diagram.outcomes)))]
    for place, layer in zip(reversed(diagram.order), reversed(diagram.layers), strict=True):
        later.append((later[-1][:, layer] * weights[place][:, None, :]).sum(axis=2))
    later.reverse()
    by_place: dict[int, Array] = {}
    mass = np.ones((len(weights[0]), 1))
    for depth, (place, layer) in enumerate(zip(diagram.order, diagram.layers, strict=True)):
        shares = mass[:, :, None] * weights[place][:, None, :]
        by_place[place] = (shares * later[depth + 1][:, layer]).sum(axis=1)
        following = np.zeros((later[depth + 1].shape[1], len(mass)))
        np.add.at(following, layer.ravel(), shares.reshape(len(mass), -1).T)
        mass = following.T
    return [by_place[place] for place in range(len(weights))]


@lru_cache(maxsize=8)
def uniform_guesser(knowledge: Knowledge) -> Guesser:
    """Return the guesser to whom all values are alike; what it costs to compile is paid once."""
    return Guesser(knowledge, Limits(knowledge), [np.full((1, size), 1 / size) for size in knowledge.space.sizes])

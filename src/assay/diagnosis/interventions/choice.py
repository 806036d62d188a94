"""A policy by name, with what it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.arrays import Array, Codes
from assay.diagnosis.interventions.answering import EVERY, Answerer
from assay.diagnosis.interventions.policies import POLICIES, Ordered, ValidationRanked
from assay.diagnosis.interventions.scene import Policy
from assay.diagnosis.interventions.units import Units
from assay.errors import ConfigError


@dataclass(frozen=True)
class Ranking:
    """The truth about validation examples, from which an order of units is learned."""

    model: Answerer
    concepts: Codes
    labels: Codes

    def order(self, units: Units) -> tuple[int, ...]:
        """Return the units by how much each alone, perfectly answered, raises accuracy, or else the true chance."""
        before = self._quality({})
        found = []
        for places in units.members:
            given = {p: np.eye(units.sizes[p])[self.concepts[:, p]] for p in places}
            after = self._quality(given)
            found.append((after[0] - before[0], after[1] - before[1]))
        return tuple(sorted(range(len(units)), key=lambda unit: found[unit], reverse=True))

    def _quality(self, given: Mapping[int, Array]) -> tuple[float, float]:
        told = self.model.answer(EVERY, given)
        rows = np.arange(len(self.labels))
        likely = [spread[rows, self.labels[:, i]].mean() for i, spread in enumerate(told.labels)]
        return float((told.label_codes == self.labels).mean()), float(np.mean(likely))


def policy_of(
    name: str,
    threshold: float | None = None,
    order: Sequence[int] = (),
    ranking: Ranking | None = None,
    units: Units | None = None,
) -> Policy:
    """Return a policy by name; a threshold is for those that have a score."""
    make = POLICIES[name]
    if threshold is not None and not make.scored:
        raise ConfigError(f"policy {name!r} has no score that a threshold could be set on")
    if order and make is not Ordered:
        raise ConfigError(f"an order of concepts is for policy 'fixed', not {name!r}")
    if make is ValidationRanked:
        if ranking is None or units is None:
            raise ConfigError("policy 'validation' needs a validation split, and there is none")
        return ValidationRanked(ranking.order(units))
    if make is Ordered:
        return Ordered(tuple(order))
    made: Policy = make() if threshold is None else make(threshold)
    return made

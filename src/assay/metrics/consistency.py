"""Does the label follow from the concepts that the model itself predicts, and are those concepts possible?

The metrics of VALUED (3.2), for every rule with constraints. A world is read as the set of things that are there: every
concept that has another value than the one that says "nothing" (`Concept.nothing_code`: an empty square, an absent
object, false, a count of 0). Where no value says so, each concept is a thing, and the set F1 is the accuracy.
"""

import numpy as np

from assay.base import Array, Codes
from assay.metrics.evidence import Evidence
from assay.metrics.metric import per_example


def complete(evidence: Evidence) -> Array:
    """Return for each example whether the model spoke of every concept."""
    return np.asarray((evidence.predicted_concepts >= 0).all(axis=1))


@per_example(
    "rule_consistency", "share of examples whose labels follow from the predicted concepts by the rule", counted=True
)
def rule_consistency(evidence: Evidence) -> Array:
    """Return for each example whether all predicted labels are those that the rule gives for the predicted concepts."""
    known = complete(evidence)
    consistent = np.full(len(evidence), np.nan)
    if known.any() and evidence.knowledge.has_rule:
        implied = evidence.knowledge.labels_of(evidence.predicted_concepts[known])
        consistent[known] = (implied == evidence.predicted_labels[known]).all(axis=1)
    return consistent


def set_f1_of(truth: Codes, predicted: Codes, nothing: Array) -> Array:
    """Return for each example 2 (things said that are true) / (things true + things said), 1 if there are none.

    >>> set_f1_of(np.array([[1, 2, 0]]), np.array([[1, 0, 2]]), np.array([0, 0, 0])).tolist()
    [0.5]
    """
    there, predicted_there = truth != nothing, predicted != nothing
    hits = ((truth == predicted) & there).sum(axis=1)
    both = there.sum(axis=1) + predicted_there.sum(axis=1)
    return np.where(both > 0, 2 * hits / np.maximum(both, 1), 1.0)


def things_f1(evidence: Evidence) -> Array:
    """Return the set F1 of each example (VALUED's F1); NaN where a concept is not predicted, or its truth not known."""
    nothing = np.array([concept.nothing_code for concept in evidence.knowledge.space.concepts])
    f1 = set_f1_of(evidence.concepts, evidence.predicted_concepts, nothing)
    return np.where(complete(evidence) & evidence.known.all(axis=1), f1, np.nan)


def sane_things_f1(evidence: Evidence) -> Array:
    """Return the set F1 of each example, 0 where it breaks a constraint (VALUED's sF1); NaN where one is not known."""
    broken, f1 = evidence.broken, things_f1(evidence)
    return np.where(np.isnan(broken) | np.isnan(f1), np.nan, np.where(broken > 0, 0.0, f1))


@per_example(
    "violation_rate", "share of examples whose predicted concepts break a constraint", better="lower", counted=True
)
def violation_rate(evidence: Evidence) -> Array:
    """Return for each example whether its predicted concepts break any constraint (VALUED's C)."""
    broken = evidence.broken
    return np.where(np.isnan(broken), np.nan, broken > 0)


@per_example(
    "mean_violations", "constraints that the predicted concepts of an example break", better="lower", counted=True
)
def mean_violations(evidence: Evidence) -> Array:
    """Return for each example how many constraints its predicted concepts break (VALUED's mu_C)."""
    return evidence.broken


@per_example(
    "violations_vs_random",
    "constraints broken, as a share of what a random guesser breaks",
    better="lower",
    counted=True,
)
def violations_vs_random(evidence: Evidence) -> Array:
    """Return for each example the constraints it breaks, over the number that uniform guesses break on average."""
    broken = evidence.broken
    if np.isnan(broken).all():
        return broken
    from assay.metrics.violations import uniform_guesser  # which compiles rules: not needed to list the metrics

    usual = uniform_guesser(evidence.knowledge).mean_violations
    return broken / usual if usual > 0 else np.full(len(broken), np.nan)


set_f1 = per_example("set_f1", "F1 of the set of things that are there, averaged over examples", counted=True)(
    things_f1
)
sane_f1 = per_example("sane_f1", "set F1 where an example that breaks a constraint counts as 0", counted=True)(
    sane_things_f1
)


@per_example(
    "f1_room",
    "set F1 less sane F1: what is lost if answers that break a constraint are useless",
    better="lower",
    counted=True,
)
def f1_room(evidence: Evidence) -> Array:
    """Return for each example its set F1 if it breaks a constraint, else 0."""
    return things_f1(evidence) - sane_things_f1(evidence)

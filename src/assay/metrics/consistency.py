"""Does the label follow from the concepts that the model itself predicts, and are those concepts possible?"""

import numpy as np

from assay.arrays import Array
from assay.metrics.evidence import Evidence
from assay.metrics.metric import per_example


def complete(evidence: Evidence) -> Array:
    """Return for each example whether the model spoke of every concept."""
    return np.asarray((evidence.predicted_concepts >= 0).all(axis=1))


@per_example("rule_consistency", "share of examples whose labels follow from the predicted concepts by the rule")
def rule_consistency(evidence: Evidence) -> Array:
    """Return for each example whether all predicted labels are those that the rule gives for the predicted concepts."""
    known = complete(evidence)
    found = np.full(len(evidence), np.nan)
    if known.any():
        implied = evidence.knowledge.labels_of(evidence.predicted_concepts[known])
        found[known] = (implied == evidence.predicted_labels[known]).all(axis=1)
    return found


@per_example("violation_rate", "share of examples whose predicted concepts break a constraint", better="lower")
def violation_rate(evidence: Evidence) -> Array:
    """Return for each example whether its predicted concepts break any constraint; NaN where the rule has none."""
    known = complete(evidence)
    found = np.full(len(evidence), np.nan)
    if known.any() and evidence.knowledge.constraints:
        found[known] = evidence.knowledge.violations(evidence.predicted_concepts[known]).any(axis=1)
    return found

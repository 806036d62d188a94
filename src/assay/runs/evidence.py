"""The evidence of a run: its predictions beside the truth, as they are or under another rule.

Under another rule labels, true and predicted, are those that it gives to true and predicted concepts: what a model
would say if only the rule changed. In rsbench the ambulance of SDD-OIA is such a test.
"""

from dataclasses import replace

import numpy as np

from assay.base import ConfigError
from assay.dataset import Dataset
from assay.logic import Knowledge
from assay.metrics import Evidence, gather_from
from assay.runs.folder import RunFolder


def evidence_of(run: RunFolder, dataset: Dataset) -> dict[str, Evidence]:
    """Return the evidence of a run on every split that it has predictions for, test first."""
    found = run.all_predictions(dataset.knowledge, dataset.sizes)
    return {split: gather_from(dataset, predictions) for split, predictions in found.items()}


def under_rule(evidence: Evidence, rule: Knowledge, only_predicted: bool = False) -> Evidence:
    """Return the evidence as it would be under another rule; an example with a concept unsaid has no label.

    Parameters
    ----------
    evidence
        The evidence; it must have predicted concepts.
    rule
        The other rule, over the same concepts.
    only_predicted
        Whether the true labels stay, so that the model alone answers by the other rule.
    """
    if not evidence.has_concepts:
        raise ConfigError("a model that says no concepts has no labels under another rule")
    known = np.asarray((evidence.concepts >= 0).all(axis=1))
    kept = evidence.take(np.flatnonzero(known))
    said = kept.predicted_concepts
    complete = np.asarray((said >= 0).all(axis=1))[:, None]
    labels = np.where(complete, rule.labels_of(np.maximum(said, 0)), -1)
    return replace(
        kept,
        knowledge=rule,
        labels=kept.labels if only_predicted else rule.labels_of(kept.concepts),
        predicted_labels=labels,
        label_probabilities=(None,) * len(rule.labels),
    )

"""The evidence of a run: its predictions beside the truth.

Predicted concepts under another rule than the one of the data: what a model would say if only the rule changed.

In rsbench the ambulance of SDD-OIA is such a test: the concepts stay, and the knowledge is swapped at test time.
Labels, true and predicted, are those that the other rule gives to true and predicted concepts.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.base import ConfigError
from assay.dataset import Dataset
from assay.exchange import read_rule, rule_settings
from assay.logic import Knowledge
from assay.metrics import Evidence, gather_from
from assay.runs.folder import RunFolder


def evidence_of(run: RunFolder, dataset: Dataset) -> dict[str, Evidence]:
    """Return the evidence of a run on every split that it has predictions for, test first."""
    found = run.all_predictions(dataset.knowledge, dataset.sizes)
    return {split: gather_from(dataset, predictions) for split, predictions in found.items()}


def read_other_rule(path: Path, knowledge: Knowledge) -> Knowledge:
    """Return the rule of a file over the concepts of a dataset; its labels may be others."""
    settings = rule_settings(path)
    labels = settings.values.get("labels")
    if not isinstance(labels, dict) or not labels:
        raise ConfigError(f"{str(path)!r} gives no formula for a label; write labels: {{name: formula}}")
    other = read_rule(settings, knowledge.space, [str(name) for name in labels], []).knowledge
    if other is None or other.stochastic:
        raise ConfigError(f"{str(path)!r}: labels under another rule must follow from the concepts")
    return other


def under_rule(evidence: Evidence, rule: Knowledge, only_predicted: bool = False) -> Evidence:
    """Return the evidence as it would be under another rule; an example with a concept unsaid has no label.

    With `only_predicted` the true labels stay: the model alone answers by the other rule.
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

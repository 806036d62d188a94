"""The rule as a label head, from concept probabilities to label probabilities."""

import numpy as np

from assay.base import Array
from assay.contracts import LabelHead
from assay.logic import Knowledge


def rule_head(knowledge: Knowledge) -> LabelHead:
    """Return the rule as a label head, exact for independent concepts."""
    diagram = knowledge.diagram
    tables = [
        np.array([[float(outcome[place] == value) for value in label.values] for outcome in diagram.outcomes])
        for place, label in enumerate(knowledge.labels)
    ]

    def head(concepts: list[Array]) -> list[Array]:
        outcomes = diagram.probabilities([np.asarray(p, dtype=np.float64) for p in concepts])
        return [outcomes @ table for table in tables]

    return head

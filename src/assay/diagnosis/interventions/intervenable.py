"""Any model by its predictions, as interventions use it."""

import numpy as np

from assay.base import DataError
from assay.contracts import BottleneckModel, Predictions, one_hot
from assay.diagnosis.interventions.label_heads import rule_head
from assay.logic import Knowledge


def model_from_predictions(predictions: Predictions, knowledge: Knowledge) -> BottleneckModel:
    """Return any model by its predicted concepts, with the rule as its label head."""
    concepts, soft = [], True
    for concept in knowledge.space.concepts:
        answer = predictions.concepts.get(concept.name)
        if answer is None or (answer.probabilities is None and (answer.codes < 0).any()):
            raise DataError(f"interventions need every concept of every example; {concept.name!r} is not answered for")
        soft &= answer.probabilities is not None
        certain = answer.probabilities is None
        concepts.append(one_hot(answer.codes, len(concept.values)) if certain else np.asarray(answer.probabilities))
    name = f"{predictions.about.get('model', 'predictions')} + rule"
    return BottleneckModel(name, concepts, rule_head(knowledge), soft=soft)

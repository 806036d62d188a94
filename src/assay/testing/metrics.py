"""The laws of metrics."""

import math

import numpy as np

from assay.arrays import Codes
from assay.concepts import digits
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.metrics.metric import Metric
from assay.seeds import rng_for
from assay.testing.checks import Check, need, try_laws


def _evidence(
    labels: Codes, concepts: Codes, predicted_labels: Codes, predicted_concepts: Codes, knowledge: Knowledge
) -> Evidence:
    label_probabilities = tuple(np.eye(len(x.values))[predicted_labels[:, i]] for i, x in enumerate(knowledge.labels))
    concept_probabilities = tuple(
        np.eye(size)[predicted_concepts[:, i]] for i, size in enumerate(knowledge.space.sizes)
    )
    return Evidence(
        knowledge,
        "test",
        labels,
        concepts,
        predicted_labels,
        predicted_concepts,
        label_probabilities,
        concept_probabilities,
    )


def known_evidence(rows: int = 400) -> dict[str, Evidence]:
    """Return the evidence of the oracle, the constant, the shuffled and a shortcut predictor on sums of two digits."""
    knowledge = Knowledge.of(digits(["a", "b"]), {"sum": "a + b"})
    rng = rng_for(0, "known evidence")
    concepts = rng.integers(10, size=(rows, 2))
    labels = knowledge.labels_of(concepts)
    order = rng.permutation(rows)
    swapped = np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8])[concepts]
    nothing = np.zeros_like(concepts)
    pairs = {
        "oracle": (labels, concepts),
        "constant": (np.zeros_like(labels), nothing),
        "shuffled": (labels[order], concepts[order]),
        "shortcut": (labels, swapped),
    }
    return {
        name: _evidence(labels, concepts, predicted, concepts_read, knowledge)
        for name, (predicted, concepts_read) in pairs.items()
    }


def check_metric(metric: Metric) -> list[Check]:
    """Try the laws that every metric keeps."""
    known = known_evidence()
    sign = 1 if metric.better == "higher" else -1

    def oracle_is_best() -> None:
        best = metric(known["oracle"])
        for name, evidence in known.items():
            value = metric(evidence)
            worse = math.isnan(best) or math.isnan(value) or sign * best >= sign * value
            need(worse, f"{name} scores {value}, the oracle {best}")

    def order_does_not_matter() -> None:
        evidence = known["shortcut"]
        turned = evidence.take(np.arange(len(evidence))[::-1])
        same = np.isclose(metric(evidence), metric(turned), equal_nan=True)
        need(bool(same), f"{metric(evidence)} becomes {metric(turned)} when rows are turned round")

    def values_fit() -> None:
        if metric.values is not None:
            values = metric.values(known["shuffled"])
            need(
                values.shape == (len(known["shuffled"]),),
                f"{values.shape} values for {len(known['shuffled'])} examples",
            )

    return try_laws(
        {
            "the oracle is best": oracle_is_best,
            "the order of examples does not matter": order_does_not_matter,
            "a value for each example": values_fit,
        }
    )

"""The laws of metrics."""

import math
from dataclasses import replace

import numpy as np

from assay.base import Codes, rng_for
from assay.logic import Knowledge, digits
from assay.metrics import Evidence, Metric
from assay.testing.checks import LawOutcome, need, try_laws


def certain_evidence(knowledge: Knowledge, truth: tuple[Codes, Codes], predicted: tuple[Codes, Codes]) -> Evidence:
    """Return the evidence of true and predicted labels and concepts, predicted with certainty."""
    sizes = [len(label.values) for label in knowledge.labels], knowledge.space.sizes
    labels, concepts = (
        tuple(np.eye(size)[codes[:, i]] for i, size in enumerate(own))
        for codes, own in zip(predicted, sizes, strict=True)
    )
    return Evidence(knowledge, "test", *truth, *predicted, labels, concepts)


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
    return {name: certain_evidence(knowledge, (labels, concepts), predicted) for name, predicted in pairs.items()}


def check_metric(metric: Metric) -> list[LawOutcome]:
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
            values, rows = metric.values(known["shuffled"]), len(known["shuffled"])
            need(values.shape == (rows,), f"{values.shape} values for {rows} examples")

    def equal_rows_can_be_counted() -> None:
        for name, evidence in known.items() if metric.counted else ():
            together, singly = metric(evidence), replace(metric, counted=False)(evidence)
            same = np.isclose(together, singly, equal_nan=True)
            need(bool(same), f"{name} scores {singly}, and {together} with equal rows counted by evidence.weights")

    return try_laws(
        {
            "the oracle is best": oracle_is_best,
            "the order of examples does not matter": order_does_not_matter,
            "a value for each example": values_fit,
            "equal examples can be counted": equal_rows_can_be_counted,
        }
    )

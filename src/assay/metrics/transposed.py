"""Concepts as rsbench's released notebook reads them off its LTN of Kand-Logic: along the objects, not the values.

That model gives a table for each figure, objects by values, where the others give a row; the notebook takes the largest
of three neighbours, and in the table those are the three objects. So what stands for the shape of the second object is
the number of the object that is likeliest to have the second shape. These metrics only serve to stand beside published
numbers that were computed so: they say nothing of how well concepts are read.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from assay.metrics.concept_collapse import object_collapse
from assay.metrics.evidence import Evidence
from assay.metrics.metric import Metric, overall
from assay.metrics.quality import rsbench_concept_f1


def transpose(evidence: Evidence) -> Evidence | None:
    """Return the evidence with concepts read along the objects of each group; None where that cannot be done.

    It needs probabilities of all concepts, and as many objects in each group as their attributes have values.
    """
    space, codes = evidence.knowledge.space, evidence.predicted_concepts.copy()
    columns = 0
    for slots in space.groups.values():
        for attribute in slots[0].attributes:
            names = [slot.concept(attribute) for slot in slots if attribute in slot.attributes]
            tables = [evidence.concept_probabilities[space.place(name)] for name in names]
            given = [table for table in tables if table is not None]
            if any(len(space.concept(name).values) != len(slots) for name in names) or len(given) != len(slots):
                return None
            codes[:, [space.place(name) for name in names]] = np.stack(given, axis=1).argmax(axis=1)
            columns += len(names)
    return replace(evidence, predicted_concepts=codes) if columns == len(space.names) else None


def _value(metric: Metric, evidence: Evidence) -> float:
    other = transpose(evidence)
    return math.nan if other is None else metric(other)


def _interval(metric: Metric, evidence: Evidence) -> tuple[float, float]:
    """Return the interval that the metric has of its own for concepts read so."""
    other = transpose(evidence)
    if other is None or metric.interval is None:
        return math.nan, math.nan
    return metric.interval(metric.rows_of(other))


@overall(
    "rsbench_concept_f1_transposed",
    "rsbench's F1(C) of LTN on Kand-Logic as released: concepts are read along the objects, not the values",
    interval=partial(_interval, rsbench_concept_f1),
)
def transposed_concept_f1(evidence: Evidence) -> float:
    """Return rsbench's F1(C), with the likeliest object for each value in place of the likeliest value."""
    return _value(rsbench_concept_f1, evidence)


@overall(
    "collapse_object_transposed",
    "concept collapse Cls(C) of LTN on Kand-Logic as released: concepts are read along the objects, not the values",
    better="lower",
    interval=partial(_interval, object_collapse),
)
def transposed_object_collapse(evidence: Evidence) -> float:
    """Return the collapse of objects, with the likeliest object for each value in place of the likeliest value."""
    return _value(object_collapse, evidence)

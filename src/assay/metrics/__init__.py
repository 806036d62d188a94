"""Metrics: pure functions of evidence, the truth beside what a model says."""

from assay.metrics import boundary, calibration, collapse, consistency, quality, transposed
from assay.metrics.metric import METRICS, Metric

__all__ = ["METRICS", "Metric", "boundary", "calibration", "collapse", "consistency", "quality", "transposed"]

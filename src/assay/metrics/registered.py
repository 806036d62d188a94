"""The bundled metrics: importing these modules registers them."""

from assay.metrics import boundary, calibration, concept_collapse, consistency, quality, transposed

__all__ = ["boundary", "calibration", "concept_collapse", "consistency", "quality", "transposed"]

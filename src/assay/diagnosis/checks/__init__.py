"""The bundled checks; importing this package registers them."""

from assay.diagnosis.checks import annotations, bottleneck, boundary, misread, regions, shifts, soundness

__all__ = ["annotations", "bottleneck", "boundary", "misread", "regions", "shifts", "soundness"]

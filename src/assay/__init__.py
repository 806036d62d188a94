"""Assay finds out whether a model has learned the concepts and the rule, or a shortcut.

The names below are the public interface; each is imported when first used, so that `import assay` is fast.
"""

import importlib
from typing import Any

_HOMES = {
    "Concept": "assay.concepts",
    "ConceptSpace": "assay.concepts",
    "EncoderGroup": "assay.concepts",
    "Slot": "assay.concepts",
    "bits": "assay.concepts",
    "digits": "assay.concepts",
    "Knowledge": "assay.logic.knowledge",
    "Constraint": "assay.logic.knowledge",
    "parse": "assay.logic.parse",
    "latex": "assay.logic.latex",
    "compile_diagram": "assay.logic.circuit",
    "to_cnf": "assay.logic.cnf",
    "knowledge_from_cnf": "assay.logic.cnf",
    "parse_dimacs": "assay.logic.dimacs",
    "World": "assay.worlds.world",
    "Split": "assay.worlds.split",
    "Task": "assay.tasks.base",
    "TASKS": "assay.tasks",
    "MODELS": "assay.models",
    "BACKBONES": "assay.models",
    "METRICS": "assay.metrics",
    "Dataset": "assay.data.dataset",
    "Recipe": "assay.data.recipe",
    "make": "assay.data.make",
    "from_table": "assay.data.imports.importing",
    "from_hf": "assay.data.imports.importing",
    "Predictions": "assay.predictions",
    "Answer": "assay.predictions",
    "read_predictions": "assay.predictions",
    "Evidence": "assay.metrics.evidence",
    "gather": "assay.metrics.evidence",
    "score": "assay.metrics.score",
    "diagnose": "assay.diagnosis.verdict",
    "write_report": "assay.reporting.write",
    "AssayError": "assay.errors",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("assay")
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

"""Assay finds out whether a model has learned the concepts and the rule, or a shortcut.

The names below are the public interface; each is imported when first used, so that `import assay` is fast.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.api.answers import predictions_for as predictions_for
    from assay.api.boards import SuiteResult as SuiteResult
    from assay.api.boards import run_suite as run_suite
    from assay.api.boards import score_entry as score_entry
    from assay.api.datasets import confound as confound
    from assay.api.datasets import load as load
    from assay.api.datasets import make as make
    from assay.api.datasets import pairs as pairs
    from assay.api.discovering import discover as discover
    from assay.api.explaining import saliency as saliency
    from assay.api.figures import plot_coverage as plot_coverage
    from assay.api.figures import plot_errors as plot_errors
    from assay.api.judging import audit as audit
    from assay.api.judging import count as count
    from assay.api.judging import diagnose as diagnose
    from assay.api.judging import intervene as intervene
    from assay.api.judging import report as report
    from assay.api.judging import score as score
    from assay.api.judging import view as view
    from assay.api.mending import mend as mend
    from assay.api.running import Run as Run
    from assay.api.running import train as train
    from assay.api.studying import StudyResult as StudyResult
    from assay.api.studying import run_study as run_study
    from assay.concepts import Concept as Concept
    from assay.concepts import ConceptSpace as ConceptSpace
    from assay.concepts import EncoderGroup as EncoderGroup
    from assay.concepts import Slot as Slot
    from assay.concepts import bits as bits
    from assay.concepts import digits as digits
    from assay.counting.count import count_readings as count_readings
    from assay.data.dataset import Dataset as Dataset
    from assay.data.dataset import SplitData as SplitData
    from assay.data.imports.importing import from_hf as from_hf
    from assay.data.imports.importing import from_table as from_table
    from assay.data.recipe import Recipe as Recipe
    from assay.diagnosis.check import FINDINGS as FINDINGS
    from assay.diagnosis.verdict import Diagnosis as Diagnosis
    from assay.errors import AssayError as AssayError
    from assay.logic.circuit import compile_diagram as compile_diagram
    from assay.logic.cnf import knowledge_from_cnf as knowledge_from_cnf
    from assay.logic.cnf import to_cnf as to_cnf
    from assay.logic.dimacs import parse_dimacs as parse_dimacs
    from assay.logic.evaluate import evaluate as evaluate
    from assay.logic.knowledge import Constraint as Constraint
    from assay.logic.knowledge import Knowledge as Knowledge
    from assay.logic.latex import latex as latex
    from assay.logic.parse import parse as parse
    from assay.metrics import METRICS as METRICS
    from assay.metrics.evidence import Evidence as Evidence
    from assay.metrics.evidence import gather as gather
    from assay.metrics.functions import RunningMetric as RunningMetric
    from assay.metrics.functions import accuracy as accuracy
    from assay.metrics.functions import codes_of as codes_of
    from assay.metrics.functions import collapse as collapse
    from assay.metrics.functions import concept_f1 as concept_f1
    from assay.metrics.functions import exact_match as exact_match
    from assay.metrics.functions import label_f1 as label_f1
    from assay.metrics.functions import rule_consistency as rule_consistency
    from assay.models import BACKBONES as BACKBONES
    from assay.models import MODELS as MODELS
    from assay.models.core.tensors import TorchSplit as TorchSplit
    from assay.models.external.wrapped import wrap as wrap
    from assay.predictions import Answer as Answer
    from assay.predictions import Predictions as Predictions
    from assay.predictions import read_predictions as read_predictions
    from assay.render.picture import Box as Box
    from assay.render.picture import Layout as Layout
    from assay.render.picture import Picture as Picture
    from assay.reporting.write import write_report as write_report
    from assay.tasks import TASKS as TASKS
    from assay.tasks.base import Task as Task
    from assay.testing import check_finding as check_finding
    from assay.testing import check_metric as check_metric
    from assay.testing import check_model as check_model
    from assay.testing import check_task as check_task
    from assay.testing import given_reading as given_reading
    from assay.testing import oracle as oracle
    from assay.testing import require as require
    from assay.worlds.split import Split as Split
    from assay.worlds.world import Style as Style
    from assay.worlds.world import World as World

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
    "FINDINGS": "assay.diagnosis.check",
    "Dataset": "assay.data.dataset",
    "Recipe": "assay.data.recipe",
    "make": "assay.api.datasets",
    "from_table": "assay.data.imports.importing",
    "from_hf": "assay.data.imports.importing",
    "Predictions": "assay.predictions",
    "Answer": "assay.predictions",
    "read_predictions": "assay.predictions",
    "Evidence": "assay.metrics.evidence",
    "gather": "assay.metrics.evidence",
    "score": "assay.api.judging",
    "diagnose": "assay.api.judging",
    "accuracy": "assay.metrics.functions",
    "exact_match": "assay.metrics.functions",
    "label_f1": "assay.metrics.functions",
    "concept_f1": "assay.metrics.functions",
    "collapse": "assay.metrics.functions",
    "rule_consistency": "assay.metrics.functions",
    "RunningMetric": "assay.metrics.functions",
    "codes_of": "assay.metrics.functions",
    "write_report": "assay.reporting.write",
    "AssayError": "assay.errors",
    "load": "assay.api.datasets",
    "confound": "assay.api.datasets",
    "pairs": "assay.api.datasets",
    "train": "assay.api.running",
    "Run": "assay.api.running",
    "count": "assay.api.judging",
    "audit": "assay.api.judging",
    "intervene": "assay.api.judging",
    "report": "assay.api.judging",
    "view": "assay.api.judging",
    "discover": "assay.api.discovering",
    "saliency": "assay.api.explaining",
    "mend": "assay.api.mending",
    "predictions_for": "assay.api.answers",
    "plot_coverage": "assay.api.figures",
    "plot_errors": "assay.api.figures",
    "TorchSplit": "assay.models.core.tensors",
    "SplitData": "assay.data.dataset",
    "Diagnosis": "assay.diagnosis.verdict",
    "count_readings": "assay.counting.count",
    "wrap": "assay.models.external.wrapped",
    "run_study": "assay.api.studying",
    "StudyResult": "assay.api.studying",
    "run_suite": "assay.api.boards",
    "score_entry": "assay.api.boards",
    "SuiteResult": "assay.api.boards",
    "Box": "assay.render.picture",
    "Layout": "assay.render.picture",
    "Picture": "assay.render.picture",
    "Style": "assay.worlds.world",
    "check_task": "assay.testing",
    "check_model": "assay.testing",
    "check_metric": "assay.testing",
    "check_finding": "assay.testing",
    "require": "assay.testing",
    "oracle": "assay.testing",
    "given_reading": "assay.testing",
    "evaluate": "assay.logic.evaluate",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "__version__":
        return importlib.import_module("assay.distribution").VERSION
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if "ASSAY_PARENT" in os.environ:  # a worker ends with its parent also while it still imports what it needs
    from assay.processes import watch_parent_of_worker

    watch_parent_of_worker()

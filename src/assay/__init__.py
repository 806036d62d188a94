"""Assay finds out whether a model has learned the concepts and the rule, or a shortcut.

The names below are the public interface; each is imported when first used, so that `import assay` is fast.
"""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.api import Facts as Facts
    from assay.api import Run as Run
    from assay.api import StudyResult as StudyResult
    from assay.api import SuiteResult as SuiteResult
    from assay.api import align as align
    from assay.api import annotate as annotate
    from assay.api import attribute as attribute
    from assay.api import audit as audit
    from assay.api import check as check
    from assay.api import clean as clean
    from assay.api import confound as confound
    from assay.api import count as count
    from assay.api import decode as decode
    from assay.api import demo as demo
    from assay.api import diagnose as diagnose
    from assay.api import discover as discover
    from assay.api import doctor as doctor
    from assay.api import export as export
    from assay.api import import_folder as import_folder
    from assay.api import intervene as intervene
    from assay.api import leakage as leakage
    from assay.api import list as list
    from assay.api import load as load
    from assay.api import make as make
    from assay.api import make_suite as make_suite
    from assay.api import mend as mend
    from assay.api import new as new
    from assay.api import pairs as pairs
    from assay.api import plot_coverage as plot_coverage
    from assay.api import plot_errors as plot_errors
    from assay.api import predict as predict
    from assay.api import predictions_for as predictions_for
    from assay.api import probe as probe
    from assay.api import push as push
    from assay.api import report as report
    from assay.api import run_study as run_study
    from assay.api import run_suite as run_suite
    from assay.api import saliency as saliency
    from assay.api import score as score
    from assay.api import score_entry as score_entry
    from assay.api import show as show
    from assay.api import train as train
    from assay.api import view as view
    from assay.base import AssayError as AssayError
    from assay.base.distribution import __version__ as __version__
    from assay.contracts import Prediction as Prediction
    from assay.contracts import Predictions as Predictions
    from assay.contracts import read_predictions as read_predictions
    from assay.counting import count_shortcuts as count_shortcuts
    from assay.dataset import Dataset as Dataset
    from assay.dataset import Recipe as Recipe
    from assay.dataset import SplitData as SplitData
    from assay.diagnosis import FINDINGS as FINDINGS
    from assay.diagnosis import Diagnosis as Diagnosis
    from assay.exchange import from_hf as from_hf
    from assay.exchange import from_table as from_table
    from assay.logic import Concept as Concept
    from assay.logic import ConceptSpace as ConceptSpace
    from assay.logic import Constraint as Constraint
    from assay.logic import EncoderGroup as EncoderGroup
    from assay.logic import Knowledge as Knowledge
    from assay.logic import Slot as Slot
    from assay.logic import bits as bits
    from assay.logic import compile_diagram as compile_diagram
    from assay.logic import digits as digits
    from assay.logic import evaluate as evaluate
    from assay.logic import knowledge_from_cnf as knowledge_from_cnf
    from assay.logic import latex as latex
    from assay.logic import parse as parse
    from assay.logic import parse_dimacs as parse_dimacs
    from assay.logic import to_cnf as to_cnf
    from assay.metrics import METRICS as METRICS
    from assay.metrics import Evidence as Evidence
    from assay.metrics import RunningMetric as RunningMetric
    from assay.metrics import accuracy as accuracy
    from assay.metrics import class_indices as class_indices
    from assay.metrics import collapse as collapse
    from assay.metrics import concept_f1 as concept_f1
    from assay.metrics import exact_match as exact_match
    from assay.metrics import gather as gather
    from assay.metrics import label_f1 as label_f1
    from assay.metrics import rule_consistency as rule_consistency
    from assay.models import BACKBONES as BACKBONES
    from assay.models import MODELS as MODELS
    from assay.models import TorchSplit as TorchSplit
    from assay.models import wrap as wrap
    from assay.render import Box as Box
    from assay.render import Layout as Layout
    from assay.render import Picture as Picture
    from assay.reporting import write_report as write_report
    from assay.tasks import TASKS as TASKS
    from assay.tasks import Task as Task
    from assay.testing import check_finding as check_finding
    from assay.testing import check_metric as check_metric
    from assay.testing import check_model as check_model
    from assay.testing import check_task as check_task
    from assay.testing import given_mapping as given_mapping
    from assay.testing import oracle as oracle
    from assay.testing import require as require
    from assay.worlds import Split as Split
    from assay.worlds import Style as Style
    from assay.worlds import World as World
else:
    from assay.doors import door
    from assay.renamed import RenamedRooms

    __getattr__, __dir__, __all__ = door(__name__)
    sys.meta_path.append(RenamedRooms())


if "ASSAY_PARENT" in os.environ:  # a worker ends with its parent also while it still imports what it needs
    from assay.base.processes import watch_parent_of_worker

    watch_parent_of_worker()

"""Checkers for tasks, models, metrics and findings, ours and anyone's, and predictors whose scores are known.

`assay check my_task.py` runs `check_task` on the tasks in a file; the project's own tests run every checker over the
registries.
"""

from assay.testing.checks import CheckFailed, LawOutcome, require
from assay.testing.findings import check_finding, known_cases
from assay.testing.metrics import check_metric, known_evidence
from assay.testing.models import check_model
from assay.testing.predictors import constant, given_reading, oracle, shuffled
from assay.testing.tasks import check_task

__all__ = [
    "CheckFailed",
    "LawOutcome",
    "check_finding",
    "check_metric",
    "check_model",
    "check_task",
    "constant",
    "given_reading",
    "known_cases",
    "known_evidence",
    "oracle",
    "require",
    "shuffled",
]

"""Checkers for tasks, models, metrics and findings, ours and anyone's, and predictors whose scores are known.

`assay check my_task.py` runs `check_task` on the tasks in a file; the project's own tests run every checker over the
registries.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.testing.checks import LawOutcome as LawOutcome
    from assay.testing.checks import require as require
    from assay.testing.findings import check_finding as check_finding
    from assay.testing.findings import check_metric as check_metric
    from assay.testing.models import TwoSquares as TwoSquares
    from assay.testing.models import check_model as check_model
    from assay.testing.models import small_dataset as small_dataset
    from assay.testing.planted import ZooTask as ZooTask
    from assay.testing.planted import zoo_task as zoo_task
    from assay.testing.predictors import constant as constant
    from assay.testing.predictors import given_mapping as given_mapping
    from assay.testing.predictors import oracle as oracle
    from assay.testing.predictors import shuffled as shuffled
    from assay.testing.tasks import check_task as check_task
    from assay.testing.zoo import FAULTY_PREDICTORS as FAULTY_PREDICTORS
    from assay.testing.zoo import Survey as Survey
    from assay.testing.zoo import survey as survey
    from assay.testing.zoo import try_specimen as try_specimen
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

"""Every verb once, as a function: what a notebook calls.

`import assay` offers these names; plain Python goes in and out. The command line parses and calls them.
"""

from typing import TYPE_CHECKING

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
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

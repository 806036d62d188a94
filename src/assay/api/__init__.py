"""Every verb once, as a function: what a notebook calls.

`import assay` offers these names; plain Python goes in and out. The command line parses and calls them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.api.catalogue import list as list
    from assay.api.catalogue import show as show
    from assay.api.copies import annotate as annotate
    from assay.api.copies import confound as confound
    from assay.api.copies import export as export
    from assay.api.copies import import_folder as import_folder
    from assay.api.copies import pairs as pairs
    from assay.api.copies import push as push
    from assay.api.datasets import audit as audit
    from assay.api.datasets import count as count
    from assay.api.datasets import load as load
    from assay.api.datasets import make as make
    from assay.api.datasets import make_dataset as make_dataset
    from assay.api.diagnosis import attribute as attribute
    from assay.api.diagnosis import diagnose as diagnose
    from assay.api.diagnosis import intervene as intervene
    from assay.api.diagnosis import leakage as leakage
    from assay.api.discoveries import discover as discover
    from assay.api.explanations import align as align
    from assay.api.explanations import probe as probe
    from assay.api.explanations import saliency as saliency
    from assay.api.facts import Facts as Facts
    from assay.api.installation import clean as clean
    from assay.api.installation import doctor as doctor
    from assay.api.own_files import check as check
    from assay.api.own_files import new as new
    from assay.api.pages import report as report
    from assay.api.pages import view as view
    from assay.api.predictions import decode as decode
    from assay.api.predictions import plot_coverage as plot_coverage
    from assay.api.predictions import plot_errors as plot_errors
    from assay.api.predictions import predictions_for as predictions_for
    from assay.api.predictions import score as score
    from assay.api.runs import Run as Run
    from assay.api.runs import mend as mend
    from assay.api.runs import predict as predict
    from assay.api.runs import train as train
    from assay.api.studies import StudyResult as StudyResult
    from assay.api.studies import demo as demo
    from assay.api.studies import run_study as run_study
    from assay.api.suites import SuiteResult as SuiteResult
    from assay.api.suites import make_suite as make_suite
    from assay.api.suites import run_suite as run_suite
    from assay.api.suites import score_entry as score_entry
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

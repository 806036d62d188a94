"""Every verb once, as a function: what a notebook calls.

`import assay` offers these names; plain Python goes in and out. The command line parses and calls them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.api.answers import predictions_for as predictions_for
    from assay.api.attributing import attribute as attribute
    from assay.api.attributing import leakage as leakage
    from assay.api.auditing import audit as audit
    from assay.api.boards import SuiteResult as SuiteResult
    from assay.api.boards import build_board as build_board
    from assay.api.boards import make_suite as make_suite
    from assay.api.boards import run_suite as run_suite
    from assay.api.boards import score_entry as score_entry
    from assay.api.boards import try_models as try_models
    from assay.api.copies import annotate as annotate
    from assay.api.copies import annotate_dataset as annotate_dataset
    from assay.api.copies import confound as confound
    from assay.api.copies import export as export
    from assay.api.copies import import_folder as import_folder
    from assay.api.copies import pairs as pairs
    from assay.api.copies import push as push
    from assay.api.copies import redraw_pairs as redraw_pairs
    from assay.api.copies import write_pairs as write_pairs
    from assay.api.counting import count as count
    from assay.api.counting import recount as recount
    from assay.api.datasets import load as load
    from assay.api.datasets import make as make
    from assay.api.datasets import make_dataset as make_dataset
    from assay.api.decoding import decode as decode
    from assay.api.discovered_run import PAGE as PAGE
    from assay.api.discovered_run import discover_run as discover_run
    from assay.api.discovering import discover as discover
    from assay.api.explaining import saliency as saliency
    from assay.api.figures import plot_coverage as plot_coverage
    from assay.api.figures import plot_errors as plot_errors
    from assay.api.intervening import intervene as intervene
    from assay.api.intervening import intervene_all as intervene_all
    from assay.api.judging import diagnose as diagnose
    from assay.api.mending import mend as mend
    from assay.api.probing import align as align
    from assay.api.probing import probe as probe
    from assay.api.running import Run as Run
    from assay.api.running import open_run as open_run
    from assay.api.running import predict as predict
    from assay.api.running import train as train
    from assay.api.scoring import score as score
    from assay.api.showing import report as report
    from assay.api.showing import serve_viewer as serve_viewer
    from assay.api.showing import view as view
    from assay.api.studying import StudyResult as StudyResult
    from assay.api.studying import estimate_study as estimate_study
    from assay.api.studying import open_study as open_study
    from assay.api.studying import run_study as run_study
    from assay.api.studying import study_workers as study_workers
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

"""Work in many steps: studies, suites with their boards, and the acquisition of data that repairs a model.

`perform_steps` carries out the steps of a `Study`, wherever workers are; a suite is a study whose data are pinned.
`mend` in rounds gives a model the data that its diagnosis asks for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.lab.acquisition import STRATEGIES as STRATEGIES
    from assay.lab.acquisition.loop import AcquisitionCurve as AcquisitionCurve
    from assay.lab.acquisition.loop import MendingRound as MendingRound
    from assay.lab.acquisition.loop import mend_run as mend_run
    from assay.lab.acquisition.situation import AcquiredData as AcquiredData
    from assay.lab.acquisition.situation import AcquisitionContext as AcquisitionContext
    from assay.lab.acquisition.situation import MendSettings as MendSettings
    from assay.lab.run_models import RunModels as RunModels
    from assay.lab.run_models import answering_for as answering_for
    from assay.lab.steps import machine_of as machine_of
    from assay.lab.steps import perform as perform
    from assay.lab.studies.plan import plan_of as plan_of
    from assay.lab.studies.ready import departures as departures
    from assay.lab.studies.ready import fidelity as fidelity
    from assay.lab.studies.ready import find_study as find_study
    from assay.lab.studies.ready import ready_studies as ready_studies
    from assay.lab.studies.records import Record as Record
    from assay.lab.studies.records import VerdictLine as VerdictLine
    from assay.lab.studies.records import read_records as read_records
    from assay.lab.studies.records import verdict_lines as verdict_lines
    from assay.lab.studies.records import write_records as write_records
    from assay.lab.studies.run import run_study as run_study
    from assay.lab.studies.run import tables_of as tables_of
    from assay.lab.studies.study import Study as Study
    from assay.lab.studies.study import study_from as study_from
    from assay.lab.studies.summary import summaries as summaries
    from assay.lab.suites.board import SuiteBoard as SuiteBoard
    from assay.lab.suites.entry import score_entry as score_entry
    from assay.lab.suites.matrix import matrix_cells as matrix_cells
    from assay.lab.suites.matrix import matrix_table as matrix_table
    from assay.lab.suites.rows import BoardRow as BoardRow
    from assay.lab.suites.rows import add_rows as add_rows
    from assay.lab.suites.rows import read_rows as read_rows
    from assay.lab.suites.rows import write_rows as write_rows
    from assay.lab.suites.running import MadeData as MadeData
    from assay.lab.suites.running import SuiteOrder as SuiteOrder
    from assay.lab.suites.running import make_data as make_data
    from assay.lab.suites.running import run_suite as run_suite
    from assay.lab.suites.site import write_board as write_board
    from assay.lab.suites.suite import USUAL as USUAL
    from assay.lab.suites.suite import find_suite as find_suite
    from assay.lab.suites.suite import suite_names as suite_names
    from assay.lab.workers import LocalWorkers as LocalWorkers
    from assay.lab.workers import RayWorkers as RayWorkers
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

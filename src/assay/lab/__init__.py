"""Work in many steps: studies, suites with their boards, and the acquisition of data that repairs a model.

`perform_steps` carries out the steps of a `Study`, wherever workers are; a suite is a study whose data are pinned.
`mend` in rounds gives a model the data that its diagnosis asks for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.lab.acquisition.additions import add_examples as add_examples
    from assay.lab.acquisition.curve import CURVE_HEAD as CURVE_HEAD
    from assay.lab.acquisition.curve import MendingCurve as MendingCurve
    from assay.lab.acquisition.curve import MendingRound as MendingRound
    from assay.lab.acquisition.holdings import Holdings as Holdings
    from assay.lab.acquisition.loop import mend_run as mend_run
    from assay.lab.acquisition.situation import MendSettings as MendSettings
    from assay.lab.acquisition.situation import Situation as Situation
    from assay.lab.acquisition.strategies import STRATEGIES as STRATEGIES
    from assay.lab.studies.entries import short_hash as short_hash
    from assay.lab.studies.judged import JUDGED_BY as JUDGED_BY
    from assay.lab.studies.judged import JudgedBy as JudgedBy
    from assay.lab.studies.judged import facts_of as facts_of
    from assay.lab.studies.ledger import FidelityRow as FidelityRow
    from assay.lab.studies.ledger import StudyFidelity as StudyFidelity
    from assay.lab.studies.ledger import absent_tables as absent_tables
    from assay.lab.studies.ledger import departures as departures
    from assay.lab.studies.ledger import fidelity as fidelity
    from assay.lab.studies.local_workers import LocalWorkers as LocalWorkers
    from assay.lab.studies.machines import machine_of as machine_of
    from assay.lab.studies.plan import plan_of as plan_of
    from assay.lab.studies.ray_workers import RayWorkers as RayWorkers
    from assay.lab.studies.ready import find_study as find_study
    from assay.lab.studies.ready import ready_studies as ready_studies
    from assay.lab.studies.records import Record as Record
    from assay.lab.studies.records import read_records as read_records
    from assay.lab.studies.records import records_of as records_of
    from assay.lab.studies.records import write_records as write_records
    from assay.lab.studies.results import tables_of as tables_of
    from assay.lab.studies.run import Say as Say
    from assay.lab.studies.run import Watch as Watch
    from assay.lab.studies.run import Workers as Workers
    from assay.lab.studies.run import perform_steps as perform_steps
    from assay.lab.studies.run import run_study as run_study
    from assay.lab.studies.run_models import RunModels as RunModels
    from assay.lab.studies.run_models import accuracy_of as accuracy_of
    from assay.lab.studies.run_models import answering_for as answering_for
    from assay.lab.studies.run_models import runs_in as runs_in
    from assay.lab.studies.study import PLAIN as PLAIN
    from assay.lab.studies.study import CopyStep as CopyStep
    from assay.lab.studies.study import DataStep as DataStep
    from assay.lab.studies.study import RunStep as RunStep
    from assay.lab.studies.study import Study as Study
    from assay.lab.studies.study import StudyConfig as StudyConfig
    from assay.lab.studies.study import load_study as load_study
    from assay.lab.studies.study import study_from as study_from
    from assay.lab.studies.summary import RecordKey as RecordKey
    from assay.lab.studies.summary import SeedSummary as SeedSummary
    from assay.lab.studies.summary import over_tasks as over_tasks
    from assay.lab.studies.summary import sign_flip as sign_flip
    from assay.lab.studies.summary import summaries as summaries
    from assay.lab.studies.verdicts import VerdictLine as VerdictLine
    from assay.lab.studies.verdicts import verdict_lines as verdict_lines
    from assay.lab.studies.work import RECORDS as RECORDS
    from assay.lab.studies.work import Outcome as Outcome
    from assay.lab.studies.work import folder_of as folder_of
    from assay.lab.studies.work import perform as perform
    from assay.lab.suites.board import SuiteBoard as SuiteBoard
    from assay.lab.suites.board import rank_table as rank_table
    from assay.lab.suites.entry import SuiteEntry as SuiteEntry
    from assay.lab.suites.entry import score_entry as score_entry
    from assay.lab.suites.making import DATA as DATA
    from assay.lab.suites.making import MadeData as MadeData
    from assay.lab.suites.making import make_data as make_data
    from assay.lab.suites.matrix import MatrixCell as MatrixCell
    from assay.lab.suites.matrix import matrix_cells as matrix_cells
    from assay.lab.suites.matrix import matrix_table as matrix_table
    from assay.lab.suites.matrix import small_datasets as small_datasets
    from assay.lab.suites.rows import MEASURES as MEASURES
    from assay.lab.suites.rows import BoardRow as BoardRow
    from assay.lab.suites.rows import add_entry as add_entry
    from assay.lab.suites.rows import add_rows as add_rows
    from assay.lab.suites.rows import plain as plain
    from assay.lab.suites.rows import read_rows as read_rows
    from assay.lab.suites.rows import write_rows as write_rows
    from assay.lab.suites.running import SuiteOrder as SuiteOrder
    from assay.lab.suites.running import run_suite as run_suite
    from assay.lab.suites.site import write_board as write_board
    from assay.lab.suites.suite import USUAL as USUAL
    from assay.lab.suites.suite import find_suite as find_suite
    from assay.lab.suites.suite import suite_names as suite_names
    from assay.lab.suites.suite import summary_of as summary_of
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

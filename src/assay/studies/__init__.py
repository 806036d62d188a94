"""Studies: tasks x models x seeds from one YAML file.

`load_study` or `study_from` read one, `run_study` carries out its steps with workers (`LocalWorkers`, `RayWorkers`),
and `read_records` gives what came out.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.studies.entries import short_hash as short_hash
    from assay.studies.judged import JUDGED_BY as JUDGED_BY
    from assay.studies.judged import JudgedBy as JudgedBy
    from assay.studies.judged import facts_of as facts_of
    from assay.studies.ledger import absent_tables as absent_tables
    from assay.studies.ledger import departures as departures
    from assay.studies.ledger import fidelity as fidelity
    from assay.studies.local_workers import LocalWorkers as LocalWorkers
    from assay.studies.machines import machine_of as machine_of
    from assay.studies.plan import plan_of as plan_of
    from assay.studies.ray_workers import RayWorkers as RayWorkers
    from assay.studies.ready import find_study as find_study
    from assay.studies.ready import ready_studies as ready_studies
    from assay.studies.records import Record as Record
    from assay.studies.records import read_records as read_records
    from assay.studies.records import records_of as records_of
    from assay.studies.records import write_records as write_records
    from assay.studies.results import tables_of as tables_of
    from assay.studies.run import Say as Say
    from assay.studies.run import Watch as Watch
    from assay.studies.run import Workers as Workers
    from assay.studies.run import perform_steps as perform_steps
    from assay.studies.run import run_study as run_study
    from assay.studies.run_models import RunModels as RunModels
    from assay.studies.run_models import accuracy_of as accuracy_of
    from assay.studies.run_models import answering_for as answering_for
    from assay.studies.run_models import runs_in as runs_in
    from assay.studies.study import CopyStep as CopyStep
    from assay.studies.study import DataStep as DataStep
    from assay.studies.study import PLAIN as PLAIN
    from assay.studies.study import RunStep as RunStep
    from assay.studies.study import Study as Study
    from assay.studies.study import StudyConfig as StudyConfig
    from assay.studies.study import load_study as load_study
    from assay.studies.study import study_from as study_from
    from assay.studies.summary import RecordKey as RecordKey
    from assay.studies.summary import over_tasks as over_tasks
    from assay.studies.summary import sign_flip as sign_flip
    from assay.studies.summary import summaries as summaries
    from assay.studies.verdicts import VerdictLine as VerdictLine
    from assay.studies.verdicts import verdict_lines as verdict_lines
    from assay.studies.work import Outcome as Outcome
    from assay.studies.work import RECORDS as RECORDS
    from assay.studies.work import folder_of as folder_of
    from assay.studies.work import perform as perform
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

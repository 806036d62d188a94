"""A study: tasks x models x seeds. The same file runs on this machine or on a Ray cluster, with the same records."""

import os
import tempfile
from pathlib import Path

from assay.config import Settings
from assay.studies.local_workers import LocalWorkers
from assay.studies.records import read_records
from assay.studies.run import run_study
from assay.studies.study import study_from
from assay.studies.summary import summaries

STUDY = {
    "name": "two rules",
    "tasks": [{"task": "mnlogic", "pixels": True, "k": 3, "each": {"formula": ["a and b", "a or b"]}}],
    "models": [{"model": "dpl", "epochs": 8, "learning_rate": 0.02, "device": "cpu"}],
    "seeds": [0, 1],
    "n": 64,
}

if __name__ == "__main__":  # workers are processes of their own, which read this file again
    address = os.environ.get("ASSAY_CLUSTER")  # "auto", or the address of a Ray cluster that shares the folder
    if address:
        from assay.studies.ray_workers import RayWorkers

        workers = RayWorkers(address)
    else:
        workers = LocalWorkers(2)
    with tempfile.TemporaryDirectory() as folder:
        study = study_from(Settings(STUDY), Path(folder))
        page = run_study(study, print, workers=workers)
        for key, summary in summaries(read_records(study.output)).items():
            if (key.split, key.metric) == ("test", "label_f1"):
                print(
                    f"{key.task} {key.model}: {summary.mean:.2f} over {summary.runs} seeds; the report is {page.name}"
                )
                assert summary.runs == 2

"""A study: tasks x models x seeds. The same file runs on this machine or on a Ray cluster, with the same records."""

import os
import tempfile

import assay

STUDY = {
    "name": "two rules",
    "tasks": [{"task": "mnlogic", "pixels": True, "k": 3, "each": {"formula": ["a and b", "a or b"]}}],
    "models": [{"model": "dpl", "epochs": 8, "learning_rate": 0.02, "device": "cpu"}],
    "seeds": [0, 1],
    "n": 64,
}

if __name__ == "__main__":  # workers are processes of their own, which read this file again
    with tempfile.TemporaryDirectory() as folder:
        # "auto", or the address of a Ray cluster that shares the folder
        study = assay.run_study(STUDY, folder, workers=2, cluster=os.environ.get("ASSAY_CLUSTER"))
        records = study.to_frame()
        f1 = records[(records["split"] == "test") & (records["metric"] == "label_f1")]
        print(f1.groupby(["task", "model"])["value"].agg(["mean", "count"]), study.page.name)
        assert len(f1) == 4

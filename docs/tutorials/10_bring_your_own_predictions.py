"""Score and diagnose predictions that any program wrote; no torch needed."""

import tempfile
from pathlib import Path

import pandas as pd

from assay import Dataset, Recipe, diagnose, make, read_predictions, score
from assay.config import Settings
from assay.metrics.evidence import gather_from

with tempfile.TemporaryDirectory() as folder:
    make(Recipe("mnadd-half", Settings(), train=300), Path(folder) / "data")
    dataset = Dataset.open(Path(folder) / "data")
    rows = range(40)
    table = pd.read_parquet(Path(folder) / "data" / "test").iloc[rows]

    mine = pd.DataFrame({"index": rows, "split": "test", "fingerprint": dataset.fingerprint})
    mine["label_sum"] = table["label_sum"].to_numpy()
    mine["concept_a"] = table["concept_b"].to_numpy()  # the two digits in the wrong order
    mine["concept_b"] = table["concept_a"].to_numpy()
    mine.to_parquet(Path(folder) / "mine.parquet")

    evidence = gather_from(dataset, read_predictions(Path(folder) / "mine.parquet", dataset.knowledge))
    print(score(evidence, ["label_accuracy", "concept_accuracy", "rule_consistency"]))
    print(diagnose({"test": evidence}).text)

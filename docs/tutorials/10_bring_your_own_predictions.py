"""Score and diagnose predictions that any program wrote; no torch needed."""

import tempfile
from pathlib import Path

import pandas as pd

import assay

ds = assay.make("mnadd-half", n=300)
table = ds["test"].to_pandas()

mine = pd.DataFrame({"index": table["index"], "split": "test", "fingerprint": ds.fingerprint})
mine["label_sum"] = table["label_sum"]
mine["concept_a"] = table["concept_b"]  # the two digits in the wrong order
mine["concept_b"] = table["concept_a"]

with tempfile.TemporaryDirectory() as folder:
    mine.to_parquet(Path(folder) / "mine.parquet")  # the file that any program may write
    scores = assay.score(ds, Path(folder) / "mine.parquet", metrics=["label_accuracy", "concept_accuracy"])
    print(scores["test"])
    print(assay.diagnose(ds, Path(folder) / "mine.parquet").text)

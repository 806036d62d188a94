"""Score and diagnose predictions that any program wrote; no torch needed."""

# %% [markdown]
# # 8. Your own predictions
#
# A model of any framework can be diagnosed from one Parquet file of predictions. This needs no torch.

# %%
import pandas as pd

import assay

ds = assay.make("mnadd-half", "data", n=300)
table = ds["test"].to_pandas()
table[["index", "concept_a", "concept_b", "label_sum"]].head(3)

# %% [markdown]
# The file has a row for each example: its index, the split, the fingerprint of the dataset (predictions for other data are
# refused), and a column for each label and concept. Here the two digits are predicted in the wrong order.

# %%
mine = pd.DataFrame({"index": table["index"], "split": "test", "fingerprint": ds.fingerprint})
mine["label_sum"] = table["label_sum"]
mine["concept_a"] = table["concept_b"]
mine["concept_b"] = table["concept_a"]
mine.to_parquet("mine.parquet")

# %%
scores = assay.score(ds, "mine.parquet", metrics=["label_accuracy", "concept_accuracy"])["test"]
for name, score in scores.items():
    print(f"{name} {score.value:.2f} ({score.low:.2f} to {score.high:.2f})")

# %% [markdown]
# All sums are right and the digits are not. The diagnosis finds out that the two are exchanged.

# %%
print(assay.diagnose(ds, "mine.parquet").text)

# %% [markdown]
# On the command line: `assay score mine.parquet data` and `assay diagnose mine.parquet data`.
# [Formats](../formats.md) describes the columns, probabilities included.

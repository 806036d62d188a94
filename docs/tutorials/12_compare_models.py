"""Compare models: ten on one rule, over two seeds."""

# %% [markdown]
# # 12. Compare models in a study
#
# A study is tasks x models x seeds. It can be stopped at any time and goes on where it was; the same description runs on one
# machine or on many. Here seven networks and three learners on concepts learn the rule `(a and b) or c` over three
# handwritten bits, with two seeds each.

# %%
import assay

networks = ["blackbox", "cbm", "dpl", "ltn", "cem", "dcr", "semantic"]  # in tests: networks = ["cbm"]
learners = ["tree", "rules", "linear"]  # in tests: learners = ["tree"]
study = {
    "name": "ten models",
    "tasks": [{"task": "mnlogic", "k": 3, "formula": "(a and b) or c"}],
    "models": [{"model": name, "epochs": 8, "device": "cpu"} for name in networks] + learners,
    "seeds": [0, 1],
    "n": 400,  # in tests: "n": 40,
}
result = assay.run_study(study, "ten-models")
records = result.to_frame()
records.shape

# %% [markdown]
# `to_frame` has every number of every run. We average three metrics on the test split over the seeds: label accuracy,
# concept accuracy, and the share of examples whose predicted label follows from the predicted concepts by the rule.

# %%
wanted = ["label_accuracy", "concept_accuracy", "rule_consistency"]
chosen = records[(records["split"] == "test") & records["metric"].isin(wanted)]
table = chosen.pivot_table(index="model", columns="metric", values="value", aggfunc="mean")
table.round(2)

# %%
ax = table.plot.barh(figsize=(7, 4), xlim=(0, 1.05))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
ax.figure

# %% [markdown]
# The same study as a file is `assay run study.yaml`. `workers=4` uses four processes. With `cluster="auto"`, or the address of a [Ray cluster](../scaling.md)
# that shares the folder, its runs are spread over many machines and give the same records.

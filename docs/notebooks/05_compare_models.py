"""Compare models: ten on one rule, over two seeds."""

# %% [markdown]
# # Compare ten models
#
# Ten models learn `(a and b) or c` of three pixels, each with two seeds; the study can be stopped and goes on.

# %%
import assay

names = ["blackbox", "cbm", "dpl", "ltn", "cem", "dcr", "semantic", "tree", "rules", "linear"]
names  # in tests: names = ["cbm", "tree"]

# %%
networks = {"blackbox", "cbm", "dpl", "ltn", "cem", "dcr", "semantic"}
fast = {"epochs": 15, "learning_rate": 0.02, "device": "cpu"}
study = {
    "name": "ten models",
    "tasks": [{"task": "mnlogic", "pixels": True, "k": 3, "formula": "(a and b) or c"}],
    "models": [{"model": name, **(fast if name in networks else {})} for name in names],
    "seeds": [0, 1],
    "n": 200,
}
result = assay.run_study(study, "ten-models")
records = result.to_frame()
records.shape

# %% [markdown]
# Label accuracy, concept accuracy and agreement with the rule, on the test split.

# %%
wanted = ["label_accuracy", "concept_accuracy", "rule_consistency"]
chosen = records[(records["split"] == "test") & records["metric"].isin(wanted)]
table = chosen.pivot_table(index="model", columns="metric", values="value", aggfunc="mean")
table.round(2)

# %%
ax = table.plot.barh(figsize=(7, 4), xlim=(0, 1.05))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
ax.figure

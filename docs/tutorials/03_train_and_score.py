"""Train and score: three models on the same data, in the distribution and out of it."""

# %% [markdown]
# # 3. Train and score
#
# Three models on the same sums of digits. `blackbox` is a plain network; `cbm` is a concept bottleneck that is trained on
# annotated digits and learns its own way from digits to sums; `dpl` is given addition and no annotated digit.

# %%
import pandas as pd

import assay

ds = assay.make("mnadd-evenodd", n=4000)  # in tests: ds = assay.make("mnadd-evenodd", n=120)
epochs = 12  # in tests: epochs = 1
settings = {"blackbox": {}, "cbm": {}, "dpl": {"entropy_weight": 1.0}}
runs = {name: assay.train(name, ds, f"runs/{name}", epochs=epochs, **settings[name]) for name in settings}

# %% [markdown]
# Each score comes with a 95 % interval. A black box predicts no concepts, so it has no concept score.

# %%
rows = []
for name, run in runs.items():
    scores = assay.score(ds, run, metrics=["label_f1", "concept_f1"])
    rows.append(
        {
            "model": name,
            "label F1, test": scores["test"]["label_f1"].value,
            "label F1, ood": scores["ood"]["label_f1"].value,
            "concept F1, test": scores["test"]["concept_f1"].value,
        }
    )
pd.DataFrame(rows).set_index("model").round(2)

# %% [markdown]
# On the test split the three models look alike. On new pairs of digits (`ood`) they fail, each for another reason, which
# is what the diagnosis is for.

# %%
for name, run in runs.items():
    print(f"{name}: {assay.diagnose(ds, run).reasons[0]}\n")

# %% [markdown]
# Everything is on disk: a run holds its settings, weights and predictions. A report of all three is one call, and the same
# on the command line is `assay report runs/blackbox runs/cbm runs/dpl -o report`.

# %%
page = assay.report(list(runs.values()), "report")
print(page)

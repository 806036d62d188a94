"""First look: a dataset, a model, its verdict."""

# %% [markdown]
# # First look
#
# A dataset whose rule is known, a model that learns it, and what the model has really learned.

# %%
import assay

ds = assay.make("mnadd-evenodd", n=4000)  # in tests: ds = assay.make("mnadd-evenodd", n=120)
ds

# %% [markdown]
# Each picture shows two digits; the label is their sum. Training shows only 16 of the 100 pairs of digits.

# %%
ds["train"].plot()

# %% [markdown]
# An example has a picture, concepts and labels.

# %%
example = ds["train"][0]
print(example["concepts"], example["labels"])

# %% [markdown]
# `dpl` (DeepProbLog style) is given the rule, a sum, and learns the digits through it: nobody tells it what a digit is.

# %%
run = assay.train("dpl", ds, epochs=12, entropy_weight=1.0)  # in tests: run = assay.train("dpl", ds, epochs=1)
run.plot()

# %%
found = assay.diagnose(ds, run)
found

# %% [markdown]
# Rows are the true digits, columns what the model says. A diagonal would be right; this model reads other digits whose
# sums agree with every training label.

# %%
found.plot()

# %% [markdown]
# That was to be expected: so many ways of reading the digits keep every training sum. Supervising two digits leaves one.

# %%
count = assay.count(ds)
print(count)
for step in count.readings.plan():
    print("supervise", step.supervised, "->", step.left, "readings left")

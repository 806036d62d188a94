"""First look: a dataset, a model, its verdict."""

# %% [markdown]
# # 1. First look
#
# We make a dataset whose rule is known, train a model on it, and ask what the model has learned. It takes about two
# minutes on a laptop.

# %%
import assay

ds = assay.make("mnadd-evenodd", n=4000)  # in tests: ds = assay.make("mnadd-evenodd", n=120)
print(ds)

# %% [markdown]
# Each picture shows two handwritten digits. The **concepts** are the two digits, the **label** is their sum, and the
# **rule** is addition. Only 16 of the 100 pairs of digits occur in training; the split `ood` (out of distribution) has the
# other 84.

# %%
ds["train"].plot(8)

# %%
example = ds["train"][0]
print(example["concepts"], example["labels"])

# %% [markdown]
# The model `dpl` (in the style of DeepProbLog) is given the rule. It learns to read digits from the sums alone: no digit
# is ever annotated.

# %%
run = assay.train("dpl", ds, epochs=12, entropy_weight=1.0)  # in tests: run = assay.train("dpl", ds, epochs=1)
run.plot()

# %% [markdown]
# The sums on the validation split are nearly all right. Has the model learned to read digits?

# %%
diagnosis = assay.diagnose(ds, run)
print(diagnosis.text)

# %% [markdown]
# It has not. In the next picture a row is a true digit and a column is what the model reads; a model that reads digits
# has a diagonal. This one reads other digits, chosen so that all training sums come out right: a **reasoning shortcut**.

# %%
diagnosis.plot()

# %% [markdown]
# We could have known before training. So many ways of reading the digits give the right sum for all training pairs, and
# annotating two of the ten digits leaves only the correct one.

# %%
count = assay.count(ds)
print(count)
for step in count.readings.plan():
    print("supervise", step.supervised, "->", step.left, "readings left")

# %% [markdown]
# Next: [what a world is, and how to change one concept of it](02_worlds.md), or
# [train with the two digits annotated](05_count_shortcuts.md) and see the shortcut disappear.

"""Catch a shortcut: three predictors with the same accuracy, and what tells them apart."""

# %% [markdown]
# # 4. Catch a shortcut
#
# Three predictors with perfect labels on the test split. One reads the digits, one has a reasoning shortcut, one says
# nothing about digits. Accuracy cannot tell them apart. We build them by hand, so that we know the right answer.

# %%
import assay

ds = assay.make("mnadd-evenodd", n=1000)  # in tests: ds = assay.make("mnadd-evenodd", n=200)
splits = ("test", "ood")

# %% [markdown]
# The training pairs are 0+6, 2+8, 4+6, 4+8 and some pairs of odd digits. Reading every small even digit as one more and
# every large one as one less changes none of these sums:

# %%
wrong = {"digit": {0: 1, 2: 3, 4: 5, 6: 5, 8: 7}}
predictors = {
    "reads digits": [assay.oracle(ds[name]) for name in splits],
    "shortcut": [assay.given_mapping(ds[name], wrong) for name in splits],
    "no concepts": [ds[name].predictions(labels=ds[name].labels[:, 0]) for name in splits],
}
for name, answers in predictors.items():
    diagnosis = assay.diagnose(ds, answers)
    accuracy = diagnosis.scores["test"]["label_accuracy"].value
    print(f"{name}: label accuracy {accuracy:.2f}, verdict {diagnosis.verdict}")

# %% [markdown]
# The diagnosis of the shortcut names the digits that are misread, how often, and what to do next. What else was found is in
# `details`, such as whether the training labels could have revealed it.

# %%
diagnosis = assay.diagnose(ds, predictors["shortcut"])
print(diagnosis.text)

# %%
print("\n".join(diagnosis.details))

# %%
diagnosis.plot()

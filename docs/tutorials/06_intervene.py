"""Intervene on concepts, the most uncertain first, and measure the accuracy of the labels."""

# %% [markdown]
# # 6. Intervene on concepts
#
# A concept bottleneck lets a person correct a concept and then computes the label again. How much does that help, and how
# many corrections does it take?

# %%
import assay

n = 800  # in tests: n = 60
ds = assay.make("mnlogic", k=4, formula="(a and b) or (c and d)", n=n)
ds["train"].plot(8)

# %% [markdown]
# Four handwritten bits and a rule over them. We stop training early, so that some concepts are still read wrong.

# %%
epochs = 3  # in tests: epochs = 1
run = assay.train("cbm", ds, epochs=epochs, head="rule")

# %% [markdown]
# The policy `uncertainty` corrects those concepts first of which the model is least sure. The budget is the number of
# concepts that are corrected in an example.

# %%
result = assay.intervene(run, ds, policy="uncertainty", budget="0-4")
for point in result.curve.points:
    print(f"{point.budget:g} concepts corrected: label accuracy {point.accuracy:.2f}")

# %%
result.plot()

# %% [markdown]
# A check that every intervention should pass: setting the model's own predictions changes no label.

# %%
print(result.control_changed, "labels changed")

"""Catch a shortcut: models with a known fault, and what tells them apart."""

# %% [markdown]
# # Catch a shortcut
#
# Three models of the parity of three pixels, all with perfect labels on the test split. One has learned the concepts, one
# a reasoning shortcut, one says no concept at all. Accuracy cannot tell them apart.

# %%
import numpy as np

import assay

ds = assay.make("mnlogic", pixels=True, k=3, n=400)
ds


# %%
def parity(pixels: np.ndarray) -> np.ndarray:
    return pixels.sum(axis=1) % 2


def right(images: np.ndarray) -> dict:
    pixels = (images.reshape(len(images), -1) > 127).astype(int)
    return {"labels": parity(pixels), "concepts": dict(zip("abc", pixels.T, strict=True))}


def shortcut(images: np.ndarray) -> dict:
    pixels = (images.reshape(len(images), -1) > 127).astype(int)
    pixels[:, :2] = 1 - pixels[:, :2]  # two concepts are inverted, which no parity reveals
    return {"labels": parity(pixels), "concepts": dict(zip("abc", pixels.T, strict=True))}


def opaque(images: np.ndarray) -> np.ndarray:
    return parity((images.reshape(len(images), -1) > 127).astype(int))


# %%
for model in (right, shortcut, opaque):
    found = assay.diagnose(ds, model)
    accuracy = found.scores["test"]["label_accuracy"].value
    print(f"{model.__name__}: label accuracy {accuracy:.2f}, verdict {found.verdict}")

# %%
found = assay.diagnose(ds, shortcut)
found

# %%
found.plot()

# %% [markdown]
# Counterfactual worlds: one concept is changed, and the label must follow.

# %%
print(found.counterfactuals.text)
assay.pairs(ds)

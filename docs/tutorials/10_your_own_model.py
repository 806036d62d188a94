"""Your own model: a function, a torch module, a scikit-learn estimator, or arrays."""

# %% [markdown]
# # 10. Your own model
#
# A model of any framework can be diagnosed: hand over its predictions as arrays, or the model itself, and Assay asks it.

# %%
import torch
from sklearn.linear_model import LogisticRegression

import assay

ds = assay.make("mnadd-half", n=1500)  # in tests: ds = assay.make("mnadd-half", n=120)
train, test = ds["train"], ds["test"]

# %% [markdown]
# First a scikit-learn estimator on pixels. Assay calls its `predict_proba` on every split.

# %%
pixels = train.images.reshape(len(train), -1) / 255
estimator = LogisticRegression(max_iter=200).fit(pixels, train.labels[:, 0])
print(assay.diagnose(ds, estimator).text)


# %% [markdown]
# Next a torch module. It gets pictures (numbers from 0 to 1) and returns logits of the label; a module with concepts
# returns a pair (concepts, labels).


# %%
class Network(torch.nn.Module):
    def __init__(self, sums: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(28 * 56, 64), torch.nn.ReLU(), torch.nn.Linear(64, sums)
        )

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return self.layers(pictures)


torch.manual_seed(0)
network = Network(len(ds.knowledge.labels[0].values))
loader = torch.utils.data.DataLoader(train.torch(), batch_size=64, shuffle=True)
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
for _ in range(5):
    for pictures, labels, concepts in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(pictures), labels[:, 0]).backward()
        optimizer.step()
print(assay.diagnose(ds, network).text)

# %% [markdown]
# Last, arrays of codes or probabilities. In this example the two digits are predicted in the wrong order.

# %%
answers = test.predictions(labels=test.labels[:, 0], concepts={"a": test.concepts[:, 1], "b": test.concepts[:, 0]})
print(assay.diagnose(ds, answers).text)

# %% [markdown]
# These are pictures on which the network is wrong, each with the true sum and the predicted one.

# %%
predictions = assay.wrap(network, ds).predict(test)
assay.plot_errors(ds, predictions)

# %% [markdown]
# [Any model](../any_model.md) has an example for each framework, and says how to allow interventions on your own concepts.

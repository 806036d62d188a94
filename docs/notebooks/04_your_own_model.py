"""Your own model: a function, a torch module, a scikit-learn estimator, or arrays."""

# %% [markdown]
# # Your own model
#
# A model of any make is judged by what it says: as arrays, or by being asked.

# %%
import torch
from sklearn.linear_model import LogisticRegression

import assay

ds = assay.make("mnadd-half", n=1500)  # in tests: ds = assay.make("mnadd-half", n=120)
train, test = ds["train"], ds["test"]

# %% [markdown]
# A scikit-learn estimator on pixels: it is asked for the labels of every split.

# %%
pixels = train.images.reshape(len(train), -1) / 255
estimator = LogisticRegression(max_iter=200).fit(pixels, train.labels[:, 0])
print(assay.diagnose(ds, estimator).text)


# %% [markdown]
# A torch module. It gets pictures (numbers from 0 to 1) and returns logits of the label, or (concepts, labels).


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
found = assay.diagnose(ds, network)
found

# %% [markdown]
# Arrays: codes or probabilities, with concepts if the model has them. Here the two digits are read in the wrong order.

# %%
answers = test.predictions(labels=test.labels[:, 0], concepts={"a": test.concepts[:, 1], "b": test.concepts[:, 0]})
found = assay.diagnose(ds, answers)
print(found.text)

# %% [markdown]
# Pictures on which the network is wrong, with what is true and what it says.

# %%
said = assay.wrap(network, ds).predict(test)
assay.plot_errors(ds, said)

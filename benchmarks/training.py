"""Training steps on a CPU beside a loop written by hand for the same network and loss; on a GPU: `benchmarks.gpu`."""

from collections.abc import Callable

import torch

import assay
from assay.dataset import Dataset
from assay.models import MODELS
from benchmarks.by_hand import hand_written_loss
from benchmarks.timing import Result, rate

CPU = torch.device("cpu")
BATCH = 64
EXAMPLES = 512
EPOCHS = 8


def run() -> list[Result]:
    torch.set_num_threads(1)
    dataset = assay.make("mnadd-evenodd", n=EXAMPLES)
    results = []
    for name in ("dpl", "ltn", "cbm", "semantic", "blackbox"):
        ours, theirs = (rate(epoch, 2.0) for epoch in (own_epochs(name, dataset), epoch_by_hand(name, dataset)))
        results.append(Result(f"training {name}", "steps", ours, theirs, "a loop by hand"))
    return results


def own_epochs(name: str, dataset: Dataset) -> Callable[[], int]:
    """Return some epochs of ours, which say how many steps they took; validation is one example."""
    data = dataset["train"]
    settings = {"device": "cpu", "batch_size": BATCH, "epochs": EPOCHS, "patience": EPOCHS}

    def epochs() -> int:
        MODELS[name](dataset, settings=settings).fit(data, data[:1])
        return EPOCHS * -(-len(data) // BATCH)

    return epochs


def epoch_by_hand(name: str, dataset: Dataset) -> Callable[[], int]:
    """Return an epoch as one would write it."""
    data = dataset["train"]
    network, loss = hand_written_loss(name, dataset, CPU)
    adam = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=1e-4)
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2).contiguous()
    labels, concepts = (torch.from_numpy(codes) for codes in (data.labels, data.concepts))

    def epoch() -> int:
        parts = torch.split(torch.randperm(len(images)), BATCH)
        for rows in parts:
            adam.zero_grad(set_to_none=True)
            loss(images[rows].float() / 255, labels[rows], concepts[rows]).backward()
            adam.step()
        return len(parts)

    return epoch

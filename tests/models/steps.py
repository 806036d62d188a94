"""What a network computes on a batch: the loss of each phase, its gradients, and answers before and after two steps."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from assay.models.core.neural import NeuralModel
from assay.models.core.tensors import Annotations, Batch
from tests.models.pins import summary

ASKED = 7
"""How many examples are answered."""


def answers(model: NeuralModel, pictures: Tensor, do: Mapping[int, Tensor]) -> list[list[float]]:
    """Return the summary of each label's and each concept's probabilities."""
    model.eval()
    with torch.no_grad():
        outputs = model.answer(pictures, do)
    return [summary(part) for part in (*outputs.labels, *(outputs.concepts or []))]


def interventions(model: NeuralModel) -> dict[str, dict[int, Tensor]]:
    """Return what concepts are set to: one to codes, another to probabilities of some examples only, and all."""
    sizes = model.space.sizes
    codes = {place: (torch.arange(ASKED) + place) % size for place, size in enumerate(sizes)}
    last = len(sizes) - 1
    shares = torch.linspace(1, 3, ASKED)[:, None] ** torch.arange(sizes[last])
    return {"one": {0: codes[0]}, "shares": {last: shares / shares.sum(dim=1, keepdim=True)}, "all": codes}


def measure_network(
    model: NeuralModel, batch: Batch, steps: int = 2, rate: float = 0.2, brief: bool = False
) -> dict[str, Any]:
    """Return what a network computes, in a few numbers; a brief measure is of answers only."""
    pictures, facts = batch.pictures[:ASKED], dict[str, Any]()
    facts["parameters"] = [part.numel() for part in model.parameters()]
    facts["kept"] = len(model.state_dict())
    facts["weights"] = summary(*model.parameters())
    facts["before"] = answers(model, pictures, {})
    if brief:
        return facts
    phases = model.phases(Annotations(batch.labels, batch.concepts, batch.rows))
    for number, phase in enumerate(phases):
        phase.begin(1, 3)
        own = facts[f"phase {phase.name}"] = {"score": phase.score, "varies": phase.varies, "losses": []}
        for step in range(steps):
            torch.manual_seed(10 * number + step)
            model.train()
            model.zero_grad(set_to_none=True)
            parts = (batch.labels, batch.concepts, batch.rows, batch.images)
            loss = phase.loss(Batch(*(part[step::2] for part in parts)))
            own["losses"].append(round(float(loss.detach()), 6))
            if not phase.parameters:
                continue
            loss.backward()
            moved = [part.grad.norm() for part in model.parameters() if part.grad is not None]
            own["moved"] = [len(moved), *summary(torch.stack(moved))]
            with torch.no_grad():
                for part in phase.parameters:
                    if part.grad is not None:
                        part -= rate * part.grad
        phase.begin(2, 3)
        if phase.varies:
            own["later"] = round(float(phase.loss(batch).detach()), 6)
    facts["after"] = answers(model, pictures, {})
    if model.can_intervene:
        facts["do"] = {name: answers(model, pictures, do) for name, do in interventions(model).items()}
    return facts

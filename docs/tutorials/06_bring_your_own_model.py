"""Any torch module that returns labels, and perhaps concepts, is scored, diagnosed and intervened on like ours."""

import torch
from torch import nn

import assay


class Mine(nn.Module):
    """Reads three pixels, and derives the label by a rule of its own: it forgot that c alone is enough."""

    def forward(self, images: torch.Tensor) -> dict[str, dict[str, torch.Tensor]]:
        """Return a probability for each concept and for the label."""
        a, b, c = (images[..., place].flatten(1).mean(dim=1) for place in range(3))
        return {"concepts": {"a": a, "b": b, "c": c}, "labels": {"y": a * b}}


ds = assay.make("mnlogic", pixels=True, k=3, formula="a and b or c", n=600)
model = assay.wrap(Mine(), ds, scores="probabilities")  # of a module that gives logits: assay.diagnose(ds, Mine())
diagnosis = assay.diagnose(ds, model)
print(diagnosis.text)
assert diagnosis.verdict == "wrong rule"  # labels are wrong, though every concept is right
assert diagnosis.scores["test"]["concept_accuracy"].value == 1.0

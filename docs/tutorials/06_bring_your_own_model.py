"""Any torch module that returns concepts and labels joins: it is scored, diagnosed and intervened on like ours."""

import tempfile
from pathlib import Path

import torch
from torch import nn

from assay import Dataset, Recipe, diagnose, gather, make
from assay.config import Settings
from assay.models.external.wrapped import Wrapped


class Mine(nn.Module):
    """Reads three pixels, and derives the label by a rule of its own: it forgot that c alone is enough."""

    def forward(self, images: torch.Tensor) -> dict[str, dict[str, torch.Tensor]]:
        """Return a probability for each concept and for the label."""
        a, b, c = (images[..., place].flatten(1).mean(dim=1) for place in range(3))
        return {"concepts": {"a": a, "b": b, "c": c}, "labels": {"y": a * b}}


with tempfile.TemporaryDirectory() as name:
    settings = Settings({"pixels": True, "k": 3, "formula": "a and b or c"})
    make(Recipe("mnlogic", settings, train=600), Path(name) / "data")
    dataset = Dataset.open(Path(name) / "data")

    model = Wrapped(Mine(), dataset.knowledge, dataset.layout, scores="probabilities")
    test = dataset["test"]
    diagnosis = diagnose({"test": gather(test, model.predict(test))})
    print(diagnosis.text)
    assert diagnosis.verdict == "wrong rule"  # labels are wrong, though every concept is right
    assert diagnosis.scores["test"]["concept_accuracy"].value == 1.0

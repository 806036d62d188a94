"""Train two models on the same data and score them on every split."""

import tempfile
from pathlib import Path

from assay import Dataset, Recipe, make, score
from assay.config import Settings
from assay.models.core.runs import Order, train_run
from assay.runs.evidence import evidence_of
from assay.runs.folder import RunFolder

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    # three pixels and a rule over them: learned in seconds
    settings = Settings({"pixels": True, "k": 3, "formula": "a and b or c"})
    make(Recipe("mnlogic", settings, train=256), folder / "data")
    dataset = Dataset.open(folder / "data")

    for model in ("blackbox", "cbm"):
        training = Settings({"epochs": 12, "learning_rate": 0.01, "device": "cpu"})
        train_run(Order(model, training, seed=0), dataset, folder / model)
        scores = score(evidence_of(RunFolder(folder / model), dataset)["test"], ["label_accuracy", "concept_accuracy"])
        # a black box predicts no concepts: that score is not a number
        print(model, {metric: round(result.value, 2) for metric, result in scores.items()})
        assert scores["label_accuracy"].value > 0.9
        assert scores["concept_accuracy"].applies == (model == "cbm")

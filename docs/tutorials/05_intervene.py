"""Intervene on concepts, the most uncertain first, and measure the accuracy of the labels."""

import tempfile
from pathlib import Path

from assay import Dataset, Recipe, make
from assay.config import Settings
from assay.diagnosis.interventions.intervene import InterventionPlan, intervene
from assay.models.core.runs import Order, train_run

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    settings = Settings({"pixels": True, "k": 4, "formula": "(a and b) or (c and d)"})
    make(Recipe("mnlogic", settings, train=400), folder / "data")
    dataset = Dataset.open(folder / "data")
    # a model that is stopped too early: its concepts are not all right yet
    training = Settings({"epochs": 2, "learning_rate": 0.003, "device": "cpu", "head": "rule"})
    model = train_run(Order("cbm", training, seed=0), dataset, folder / "run")

    result = intervene(InterventionPlan(policy="uncertainty", budget="0-4"), dataset, model.intervene)
    for point in result.curve.points:
        print(f"{point.budget:g} concepts set: label accuracy {point.accuracy:.2f}")
    accuracies = [point.accuracy for point in result.curve.points]
    assert accuracies[-1] == 1.0 >= accuracies[0]  # with all concepts set, the rule gives the label
    assert result.control_changed == 0  # setting the model's own predictions changes nothing

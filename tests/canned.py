"""Runs that nobody trained: datasets of a few rows, and answers with known faults, written as a run's folder is."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from assay.base import Array, Codes, rng_for
from assay.contracts import BottleneckModel, Prediction, Predictions, rule_head
from assay.dataset import Dataset, SplitData
from assay.diagnosis import Answering
from assay.runs import RunFolder, write_record
from tests.conftest import write

ROWS = {"train": 24, "valid": 12, "test": 40, "ood": 14, "hard": 16, "pairs": 12}
FAULTS = ("good", "swapped", "silent", "noisy")


def bits(folder: Path) -> Dataset:
    """Return three pixels, a rule over them, and counterfactual pairs."""
    rule = {"pixels": True, "k": 3, "formula": "a and b or c", "prop_in_distribution": 0.8}
    return write(folder, "mnlogic", splits=ROWS, **rule)


def sums(folder: Path) -> Dataset:
    """Return sums of two digits."""
    return write(folder, "mnadd-evenodd", splits={**ROWS, "pairs": 0})


def answers(data: SplitData, fault: str) -> Predictions:
    """Return answers with a fault: right, the first two concepts taken for each other, labels alone, or noise."""
    knowledge, rng = data.knowledge, rng_for(0, "canned", fault, data.name)
    rows, read = len(data), data.concepts.copy()
    if fault == "swapped":
        read[:, [0, 1]] = read[:, [1, 0]]
    if fault == "noisy":
        wrong = rng.random(read.shape) < 0.25
        read = np.where(wrong, (read + 1) % np.array(knowledge.space.sizes), read)
    labels = knowledge.labels_of(read)
    if fault == "noisy":
        sizes = np.array([len(label.values) for label in knowledge.labels])
        labels = np.where(rng.random(labels.shape) < 0.1, (labels + 1) % sizes, labels)
    named = {
        label.name: Prediction(labels[:, i], certain(labels[:, i], len(label.values), 0.6 + 0.39 * rng.random(rows)))
        for i, label in enumerate(knowledge.labels)
    }
    spoken = {
        concept.name: Prediction(read[:, i], certain(read[:, i], len(concept.values), 0.55 + 0.44 * rng.random(rows)))
        for i, concept in enumerate(knowledge.space.concepts)
    }
    concepts = {} if fault == "silent" else spoken
    return Predictions(data.fingerprint, data.name, data.index, named, concepts, {"model": fault, "seed": 1})


def certain(codes: Codes, size: int, confidence: Array) -> Array:
    """Return probabilities that give each code this confidence and share the rest alike."""
    probabilities = np.repeat(((1 - confidence) / max(1, size - 1))[:, None], size, axis=1)
    probabilities[np.arange(len(codes)), codes] = confidence
    return probabilities


def run_of(dataset: Dataset, folder: Path, fault: str, seed: int = 1, pairs: bool = True) -> Path:
    """Write a run: answers for all splits but training, its epochs, its units, and its record."""
    run = RunFolder(folder)
    run.claim()
    names = [name for name in dataset.split_names if not name.startswith("train")]
    for name in [*names, *(["pairs"] if pairs and dataset.pairs is not None else [])]:
        answers(dataset.symbols(name), fault).write(run.predictions(name), dataset.knowledge)
    epochs = [{"epoch": n, "loss": 1 / n, "score": 0.5 + 0.1 * n, "best": n % 2 == 0, "other": n} for n in (1, 2, 3)]
    (folder / "history.json").write_text(json.dumps({"epochs": epochs}), encoding="utf-8")
    if fault == "noisy":
        index = dataset.symbols("test").index.tolist()
        units = [
            {"unit": n, "name": f"u{n}", "value": ("a", "b")[n], "matched": n == 0, "direction": 1 - 2 * n,
             "f1": (0.5, None)[n], "share": 0.25, "rows": index[n : n + 4], "has": [True, False, None, True]}
            for n in (0, 1)
        ]  # fmt: skip
        (folder / "units.json").write_text(json.dumps({"split": "test", "units": units}), encoding="utf-8")
    config = {"epochs": 3, "learning_rate": 0.01}
    about = {"model": {"good": "dpl"}.get(fault, "cbm"), "seed": seed, "config": config}
    shape = {"knowledge": dataset.knowledge.to_dict(), "layout": dataset.layout.to_dict()}
    write_record(run, dataset, {**about, **shape})
    return folder


class Models:
    """Models that can be asked, all of one kind: they misread what is noisy."""

    def predict(self, run: Path, data: SplitData, do: Mapping[str, Codes] | None) -> Predictions:
        """Answer for rows; concepts that are set are as they are set."""
        said = answers(data, "noisy")
        read = np.stack([one.codes for one in said.concepts.values()], axis=1)
        for name, codes in (do or {}).items():
            read[:, data.knowledge.space.place(name)] = codes
        labels = data.knowledge.labels_of(read)
        named = {name: Prediction(labels[:, i]) for i, name in enumerate(data.knowledge.label_names)}
        spoken = {name: Prediction(read[:, i]) for i, name in enumerate(data.knowledge.space.names)}
        return Predictions(data.fingerprint, data.name, data.index, named, spoken)

    def answering(self, run: Path, dataset: Dataset, split: str) -> Answering:
        """Return noisy concepts under the rule."""

        def model(data: SplitData) -> BottleneckModel:
            said = answers(data, "noisy")
            spread = [np.asarray(one.probabilities) for one in said.concepts.values()]
            return BottleneckModel("noisy", spread, rule_head(data.knowledge))

        return model

    def layers(self, run: Path, data: SplitData) -> list[str]:
        """Return two layers."""
        return ["first", "last"]

    def activations(self, run: Path, data: SplitData, layer: str) -> Array:
        """Return features that go with the concepts."""
        noise = rng_for(0, "activations", layer, len(data)).normal(size=(len(data), 5))
        return np.asarray(data.concepts @ (1.0 + np.arange(5 * data.concepts.shape[1]).reshape(-1, 5)) + noise)

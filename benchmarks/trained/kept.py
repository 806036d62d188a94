"""The file of a kept case: what a model answered, what was true, and facts that were measured of it.

One compressed `.npz` without pickled objects. `header` is JSON; the other arrays are codes, and probabilities as whole
ten-thousandths of all values but the last. The codes that a model predicts are those of its largest probabilities.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, Codes
from assay.logic import Knowledge
from assay.metrics import Evidence

FOLDER = Path(__file__).parent.parent / "records" / "trained"
UNIT = 10_000
PAIRS = "pairs"
SILENT = -1


@dataclass(frozen=True)
class Changes:
    """Counterfactual pairs: answers before and after one concept is changed, row by row, and which concept that is."""

    before: Evidence
    after: Evidence
    concepts: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Case:
    """A kept case: its header, and its arrays by name (`split.labels`, `split.concepts`, ...)."""

    header: Mapping[str, Any]
    arrays: Mapping[str, Array]

    @property
    def name(self) -> str:
        """The name of the case."""
        return str(self.header["name"])

    @cached_property
    def knowledge(self) -> Knowledge:
        """The rule as the diagnosis has it; without formulas where none is known."""
        return Knowledge.from_dict(self.header["knowledge"])

    @cached_property
    def evidence(self) -> dict[str, Evidence]:
        """What a diagnosis sees, by split, the test split first."""
        return {split: self._evidence(split) for split in self.header["splits"]}

    @cached_property
    def training(self) -> Codes:
        """The concept vectors of the training examples, a row each, as the table has them."""
        return self.arrays["training"].astype(np.int64)

    @cached_property
    def pairs(self) -> Changes | None:
        """Counterfactual pairs of the test split; None where no picture could be drawn for them."""
        if f"{PAIRS}.rows" not in self.arrays:
            return None
        names = self.knowledge.space.names
        before = self.evidence["test"].take(self.arrays[f"{PAIRS}.rows"].astype(np.int64))
        changed = tuple(names[column] for column in self.arrays[f"{PAIRS}.columns"].tolist())
        return Changes(before, self._evidence(PAIRS), changed)

    def true_concepts(self, split: str) -> Codes:
        """Return the concepts as they are in the pictures, whatever the table says."""
        return self._codes(split, "true_concepts", "concepts")

    def true_labels(self, split: str) -> Codes:
        """Return the labels as the world has them, whatever the table says."""
        return self._codes(split, "true_labels", "labels")

    def _codes(self, split: str, *names: str) -> Codes:
        name = next(name for name in names if f"{split}.{name}" in self.arrays)
        return self.arrays[f"{split}.{name}"].astype(np.int64)

    def _evidence(self, split: str) -> Evidence:
        knowledge = self.knowledge
        label_sizes = [len(label.values) for label in knowledge.labels]
        answered = self.header["answered"]
        concepts = _unpacked(self.arrays.get(f"{split}.concept_mass"), knowledge.space.sizes, answered)
        labels = _unpacked(self.arrays[f"{split}.label_mass"], label_sizes, [True] * len(label_sizes))
        true = [self._codes(split, name) for name in ("labels", "concepts")]
        said = [_most_probable(parts, len(true[0])) for parts in (labels, concepts)]
        return Evidence(knowledge, split, *true, *said, labels, concepts)


def packed(probabilities: Sequence[Array | None]) -> Array | None:
    """Return the probabilities of several concepts as whole numbers, side by side; None where nothing is predicted."""
    parts = [_whole(part)[:, :-1] for part in probabilities if part is not None]
    return np.concatenate(parts, axis=1).astype(np.uint16) if parts else None


def _whole(probabilities: Array) -> Array:
    units = np.rint(np.asarray(probabilities, dtype=np.float64) * UNIT).astype(np.int64)
    units[np.arange(len(units)), units.argmax(axis=1)] += UNIT - units.sum(axis=1)
    return units


def _unpacked(mass: Array | None, sizes: Sequence[int], answered: Sequence[bool]) -> tuple[Array | None, ...]:
    parts: list[Array | None] = []
    start = 0
    for size, spoken in zip(sizes, answered, strict=True):
        if mass is None or not spoken:
            parts.append(None)
            continue
        free = mass[:, start : start + size - 1].astype(np.float64) / UNIT
        parts.append(np.concatenate([free, 1 - free.sum(axis=1, keepdims=True)], axis=1).clip(0, 1))
        start += size - 1
    return tuple(parts)


def _most_probable(parts: Sequence[Array | None], rows: int) -> Codes:
    silent = np.full(rows, SILENT, dtype=np.int64)
    return np.stack([silent if part is None else part.argmax(axis=1) for part in parts], axis=1)


def write_case(case: Case, folder: Path = FOLDER) -> Path:
    """Write a case, and return where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name}.npz"
    header = np.array([json.dumps(case.header, ensure_ascii=False)])
    np.savez_compressed(path, header=header, **case.arrays)
    return path


def read_case(path: Path) -> Case:
    """Read a case."""
    with np.load(path, allow_pickle=False) as kept:
        arrays = {name: kept[name] for name in kept.files if name != "header"}
        return Case(json.loads(str(kept["header"][0])), arrays)


def kept_cases(folder: Path = FOLDER) -> list[Path]:
    """Return the files of all kept cases, by name."""
    return sorted(folder.glob("*.npz"))

"""The reading that a model uses: which value it gives for each true value, and whether that keeps the labels right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Array, Codes
from assay.concepts import Value
from assay.logic.knowledge import Knowledge
from assay.metrics.evidence import Evidence
from assay.metrics.quality import confusion


@dataclass(frozen=True)
class Reading:
    """How one encoder group is read: for each true value the value most often given, None if it never occurred."""

    group: str
    concepts: tuple[str, ...]
    values: tuple[Value, ...]
    image: tuple[int | None, ...]
    counts: Array
    fidelity: float
    """The share of answers that the reading explains."""

    @property
    def is_identity(self) -> bool:
        """Whether every value that occurs is read as itself."""
        return all(to is None or to == place for place, to in enumerate(self.image))

    @property
    def text(self) -> str:
        """The reading in words."""
        wrong = [f"{self.values[i]} as {self.values[to]}" for i, to in enumerate(self.image) if to not in (None, i)]
        seen = [i for i, to in enumerate(self.image) if to is not None]
        if not wrong:
            return f"reads every {self.group} as what it is"
        right = [str(self.values[i]) for i in seen if self.image[i] == i]
        text = f"reads {enumerated(wrong)}"
        if right:
            text += f"; {enumerated(right)} {'is' if len(right) == 1 else 'are'} read right"
        unused = [str(v) for i, v in enumerate(self.values) if i not in self.image and i in seen]
        return text + (f"; never says {enumerated(unused, 'or')}" if unused else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the reading as plain data."""
        pairs = [[self.values[place], None if to is None else self.values[to]] for place, to in enumerate(self.image)]
        return {
            "group": self.group,
            "concepts": list(self.concepts),
            "reads": pairs,
            "fidelity": self.fidelity,
            "confusion": self.counts.tolist(),
            "text": self.text,
        }


def enumerated(texts: Sequence[str], word: str = "and") -> str:
    """Return texts as a list in a sentence.

    >>> enumerated(["a", "b", "c"])
    'a, b and c'
    """
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def fitted_readings(evidence: Evidence) -> tuple[Reading, ...]:
    """Return the reading of each encoder group that the model answers for."""
    return tuple(_fitted(evidence, name, columns) for name, columns in evidence.groups.items())


def _fitted(evidence: Evidence, name: str, columns: list[int]) -> Reading:
    space = evidence.knowledge.space
    concept = space.concepts[columns[0]]
    truth, predicted = evidence.concepts[:, columns].ravel(), evidence.predicted_concepts[:, columns].ravel()
    counts = confusion(truth, predicted, len(concept.values))
    spoken = counts[:, : len(concept.values)]
    image = tuple(int(row.argmax()) if row.any() else None for row in spoken)
    return Reading(
        group=name,
        concepts=tuple(space.names[column] for column in columns),
        values=concept.values,
        image=image,
        counts=counts,
        fidelity=float(spoken.max(axis=1).sum() / max(1, counts.sum())),
    )


def read_as(codes: Codes, readings: Sequence[Reading], knowledge: Knowledge) -> Codes:
    """Return the concepts as these readings give them; a value never seen is taken as itself."""
    read = codes.copy()
    for reading in readings:
        table = np.array([place if to is None else to for place, to in enumerate(reading.image)])
        for name in reading.concepts:
            column = knowledge.space.place(name)
            read[:, column] = table[codes[:, column]]
    return read


def label_agreement(codes: Codes, readings: Sequence[Reading], knowledge: Knowledge) -> float:
    """Return the share of worlds whose labels stay right when they are read this way."""
    right = knowledge.labels_of(codes) == knowledge.labels_of(read_as(codes, readings, knowledge))
    return float(np.all(right, axis=1).mean())

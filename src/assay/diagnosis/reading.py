"""Readings: which value a model predicts for each true value, for all concepts that share an encoder together."""

from dataclasses import dataclass
from typing import Any

from assay.base import Array
from assay.diagnosis.wording import join_words
from assay.logic import Value
from assay.metrics import Evidence, confusion


@dataclass(frozen=True)
class Reading:
    """The concept mapping of one encoder group: for each true value the one most often predicted, or None."""

    group: str
    concepts: tuple[str, ...]
    values: tuple[Value, ...]
    image: tuple[int | None, ...]
    counts: Array
    fidelity: float
    """The share of predictions that the reading explains."""

    @property
    def is_identity(self) -> bool:
        """Whether every value that occurs is read as itself."""
        return all(to is None or to == place for place, to in enumerate(self.image))

    @property
    def text(self) -> str:
        """The values most often said, in words."""
        wrong = [f"{self.values[i]} as {self.values[to]}" for i, to in enumerate(self.image) if to not in (None, i)]
        if not wrong:
            return f"most often says every {self.group} as it is"
        right = [str(self.values[i]) for i, to in enumerate(self.image) if to == i]
        text = f"most often says {self.group} {join_words(wrong)}"
        if right:
            text += f", and {join_words(right)} as {'it is' if len(right) == 1 else 'they are'}"
        never = [
            str(v)
            for v, true, count in zip(self.values, self._true_counts, self._predicted_counts, strict=True)
            if true and not count
        ]
        return text + (f"; never says {join_words(never, 'or')}" if never else "")

    @property
    def _true_counts(self) -> list[int]:
        """How often each value occurs."""
        return [int(count) for count in self.counts.sum(axis=1)]

    @property
    def _predicted_counts(self) -> list[int]:
        """How often each value is said."""
        return [int(count) for count in self.counts[:, : len(self.values)].sum(axis=0)]

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


def fit_readings(evidence: Evidence) -> tuple[Reading, ...]:
    """Return the reading of each encoder group that the model answers for."""
    return tuple(_fit(evidence, name, columns) for name, columns in evidence.groups.items())


def _fit(evidence: Evidence, name: str, columns: list[int]) -> Reading:
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

"""The accuracy of labels in each region of the rule: its variants, its near-boundary types, and far from both."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.metrics import Evidence, accuracy_by_region

Region = Literal["variant", "type", "far"]


@dataclass(frozen=True)
class RegionScore:
    """The accuracy of a label on the worlds of one variant or near-boundary type, or on those that are far."""

    label: str
    kind: Region
    name: str
    examples: int
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        return asdict(self)


def region_scores(evidence: Evidence) -> tuple[RegionScore, ...]:
    """Return the accuracy on every variant and type of every label that occurs, and on what is far."""
    scores: list[RegionScore] = []
    rows = evidence.distinct
    for place, (label, side) in enumerate(zip(rows.knowledge.labels, rows.sides, strict=True)):
        right = rows.labels[:, place] == rows.predicted_labels[:, place]
        regions: list[tuple[Region, Sequence[str], Any]] = [
            ("variant", side.variants, side.in_variants),
            ("type", side.types, side.in_types),
            ("far", ["far"], side.far[:, None]),
        ]
        for kind, names, inside in regions:
            accuracies, sizes = accuracy_by_region(right, inside, rows.weights), rows.weights @ inside
            for name, accuracy, size in zip(names, accuracies.tolist(), sizes.tolist(), strict=True):
                if size:
                    scores.append(RegionScore(label.name, kind, name, size, accuracy))
    return tuple(scores)

"""Where a model goes wrong: in which ways of keeping the rule, and in which of just missing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.metrics.boundary import accuracy_by_region
from assay.metrics.evidence import Evidence

Kind = Literal["variant", "type", "far"]
GOOD = 0.8
GAP = 0.1
FEWEST = 5
MOST_NAMED = 3


@dataclass(frozen=True)
class RegionScore:
    """The accuracy of a label on the worlds of one variant or near-boundary type, or on those that are far."""

    label: str
    kind: Kind
    name: str
    examples: int
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        return {
            "label": self.label,
            "kind": self.kind,
            "name": self.name,
            "examples": self.examples,
            "accuracy": self.accuracy,
        }


def region_scores(evidence: Evidence) -> tuple[RegionScore, ...]:
    """Return the accuracy on every variant and type of every label that occurs, and on what is far."""
    made: list[RegionScore] = []
    for place, (label, side) in enumerate(zip(evidence.knowledge.labels, evidence.sides, strict=True)):
        right = evidence.labels[:, place] == evidence.predicted_labels[:, place]
        regions: list[tuple[Kind, Sequence[str], Any]] = [
            ("variant", side.variants, side.in_variants),
            ("type", side.types, side.in_types),
            ("far", ["far"], side.far[:, None]),
        ]
        for kind, names, inside in regions:
            accuracies, sizes = accuracy_by_region(right, inside), inside.sum(axis=0)
            for name, accuracy, size in zip(names, accuracies.tolist(), sizes.tolist(), strict=True):
                if size:
                    made.append(RegionScore(label.name, kind, name, size, accuracy))
    return tuple(made)


def mean_of(scores: Sequence[RegionScore], kind: Kind) -> float:
    """Return the accuracy averaged over the regions of a kind, NaN if there are none."""
    found = [score.accuracy for score in scores if score.kind == kind]
    return float(np.mean(found)) if found else float("nan")


def boundary_finding(scores: Sequence[RegionScore], split: str) -> str | None:
    """Say which labels a model gets right except at the boundary of their rule, and where it fails there."""
    said = []
    for label in dict.fromkeys(score.label for score in scores):
        own = [score for score in scores if score.label == label and score.examples >= FEWEST]
        near, far, held = (mean_of(own, kind) for kind in ("type", "far", "variant"))
        easy = min(value for value in (far, held, 1.0) if not np.isnan(value))
        if np.isnan(near) or np.isnan(far) or easy < GOOD or near > min(GOOD, easy - GAP):
            continue
        failed = [score for score in own if score.kind == "type" and score.accuracy < GOOD]
        worst = sorted(failed, key=lambda score: score.accuracy)
        named = ", ".join(f"'{score.name}' ({score.accuracy:.2f})" for score in worst[:MOST_NAMED])
        kept = "" if np.isnan(held) else f"positives {held:.2f}, "
        said.append(f"{label} ({kept}far negatives {far:.2f}, near the boundary {near:.2f}; worst: {named})")
    if not said:
        return None
    return f"On {split}, it separates the clear cases but fails at the boundary of the rule for {'; '.join(said)}."

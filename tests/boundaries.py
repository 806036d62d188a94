"""Where worlds lie in their rules, counted."""

import numpy as np

from assay.base import Codes
from assay.logic import Knowledge


def counts(knowledge: Knowledge, codes: Codes) -> list[int]:
    """Return how many worlds are of each variant and type of each label that occurs, and how many far from all."""
    parts = []
    for boundary in knowledge.boundaries:
        named = boundary.in_variants(codes), boundary.in_types(codes)
        parts += named if boundary.explicit else [boundary.flips(codes)]
    inside = np.concatenate(parts, axis=1)
    found = [*inside.sum(axis=0).tolist(), int((~inside.any(axis=1)).sum())]
    return [count for count in found if count]


def in_turn(knowledge: Knowledge, codes: Codes) -> bool:
    """Return whether every variant and type has its share, as where they are drawn in turn; worlds can be of several."""
    found = counts(knowledge, codes)
    return min(found) >= len(codes) // len(found)

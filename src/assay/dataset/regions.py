"""How many examples of each split lie in each variant and near-boundary type of each label's rule, or far from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from assay.contracts import Manifest, SplitRecord
from assay.logic import Boundary, Knowledge

Kind = Literal["holds", "just misses", "changes", "far"]
MOST = 30
"""How many rows of a label are shown."""


@dataclass(frozen=True)
class RegionRow:
    """A variant, a near-boundary type, the worlds whose label one concept changes, or those that are far.

    `counts` has a number for each split.
    """

    label: str
    kind: Kind
    name: str
    counts: tuple[int, ...]


def region_rows(manifest: Manifest) -> dict[str, list[RegionRow]]:
    """Return the rows of each label, in the order of its rule; only those of which some split has an example."""
    knowledge = Knowledge.from_dict(manifest.knowledge)
    if not knowledge.has_rule:
        return {}
    pairs = zip(knowledge.label_names, knowledge.boundaries, strict=True)
    return {label: _rows(label, boundary, manifest.splits) for label, boundary in pairs}


def _rows(label: str, boundary: Boundary, splits: list[SplitRecord]) -> list[RegionRow]:
    regions: list[tuple[Kind, str]] = [("holds", region.name) for region in boundary.variants]
    regions += [("just misses", region.name) for region in boundary.types]
    if not boundary.explicit:
        regions += [("changes", f"change {name}") for name in boundary.space.names]
    regions.append(("far", "far"))
    counted = [split.boundary.get(label, {}) for split in splits]  # older datasets have no counts
    rows = [RegionRow(label, kind, name, tuple(by_name.get(name, 0) for by_name in counted)) for kind, name in regions]
    return [row for row in rows if any(row.counts)]


def cells(rows: list[RegionRow], shown: Callable[[str], str] = str) -> list[list[str]]:
    """Return rows as texts, kind first; of many the first, and how many more there are."""
    named = ["all others" if row.kind == "far" else shown(row.name) for row in rows]
    texts = [[row.kind, name, *map(str, row.counts)] for row, name in zip(rows, named, strict=True)][:MOST]
    if len(rows) > MOST:
        texts.append(["", f"and {len(rows) - MOST} more, in manifest.json", *("" for _ in rows[0].counts)])
    return texts

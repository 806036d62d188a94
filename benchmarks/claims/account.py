"""The second law: the first word accounts for at least half of the wrong labels, where a cause is named."""

import numpy as np

from assay.base import Array
from assay.diagnosis import Finding
from benchmarks.claims.on_label_findings import region_of
from benchmarks.claims.on_labels import causes_of
from benchmarks.claims.patterns import ALSO, listed
from benchmarks.claims.regions import inside
from benchmarks.claims.rows import Rows, among, wilson
from benchmarks.claims.told import Place, Told

NO_CAUSE = frozenset({"opaque", "unidentified", "too few", "sound", "no rule", "leaking"})
"""Words that name no cause of wrong labels."""
NO_CLAIM = frozenset(
    {("annotations", "concepts"), ("underfit", "mixed"), ("underfit", "unexplained"), ("noisy", "any")}
)
OTHER_CAUSES = {
    "noisy": ("unsure",), "shortcut": ("unsure",), "wrong rule": ("unsure",),
    "memorised": ("table", "perception", "unsure"),
}  # fmt: skip
"""The causes of wrong labels that a word does not blame."""
EVERYWHERE = frozenset({"annotations", "missed region", "memorised", "wrong rule", "noisy", "shortcut", "underfit"})
"""Words of a fault that is the same on every split, whichever shows it."""
TOLERATED, SURE, LEARNED = 0.05, 3.0, 0.75
"""The share of wrong labels that is tolerated, by how many standard errors it must be exceeded, and from which accuracy
on a label counts as learned."""


def wrong_too_often(told: Told) -> bool:
    """Return whether labels are wrong clearly more often than in 5 %, over the compared splits."""
    wrong, n = sum(int((~rows.right).sum()) for rows in told.compared.values()), sum(map(len, told.compared.values()))
    return wilson(wrong, n, SURE)[0] > TOLERATED


def names_cause(finding: Finding) -> bool:
    """Return whether a finding names a cause of wrong labels."""
    return finding.kind not in NO_CAUSE and (finding.kind, finding.claim) not in NO_CLAIM


def accounted(told: Told) -> tuple[int, int] | None:
    """Return how many wrong labels the first word accounts for, of how many; None where the law asks nothing."""
    first = told.diagnosis.findings[0]
    if not names_cause(first) or not wrong_too_often(told):
        return None
    return accounted_by(told, first)


def accounted_by(told: Told, finding: Finding, sparing: bool = False) -> tuple[int, int]:
    """Return how many wrong labels a finding accounts for, of how many.

    It is granted labels that have another cause too, such as uncertain concepts, unless it is `sparing`.
    """
    hits = total = 0
    for name, rows in told.compared.items():
        wrong = rows.wrong & rows.known[:, None]  # of the others it cannot be known why
        own = cells_of(told, finding, name, rows) & wrong
        if sparing and told.knowledge.has_rule:
            own &= ~_of_another_cause(finding, rows)
        hits, total = hits + int(own.sum()), total + int(wrong.sum())
    return hits, total


def _of_another_cause(finding: Finding, rows: Rows) -> Array:
    """Return which labels are wrong for a cause that a finding does not blame."""
    causes, others = causes_of(rows), OTHER_CAUSES.get(finding.kind, ())
    return np.any([np.zeros_like(rows.wrong), *(causes[name] for name in others)], axis=0)


def on_splits(told: Told, finding: Finding) -> list[str]:
    """Return the splits that a finding speaks of."""
    names = finding.split.split(", ")
    also = ALSO.match(finding.text)
    return [*names, *(listed(also[2]) if also else [])]


def cells_of(told: Told, finding: Finding, name: str, rows: Rows) -> Array:
    """Return which labels of a split a finding is about, wrong or not."""
    cells = np.zeros_like(rows.wrong)
    if name not in on_splits(told, finding) and finding.kind not in EVERYWHERE:
        return cells
    labels = () if finding.kind == "annotations" else finding.labels
    named = [place for label in labels if (place := told.label(label)) is not None] or range(cells.shape[1])
    cells[:, list(named)] = rows_of(told, finding, rows)[:, list(named)]
    return cells


def rows_of(told: Told, finding: Finding, rows: Rows) -> Array:
    """Return which labels have what a finding blames."""
    everywhere, causes = np.ones_like(rows.wrong), causes_of(rows)
    columns = [told.knowledge.space.place(name) for name in finding.concepts]
    if finding.kind in ("noisy", "shortcut"):
        cells = causes["perception"] | causes["both"] | causes["unsure"] if told.knowledge.has_rule else everywhere
        return cells & rows.misread_of(columns)[:, None] | causes["unsure"] if columns else cells
    if finding.claim == "region" or finding.kind == "missed region":
        where = region_of(Place(told, finding, rows.evidence.split, finding.text))
        return everywhere & inside(where, told.knowledge.space, rows.true)[:, None]
    if finding.claim == "uncertain":
        return causes["unsure"]
    if finding.kind == "underfit":
        usual = [np.bincount(own[own >= 0]).max(initial=0) / max(1, len(own)) for own in rows.labels.T]
        return everywhere & (rows.wrong.mean(axis=0) >= np.minimum(1 - LEARNED, 1 - np.array(usual)) - 1e-9)
    if finding.kind == "wrong rule":
        return (causes["rule"] | causes["unsure"]) & rows.read[:, None]
    if finding.kind == "inconsistent":
        return (causes["rule"] | causes["both"]) & (rows.misread & ~rows.follows(True))[:, None]
    if finding.kind == "annotations":
        return everywhere & rows.known[:, None] & (rows.answers == rows.by_table)
    if finding.claim == "part":
        where = region_of(Place(told, finding, rows.evidence.split, finding.text))
        within = inside(where, told.knowledge.space, rows.true)
        return everywhere & (within & ~among(rows.true, told.training))[:, None]
    if finding.kind == "memorised":
        return everywhere & ~among(rows.true, told.training)[:, None]
    if finding.kind == "boundary" and finding.claim == "near":
        return rows.near
    return everywhere  # a split, or labels that are not learned

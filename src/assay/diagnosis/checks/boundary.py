"""Labels are right far from the boundary of the rule and wrong more often near it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import join_first
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, register
from assay.diagnosis.thresholds import Rivals, Section, Verdict, threshold
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import rises
from assay.metrics import at_most, wilson

MOST_TYPES = 3


@dataclass(frozen=True)
class NearBoundary(Section):
    """When labels are wrong near the boundary."""

    section: ClassVar[str] = "boundary"
    drop: float = threshold(0.1, "by how much more often labels are wrong near the boundary", "built zoo")
    near: float = threshold(0.9, "accuracy near the boundary that is clearly missed", "built zoo")


def _by_region(case: Case, mine: Found, _: Found) -> bool:
    if mine.claim != "near":
        return False
    told = case.explanations
    return told.told and told.beats("region", ["boundary"], case.settings(Rivals).margin)


def _by_concepts(case: Case, mine: Found, theirs: Found) -> bool:
    """Whether misread concepts account for most of what is wrong near the boundary."""
    if mine.claim != "near" or mine.split not in theirs.rows:
        return False
    cells, explained = mine.rows[mine.split], theirs.rows[mine.split]
    return 2 * int((cells & explained).sum()) >= int(cells.sum()) > 0


def _by_uncertainty(case: Case, mine: Found, theirs: Found) -> bool:
    return theirs.claim == "uncertain" and _by_concepts(case, mine, theirs)


@register
class BoundaryCheck(Check):
    """Wrong labels near the boundary."""

    name = "boundary"
    summary = "Labels are right far from the boundary of the rule and wrong more often near it."
    tone = "weak"
    severity = 50
    measure = "near_accuracy"
    null = "labels are wrong near the boundary as often as far from it; pairs that differ in one concept are right"
    statistic = (
        "wrong labels near the boundary against far from it, hypergeometric; sensitivity and invariance of pairs"
    )
    settings = NearBoundary
    needs_rule = True
    why = "labels wrong near the boundary"
    rivals = (
        Rival("wrong rule", _by_region, "a region of the concepts explains the wrong labels better"),
        Rival("missed region", _by_region, "a region of the concepts explains the wrong labels better"),
        Rival("noisy", _by_concepts, "misread concepts explain the wrong labels"),
        Rival("shortcut", _by_concepts, "misread concepts explain the wrong labels"),
        Rival("underfit", _by_uncertainty, "uncertain concepts explain the wrong labels"),
    )
    claims: ClassVar = {
        "near": Claim(
            "Labels are right far from the boundary of the rule and wrong more often near it.",
            "On {split}, {label} is right in {near_right/near} examples {where} one change of a concept alters it, and "
            "in {far_right/far} {where} no such change does{worst}.",
            "Train with more examples near the boundary: `assay make` draws a split `hard` of them.",
        ),
        "follows": Claim(
            "Labels do not change where the change of one concept should change them.",
            "On pairs of worlds that differ in one concept, the label changes in {follows%} of those where it "
            "should (sensitivity, at most {high%}).",
            "Train with counterfactual pairs, or look at which concepts are ignored: `assay diagnose RUN --full`.",
        ),
        "stays": Claim(
            "Labels change where the change of one concept should not change them.",
            "On pairs of worlds that differ in one concept, the label stays in {stays%} of those where it should "
            "(invariance, at most {high%}).",
            "Look at which concepts move labels: `assay diagnose RUN --full`.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits whose labels are wrong near the boundary, and pairs whose labels do not follow."""
        for view in case.usual.values() if case.ruled else ():
            yield from self._near(case, view)
        if case.effects is not None:
            yield from self._pairs(case)

    def _near(self, case: Case, view: SplitView) -> Iterator[Found]:
        settings, fewest, kept = case.settings(NearBoundary), case.settings(Rivals).fewest, case.settings(Verdict).kept
        found, possible = [], np.asarray(view.evidence.knowledge.can_be(view.evidence.concepts), dtype=bool)
        among = "" if possible[view.evidence.known.all(axis=1)].all() else "whose annotated world is possible, "
        for place, (label, side) in enumerate(zip(view.evidence.knowledge.labels, view.evidence.sides, strict=True)):
            right = ~view.wrong[:, place]
            near, far = side.in_types.any(axis=1) & ~side.in_variants.any(axis=1) & possible, side.far & possible
            if not rises(~right[far], ~right[near], view.level, settings.drop, fewest):
                continue
            hits, total = int(right[near].sum()), int(near.sum())
            if (
                wilson(int(right[far].sum()), int(far.sum()))[0] < kept
                or at_most(hits, total, settings.near) > view.level
            ):
                continue
            worst = _worst_types(side.types, side.in_types, right, view.level)
            numbers: dict[str, Number] = {
                "split": view.name, "label": label.name, "near_right": hits, "near": total,
                "far_right": int(right[far].sum()), "far": int(far.sum()),
                "where": among + ("that keep no variant of the rule and where" if side.variants else "where"),
                "worst": f"; clearly wrong: {join_first(worst, MOST_TYPES)}" if worst else "",
            }  # fmt: skip
            found.append((place, label.name, numbers, near))
        if found:
            cells = np.zeros_like(view.wrong)
            for place, _, _, near in found:
                cells[:, place] = view.wrong[:, place] & near
            names = tuple(name for _, name, _, _ in found)
            yield Found("near", view.name, found[0][2], labels=names, rows={view.name: cells})

    def _pairs(self, case: Case) -> Iterator[Found]:
        effects, least = case.effects, case.settings(Verdict).pairs
        if effects is None:
            return
        for name, part in (("follows", effects.all.follows), ("stays", effects.all.stays)):
            if part.applies and part.high < least:
                numbers: dict[str, Number] = {
                    "split": effects.split, name: part.value, "high": part.high, "pairs": effects.pairs,
                }  # fmt: skip
                yield Found(name, effects.split, numbers, details=(effects.text,))


def _worst_types(names: Sequence[str], inside: np.ndarray, right: np.ndarray, level: float) -> list[str]:
    """Return the near-boundary types that are clearly wrong more often than not, the worst first."""
    types = []
    for name, rows in zip(names, inside.T, strict=True):
        total, hits = int(rows.sum()), int(right[rows].sum())
        if total and at_most(hits, total, 0.5) <= level / len(names):
            types.append((hits / total, f"'{name}' ({hits:,} of {total:,} right)"))
    return [text for _, text in sorted(types)]

"""Labels fall on another split whose worlds are the same: its pictures differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.arrays import Array, distinct_rows
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, overlap, register
from assay.diagnosis.thresholds import Rivals, Section, threshold
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import Difference, difference_within, rises

APART = " (worlds of training and new ones apart)"


@dataclass(frozen=True)
class Shifted(Section):
    """When labels fall from one split to another."""

    section: ClassVar[str] = "shifted"
    fall: float = threshold(
        0.05, "by how much more often labels are wrong at equal worlds", "spike: 40 of 40 at 12 points, 2 of 200 false"
    )
    drop: float = threshold(0.1, "by how much more often they are wrong where worlds cannot be compared", "built zoo")
    shared: float = threshold(0.5, "share of the other split whose worlds the first shows too", "by definition")


def _new(case: Case, views: tuple[SplitView, SplitView], rows: list[Array]) -> Array:
    """Return which examples show a world that training does not; none, where that is not known."""
    new = [case.new.get(view.name) for view in views]
    known = [mask[own] for mask, own in zip(new, rows, strict=True) if mask is not None]
    return np.concatenate(known) if len(known) == len(rows) else np.zeros(sum(map(len, rows)), dtype=bool)


def _by_other(case: Case, mine: Found, theirs: Found) -> bool:
    if theirs.concepts and set(theirs.concepts) <= {c.concept for c in case.first.concepts if c.state == "right"}:
        return False  # right on the first split: what spoils them on the other is what is asked
    return mine.claim == "splits" and overlap(mine, theirs) >= case.settings(Rivals).half


@register
class ShiftedCheck(Check):
    """Other pictures of equal worlds."""

    name = "shifted"
    summary = "Labels are wrong more often on another split, whose pictures differ and not its worlds."
    tone = "bad"
    severity = 78
    measure = "label_accuracy"
    null = "on equal worlds, labels are wrong as often on the other split as on the first"
    statistic = "difference of the shares of wrong labels within equal worlds or cells; permutation test"
    settings = Shifted
    refines = ("opaque", "boundary")
    why = "labels wrong in {wrong} of {examples} examples of {split}"
    rivals = tuple(
        Rival(kind, _by_other, "it explains the fall, and worlds cannot be compared")
        for kind in ("memorised", "missed region", "noisy", "shortcut", "wrong rule", "annotations", "spurious")
    )
    claims: ClassVar = {
        "worlds": Claim(
            "Labels are wrong more often on another split that shows the same worlds: its pictures differ.",
            "On {split}, labels are wrong in {wrong/examples} examples whose worlds {first} shows too, {by+} more "
            "than there.",
            "Look for what differs in the pictures: `assay audit DATA` compares nuisances of the splits.",
        ),
        "cells": Claim(
            "Labels are wrong more often on another split at equal values of the used concepts: its pictures differ.",
            "On {split}, labels are wrong in {wrong/examples} examples with values of the used concepts that {first} "
            "shows too{apart}, {by+} more than there.",
            "Look for what differs in the pictures: `assay audit DATA` compares nuisances of the splits.",
        ),
        "splits": Claim(
            "Labels are wrong more often on another split; whether its worlds or its pictures are why cannot be told.",
            "On {split}, labels are wrong in {wrong/examples} examples, {by+} more than on {first}; {shared%} of its "
            "examples have worlds that {first} shows too.",
            "Draw {split} again with worlds of {first}: only this tells other pictures from new worlds.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which labels fall at equal worlds, or at least fall."""
        views = list(case.compared.values())
        for other in views[1:]:
            found = self._found(case, views[0], other)
            if found is not None:
                yield found

    def _found(self, case: Case, first: SplitView, other: SplitView) -> Found | None:
        settings, fewest = case.settings(Shifted), case.settings(Rivals).fewest
        rows = [np.flatnonzero(view.known) for view in (first, other)]
        if min(map(len, rows)) < fewest:
            return None
        codes = np.concatenate([view.evidence.concepts[own] for view, own in zip((first, other), rows, strict=True)])
        wrong = np.concatenate([~view.right[own] for view, own in zip((first, other), rows, strict=True)])
        side = np.arange(len(wrong)) >= len(rows[0])
        whole = bool((codes >= 0).all())
        shared = 0.0
        for claim, columns in (("worlds", list(range(codes.shape[1]))), ("cells", first.columns)):
            if claim == "worlds" and not whole:
                continue
            new = _new(case, (first, other), rows)
            cells = distinct_rows(codes[:, columns]).which * 2 + new  # a fall on new worlds says nothing of pictures
            found = difference_within(wrong, side, cells, np.arange(len(wrong)), settings.fall)
            shared = max(shared, found.share) if claim == "worlds" else shared
            if found.rows < 2 * fewest or found.share < settings.shared:
                continue
            if found.by < settings.fall or found.chance > other.level:
                return None
            inside = np.isin(cells, cells[~side]) & side
            apart = APART if claim == "cells" and 0 < new.sum() < len(new) else ""
            return self._told(claim, first, other, wrong[inside], found, shared, apart)
        if rises(wrong[~side], wrong[side], other.level, settings.drop, fewest):
            by = Difference(float(wrong[side].mean() - wrong[~side].mean()), 0.0, int(side.sum()), shared)
            return self._told("splits", first, other, wrong[side], by, shared)
        return None

    def _told(
        self,
        claim: str,
        first: SplitView,
        other: SplitView,
        wrong: np.ndarray,
        found: Difference,
        shared: float,
        apart: str = "",
    ) -> Found:
        numbers: dict[str, Number] = {
            "split": other.name, "first": first.name, "wrong": int(wrong.sum()), "examples": len(wrong), "by": found.by,
            "shared": shared, "apart": apart,
        }  # fmt: skip
        return Found(claim, other.name, numbers, rows={other.name: other.wrong})

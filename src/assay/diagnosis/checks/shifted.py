"""Labels fall on another split whose worlds are the same: its pictures differ."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import Array, distinct_rows
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, overlap, register
from assay.diagnosis.thresholds import Rivals, Section, threshold
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import difference_within, rises

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


def _shared(first: SplitView, other: SplitView) -> float:
    """Return the share of a split's worlds that the first split shows too, where all concepts are known."""
    codes = [view.evidence.concepts[view.evidence.known.all(axis=1)] for view in (first, other)]
    worlds = distinct_rows(np.concatenate(codes)).which
    known = np.isin(worlds[len(codes[0]) :], worlds[: len(codes[0])])
    return float(known.mean()) if len(known) else 0.0


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
            "examples{whole} have worlds that {first} shows too.",
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
        side, new = np.arange(len(wrong)) >= len(rows[0]), _new(case, (first, other), rows)
        whole = all(view.evidence.known.all() for view in (first, other))
        told: dict[str, Number] = {
            "split": other.name, "first": first.name, "shared": _shared(first, other),
            "whole": "" if whole else " whose concepts are all known",
        }  # fmt: skip
        for claim, columns in (("worlds", list(range(codes.shape[1]))), ("cells", first.columns)):
            if claim == "worlds" and not whole:
                continue
            cells = distinct_rows(codes[:, columns]).which * 2 + new  # a fall on new worlds says nothing of pictures
            found = difference_within(wrong, side, cells, np.arange(len(wrong)), settings.fall)
            if found.rows < 2 * fewest or found.share < settings.shared:
                continue
            if found.by < settings.fall or found.chance > other.level:
                return None
            inside = np.isin(cells, cells[~side]) & side
            told["apart"] = APART if claim == "cells" and 0 < new.sum() < len(new) else ""
            return _told(claim, other, wrong[inside], found.by, told)
        if rises(wrong[~side], wrong[side], other.level, settings.drop, fewest):
            return _told("splits", other, wrong[side], float(wrong[side].mean() - wrong[~side].mean()), told)
        return None


def _told(claim: str, other: SplitView, wrong: Array, by: float, told: Mapping[str, Number]) -> Found:
    numbers = {**told, "wrong": int(wrong.sum()), "examples": len(wrong), "by": by}
    return Found(claim, other.name, numbers, rows={other.name: other.wrong})

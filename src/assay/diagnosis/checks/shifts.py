"""Labels that are right on what training shows, and wrong more often elsewhere at equal concepts.

Elsewhere is on new worlds (`memorised`), on another split whose pictures differ (`shifted`), or where a nuisance
does not go with the label as in training (`spurious`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import Array, distinct_rows
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, overlap, register
from assay.diagnosis.checks.regions import region_of
from assay.diagnosis.explanations import Explanations
from assay.diagnosis.thresholds import Rivals, Section, Spurious, Verdict, threshold
from assay.diagnosis.views import SplitView
from assay.diagnosis.within import difference_within, in_common, rises
from assay.metrics import wilson

MORE_WORLDS = (
    "Train on more different worlds; more pictures of the same ones do not help: `assay make` with more examples."
)
APART = " (worlds of training and new ones apart)"


@dataclass(frozen=True)
class Memorised(Section):
    """When new worlds are wrong more often than those of training."""

    section: ClassVar[str] = "memorised"
    drop: float = threshold(0.1, "by how much more often labels are wrong on new worlds", "built zoo")
    examples: int = threshold(
        20, "examples of new worlds, and of training worlds, that a comparison needs", "built zoo", 2, 10_000
    )
    worlds: int = threshold(
        2, "new worlds, and training worlds, that a comparison needs", "small tasks have few", 1, 10_000
    )


def _by_pictures(case: Case, mine: Found, theirs: Found) -> bool:
    """Whether the split explains the same wrong labels better than new worlds do."""
    settings, told = case.settings(Rivals), case.explanations_of_all
    return overlap(mine, theirs) >= settings.half and told.told and told.beats("split", ["new world"], settings.margin)


@register
class MemorisedCheck(Check):
    """Memorised worlds."""

    name = "memorised"
    summary = "The model is right on worlds of the training set, and wrong more often on new ones."
    tone = "bad"
    severity = 80
    measure = "label_accuracy"
    null = "within equal cells of the used concepts, new worlds are wrong as often as those of training"
    statistic = "difference of the shares of wrong labels within cells, worlds exchanged as wholes; permutation test"
    settings = Memorised
    refines = ("opaque", "underfit", "wrong rule", "boundary", "shifted")
    rivals = (Rival("shifted", _by_pictures, "the other split explains the wrong labels better than new worlds"),)
    why = "labels right in {seen_right} of {seen} examples of training worlds, in {new_right} of {new} of new ones"
    claims: ClassVar = {
        "cells": Claim(
            "The model is right on worlds of the training set, and wrong more often on new ones with the same used "
            "concepts.",
            "Labels are right in {seen_right/seen} examples whose world training shows, and in {new_right/new} of "
            "{worlds} other worlds; among examples with equal values of the concepts that the rule uses{split_too}, "
            "the share of wrong labels is {by+} higher on the new ones.",
            "{next}",
        ),
        "regions": Claim(
            "The model is right on worlds of the training set, and wrong more often on new ones in the same region of "
            "the rule.",
            "Labels are right in {seen_right/seen} examples whose world training shows, and in {new_right/new} of "
            "{worlds} other worlds; in equal regions of the rule{split_too}, the share of wrong labels is {by+} "
            "higher on the new ones.",
            "{next}",
        ),
        "part": Claim(
            "The model is right on worlds of the training set, and wrong more often on new ones in a region of the "
            "concepts.",
            "Labels are wrong where {where}, on worlds that training does not show: in {inside/size} examples of "
            "{worlds} such worlds; on worlds of training there, {old_right/old} are right, and elsewhere "
            "{right/outside}.",
            "Train on more different worlds where {where}.",
        ),
        "worlds": Claim(
            "The model is right on worlds of the training set, and wrong more often on new ones.",
            "Labels are right in {seen_right/seen} examples whose world training shows, and in {new_right/new} of "
            "{worlds} other worlds; {apart%} of these examples have used concepts that no world of training has, so "
            "that a missed region would look the same.",
            "Train on some of the new worlds: only this tells memorised worlds from a missed region.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield the difference between worlds of training and new ones, if it is one of memory.

        The label head's errors are compared first, then all wrong labels, where concepts are right on old worlds.
        """
        found = self._of(case, case.explanations)
        if found is None and _reads_old_worlds(case, case.settings(Memorised).drop):
            found = self._of(case, case.explanations_of_all)
        if found is None:
            found = self._part(case)
        if found is not None:
            yield found

    def _part(self, case: Case) -> Found | None:
        """Return a region in which only worlds that training does not show are wrong."""
        region, told = region_of(case), case.explanations
        if region is None or told.new is None or not region.of_new_worlds:
            return None
        inside, old = told.named & told.new, told.named & ~told.new
        counts = {
            "inside": inside & ~told.right, "size": inside, "old_right": old & told.right, "old": old,
            "right": told.right & ~told.named, "outside": ~told.named, "seen": ~told.new,
            "seen_right": told.right & ~told.new, "new": told.new, "new_right": told.right & told.new,
        }  # fmt: skip
        numbers: dict[str, Number] = {name: int(rows.sum()) for name, rows in counts.items()}
        words: dict[str, Number] = {"where": region.where, "worlds": len(np.unique(told.worlds[inside]))}
        return Found("part", ", ".join(told.names), numbers | words, rows=told.cells_of(inside & told.wrong))

    def _of(self, case: Case, told: Explanations) -> Found | None:
        settings = case.settings(Memorised)
        if told.new is None or not told.told:
            return None
        new, old = told.new, ~told.new
        counts = [len(np.unique(told.worlds[side])) for side in (new, old)]
        if min(counts) < settings.worlds or min(int(new.sum()), int(old.sum())) < settings.examples:
            return None
        seen_right = int(told.right[old].sum())
        if wilson(seen_right, int(old.sum()))[0] < case.settings(Verdict).kept:
            return None
        claim, cells, within_split = _cells_for(case, told)
        if cells is None:
            return None
        difference = difference_within(told.wrong, new, cells, told.worlds, settings.drop)
        if difference.by < settings.drop or difference.chance > case.level:
            return None
        every = difference_within(~told.right, new, cells, told.worlds, 1.0)  # as it is said: all wrong labels count
        numbers: dict[str, Number] = {
            "seen": int(old.sum()), "seen_right": seen_right, "new": int(new.sum()),
            "new_right": int(told.right[new].sum()), "worlds": counts[0], "by": every.by,
            "split_too": " and on one split" if within_split else "", "next": MORE_WORLDS,
            "apart": _unlike_training(case, told, new),
        }  # fmt: skip
        return Found(claim, ", ".join(told.names), numbers, rows=told.cells_of(new & told.wrong))


def _unlike_training(case: Case, told: Explanations, new: Array) -> float:
    """Return the share of examples of new worlds whose used concepts no world of training has."""
    columns = told.views[0].columns
    shown = np.concatenate([view.evidence.concepts[own] for view, own in zip(told.views, told.rows, strict=True)])[new]
    training = case.training if case.training is not None else shown[:0]
    cells = distinct_rows(np.concatenate([shown, training])[:, columns]).which
    return float(1 - np.isin(cells[: len(shown)], cells[len(shown) :]).mean())


def _reads_old_worlds(case: Case, drop: float) -> bool:
    """Return whether concepts are predicted, and hardly misread on worlds of training."""
    old = [(view, ~new) for name, view in case.compared.items() if (new := case.new.get(name)) is not None]
    misread = sum(int((view.misread & rows).sum()) for view, rows in old)
    spoken = sum(int((view.complete & rows).sum()) for view, rows in old)
    return spoken > 0 and misread <= drop * spoken


def _cells_for(case: Case, told: Explanations) -> tuple[str, Array | None, bool]:
    """Return the claim that can be tested and the cells to compare within: equal used concepts, regions, or none.

    Splits differ in more than their worlds; where most new worlds allow it, cells are of one split.
    """
    margin, fewest, half = (getattr(case.settings(Rivals), name) for name in ("margin", "fewest", "half"))
    new = np.zeros(0, dtype=bool) if told.new is None else told.new
    regions = told.leaf * (int(told.nearby.max()) + 1) + told.nearby
    parts = int(told.split.max()) + 1
    for claim, cells in (("cells", told.cells), ("regions", regions)):
        for chosen, within_split in [(cells * parts + told.split, True)] * (parts > 1) + [(cells, False)]:
            rows = in_common(new, chosen) & new
            if rows.sum() < fewest or (within_split and rows.sum() < half * new.sum()):
                continue
            if claim == "regions" and told.fit["new world"] + margin < max(told.fit["region"], told.fit["boundary"]):
                return claim, None, within_split
            return claim, chosen, within_split
    best = max(told.fit["chance"], told.fit["boundary"])
    if told.fit["new world"] < best + margin or told.fit["new world"] < told.fit["region"] - margin:
        return "worlds", None, False
    return "worlds", np.zeros(len(told.wrong), dtype=np.int64), False


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


@register
class SpuriousCheck(Check):
    """Labels that follow a nuisance."""

    name = "spurious"
    summary = "A spurious shortcut: labels follow a nuisance that goes with them in training, not the concepts."
    tone = "bad"
    severity = 100
    measure = "label_accuracy"
    null = "labels are right as often where a nuisance does not go with the label as where it does"
    statistic = "right labels with the nuisance as in training and otherwise, hypergeometric"
    settings = Spurious
    refines = (
        "opaque",
        "underfit",
        "shifted",
        "noisy",
        "shortcut",
        "memorised",
        "wrong rule",
        "boundary",
        "inconsistent",
    )
    why = "{what} {nuisances}: right in {usual%} as in training, in {unusual%} otherwise"
    claims: ClassVar = {
        "labels": Claim(
            "A spurious shortcut: labels follow a nuisance that goes with them in training, not the concepts.",
            "On {split}, {what} {nuisance}: right in {usual_right/usual_of} examples where it goes with the label as "
            "in training, and in {unusual_right/unusual_of} where not.",
            "Make the nuisance vary apart from the label in training: `assay confound` draws such data.",
        ),
        "concepts": Claim(
            "A spurious shortcut: a concept follows a nuisance that goes with the label in training.",
            "On {split}, {what} {nuisance}: right in {usual_right/usual_of} examples where it goes with the label as "
            "in training, and in {unusual_right/unusual_of} where not.",
            "Make the nuisance vary apart from the label in training: `assay confound` draws such data.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield the nuisances that labels, or concepts, follow."""
        relied = [row for row in case.reliance if row.relied_on]
        if not relied:
            return
        first = relied[0]
        by_labels = first.labels.falls
        rights = first.labels if by_labels else next(iter(first.concepts.values()))
        usual, unusual = rights.shares
        numbers: dict[str, Number] = {
            "nuisances": ", ".join(row.name for row in relied), "pairs": first.pairs, "moved": first.moved,
            "usual": usual, "unusual": unusual, "split": first.split,
            "usual_right": rights.usual, "usual_of": rights.usual_of, "unusual_right": rights.unusual,
            "unusual_of": rights.unusual_of, "nuisance": first.name,
            "what": "labels follow" if by_labels else f"{next(iter(first.concepts))} follows",
        }  # fmt: skip
        concepts = tuple(dict.fromkeys(name for row in relied for name in row.concepts))
        details = tuple(row.text for row in relied)
        yield Found("labels" if by_labels else "concepts", first.split, numbers, concepts, details=details)

"""Labels that are wrong in a region of the concepts, or wherever every concept that the rule uses is right.

In the first case the model misses a region; in the second its label head has another rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import distinct_rows, join_first, join_words
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, overlap, register
from assay.diagnosis.explanations import Explanations
from assay.diagnosis.thresholds import Concepts, Rivals, Section, Verdict, threshold
from assay.diagnosis.views import SplitView
from assay.metrics import at_least, at_most, wilson


@dataclass(frozen=True)
class MissedRegion(Section):
    """When wrong labels are a region's."""

    section: ClassVar[str] = "missed region"
    inside: float = threshold(
        1 / 3, "share of labels that are surely wrong in the region", "0 of 200 random error patterns"
    )
    holds: float = threshold(0.5, "share of the wrong labels that the region holds", "by definition")
    examples: int = threshold(10, "examples in the region", "0 of 200 random error patterns", 2, 10_000)
    shown: int = threshold(
        10,
        "training examples in the region below which training hardly shows it",
        "as many as a region needs",
        1,
        10_000,
    )


@dataclass(frozen=True)
class RegionOfErrors:
    """A region that explains the open wrong labels better than the boundary, the split and chance do."""

    case: Case
    where: str
    trained: int | None
    """How many different worlds of training lie in it."""
    shown: int
    """How many training examples lie in it."""
    spoken: bool
    """Whether the used concepts are right at most of its wrong labels."""
    of_new_worlds: bool = False
    """Whether worlds of training are right there, so that only new ones are missed."""

    @property
    def split(self) -> str:
        """The split with most of its wrong labels."""
        told = self.case.explanations
        cells = told.cells_of(told.named & told.wrong)
        return max(told.names, key=lambda name: int(cells[name].sum()))

    def as_found(self, claim: str) -> Found:
        """Return what was found, for a check."""
        told = self.case.explanations
        named, held = told.named, told.inside
        counts: dict[str, Number] = {
            "inside": int((~told.right[named]).sum()), "size": int(named.sum()), "right": int(told.right[~named].sum()),
            "outside": int((~named).sum()), "held": float(told.wrong[held].mean()),
        }  # fmt: skip
        known: dict[str, Number] = {} if self.trained is None else {"trained": self.trained, "shown": self.shown}
        rows = told.cells_of(named & told.wrong)
        labels = tuple(
            label.label
            for place, label in enumerate(told.views[0].labels)
            if any(mask[:, place].any() for mask in rows.values())
        )
        split = self.split
        return Found(claim, split, {"split": split, "where": self.where, **counts, **known}, labels=labels, rows=rows)


def region_of(case: Case) -> RegionOfErrors | None:
    """Return the region of the wrong labels, if there is one."""
    told, settings = case.explanations, case.settings(MissedRegion)
    if not told.told or not told.beats("region", ["chance", "boundary", "split"], case.settings(Rivals).margin):
        return None
    held = int(told.inside.sum()), int(told.wrong[told.inside].sum())
    if held[0] < settings.examples or wilson(held[1], held[0])[0] < settings.inside:
        return None
    named, total = told.named, int(told.wrong.sum())
    if min(held[1], int(told.wrong[named].sum())) < settings.holds * total:
        return None
    right, outside = int(told.right[~named].sum()), int((~named).sum())
    if wilson(right, outside)[0] < case.settings(Verdict).kept:
        return None
    where = join_words([region.where for region in told.regions], "or where")
    cells = told.cells_of(named & told.wrong)
    views = zip(told.names, told.views, strict=True)
    spoken = sum(
        int(view.in_rows(cells[name] & view.causes["rule"], view.concepts_right).sum()) for name, view in views
    )
    spoken_of = 2 * spoken > sum(int(mask.sum()) for mask in cells.values())
    return RegionOfErrors(case, where, *_trained(case, told), spoken_of, _only_new(case, told, settings))


def _only_new(case: Case, told: Explanations, settings: MissedRegion) -> bool:
    """Return whether labels of worlds of training are clearly not often wrong in the named regions."""
    if told.new is None:
        return False
    old = told.named & ~told.new
    wrong, total = int(told.wrong[old].sum()), int(old.sum())
    return total >= settings.examples and at_most(wrong, total, settings.inside) <= case.level


def _trained(case: Case, told: Explanations) -> tuple[int | None, int]:
    """Return how many worlds and examples of training lie in the named regions; None where training is not known."""
    if case.training is None or not len(case.training):
        return None, 0
    shown = case.training[np.any([region.holds(case.training) for region in told.regions], axis=0)]
    return len(distinct_rows(shown).first), len(shown)


def _by_wrong_rule(case: Case, mine: Found, theirs: Found) -> bool:
    return True  # a wrong rule is a missed region whose concepts are right


def _by_incomplete(case: Case, mine: Found, theirs: Found) -> bool:
    return overlap(mine, theirs) >= case.settings(Rivals).half


@register
class MissedRegionCheck(Check):
    """A region that the model misses."""

    name = "missed region"
    summary = "Labels are wrong in a region of the concepts that the rule uses, and right elsewhere."
    tone = "bad"
    severity = 76
    measure = "label_accuracy"
    null = "wrong labels are spread as chance, the boundary or the split spread them"
    statistic = "log-likelihood of wrong labels on held-out worlds by a tree of depth 4 over the used concepts, in nats"
    settings = MissedRegion
    refines = ("underfit", "opaque", "boundary")
    why = "wrong where {where}: {inside} of {size}"
    rivals = (
        Rival("wrong rule", _by_wrong_rule, "the concepts are right there, so that the label head errs"),
        Rival("incomplete", _by_incomplete, "the concepts do not determine the labels there"),
    )
    claims: ClassVar = {
        "trained": Claim(
            "Labels are wrong in a region of the concepts, and right elsewhere, though training shows that region.",
            "Labels are wrong where {where}: in {inside/size} ({held%} on worlds not used to find it; training shows "
            "{trained} worlds there), while elsewhere {right/outside} are right.",
            "Look at the training labels where {where}: `assay view DATA`; then train with more, or with corrected "
            "ones.",
        ),
        "hardly trained": Claim(
            "Labels are wrong in a region of the concepts that training hardly shows, and right elsewhere.",
            "Labels are wrong where {where}: in {inside/size} ({held%} on worlds not used to find it; training shows "
            "{shown} examples there), while elsewhere {right/outside} are right.",
            "Add training examples where {where}; only these tell a missed region from memorised worlds.",
        ),
        "untrained": Claim(
            "Labels are wrong in a region of the concepts that training does not show, and right elsewhere.",
            "Labels are wrong where {where}: in {inside/size} ({held%} on worlds not used to find it; training shows "
            "no world there, so that memorised worlds would look the same), while elsewhere {right/outside} are right.",
            "Add training examples where {where}; only these tell a missed region from memorised worlds.",
        ),
        "unknown": Claim(
            "Labels are wrong in a region of the concepts, and right elsewhere.",
            "Labels are wrong where {where}: in {inside/size} ({held%} on worlds not used to find it), while elsewhere "
            "{right/outside} are right.",
            "Look at the training examples where {where}: `assay view DATA`.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield the region, where the model does not predict the concepts that would blame its label head."""
        region = region_of(case)
        if region is None or region.spoken or region.of_new_worlds:
            return
        if region.trained is None:
            yield region.as_found("unknown")
        elif not region.trained:
            yield region.as_found("untrained")
        else:
            few = region.shown < case.settings(MissedRegion).shown
            yield region.as_found("hardly trained" if few else "trained")


@dataclass(frozen=True)
class WrongRule(Section):
    """When wrong labels are the rule's."""

    section: ClassVar[str] = "wrong rule"
    share: float = threshold(0.8, "share of a wrong label's errors that must come with right concepts", "built zoo")


@register
class WrongRuleCheck(Check):
    """Another rule than the true one."""

    name = "wrong rule"
    summary = "Labels are wrong where every concept that the rule uses is right."
    tone = "bad"
    severity = 74
    measure = "label_accuracy"
    null = "where concepts are right, a label is wrong in at most 5 %, and each of its values in at most 12 %"
    statistic = "wrong labels among examples whose concepts are right, by label and by value; exact binomial test"
    settings = WrongRule
    needs_rule = True
    why = "wrong labels in {wrong} of {examples} examples whose concepts are right"
    claims: ClassVar = {
        "labels": Claim(
            "Labels are wrong where every concept that the rule uses is right.",
            "On {split}, in {examples} examples every concept that the rule uses is right and sure enough, and no "
            "annotation contradicts it, yet {named} there.",
            "Give the model the rule as its label head, or let it learn one: `assay train cbm DATA --set head=rule`.",
        ),
        "value": Claim(
            "A label value is often missed where every concept that the rule uses is right.",
            "On {split}, in {examples} examples every concept that the rule uses is right and sure enough, and no "
            "annotation contradicts it, yet {named} there.",
            "Train with more examples of these values, or give the model the rule as its label head.",
        ),
        "region": Claim(
            "Labels are wrong in a region of the concepts, where every concept that the rule uses is right.",
            "Labels are wrong where {where}, though most concepts are right there: in {inside/size} ({held%} on worlds "
            "not used to find it), while elsewhere {right/outside} are right.",
            "Look at training labels where {where}: they are wrong there, or there are none.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which labels are wrong though concepts are right, and a region of such labels."""
        if not case.ruled:
            return
        before = False
        for view in case.usual.values():
            found = self._labels(case, view)
            if found is not None:
                before = True
                yield found
        region = region_of(case)
        if region is not None and region.spoken and not region.of_new_worlds and not before:
            yield region.as_found("region")

    def _labels(self, case: Case, view: SplitView) -> Found | None:
        rows = view.concepts_right & ~view.contradicts & ~view.unsure.any(axis=1)
        total = int(rows.sum())
        if total < case.settings(Rivals).fewest:
            return None
        blamed = view.in_rows(view.causes["rule"], rows)
        shared, own = case.settings(Concepts), case.settings(WrongRule)
        each = view.level / len(view.labels)
        often, values = [], []
        for place, label in enumerate(view.labels):
            count, wrong = int(blamed[:, place].sum()), int(view.wrong[:, place].sum())
            clearly = at_least(count, total, shared.tolerated) <= each
            if clearly or (label.standing == "wrong" and count >= own.share * wrong):
                often.append((place, count))
            elif missed := _missed(view, place, blamed, rows, each, 1 - shared.recall):
                values.append((place, missed))
        if not often and not values:
            return None
        if often:
            texts = [f"{view.labels[place].label} is wrong in {count:,}" for place, count in often]
        else:
            texts = [text for _, missed in values for text in missed]
        places = [place for place, _ in [*often, *values]]
        concerned = np.isin(np.arange(len(view.labels)), places)
        accounted = case.wrong_where(lambda view: view.in_rows(view.causes["rule"] & concerned, view.concepts_right))
        numbers: dict[str, Number] = {
            "split": view.name,
            "examples": total,
            "wrong": int(blamed.any(axis=1).sum()),
            "named": join_first(texts),
        }
        labels = tuple(view.labels[place].label for place in places)
        return Found("labels" if often else "value", view.name, numbers, labels=labels, rows=accounted)


def _missed(view: SplitView, place: int, blamed: np.ndarray, rows: np.ndarray, level: float, share: float) -> list[str]:
    """Return the values of a label that are clearly missed where concepts are right, in words."""
    truth, label, texts = view.truth[:, place], view.evidence.knowledge.labels[place], []
    values = np.unique(truth[rows])
    for value in values.tolist():
        own = rows & (truth == value)
        count, total = int(blamed[own, place].sum()), int(own.sum())
        if at_least(count, total, share) <= level / len(values):
            texts.append(f"{label.name} is wrong in {count:,} of the {total:,} where it is {label.values[value]}")
    return texts

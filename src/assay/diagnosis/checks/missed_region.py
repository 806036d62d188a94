"""Labels are wrong in a region of the concepts that the rule uses, and right elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Rival, register
from assay.diagnosis.explanations import INSIDE, surely_inside
from assay.diagnosis.thresholds import Rivals, Settings, Verdict, threshold
from assay.diagnosis.wording import join_words
from assay.metrics.interval import wilson

MOST_REGIONS = 2


@dataclass(frozen=True)
class MissedRegion(Settings):
    """When wrong labels are a region's."""

    section: ClassVar[str] = "missed region"
    inside: float = threshold(INSIDE, "share of labels that are surely wrong in the region", "0 of 200 random error patterns")
    holds: float = threshold(0.5, "share of the wrong labels that the region holds", "by definition")
    examples: int = threshold(10, "examples in the region", "0 of 200 random error patterns", 2, 10_000)


@dataclass(frozen=True)
class RegionOfErrors:
    """A region that explains the open wrong labels better than the boundary, the split and chance do."""

    case: Case
    where: str
    inside: int
    size: int
    right: int
    outside: int
    trained: int | None
    """How many of its examples show worlds of training."""
    spoken: bool
    """Whether concepts are predicted for most of its wrong labels."""

    def found(self, claim: str) -> Found:
        """Return what was found, for a check."""
        known = {} if self.trained is None else {"trained": self.trained}
        counts = {"inside": self.inside, "size": self.size, "right": self.right, "outside": self.outside}
        told = self.case.explanations
        rows = told.cells_of(told.inside & told.wrong)
        labels = tuple(
            label.label
            for place, label in enumerate(told.views[0].labels)
            if any(mask[:, place].any() for mask in rows.values())
        )
        split = told.names[0]
        return Found(claim, split, {"split": split, "where": self.where, **counts, **known}, labels=labels, rows=rows)


def region_of(case: Case) -> RegionOfErrors | None:
    """Return the region of the wrong labels, if there is one."""
    told, settings = case.explanations, case.settings(MissedRegion)
    if not told.told or not told.beats("region", ["chance", "boundary", "split"], case.settings(Rivals).margin):
        return None
    inside, wrong = told.inside, told.wrong
    count, hits = int(inside.sum()), int(wrong[inside].sum())
    if count < settings.examples or wilson(hits, count)[0] < settings.inside or hits < settings.holds * wrong.sum():
        return None
    right, outside = int(told.right[~inside].sum()), int((~inside).sum())
    if not told.regions or wilson(right, outside)[0] < case.settings(Verdict).kept:
        return None
    where = join_words([region.where for region in told.regions[:MOST_REGIONS]], "or where")
    trained = None if told.new is None else int((inside & ~told.new).sum())
    spoken = sum(int((mask & view.causes["rule"]).sum()) for mask, view in _open(case)) * 2 > sum(
        int(mask.sum()) for mask, _ in _open(case)
    )
    return RegionOfErrors(case, where, hits, count, right, outside, trained, spoken)


def _open(case: Case) -> list[tuple[object, object]]:
    told = case.explanations
    cells = told.cells_of(told.inside & told.wrong)
    return [(cells[name], view) for name, view in zip(told.names, told.views, strict=True)]


def _by_wrong_rule(case: Case, mine: Found, theirs: Found) -> bool:
    return True  # a wrong rule is a missed region whose concepts are right


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
    rivals = (Rival("wrong rule", _by_wrong_rule, "the concepts are right there, so that the label head errs"),)
    claims: ClassVar = {
        "trained": Claim(
            "Labels are wrong in a region of the concepts, and right elsewhere, though training shows that region.",
            "Labels are wrong where {where}: {inside/size} are wrong, on examples not used to find it; elsewhere "
            "{right/outside} of the examples are right. Training shows the worlds of {trained} of these {size} "
            "examples.",
            "Look at the training labels where {where}: `assay view DATA`; train again with more or with corrected ones.",
        ),
        "untrained": Claim(
            "Labels are wrong in a region of the concepts that training does not show, and right elsewhere.",
            "Labels are wrong where {where}: {inside/size} are wrong, on examples not used to find it; elsewhere "
            "{right/outside} of the examples are right. Training shows none of the region's worlds.",
            "Add training examples where {where}; only these tell a missed region from memorised worlds.",
        ),
        "unknown": Claim(
            "Labels are wrong in a region of the concepts, and right elsewhere.",
            "Labels are wrong where {where}: {inside/size} are wrong, on examples not used to find it; elsewhere "
            "{right/outside} of the examples are right.",
            "Look at the training examples where {where}: `assay view DATA`.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield the region, where the model does not predict the concepts that would blame its label head."""
        region = region_of(case)
        if region is None or region.spoken:
            return
        yield region.found("unknown" if region.trained is None else "trained" if region.trained else "untrained")


__all__ = ["MissedRegion", "MissedRegionCheck", "RegionOfErrors", "region_of", "surely_inside"]

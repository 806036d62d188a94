"""Labels follow a nuisance that goes with them in training, not the concepts."""

from collections.abc import Iterator
from typing import ClassVar

from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.thresholds import Spurious


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

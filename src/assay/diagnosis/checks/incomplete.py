"""The concepts do not determine the labels, and the model is about as good as they allow."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.base import distinct_rows, join_words
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, register
from assay.diagnosis.thresholds import Concepts, Section, threshold
from assay.diagnosis.views import SplitView
from assay.metrics import Ceiling, ceilings

MOST_SHARED = 3


@dataclass(frozen=True)
class Incomplete(Section):
    """When labels are at the ceiling of their concepts."""

    section: ClassVar[str] = "incomplete"
    below: float = threshold(
        0.02, "how far below the held-out ceiling a label may stay", "spike: 13 of 13, 0 of 160 complete"
    )
    apart: float = threshold(
        0.3, "by how much the ceiling may differ on examples not used, where it can be estimated", "spike: 13 of 13"
    )


@register
class IncompleteCheck(Check):
    """Concepts that do not determine the labels."""

    name = "incomplete"
    summary = "The concepts do not determine the labels, and the model is about as good as they allow."
    tone = "unknown"
    severity = 72
    measure = "label_accuracy"
    null = "examples that share all concepts have one label in at least 95 %"
    statistic = (
        "share of the most frequent label among examples that share all concepts; upper end of the 95 % interval"
    )
    settings = Incomplete
    refines = ("underfit", "noisy", "opaque")
    why = "{label}: the concepts determine at most {top%}, the model has {own%}"
    claims: ClassVar = {
        "ceiling": Claim(
            "The concepts do not determine the labels, and the model is about as good as they allow.",
            "On {split}, examples that share all concepts have different values of {label}: the concepts determine "
            "at most {top%} of its labels ({held%} on examples not used), and the model has {right/examples}.",
            "Annotate a further concept that tells such examples apart: `assay audit DATA` lists values that share all "
            "concepts.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits on which labels are about as right as their concepts allow, and clearly not all right."""
        for view in () if case.ruled else case.usual.values():
            capped = _capped(case, view)
            if not capped:
                continue
            place, ceiling = capped[0]
            label = view.labels[place]
            cells = np.zeros_like(view.wrong)
            cells[:, [place for place, _ in capped]] = view.wrong[:, [place for place, _ in capped]]
            numbers: dict[str, Number] = {
                "split": view.name, "label": ceiling.label, "top": ceiling.share,
                "held": ceiling.held_out / ceiling.examples, "right": label.right, "examples": label.examples,
                "own": label.accuracy,
            }  # fmt: skip
            names = tuple(found.label for _, found in capped)
            details = _shared_cells(view, place)
            yield Found("ceiling", view.name, numbers, labels=names, details=details, rows={view.name: cells})


def _capped(case: Case, view: SplitView) -> list[tuple[int, Ceiling]]:
    """Return the labels whose concepts do not determine them, and that are about as right as these allow."""
    names = tuple(label.label for label in view.labels)
    found = case.remember(f"ceilings {view.name}", lambda: ceilings(view.evidence.concepts, view.truth, names))
    settings, tolerated = case.settings(Incomplete), case.settings(Concepts).tolerated
    return [
        (place, ceiling)
        for place, ceiling in enumerate(found)
        if ceiling.upper < 1 - tolerated
        and ceiling.share - ceiling.held_out / ceiling.examples <= settings.apart
        and view.labels[place].interval[0] <= ceiling.upper
        and view.labels[place].interval[1] >= ceiling.held_out / ceiling.examples - settings.below
    ]


def _shared_cells(view: SplitView, place: int) -> tuple[str, ...]:
    """Return the combinations of concepts that most wrong labels share, in words."""
    rows = np.flatnonzero(view.evidence.known.all(axis=1))
    worlds = distinct_rows(view.evidence.concepts[rows])
    mixed = []
    for number in np.argsort(-worlds.counts)[:50].tolist():
        own = rows[worlds.which == number]
        values, counts = np.unique(view.truth[own, place], return_counts=True)
        if len(values) > 1:
            mixed.append((len(own) - int(counts.max()), own, values, counts))
    texts = []
    label, space = view.evidence.knowledge.labels[place], view.evidence.knowledge.space
    for _, own, values, counts in sorted(mixed, key=lambda entry: -entry[0])[:MOST_SHARED]:
        codes = view.evidence.concepts[own[0]].tolist()
        world = ", ".join(f"{c.name} {c.values[code]}" for c, code in zip(space.concepts, codes, strict=True))
        parts = [f"{label.values[v]} in {n:,}" for v, n in zip(values.tolist(), counts.tolist(), strict=True)]
        texts.append(f"Of the {len(own):,} examples with {world}, {label.name} is {join_words(parts)}.")
    return tuple(texts)

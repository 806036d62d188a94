"""Completeness: do the concepts determine the labels? (Yeh et al., 2020)

Examples that share all concepts and differ in a label bound every model that sees concepts only. Where no example
shares all its concepts with another one, nothing can be said.
"""

from dataclasses import dataclass

import numpy as np

from assay.auditing.audited import AuditedDataset
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, first_few
from assay.base import Codes, distinct_rows
from assay.metrics import Ceiling
from assay.metrics import ceilings as ceilings_of

TOLERATED = 0.05
"""The share of the labels that concepts may leave open: labels may be noisy."""
FEWEST_EQUAL = 100
"""How many examples must share all concepts with another one for concepts to be called complete."""
MOST_CELLS = 3
MOST_CONCEPTS = 4
LEAST_OF_CELL = 0.1
"""The least share of a label value among the examples that share all concepts, for it to be named."""


@dataclass(frozen=True)
class Completeness:
    """The ceiling of each label, over the examples of all splits whose concepts are all known."""

    ceilings: tuple[Ceiling, ...]
    """None where there are too few examples, or the rule is known."""
    examples: int
    equal: int
    """How many examples share all concepts with another one."""

    @property
    def incomplete(self) -> tuple[int, ...]:
        """The places of the labels that the concepts surely do not determine."""
        return tuple(place for place, found in enumerate(self.ceilings) if found.upper < 1 - TOLERATED)


def completeness_of(data: AuditedDataset) -> Completeness:
    """Return how many labels the concepts determine, computed once."""
    if "completeness" not in data.memo:
        concepts, labels = _known_rows(data)
        known = () if data.knowledge is not None else ceilings_of(concepts, labels, tuple(data.labels))
        data.memo["completeness"] = Completeness(known, len(concepts), equal_examples(concepts))
    found: Completeness = data.memo["completeness"]
    return found


def equal_examples(concepts: Codes) -> int:
    """Return how many examples share all concepts with another one.

    >>> equal_examples(np.array([[0, 1], [1, 1], [0, 1]]))
    2
    """
    worlds = distinct_rows(concepts)
    return int(worlds.counts[worlds.counts > 1].sum())


def _known_rows(data: AuditedDataset) -> tuple[Codes, Codes]:
    """Return the concepts and labels of all examples whose concepts are all known."""
    concepts = np.concatenate([part.concepts for part in data.parts.values()])
    labels = np.concatenate([part.labels for part in data.parts.values()])
    rows = (concepts >= 0).all(axis=1)
    return concepts[rows], labels[rows]


def complete(data: AuditedDataset) -> CheckResult:
    """The concepts determine the labels: examples that share all concepts have equal labels."""
    if data.knowledge is not None:
        return CheckResult("complete", NOTHING, "the rule gives every label for the concepts")
    found = completeness_of(data)
    numbers = {
        ceiling.label: {"determined": ceiling.share, "held out": ceiling.held_out / ceiling.examples}
        for ceiling in found.ceilings
    }
    if found.incomplete:
        texts = [_describe(found.ceilings[place], place, data) for place in found.incomplete]
        return CheckResult("complete", "note", first_few(texts), numbers)
    if found.equal < FEWEST_EQUAL:
        text = f"only {found.equal:,} of {found.examples:,} examples share all concepts with another one"
        return CheckResult("complete", NOT_CHECKED, f"no rule is given, and {text}", numbers)
    least = min(found.ceilings, key=lambda ceiling: ceiling.share)
    share = f"{100 * least.share:.0f} % of the labels {least.label!r}"
    text = f"concepts determine {share}, by {found.equal:,} examples that share all concepts with another one"
    return CheckResult("complete", "pass", text, numbers)


def _describe(ceiling: Ceiling, place: int, data: AuditedDataset) -> str:
    """Return how many labels the concepts determine, and which values share all concepts."""
    held = 100 * ceiling.held_out / ceiling.examples
    most = f"at most {100 * ceiling.share:.0f} % of the labels {ceiling.label!r} ({held:.0f} % held out)"
    return f"concepts determine {most}; all concepts are equal for {', '.join(_mixed_cells(place, data))}"


def _mixed_cells(place: int, data: AuditedDataset) -> list[str]:
    """Return the label values of the worlds in which most labels are not the most frequent one."""
    concepts, labels = _known_rows(data)
    values, worlds = list(data.labels.values())[place], distinct_rows(concepts)
    cells = np.bincount(worlds.which * len(values) + labels[:, place], minlength=len(worlds) * len(values))
    counts = cells.reshape(len(worlds), len(values))
    open_labels = counts.sum(axis=1) - counts.max(axis=1)
    texts = []
    for number in np.argsort(-open_labels, kind="stable")[:MOST_CELLS].tolist():
        own = counts[number]
        named = [str(values[code]) for code in range(len(own)) if own[code] >= LEAST_OF_CELL * own.sum()]
        world = [f"{name} {value}" for name, value in data.space.decode(concepts[worlds.first[number]]).items()]
        shown = ", ".join(world[:MOST_CONCEPTS]) + (", ..." if len(world) > MOST_CONCEPTS else "")
        texts.append(f"{'/'.join(named)} ({own.sum():,} examples with {shown})")
    return texts

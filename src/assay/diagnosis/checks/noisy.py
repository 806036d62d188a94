"""Concepts that the rule uses are misread too often."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from assay.base import Array
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, register
from assay.diagnosis.checks.annotations import whose_error
from assay.diagnosis.checks.shortcut import advice, named
from assay.diagnosis.concepts import SYSTEMATIC, WRONG
from assay.diagnosis.reading import describe_concepts
from assay.diagnosis.thresholds import Concepts
from assay.diagnosis.views import SplitView
from assay.metrics import at_least


def _by_annotations(case: Case, mine: Found, _: Found) -> bool:
    return whose_error(case, case.usual[mine.split]) == "annotations"


def _by_shortcut(case: Case, mine: Found, theirs: Found) -> bool:
    return mine.split == theirs.split and set(mine.concepts) <= set(theirs.concepts)


@register
class NoisyCheck(Check):
    """Concepts that are misread too often."""

    name = "noisy"
    summary = "Some concepts that the rule uses are misread too often."
    tone = "weak"
    severity = 64
    measure = "concept_f1"
    null = "a concept is wrong in at most 5 % of the examples, and each of its values is recalled in 88 %"
    statistic = "wrong predictions of each concept, and of each value; exact binomial test"
    why = "often misread: {concepts}"
    rivals = (
        Rival("annotations", _by_annotations, "wrong annotations explain the disagreement of model and table"),
        Rival("shortcut", _by_shortcut, "the misreadings keep the labels"),
    )
    claims: ClassVar = {
        "used": Claim(
            "Some concepts that the rule uses are misread too often.",
            "On {split}: {first}",
            "{next}",
        ),
        "together": Claim(
            "Concepts are misread seldom one by one, but together they make labels wrong too often.",
            "On {split}, some concept that the rule uses is misread in {misread/examples} examples, and {wrong} labels "
            "are wrong because of that.",
            "{next}",
        ),
        "any": Claim(
            "Some concepts are misread too often.",
            "On {split}: {first}",
            "{next}",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield splits with concepts that are wrong too often."""
        for view in case.usual.values():
            wrong = view.in_state(WRONG)
            if not wrong:
                yield from _together(case, view)
                continue
            if whose_error(case, view) == "undecided" and not view.in_state(SYSTEMATIC):
                continue
            names = tuple(state.concept for state in wrong)
            explained = view.causes["perception"]
            if case.ruled and 2 * int(view.in_rows(explained, view.misread_of(names)).sum()) < int(explained.sum()):
                yield from _together(case, view)
            sentences = describe_concepts(wrong, view.evidence)
            numbers: dict[str, Number] = {
                "split": view.name, "first": sentences[0], "count": len(wrong), "next": advice(case, names),
            }  # fmt: skip
            rows = case.wrong_where(partial(_by_misreading, names))
            claim = "used" if case.ruled else "any"
            yield Found(claim, view.name, numbers | named(names), names, details=tuple(sentences[1:]), rows=rows)


def _by_misreading(names: Sequence[str], view: SplitView) -> Array:
    """Return which labels are wrong because these concepts are misread, or any is uncertain."""
    cells = view.by_concepts | view.causes["both"] if view.evidence.knowledge.has_rule else view.wrong
    return view.in_rows(cells, view.misread_of(names)) | view.causes["unsure"]


def _together(case: Case, view: SplitView) -> Iterator[Found]:
    """Yield that concepts, none of which is clearly wrong by itself, make labels wrong too often."""
    if not case.ruled or whose_error(case, view) != "model":
        return
    cells = view.causes["perception"]
    wrong = int(cells.sum())
    if at_least(int(cells.any(axis=1).sum()), max(1, len(view)), case.settings(Concepts).tolerated) > view.level:
        return
    misread = [(int((view.misread_of([state.concept])).sum()), state.concept) for state in view.concepts if state.used]
    names = tuple(name for count, name in sorted(misread, reverse=True) if count)
    numbers: dict[str, Number] = {
        "split": view.name, "misread": int(view.misread.sum()), "examples": int(view.complete.sum()), "wrong": wrong,
        "count": len(names), "next": advice(case, names), **named(names),
    }  # fmt: skip
    yield Found("together", view.name, numbers, names, rows=case.wrong_where(lambda view: view.causes["perception"]))

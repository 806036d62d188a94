"""Labels are wrong, and nothing that was tested says why."""

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from assay.base import Array, join_first
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, register
from assay.diagnosis.thresholds import Concepts
from assay.diagnosis.views import SplitView
from assay.metrics import at_least, percent, share_of


def _names_all(case: Case, mine: Found, theirs: Found) -> bool:
    """Whether another finding is about every label that is wrong."""
    return set(mine.labels) <= set(theirs.labels)


def _accounts(case: Case, mine: Found, theirs: Found) -> bool:
    """Whether another finding accounts for half of these wrong labels."""
    split = mine.split
    if split not in theirs.rows:
        return False
    total = int(mine.rows[split].sum())
    return 2 * int((mine.rows[split] & theirs.rows[split]).sum()) >= total > 0


def _noise_explains(case: Case, mine: Found, theirs: Found) -> bool:
    """Whether noisy concepts, none of which is lost, account for the wrong labels."""
    states = {state.concept: state.state for state in case.usual[theirs.split].concepts}
    learned = all(states[name] == "noisy" for name in theirs.concepts)
    return _accounts(case, mine, theirs) and (learned or mine.claim != "labels")


@register
class UnderfitCheck(Check):
    """Labels that are not learned."""

    name = "underfit"
    summary = "Labels are wrong: they are not learned, or nothing that was tested says why."
    tone = "bad"
    severity = 70
    measure = "label_accuracy"
    null = "a label is right in at least 75 %, and more often than its most frequent value"
    statistic = "right labels; exact binomial test"
    refines = ("opaque",)
    why = "{named}"
    rivals = (
        Rival("wrong rule", _accounts, "the concepts are right, and the label head is wrong about these labels"),
        Rival("incomplete", _names_all, "the concepts determine no more of these labels"),
        Rival("annotations", _accounts, "the annotations contradict the rule there"),
        Rival("noisy", _noise_explains, "misread concepts account for them"),
        Rival("missed region", _accounts, "they lie in a region"),
        Rival("memorised", _accounts, "they lie on new worlds"),
        Rival(
            "opaque", lambda case, mine, theirs: mine.claim == "unexplained", "without concepts it cannot be told why"
        ),
        *(
            Rival(
                kind,
                lambda case, mine, theirs: mine.claim == "unexplained" and _accounts(case, mine, theirs),
                "it accounts for them",
            )
            for kind in ("shortcut", "wrong rule", "inconsistent", "boundary", "shifted", "spurious")
        ),
    )
    claims: ClassVar = {
        "labels": Claim(
            "Labels are wrong: they are not learned.",
            "On {split}, {named}; the most frequent value would be right in {majority}.",
            "Train longer, with more examples or a larger network.",
        ),
        "uncertain": Claim(
            "Labels are wrong too often because the concepts are too uncertain, though most of them are right.",
            "On {split}, {named}; {wrong} wrong labels are those that the rule makes most probable for the "
            "probabilities of the concepts, where the most probable concepts imply another.",
            "Train the concepts longer, or calibrate them: their probabilities, not their values, make labels wrong.",
        ),
        "mixed": Claim(
            "Labels are wrong too often, and no finding by itself accounts for half of them.",
            "On {split}, {causes}",
            "Mend the largest cause first; `assay diagnose RUN --full` shows all.",
        ),
        "unexplained": Claim(
            "Labels are wrong too often, and nothing that was tested says why.",
            "On {split}, {named}; {wrong} wrong labels are explained neither by annotations nor by concepts, nor by "
            "new worlds, another split, the boundary or a region of the concepts where labels are often wrong.",
            "Train longer or with more examples, and look at the wrong ones: `assay report RUN`.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield the labels of the first split that are not learned, or wrong too often."""
        view = case.first
        doubtful = view.causes["unsure"].sum(axis=0)
        lost = [
            place
            for place, label in enumerate(view.labels)
            if label.standing == "wrong" and 2 * doubtful[place] < label.examples - label.right
        ]
        often = [place for place in range(len(view.labels)) if _often(case, view, view.unexplained, place)]
        unsure = [place for place in range(len(view.labels)) if _often(case, view, view.causes["unsure"], place)]
        for claim, places in (("labels", lost), ("uncertain", unsure), ("unexplained", often)):
            if not places or (claim != "labels" and lost):
                continue
            states = [view.labels[place] for place in places]
            own = np.isin(np.arange(len(view.labels)), places)
            cells = case.wrong_where(partial(_counted, claim, own))
            numbers: dict[str, Number] = {
                "split": view.name,
                "named": join_first([f"{s.label} is right in {share_of(s.right, s.examples)}" for s in states]),
                "majority": join_first([percent(s.majority / s.examples) for s in states]),
                "wrong": int(cells[view.name].sum()),
            }  # fmt: skip
            yield Found(claim, view.name, numbers, labels=tuple(s.label for s in states), rows=cells)


def _often(case: Case, view: SplitView, cells: Array, place: int) -> bool:
    """Return whether wrong labels of some cause are more than is tolerated, over all values of a label or of one."""
    settings, known, own = case.settings(Concepts), view.known, cells[:, place]
    if at_least(int(own.sum()), int(known.sum()), settings.tolerated) <= view.level / len(view.labels):
        return True
    values, truth = view.evidence.knowledge.labels[place].values, view.truth[:, place]
    each = view.level / len(view.labels) / len(values)
    rows = [known & (truth == code) for code, value in enumerate(values) if str(value) in view.labels[place].missed]
    return any(at_least(int(own[r].sum()), int(r.sum()), 1 - settings.recall) <= each for r in rows)


def _counted(claim: str, chosen: Array, view: SplitView) -> Array:
    """Return the wrong labels that a claim about chosen labels speaks of."""
    if claim == "labels":
        return view.wrong & chosen & [state.standing == "wrong" for state in view.labels]
    return chosen & (view.causes["unsure"] if claim == "uncertain" else view.unexplained)

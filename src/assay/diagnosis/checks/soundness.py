"""Whether labels are right and follow from right concepts: sound, not learned, or too few examples to tell."""

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from assay.base import Array, join_first
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Claim, Found, Number, Rival, register
from assay.diagnosis.checks.annotations import whose_error
from assay.diagnosis.concepts import surely_right
from assay.diagnosis.labels import LabelState
from assay.diagnosis.thresholds import Concepts, Labels
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


STEPS = 1.05 ** np.arange(0, 140)
"""By which factors more examples are tried."""


def undecided(case: Case) -> bool:
    """Return whether labels, concepts of the rule, or how labels follow, are not decided on the first split."""
    view = case.first
    return (
        bool(undecided_labels(case)) or bool(view.in_state(["too few"])) or not follows_surely(case) or contested(case)
    )


def undecided_labels(case: Case) -> list[LabelState]:
    """Return the labels that are not surely right; without predicted concepts, those that are surely wrong are not."""
    view, tolerated = case.first, case.settings(Concepts).tolerated
    spoken, each = bool(view.complete.any()), view.level / len(view.labels)
    return [
        label
        for label in view.labels
        if label.standing != "right"
        and (spoken or (not label.missed and at_least(label.examples - label.right, label.examples, tolerated) > each))
    ]


def follows_surely(case: Case) -> bool:
    """Return whether labels surely follow from the predicted concepts, where there is a rule."""
    view = case.first
    total, follow = int(view.complete.sum()), int((view.complete & view.follows).sum())
    if not total:  # without a concept that is silent, the truth of some is nowhere known beside that of the others
        return not case.ruled or bool(view.in_state(["absent"]))
    return not case.ruled or surely_right(follow, total, case.settings(Labels))


def contested(case: Case) -> bool:
    """Return whether it cannot be told whose error the disagreement of model and table is."""
    return whose_error(case, case.first) == "undecided" and bool(case.first.wrong_used)


@register
class TooFewCheck(Check):
    """Too few examples."""

    name = "too few"
    summary = "There are too few examples to tell."
    tone = "unknown"
    severity = 10
    measure = "label_accuracy"
    fallback = True
    null = "what is not decided is wrong in a tenth of the examples"
    statistic = "right answers; exact binomial test; more examples at the same rate until it decides"
    why = "{named}"
    claims: ClassVar = {
        "undecided": Claim(
            "There are too few examples to tell whether labels and concepts are right.",
            "On {split}, {examples} examples do not decide whether these are right: {named}.",
            "{next}",
        ),
        "never whole": Claim(
            "No example has the truth of all concepts that the rule uses, so that it cannot be told whether labels "
            "follow from them.",
            "On {split}, {examples} examples have gaps in the truth of the {used} concepts that the rule uses, or are "
            "not predicted in all of them.",
            "Annotate every concept that the rule uses in some examples.",
        ),
        "contested": Claim(
            "There are too few examples to tell whether the model errs or the annotations.",
            "On {split}, predicted and annotated concepts differ in {differ} examples; in {contradict} of these the "
            "annotated concepts contradict the annotated label, which is too few to tell whose error it is.",
            "Check these {differ} annotations by hand, or annotate more examples.",
        ),
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield what the first split does not decide, and how many examples would."""
        view = case.first
        if contested(case):
            differ = int(view.misread.sum())
            numbers: dict[str, Number] = {
                "split": view.name, "differ": differ, "contradict": int((view.misread & view.contradicts).sum()),
                "named": f"{differ:,} disagreements of model and annotations",
            }  # fmt: skip
            yield Found("contested", view.name, numbers, tuple(c.concept for c in view.wrong_used))
        elif undecided(case):
            yield self._undecided(case, view)

    def _undecided(self, case: Case, view: SplitView) -> Found:
        labels = undecided_labels(case)
        concepts = view.in_state(["too few"])
        parts = [part for label in labels for part in _parts_of(case, view, label)]
        parts += [(x.concept, x.right, x.answered) for x in concepts]
        total = int(view.complete.sum())
        if not total and not parts:
            numbers: dict[str, Number] = {"split": view.name, "examples": len(view), "used": len(view.columns)}
            return Found("never whole", view.name, numbers | {"named": "no example has all used concepts"})
        if total and not follows_surely(case):
            parts.append(("labels that follow from the concepts", int((view.complete & view.follows).sum()), total))
        needed = [(more_needed(case, right, total), total) for _, right, total in parts]
        more = [round(found * len(view) / max(1, total)) for found, total in needed if found is not None]
        advice = f"Predict about {max(more):,} more examples: at these rates they would decide." if more else ""
        numbers = {
            "split": view.name, "examples": len(view), "more": max(more, default=0),
            "named": join_first([f"{name} ({share_of(right, total)})" for name, right, total in parts]),
            "next": advice or "Predict more examples; at these rates many more are needed.",
        }  # fmt: skip
        concerned = tuple(x.concept for x in concepts), tuple(x.label for x in labels)
        return Found("undecided", view.name, numbers, *concerned)


def _parts_of(case: Case, view: SplitView, label: LabelState) -> list[tuple[str, int, int]]:
    """Return what of a label is not decided, with how often it is right: all of it, or some of its values."""
    if not label.missed or not surely_right(label.right, label.examples, case.settings(Labels)):
        return [(f"label {label.label}", label.right, label.examples)]
    place = view.evidence.knowledge.label_names.index(label.label)
    values, parts = view.evidence.knowledge.labels[place].values, []
    for code, value in enumerate(values):
        if str(value) in label.missed:
            own = view.truth[:, place] == code
            parts.append(
                (f"label {label.label} where it is {value}", int((own & ~view.wrong[:, place]).sum()), int(own.sum()))
            )
    return parts


def more_needed(case: Case, right: int, total: int) -> int | None:
    """Return how many more examples at this rate would show it right, or wrong; None if very many."""
    share = right / max(1, total)
    settings = case.settings(Concepts)
    counts: list[int] = np.unique(np.round(max(total, 10) * STEPS).astype(int)).tolist()
    for count in counts:
        hits = round(share * count)
        wrong = at_least(count - hits, count, settings.tolerated) <= case.level / 10
        if count > total and (surely_right(hits, count, settings) or wrong):
            return count - total
    return None


def _right(case: Case) -> Found | None:
    """Return that labels and concepts are right on the first split, with the lowest bounds of both."""
    if undecided(case):
        return None
    view = case.first
    used = [state for state in view.concepts if state.used]
    numbers: dict[str, Number] = {
        "split": view.name, "examples": len(view), "used": len(used),
        "least": int(100 * min((state.interval[0] for state in used), default=1.0)) / 100,
        "labels": int(100 * min(label.interval[0] for label in view.labels)) / 100,
        "follow": int((view.complete & view.follows).sum()), "complete": int(view.complete.sum()),
    }  # fmt: skip
    return Found("right", view.name, numbers)


@register
class SoundCheck(Check):
    """Nothing is wrong."""

    name = "sound"
    summary = "The labels are right, and they follow from concepts that are right."
    tone = "good"
    severity = 0
    measure = "label_f1"
    fallback = True
    needs_rule = True
    null = "some label or concept is wrong in a tenth of the examples"
    statistic = "right labels, each of their values, right concepts, labels that follow; exact binomial tests"
    why = "labels and concepts are right, and follow by the rule"
    claims: ClassVar = {
        "right": Claim(
            "The labels are right, and they follow from concepts that are right.",
            "On {split}, every label is right in at least {labels%}, each of the {used} concepts that the rule uses in "
            "at least {least%} (lower ends of 95 % intervals, {examples} examples), and labels follow from the "
            "predicted concepts in {follow} of {complete}.",
            "Look where it may break: predict a split `ood`, and counterfactual pairs.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield that all is right."""
        found = _right(case) if case.ruled else None
        if found is not None:
            yield found


@register
class NoRuleCheck(Check):
    """Nothing is wrong, as far as can be told without a rule."""

    name = "no rule"
    summary = "Labels and concepts are right; without a rule it cannot be told whether labels follow from concepts."
    tone = "unknown"
    severity = 1
    measure = "label_f1"
    fallback = True
    null = "some label or concept is wrong in a tenth of the examples"
    statistic = "right labels, each of their values, right concepts; exact binomial tests"
    why = "labels and concepts are right"
    claims: ClassVar = {
        "right": Claim(
            "Labels and concepts are right; without a rule it cannot be told whether labels follow from concepts.",
            "On {split}, every label is right in at least {labels%}, and each of the {used} concepts in at least "
            "{least%} (lower ends of 95 % intervals, {examples} examples).",
            "Have rules proposed: `assay train rules|tree|ilp|synthesis DATA`.",
        )
    }

    def find(self, case: Case) -> Iterator[Found]:
        """Yield that all is right, where no rule is known."""
        found = _right(case) if not case.ruled else None
        if found is not None:
            yield found

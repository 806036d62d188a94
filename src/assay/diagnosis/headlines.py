"""A verdict in one line: its tone, the number that decided, and a short reason; for tables, matrices and badges."""

import math
from dataclasses import dataclass
from typing import Any

from assay.base import join_first, shorten
from assay.diagnosis.check import Check, Finding, Kind, Tone, check_of, render, tone_of
from assay.diagnosis.verdict import Diagnosis

EFFECTS = {"follows": "sensitivity", "stays": "invariance"}
"""What the numbers of a finding about counterfactual pairs are called."""
LONGEST = 90
MOST_NAMED = 3


@dataclass(frozen=True)
class Headline:
    """A verdict in one line."""

    verdict: Kind
    tone: Tone
    measure: str
    """The metric that decided."""
    value: float
    """Its value, NaN where it does not apply."""
    split: str
    """The split that shows the finding."""
    why: str

    @property
    def number(self) -> str:
        """The deciding number with its name, such as `concept F1 0.02`."""
        name = self.measure.replace("_", " ").replace(" f1", " F1")
        return "" if math.isnan(self.value) else f"{name} {self.value:.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the headline as plain data, without a value that is not known."""
        value = None if math.isnan(self.value) else self.value
        return {**{key: getattr(self, key) for key in self.__dataclass_fields__}, "value": value}


def headline(diagnosis: Diagnosis) -> Headline:
    """Return the verdict of a diagnosis in one line."""
    finding, check = diagnosis.findings[0], check_of(diagnosis.verdict)
    why = shorten(_why(finding, check, diagnosis), LONGEST)
    effects = {EFFECTS[name]: value for name, value in finding.numbers.items() if name in EFFECTS}
    if effects:  # counterfactual pairs decided, which no metric of a split shows
        measure = min(effects, key=lambda name: effects[name])
        return Headline(finding.kind, tone_of(finding.kind), measure, effects[measure], finding.split, why)
    measure = "label_accuracy" if check is None else check.measure
    split = _deciding_split(finding, diagnosis, measure)
    score = diagnosis.scores[split].get(measure)
    value = score.value if score is not None and score.applies else math.nan
    return Headline(finding.kind, tone_of(finding.kind), measure, value, split, why)


def _deciding_split(finding: Finding, diagnosis: Diagnosis, measure: str) -> str:
    """Return the split that shows a finding; of several that it compares, the one with the lowest value."""
    there = [split for split in finding.split.split(", ") if split in diagnosis.scores]
    known = [s for s in there if measure in diagnosis.scores[s] and diagnosis.scores[s][measure].applies]
    return (
        min(known, key=lambda split: diagnosis.scores[split][measure].value)
        if known
        else next(iter(there or diagnosis.scores))
    )


def _why(finding: Finding, check: Check | None, diagnosis: Diagnosis) -> str:
    """Return why a finding was made, in a few words."""
    if finding.kind == "shortcut" and (misread := _misreadings(finding, diagnosis)):
        return f"predicts {misread}"
    names = {"concepts": join_first(list(finding.concepts), MOST_NAMED), "labels": join_first(list(finding.labels))}
    words = {**names, "split": finding.split, **finding.why_numbers}
    if check is None or not check.why:
        return _first_clause(finding.text)
    try:
        return render(check.why, words)
    except KeyError:  # another claim of the same check has other numbers
        return _first_clause(finding.text)


def _misreadings(finding: Finding, diagnosis: Diagnosis) -> str:
    """Return which values are predicted as which, of the first encoder that the finding is about; empty if none is."""
    for reading in diagnosis.readings:
        wrong = [
            f"{reading.values[place]} as {reading.values[to]}"
            for place, to in enumerate(reading.image)
            if to is not None and to != place
        ]
        if wrong and set(reading.concepts) & set(finding.concepts):
            return f"{reading.group} {join_first(wrong, MOST_NAMED)}"
    return ""


def _first_clause(text: str) -> str:
    """Return the first part of a finding's sentence, without its split.

    >>> _first_clause("On test, labels are right in 90 % of 50, but not near. More.")
    'labels are right in 90 % of 50'
    """
    clause = text.partition(". ")[0].removesuffix(".")
    after = clause.partition(", ")[2] if clause.startswith("On ") else clause
    return (after or clause).partition(", but ")[0].partition("; ")[0]

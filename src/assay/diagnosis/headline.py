"""A verdict in one line: its tone, the number that decided, and a short reason; for tables, matrices and badges."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.diagnosis.findings import Finding, Kind
from assay.diagnosis.reliance import Reliance
from assay.diagnosis.verdict import Diagnosis
from assay.diagnosis.wording import join_first, percent
from assay.html import shorten

Tone = Literal["good", "bad", "weak", "unknown"]
"""How a verdict is coloured: fine, a fault that accuracy hides or that decides, a partial fault, not known."""
TONES: dict[Kind, Tone] = {
    "spurious": "bad",
    "underfit": "bad",
    "shortcut": "bad",
    "leaking": "bad",
    "memorised": "bad",
    "wrong rule": "bad",
    "inconsistent": "bad",
    "noisy": "weak",
    "opaque": "unknown",
    "boundary": "weak",
    "unidentified": "weak",
    "too few": "unknown",
    "no rule": "unknown",
    "sound": "good",
}
DECIDED_BY: dict[Kind, str] = {
    "spurious": "label_accuracy",
    "underfit": "label_accuracy",
    "shortcut": "concept_f1",
    "leaking": "concept_f1",
    "memorised": "label_accuracy",
    "wrong rule": "label_accuracy",
    "inconsistent": "rule_consistency",
    "noisy": "concept_f1",
    "opaque": "label_f1",
    "boundary": "near_accuracy",
    "unidentified": "concept_f1",
    "too few": "label_accuracy",
    "no rule": "label_f1",
    "sound": "label_f1",
}
"""The metric that shows what a verdict says, on the split of its finding."""
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
    finding = diagnosis.findings[0]
    effects = {EFFECTS[name]: value for name, value in finding.numbers.items() if name in EFFECTS}
    if effects:  # counterfactual pairs decided, which no metric of a split shows
        measure = min(effects, key=lambda name: effects[name])
        why = shorten(_why(finding, diagnosis), LONGEST)
        return Headline(finding.kind, TONES[finding.kind], measure, effects[measure], finding.split, why)
    measure = DECIDED_BY[finding.kind]
    split = _deciding_split(finding, diagnosis, measure)
    score = diagnosis.scores[split].get(measure)
    value = score.value if score is not None and score.applies else math.nan
    return Headline(
        finding.kind, TONES[finding.kind], measure, value, split, shorten(_why(finding, diagnosis), LONGEST)
    )


def _deciding_split(finding: Finding, diagnosis: Diagnosis, measure: str) -> str:
    """Return the split that shows a finding; of several that it compares, the one with the lowest value."""
    there = [split for split in finding.split.split(", ") if split in diagnosis.scores]
    known = [split for split in there if diagnosis.scores[split][measure].applies]
    return (
        min(known, key=lambda split: diagnosis.scores[split][measure].value)
        if known
        else next(iter(there or diagnosis.scores))
    )


def _why(finding: Finding, diagnosis: Diagnosis) -> str:
    """Return why a finding was made, in a few words."""
    numbers = finding.numbers
    match finding.kind:
        case "shortcut":
            kept = percent(numbers["kept"] / numbers["misread"])
            return f"reads {_misreadings(finding, diagnosis)}; {kept} of these labels stay right"
        case "spurious" if any(row.relied_on for row in diagnosis.reliance):
            return _follows(finding, [row for row in diagnosis.reliance if row.relied_on])
        case "noisy":
            return f"often wrong: {join_first(list(finding.concepts), MOST_NAMED)}"
        case "unidentified":
            return (
                f"only concepts that the rule does not use are wrong: {join_first(list(finding.concepts), MOST_NAMED)}"
            )
        case "opaque":
            return f"does not predict {join_first(list(finding.concepts), MOST_NAMED)}"
        case "wrong rule":
            wrong, examples = int(numbers["wrong"]), int(numbers["examples"])
            return f"wrong labels in {wrong:,} of {examples:,} examples whose concepts are right"
        case "memorised":
            seen, new = (numbers[f"{part}_right"] / numbers[part] for part in ("seen", "new"))
            return f"labels right in {percent(seen)} of examples of training worlds, in {percent(new)} of new ones"
        case "boundary" if EFFECTS.keys() & numbers.keys():
            return _describe_changes(numbers)
        case "inconsistent":
            return f"labels follow from the concepts in {percent(numbers['follow'] / numbers['examples'])} of examples"
        case "underfit" | "too few":
            judged = {label.label: label for label in diagnosis.labels[next(iter(diagnosis.labels))]}
            named = [judged[name] for name in finding.labels if name in judged]
            parts = [f"{label.label} is right in {percent(label.right / max(1, label.examples))}" for label in named]
            concepts = [f"{name} is undecided" for name in finding.concepts]
            return join_first([*parts, *concepts], MOST_NAMED)
        case "sound" | "no rule":
            return "labels and concepts are right" + (", and follow by the rule" if finding.kind == "sound" else "")
    return _first_clause(finding.text)


def _follows(finding: Finding, relied: Sequence[Reliance]) -> str:
    """Return which nuisances labels, or a concept, follow."""
    usual, unusual = percent(finding.numbers["usual"]), percent(finding.numbers["unusual"])
    names = join_first([row.name for row in relied], MOST_NAMED)
    what = "" if relied[0].labels.falls else f"{next(iter(relied[0].concepts))} "
    return f"{what}follows {names}: right in {usual} as in training, in {unusual} otherwise"


def _describe_changes(numbers: Mapping[str, float]) -> str:
    """Return how labels take the changes of one concept.

    >>> _describe_changes({"follows": 0.25}), _describe_changes({"stays": 0.5})
    ('label follows 25 % of changes that should move it', 'label stays in 50 % of changes that should not move it')
    """
    if "follows" not in numbers:
        return f"label stays in {percent(numbers['stays'])} of changes that should not move it"
    others = f", and stays in {percent(numbers['stays'])} of the others" if "stays" in numbers else ""
    return f"label follows {percent(numbers['follows'])} of changes that should move it{others}"


def _misreadings(finding: Finding, diagnosis: Diagnosis) -> str:
    """Return which values are read as which, or else the names of the concepts."""
    for reading in diagnosis.readings:
        wrong = [
            f"{reading.values[place]} as {reading.values[to]}"
            for place, to in enumerate(reading.image)
            if to is not None and to != place
        ]
        if wrong and set(reading.concepts) & set(finding.concepts):
            return f"{reading.group} {join_first(wrong, MOST_NAMED)}"
    return f"{join_first(list(finding.concepts), MOST_NAMED)} wrong"


def _first_clause(text: str) -> str:
    """Return the first part of a finding's sentence, without its split.

    >>> _first_clause("On test, labels are right in 90 % of 50, but not near. More.")
    'labels are right in 90 % of 50'
    """
    clause = text.partition(". ")[0].removesuffix(".")
    after = clause.partition(", ")[2] if clause.startswith("On ") else clause
    return (after or clause).partition(", but ")[0].partition("; ")[0]

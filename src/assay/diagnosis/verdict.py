"""The verdict: which finding accounts for what is wrong with a model, with its reasons, certainty and next step.

Every concept and label is judged on every split (`case`); checks find what is wrong, rivals withdraw what they explain
better (`judging`); the verdict is the word of the first finding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from assay.base import Codes, Figure, bar_plot, heat_maps, html_table, html_text, to_frame
from assay.diagnosis.case import Case, case_of
from assay.diagnosis.certainty import Certainty, certainty_of
from assay.diagnosis.check import Finding, Kind, check_of
from assay.diagnosis.concepts import ConceptState
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.errors import Errors
from assay.diagnosis.identifiable import Identifiability
from assay.diagnosis.judging import judge
from assay.diagnosis.labels import LabelState
from assay.diagnosis.notes import notes_of
from assay.diagnosis.reading import Reading, fit_readings
from assay.diagnosis.regions import RegionScore, region_scores
from assay.diagnosis.reliance import Reliance
from assay.diagnosis.table import TableRow, table_of
from assay.diagnosis.thresholds import DEFAULTS, Thresholds, Verdict
from assay.diagnosis.violations import Violations, violations_of
from assay.metrics import Evidence, Score, score

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""The version of the diagnosis, kept with every row of a suite: rows of version 1 were judged by other rules."""
SUMMARY = ("label_f1", "concept_f1", "collapse", "rule_consistency")
MOST_BARS, MOST_REASONS = 30, 2


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What was found about a model on a dataset."""

    findings: tuple[Finding, ...]
    """The one that accounts for what is wrong first; at least one."""
    scores: Mapping[str, Mapping[str, Score]]
    concepts: Mapping[str, tuple[ConceptState, ...]]
    """For each split, how each concept is predicted."""
    labels: Mapping[str, tuple[LabelState, ...]]
    """For each split, how right each label is."""
    errors: Mapping[str, Errors]
    """For each split, the wrong labels by cause."""
    readings: tuple[Reading, ...]
    """For each encoder group, what is predicted for each true value on the first split."""
    table: tuple[TableRow, ...] = ()
    """Everything that was tested, a row each."""
    certainty: Certainty = field(default_factory=lambda: Certainty("", {}))
    notes: tuple[str, ...] = ()
    """Further sentences: warnings, other splits, calibration, constraints, changes of single concepts."""
    about: Mapping[str, Any] = field(default_factory=dict)
    regions: Mapping[str, tuple[RegionScore, ...]] = field(default_factory=dict)
    """For each split, the accuracy on each variant and near-boundary type of each label, and far from the boundary."""
    counterfactuals: Counterfactuals | None = None
    violations: Mapping[str, Violations] = field(default_factory=dict)
    """For each split, which constraints the predicted concepts break, where the rule has any."""
    taught: Identifiability | None = None
    """Which readings of the concepts the training labels allow."""
    reliance: tuple[Reliance, ...] = ()
    """How often labels move with each nuisance that confounds, and with each concept."""
    thresholds: Thresholds = DEFAULTS
    """The thresholds that decided."""

    @property
    def verdict(self) -> Kind:
        """The word of the first finding."""
        return self.findings[0].kind

    @property
    def meaning(self) -> str:
        """What the verdict says here, in a sentence."""
        return self.findings[0].meaning

    @property
    def next(self) -> str:
        """What to do next."""
        return self.findings[0].next

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of all findings, the first word first."""
        return tuple(dict.fromkeys(finding.kind for finding in self.findings))

    @property
    def reasons(self) -> tuple[str, ...]:
        """At most two reasons with numbers: of the first finding, and of the second or a detail of the first."""
        first, *others = self.findings
        check, also = check_of(self.verdict), [f"Also {other.kind}: {other.text}" for other in others]
        rest = [*first.details, *also] if check is not None and check.detailed else [*also, *first.details]
        texts = [first.text, *rest]
        return tuple(text for text in texts if text)[:MOST_REASONS]

    @property
    def details(self) -> tuple[str, ...]:
        """All other sentences: further findings, details, notes."""
        first, *others = self.findings
        texts = [first.text, *first.details]
        for other in others:
            texts += [f"Also {other.kind}: {other.text}", *other.details]
        short = set(self.reasons)
        return tuple(dict.fromkeys(text for text in (*texts, *self.notes) if text and text not in short))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The short answer: the word with its meaning, at most two reasons, certainty, what to do next."""
        next_step = f"Next: {self.next}" if self.next else ""
        parts = (f"Verdict: {self.verdict}. {self.meaning}", *self.reasons, self.certainty.text, next_step)
        return tuple(part for part in parts if part)

    @property
    def text(self) -> str:
        """The short answer as one text."""
        return " ".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data."""
        return {
            "diagnosis": VERSION,
            "verdict": self.verdict,
            "meaning": self.meaning,
            "next": self.next,
            "certainty": self.certainty.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "reasons": list(self.reasons),
            "details": list(self.details),
            "table": [row.to_dict() for row in self.table],
            "thresholds": self.thresholds.to_dict(),
            "scores": {s: {n: x.to_dict() for n, x in scores.items()} for s, scores in self.scores.items()},
            "concepts": {split: [state.to_dict() for state in states] for split, states in self.concepts.items()},
            "labels": {split: [state.to_dict() for state in states] for split, states in self.labels.items()},
            "errors": {split: errors.to_dict() for split, errors in self.errors.items()},
            "readings": [reading.to_dict() for reading in self.readings],
            "regions": {split: [score.to_dict() for score in entries] for split, entries in self.regions.items()},
            "counterfactuals": None if self.counterfactuals is None else self.counterfactuals.to_dict(),
            "violations": {split: entries.to_dict() for split, entries in self.violations.items()},
            "reliance": [row.to_dict() for row in self.reliance],
            "identifiability": None if self.taught is None else self.taught.to_dict(),
            "about": dict(self.about),
        }

    # -- for notebooks -------------------------------------------------------------------------------------------------

    def to_frame(self) -> "pd.DataFrame":
        """Return every score as a data frame, a row for each split and metric."""
        rows = [score for scores in self.scores.values() for score in scores.values()]
        splits = [split for split, scores in self.scores.items() for _ in scores]
        columns = {key: [getattr(row, key) for row in rows] for key in ("metric", "value", "low", "high", "examples")}
        return to_frame({"split": splits, **columns})

    def plot(self, kind: Literal["concepts", "boundary"] = "concepts") -> Figure:
        """Draw what is predicted for each true value, or the accuracy in each region of the rule."""
        if kind == "boundary":
            split, scores = list(self.regions.items())[-1]
            bars = {f"{s.label}: {s.name}": (s.accuracy, s.accuracy, s.accuracy) for s in scores[:MOST_BARS]}
            return bar_plot(bars, "label accuracy", f"{split}: ways to keep the rule and to just miss it")
        tables = {}
        for reading in self.readings:
            said = [*reading.values, *(["none"] if reading.counts.shape[1] > len(reading.values) else [])]
            tables[reading.group] = (reading.counts, reading.values, said)
        return heat_maps(tables, "ground truth", "predicted")

    def __repr__(self) -> str:
        split = next(iter(self.scores), "")
        known = {name: score for name, score in self.scores.get(split, {}).items() if score.applies}
        facts = [f"{name} {known[name].value:.2f}" for name in SUMMARY if name in known]
        return f"Diagnosis({', '.join(self.kinds)}; {split}: {', '.join(facts)})"

    def _repr_html_(self) -> str:
        scores = next(iter(self.scores.values()), {})
        rows = [
            [name, f"{score.value:.3f}", f"{score.low:.3f} to {score.high:.3f}"]
            for name, score in scores.items()
            if score.applies
        ]
        head, *texts = self.sentences
        shown = html_text(head, bold=True) + "".join(html_text(text) for text in texts)
        return shown + html_table([f"on {next(iter(self.scores), '')}", "value", "95 % interval"], rows)


def diagnose(
    evidence: Mapping[str, Evidence],
    training: Codes | None = None,
    about: Mapping[str, Any] | None = None,
    effects: Counterfactuals | None = None,
    taught: Identifiability | None = None,
    reliance: tuple[Reliance, ...] = (),
    thresholds: Thresholds = DEFAULTS,
) -> Diagnosis:
    """Judge a model by its evidence on one or more splits.

    `training` holds the concept codes of the training set: which worlds are new, and whether training labels could
    reveal a misreading; `effects` what changes of single concepts did to the model; `taught` which readings the
    training labels allow; `reliance` says how labels move with nuisances, for which splits that show others than
    training are no evidence of else; `thresholds` are those that decide.
    """
    case = case_of(evidence, training, thresholds, effects, taught, reliance)
    judgement = judge(case)
    word = judgement.findings[0].kind
    scores = {name: score(rows) for name, rows in evidence.items()}
    broken = {split: violations for split, rows in evidence.items() if (violations := violations_of(rows)) is not None}
    certain = certainty_of(case, word) if thresholds.of(Verdict).resamples else Certainty(word, {})
    return Diagnosis(
        findings=judgement.findings,
        scores=scores,
        concepts={name: view.concepts for name, view in case.views.items()},
        labels={name: view.labels for name, view in case.views.items()},
        errors={name: view.errors for name, view in case.views.items()},
        readings=fit_readings(case.first.evidence),
        table=table_of(case, judgement),
        certainty=certain,
        notes=notes_of(case, judgement.findings, scores, broken),
        about=about or {},
        regions={split: region_scores(rows) for split, rows in evidence.items()},
        counterfactuals=effects,
        violations=broken,
        taught=taught,
        reliance=reliance,
        thresholds=thresholds,
    )


__all__ = ["VERSION", "Case", "Diagnosis", "diagnose"]

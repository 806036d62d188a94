"""Verdicts in a report: how often each first word comes out over seeds, and which thresholds were changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from assay.base import join_words
from assay.diagnosis import Diagnosis, Finding, Thresholds, Tone, cells_of, kinds_in_order, meaning_of
from assay.reporting.case import ReportCase


@dataclass(frozen=True)
class NamedRun:
    """A run as its section calls it, and where on the page it is."""

    name: str
    anchor: str
    case: ReportCase


@dataclass(frozen=True)
class WordShare:
    """A first word, and those of a model's runs that have it."""

    word: str
    runs: tuple[NamedRun, ...]
    of: int
    """How many runs there are."""

    @property
    def tone(self) -> Tone:
        """How the word is coloured."""
        return self.runs[0].case.headline.tone

    @property
    def share(self) -> str:
        """How many runs have the word; empty where there is one run."""
        return f"{len(self.runs)} of {self.of}" if self.of > 1 else ""

    @property
    def text(self) -> str:
        """The word with its share."""
        return f"{self.word} {self.share}".strip()

    @property
    def seeds(self) -> str:
        """The seeds of the runs; empty where there is one run."""
        seeds = [run.case.seed for run in self.runs]
        return f"{'seeds' if len(seeds) > 1 else 'seed'} {', '.join(seeds)}" if self.of > 1 else ""


def shares_of(runs: Sequence[NamedRun]) -> tuple[WordShare, ...]:
    """Return the first words of runs, the most frequent one first."""
    by_word: dict[str, list[NamedRun]] = {}
    for run in runs:
        by_word.setdefault(run.case.diagnosis.verdict, []).append(run)
    order = sorted(by_word.items(), key=lambda item: -len(item[1]))
    return tuple(WordShare(word, tuple(some), len(runs)) for word, some in order)


def gravity(kind: str) -> int:
    """Return where a word stands among all, the gravest being 0; a word that is not registered here comes last."""
    order = kinds_in_order()
    return order.index(kind) if kind in order else len(order)


def meanings_of(cases: Iterable[ReportCase]) -> dict[str, str]:
    """Return the first words of runs with what they say in general, the gravest first."""
    there = {case.diagnosis.verdict: case.diagnosis.meaning for case in cases}
    return {kind: meaning_of(kind) or there[kind] for kind in sorted(there, key=gravity)}


NATS = "Explanations of the wrong labels are compared by their log-likelihood, in nats, on held-out worlds."
ORDER = ("finding", "explanation", "label", "concept")
"""In which order pages show what was tested: what decided first."""


def tested_rows(diagnosis: Diagnosis, most: int) -> list[list[str]]:
    """Return the rows of what was tested as texts, at most so many, those first that decided."""
    kinds = {what: place for place, what in enumerate(ORDER)}
    return cells_of(sorted(diagnosis.table, key=lambda row: kinds.get(row.what, len(ORDER)))[:most])


def accounts_for(finding: Finding) -> str:
    """Return which wrong labels a finding accounts for, and what accounts for them about as well; or nothing."""
    texts = []
    if finding.wrong_labels:
        texts.append(f"It accounts for {finding.wrong_labels:,} wrong label{'s' * (finding.wrong_labels != 1)}.")
    if finding.unsettled:
        texts.append(f"Explained about as well by: {join_words(finding.unsettled)}.")
    return " ".join(texts)


def other_notes(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the notes that no finding has as a detail."""
    told = {text for finding in diagnosis.findings for text in finding.details}
    return tuple(note for note in diagnosis.notes if note not in told)


def changed_thresholds(thresholds: Thresholds) -> tuple[str, ...]:
    """Return the thresholds that are not at their defaults, in words.

    >>> from assay.diagnosis import read_thresholds
    >>> changed_thresholds(read_thresholds({"concepts.right": 0.8}))
    ('concepts.right = 0.8 (default 0.9)',)
    """
    return tuple(
        f"{name}.{entry.name} = {getattr(settings, entry.name):g} (default {entry.default:g})"
        for name, settings in thresholds.changed.items()
        for entry in fields(settings)
        if getattr(settings, entry.name) != entry.default
    )

"""The order of a report: a section for each task with its models side by side, and the matrix of verdicts over all.

Words of verdicts are counted over seeds; what was tested, and by which thresholds, is put into words.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.base import join_words
from assay.diagnosis import Diagnosis, Finding, Tone, cells_of, kinds_in_order, meaning_of
from assay.reporting.case import ReportCase
from assay.reporting.plot import ChartGroup

MOST_COLUMNS = 6
"""With more models than this and fewer tasks, the matrix has a row for each model."""
NATS = "Explanations of the wrong labels are compared by their log-likelihood, in nats, on held-out worlds."
ORDER = ("finding", "explanation", "label", "concept")
"""In which order pages show what was tested: what decided first."""


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


@dataclass(frozen=True)
class TaskSection:
    """The runs on one dataset."""

    title: str
    anchor: str
    runs: tuple[NamedRun, ...]
    groups: tuple[ChartGroup, ...] = ()

    @property
    def cases(self) -> tuple[ReportCase, ...]:
        """The runs without their names."""
        return tuple(run.case for run in self.runs)

    def of_model(self, model: str) -> list[NamedRun]:
        """Return the runs of a model."""
        return [run for run in self.runs if run.case.label == model]

    def words_of(self, model: str) -> tuple[WordShare, ...]:
        """Return the first words of a model's runs, the most frequent one first."""
        return shares_of(self.of_model(model))


@dataclass(frozen=True)
class VerdictMatrix:
    """Tasks by models; a cell holds the runs of a model on a task."""

    sections: tuple[TaskSection, ...]
    models: tuple[str, ...]

    @property
    def has_model_rows(self) -> bool:
        """Whether models are better shown as rows."""
        return len(self.models) > MOST_COLUMNS and len(self.models) > len(self.sections)

    @property
    def kinds(self) -> dict[str, str]:
        """The verdicts that occur, with what they say in general, the gravest first."""
        return meanings_of(case for section in self.sections for case in section.cases)


@dataclass(frozen=True)
class Proof:
    """The one example that shows the most striking finding of a report."""

    run: NamedRun
    heading: str
    sentences: tuple[str, str]


def sections_of(cases: Sequence[ReportCase]) -> tuple[TaskSection, ...]:
    """Return the sections: runs of equal task and data together, in the order in which they came."""
    by_data: dict[tuple[str, str], list[ReportCase]] = {}
    for case in cases:
        by_data.setdefault((case.task, case.dataset.fingerprint), []).append(case)
    seen: Counter[str] = Counter()
    sections: list[TaskSection] = []
    first = 1
    for (task, _), same in by_data.items():
        seen[task] += 1
        title = task if seen[task] == 1 else f"{task} (dataset {seen[task]})"
        named = zip(short_names(same), same, strict=True)
        runs = tuple(NamedRun(name, f"run-{first + place}", case) for place, (name, case) in enumerate(named))
        sections.append(TaskSection(title, f"task-{len(sections) + 1}", runs))
        first += len(runs)
    return tuple(sections)


def short_names(cases: Sequence[ReportCase]) -> tuple[str, ...]:
    """Return names that tell the runs of a section apart: the model's, with the seed or a number where needed."""
    names = [case.label for case in cases]
    shared = {name for name, count in Counter(names).items() if count > 1}
    names = [f"{name}, seed {case.seed}" if name in shared else name for name, case in zip(names, cases, strict=True)]
    seen: Counter[str] = Counter()
    told = []
    for name in names:
        seen[name] += 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(told)


def matrix_of(sections: Sequence[TaskSection]) -> VerdictMatrix:
    """Return the matrix of verdicts."""
    models = dict.fromkeys(case.label for section in sections for case in section.cases)
    return VerdictMatrix(tuple(sections), tuple(models))


def proof_of(sections: Sequence[TaskSection]) -> Proof:
    """Return the example to show first: right by wrong concepts before wrong labels, graver verdicts before others."""
    run = min((run for section in sections for run in section.runs), key=lambda run: _striking(run.case))
    witness = run.case.witness
    return Proof(run, witness.heading, witness.sentences(run.case.label))


def _striking(case: ReportCase) -> tuple[bool, bool, int, float]:
    """Return what the most striking case has the least of."""
    by_wrong_concepts = case.witness.is_right_by_wrong_concepts
    return (
        not (case.headline.tone in ("bad", "weak") and by_wrong_concepts),
        case.witness.right,
        gravity(case.diagnosis.verdict),
        0.0 if math.isnan(case.headline.value) else case.headline.value,
    )


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

"""The table of a diagnosis: a row for each concept, label and finding on each split, with the numbers that decide.

Sentences, reports, pages and JSON show parts of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.diagnosis.case import Case
from assay.diagnosis.check import Finding
from assay.diagnosis.explanations import Explanations
from assay.diagnosis.judging import Judgement
from assay.diagnosis.thresholds import Concepts, Labels


@dataclass(frozen=True)
class TableRow:
    """What was tested of one thing on one split."""

    split: str
    what: str
    """`concept`, `label`, `finding` or `explanation`."""
    name: str
    state: str
    value: float | None
    low: float | None
    high: float | None
    examples: int | None
    threshold: float | None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return asdict(self)


TABLE_HEAD = ("split", "what", "name", "state", "value", "95 % interval", "examples", "threshold", "note")


def table_of(case: Case, judgement: Judgement) -> tuple[TableRow, ...]:
    """Return the table of a case."""
    return (
        *_states(case),
        *(_of_finding(finding) for finding in judgement.findings),
        *(
            TableRow(w.split, "finding", w.kind, "withdrawn", None, None, None, None, None, f"{w.rival}: {w.why}")
            for w in judgement.withdrawn
        ),
        *_explained(case.explanations),
    )


def _states(case: Case) -> Iterator[TableRow]:
    concepts, labels = case.settings(Concepts), case.settings(Labels)
    for split, view in case.views.items():
        for label in view.labels:
            low, high = label.interval
            missed = f"missed: {', '.join(label.missed)}" if label.missed else ""
            yield TableRow(
                split,
                "label",
                label.label,
                label.standing,
                label.accuracy,
                low,
                high,
                label.examples,
                labels.right,
                missed,
            )
        for state in view.concepts:
            low, high = state.interval
            value = state.accuracy if state.answered else None
            note = "" if state.used else "not used by the rule"
            yield TableRow(
                split, "concept", state.concept, state.state, value, low, high, state.answered, concepts.right, note
            )


def _of_finding(finding: Finding) -> TableRow:
    count = finding.wrong_labels or None
    return TableRow(finding.split, "finding", finding.kind, finding.claim, None, None, None, count, None, finding.text)


def _explained(told: Explanations) -> Iterator[TableRow]:
    if not told.told:
        return
    for name, nats in sorted(told.fit.items(), key=lambda item: -item[1]):
        count = int(told.wrong.sum())
        yield TableRow(", ".join(told.names), "explanation", name, "held-out nats", nats, None, None, count, None)


def cells_of(rows: Sequence[TableRow]) -> list[list[str]]:
    """Return the rows as texts, for a printed table."""

    def number(value: float | None, digits: int = 3) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    return [
        [
            row.split, row.what, row.name, row.state, number(row.value),
            "" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}",
            "" if row.examples is None else f"{row.examples:,}", number(row.threshold, 2), row.note,
        ]
        for row in rows
    ]  # fmt: skip

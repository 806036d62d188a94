"""From a case to its findings: every check is asked, rivals withdraw what they explain better, the rest is ranked.

The first word is the finding that accounts for the wrong labels, not the gravest kind: findings that account for at
least half of the wrong labels come before those that do not, and a finding that says another one more exactly comes
before it. Where hardly any label is wrong, the gravest kind comes first. How certain it is, resamples of the worlds
say.

The table has a row for each concept, label and finding on each split, with the numbers that decide; sentences,
reports, pages and JSON show parts of it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from assay.base import Array, join_words, rng_for
from assay.diagnosis.case import Case
from assay.diagnosis.check import FINDINGS, Check, Finding, Found, Kind, Number, known_checks
from assay.diagnosis.explanations import Explanations
from assay.diagnosis.thresholds import Concepts, Labels, Rivals, Verdict
from assay.metrics import at_least

BESIDE: frozenset[Kind] = frozenset({"unidentified", "annotations", "opaque"})
"""Findings beside which it is still asked whether there are too few examples."""
PLACES: Mapping[Kind, str] = {
    "memorised": "new world",
    "missed region": "region",
    "boundary": "boundary",
    "shifted": "split",
}
"""The explanation behind a finding."""
TABLE_HEAD = ("split", "what", "name", "state", "value", "95 % interval", "examples", "threshold", "note")


@dataclass(frozen=True)
class Withdrawn:
    """A finding that a rival explains better."""

    kind: Kind
    split: str
    rival: Kind
    why: str


@dataclass(frozen=True)
class Judgement:
    """The findings of a case, the first word first, and those that were withdrawn."""

    findings: tuple[Finding, ...]
    withdrawn: tuple[Withdrawn, ...] = ()


@lru_cache(maxsize=1)
def _checks(kinds: tuple[type[Check], ...]) -> tuple[Check, ...]:
    return known_checks()


def checks_in_use() -> tuple[Check, ...]:
    """Return every registered check, built once for as long as none is added, or read again from its file."""
    return _checks(tuple(entry.load() for entry in FINDINGS.entries.values()))


def judge(case: Case) -> Judgement:
    """Return what is found of a case."""
    checks = [check for check in checks_in_use() if case.ruled or not check.needs_rule]
    found = {check.name: list(check.find(case)) for check in checks if not check.fallback}
    kept, withdrawn = _without_rivals(case, checks, found)
    if all(kind in BESIDE for kind in kept):
        rest = {check.name: list(check.find(case)) for check in checks if check.fallback}
        good = {"sound", "no rule"} if kept else set()
        kept |= {kind: entries for kind, entries in rest.items() if entries and kind not in good}
    if _no_single_cause(case, kept):
        kept["underfit"] = [_mixed(case)]
    ranked = _ranked(case, checks, kept)
    return Judgement(ranked, tuple(withdrawn))


def _without_rivals(
    case: Case, checks: Sequence[Check], found: Mapping[Kind, list[Found]]
) -> tuple[dict[Kind, list[Found]], list[Withdrawn]]:
    """Return the findings that no rival explains better; what a withdrawn rival explains stays."""
    kept = {kind: list(entries) for kind, entries in found.items() if entries}
    withdrawn = []
    for check in checks:
        for rival in check.rivals:
            for mine in list(kept.get(check.name, [])):
                if any(rival.withdraws(case, mine, theirs) for theirs in kept.get(rival.kind, [])):
                    kept[check.name].remove(mine)
                    withdrawn.append(Withdrawn(check.name, mine.split, rival.kind, rival.why))
        if check.name in kept and not kept[check.name]:
            del kept[check.name]
    return kept, withdrawn


def _ranked(case: Case, checks: Sequence[Check], kept: Mapping[Kind, list[Found]]) -> tuple[Finding, ...]:
    """Return the findings of each kind as one, ranked by the wrong labels that they account for."""
    by_kind = {check.name: check for check in checks}
    cells = {kind: _cells(case, entries) for kind, entries in kept.items()}
    counts = {kind: sum(int(mask.sum()) for mask in own.values()) for kind, own in cells.items()}
    matters = _wrong_too_often(case)
    half = case.settings(Rivals).half * case.wrong_labels

    leads = {kind for kind in kept if not matters or counts[kind] >= half}
    if not leads:
        leads = {"opaque"} & set(kept)  # what is not predicted may be why
    order = sorted(kept, key=lambda kind: (kind not in leads, -by_kind[kind].severity))
    for general in list(order):
        for exact in [kind for kind in order if general in by_kind[kind].refines]:
            if exact not in leads and general in leads:
                continue
            if order.index(exact) > order.index(general) and _covers(cells[exact], cells[general], matters):
                order.remove(exact)
                order.insert(order.index(general), exact)
    findings = [replace(by_kind[kind].finding(kept[kind]), wrong_labels=counts[kind]) for kind in order]
    return tuple(_unsettled(case, findings))


def _no_single_cause(case: Case, kept: Mapping[Kind, list[Found]]) -> bool:
    """Return whether labels are wrong too often, concepts are predicted, and no finding accounts for half of them."""
    told = {"opaque", "sound"} & set(kept)  # why is not known, or every label by itself is surely right
    if told or not case.ruled or not _wrong_too_often(case) or set(kept) <= {"unidentified", "too few"}:
        return False
    half = case.settings(Rivals).half * case.wrong_labels
    return all(sum(int(m.sum()) for m in _cells(case, entries).values()) < half for entries in kept.values())


def _mixed(case: Case) -> Found:
    """Return that no finding accounts for half of the wrong labels, with the causes of the worst split."""
    view = max(case.compared.values(), key=lambda view: int(view.wrong.sum()))
    numbers: dict[str, Number] = {"split": view.name, "causes": view.errors.text, "named": view.errors.text}
    return Found("mixed", view.name, numbers, rows={name: view.wrong for name, view in case.compared.items()})


def _cells(case: Case, entries: Sequence[Found]) -> dict[str, Array]:
    """Return the wrong labels that findings account for, on the splits that are compared."""
    cells: dict[str, Array] = {}
    for found in entries:
        for split, mask in found.rows.items():
            if split in case.compared and (found is entries[0] or split == found.split):
                view = case.compared[split]
                own = view.in_rows(mask & view.wrong, view.known)
                cells[split] = cells[split] | own if split in cells else own
    return cells


def _covers(exact: Mapping[str, Array], general: Mapping[str, Array], matters: bool) -> bool:
    """Return whether a finding accounts for half of what another one does; what accounts for nothing is covered."""
    total = sum(int(mask.sum()) for mask in general.values())
    both = sum(int((mask & exact[split]).sum()) for split, mask in general.items() if split in exact)
    return 2 * both >= total if total else bool(exact) or not matters


def _wrong_too_often(case: Case) -> bool:
    """Return whether labels are clearly wrong more often than is tolerated, on the splits that are compared."""
    views = case.compared.values()
    wrong, total = sum(int((~view.right).sum()) for view in views), sum(len(view) for view in views)
    return bool(at_least(wrong, total, case.settings(Concepts).tolerated) <= case.level)


def _unsettled(case: Case, findings: Sequence[Finding]) -> list[Finding]:
    """Return findings with the names of those that explain the same wrong labels about as well."""
    told, margin = case.explanations, case.settings(Rivals).margin
    fit = {kind: told.fit[name] for kind, name in PLACES.items() if name in told.fit}
    result = []
    for finding in findings:
        own = fit.get(finding.kind, np.inf)
        close = tuple(kind for kind, nats in fit.items() if kind != finding.kind and nats > own - margin)
        result.append(replace(finding, unsettled=close))
    return result


@dataclass(frozen=True)
class Certainty:
    """How often resamples of the worlds give each first word."""

    word: str
    words: Mapping[str, int]

    @property
    def resamples(self) -> int:
        """How many resamples there were."""
        return sum(self.words.values())

    @property
    def share(self) -> float:
        """The share of resamples that give the same first word."""
        return self.words.get(self.word, 0) / self.resamples if self.resamples else float("nan")

    @property
    def text(self) -> str:
        """The share in words, with the other words that resamples give."""
        if not self.resamples:
            return ""
        others = [f"{word} {count}" for word, count in self.words.items() if word != self.word]
        also = f" (others: {join_words(others[:3])})" if others else ""
        same = f"{self.words.get(self.word, 0)} of {self.resamples} resamples of the worlds"
        return f"Certainty: {same} say {self.word}{also}."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"share": self.share if self.resamples else None, "resamples": self.resamples, "words": dict(self.words)}


def certainty_of(case: Case, word: str) -> Certainty:
    """Return how often the same first word comes out when worlds are drawn again."""
    rng = rng_for(0, "certainty", len(case.first))
    drawn = (case.drawn_again(rng) for _ in range(case.settings(Verdict).resamples))
    words = Counter(judge(again).findings[0].kind for again in drawn)
    return Certainty(word, dict(words.most_common()))


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

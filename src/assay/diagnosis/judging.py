"""From a case to its findings: every check is asked, rivals withdraw what they explain better, the rest is ranked.

The first word is the finding that accounts for the wrong labels, not the gravest kind: findings that account for at
least half of the wrong labels come before those that do not, and a finding that says another one more exactly comes
before it. Where hardly any label is wrong, the gravest kind comes first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from assay.base import Array
from assay.diagnosis.case import Case
from assay.diagnosis.check import Check, Finding, Found, Kind, Number, known_checks
from assay.diagnosis.thresholds import Concepts, Rivals
from assay.metrics import at_least

BESIDE: frozenset[Kind] = frozenset({"unidentified", "annotations", "opaque"})
"""Findings beside which it is still asked whether there are too few examples."""


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
    from assay.diagnosis.check import FINDINGS

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


PLACES: Mapping[Kind, str] = {
    "memorised": "new world",
    "missed region": "region",
    "boundary": "boundary",
    "shifted": "split",
}
"""The explanation behind a finding."""


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


def share_accounted(finding: Finding, case: Case) -> float:
    """Return the share of the wrong labels that a finding accounts for."""
    return finding.wrong_labels / case.wrong_labels if case.wrong_labels else float(np.nan)

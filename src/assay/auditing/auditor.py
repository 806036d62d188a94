"""The audit: all checks in order, their outcome, and the section of the dataset card that reports it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.auditing import nuisance, pictures, symbols
from assay.auditing.audited import NOT_CHECKED, NOTHING, AuditedDataset, CheckResult
from assay.auditing.reading import MOST_READ, colours, seconds_to_read
from assay.auditing.symbols import complete
from assay.base import Markdown, UnknownName, html_table, markdown_table, prose_text, suggestion, write_atomically
from assay.contracts import to_json

START, END = "<!-- audit -->", "<!-- end of audit -->"
OUTCOMES = {
    "pass": "passed",
    "note": "noted",
    "fail": Markdown("**failed**"),
    NOT_CHECKED: NOT_CHECKED,
    NOTHING: NOTHING,
}

COSTS = {"labels": 1.5, "duplicates": 0.5, "nuisances": 1.0}
LEAST_COST = 0.05
"""Seconds of checks by two thousand pictures, and of all the others."""

CHECKS: dict[str, Callable[[AuditedDataset], CheckResult]] = {
    "labels": symbols.labels,
    "complete": complete,
    "classes": symbols.classes,
    "splits": symbols.splits,
    "disjoint": symbols.disjoint,
    "free": symbols.free,
    "sources": pictures.sources,
    "duplicates": pictures.duplicates,
    "visible": pictures.visible,
    "colours": colours,
    "texts": pictures.texts,
    "nuisances": nuisance.nuisances,
    "ceilings": nuisance.ceilings,
}


@dataclass(frozen=True, repr=False)
class Audit:
    """What the audit of a dataset found."""

    dataset: str
    results: tuple[CheckResult, ...]

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(result for result in self.results if result.status == "fail")

    @property
    def not_checked(self) -> tuple[CheckResult, ...]:
        """The checks that could not be made: of them it is not known whether they would pass."""
        return tuple(result for result in self.results if result.status == NOT_CHECKED)

    @property
    def text(self) -> str:
        """The outcome in a line: what failed, how many checks passed, and what was not checked."""
        failed, left = ([result.check for result in part] for part in (self.failed, self.not_checked))
        passed = sum(result.status in ("pass", "note") for result in self.results)
        parts = [f"failed: {', '.join(failed)}"] if failed else []
        parts += [f"passed {passed} check{'' if passed == 1 else 's'}"] if passed else []
        return "; ".join(parts + ([f"not checked: {', '.join(left)}"] if left else []))

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain data; `passed`: no check failed, as the exit status says."""
        counts = {status: sum(result.status == status for result in self.results) for status in OUTCOMES}
        return {
            "dataset": self.dataset,
            "passed": not self.failed,
            "counts": counts,
            "not_checked": [result.check for result in self.not_checked],
            "findings": [result.to_dict() for result in self.results],
        }

    def write(self, folder: Path) -> None:
        """Write `audit.json`, and the section into the dataset's card, in place of an earlier one."""
        write_atomically(folder / "audit.json", to_json(self.to_dict()))
        card = folder / "README.md"
        text = card.read_text(encoding="utf-8") if card.is_file() else ""
        before, _, rest = text.partition(START)
        _, _, after = rest.partition(END)
        write_atomically(card, f"{before.rstrip()}\n\n{self._card_section()}\n{after.lstrip()}".encode())

    def _card_section(self) -> str:
        rows = [(result.check, OUTCOMES[result.status], prose_text(result.text)) for result in self.results]
        table = markdown_table(("check", "outcome", ""), rows)
        return "\n".join([START, "## Audit", "", "What `assay audit` found.", "", table, END])

    def __repr__(self) -> str:
        counts = Counter(result.status for result in self.results)
        failed = ", ".join(result.check for result in self.failed)
        told = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"Audit({self.dataset}: {told}{f'; failed: {failed}' if failed else ''})"

    def _repr_html_(self) -> str:
        rows = [[result.check, result.status, result.text] for result in self.results]
        return html_table(["check", "outcome", ""], rows)


def audit(
    data: AuditedDataset, names: Sequence[str] = (), watch: Callable[[str, float], None] = lambda name, share: None
) -> Audit:
    """Try all checks, or those named; `watch` is told the check, and the share of all that is done.

    Parameters
    ----------
    data
        The dataset, as `audited_dataset` or `open_imported` give it.
    names
        Names in `CHECKS`; by default all.
    watch
        Is told the check that runs, and the share of all that is done.
    """
    for name in names:
        if name not in CHECKS:
            raise UnknownName(f"no check named {name!r}{suggestion(name, list(CHECKS))}")
    results, done, costs = list[CheckResult](), 0.0, {name: _cost(name, data) for name in names or CHECKS}
    for name, cost in costs.items():

        def progress(share: float, name: str = name, start: float = done, cost: float = cost) -> None:
            watch(name, (start + share * cost) / max(sum(costs.values()), LEAST_COST))

        progress(0.0)
        results.append(CHECKS[name](replace(data, progress=progress)))
        done += cost
    return Audit(data.name, tuple(results))


def _cost(name: str, data: AuditedDataset) -> float:
    """Return about how many seconds a check takes: reading concepts from pictures takes most where it is done."""
    pictures = sum(len(part.pictures) for part in data.parts.values())
    if name == "visible":
        return 1.0 if data.task is not None else seconds_to_read(data)
    return COSTS.get(name, 0.0) * pictures / MOST_READ + (len(data.space) / 600) ** 2 * (name == "free") + LEAST_COST

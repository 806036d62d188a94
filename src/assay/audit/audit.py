"""All checks of the audit, in the order in which they are told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.audit import nuisance, pictures, symbols
from assay.audit.audited import AuditedDataset
from assay.audit.check_result import CheckResult
from assay.errors import UnknownName, suggestion

CHECKS: dict[str, Callable[[AuditedDataset], CheckResult]] = {
    "labels": symbols.labels,
    "classes": symbols.classes,
    "splits": symbols.splits,
    "disjoint": symbols.disjoint,
    "free": symbols.free,
    "sources": pictures.sources,
    "duplicates": pictures.duplicates,
    "visible": pictures.visible,
    "texts": pictures.texts,
    "nuisances": nuisance.nuisances,
    "ceilings": nuisance.ceilings,
}


@dataclass(frozen=True)
class Audit:
    """What the audit of a dataset found."""

    dataset: str
    results: tuple[CheckResult, ...]

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(result for result in self.results if result.status == "fail")

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain data."""
        findings = [result.to_dict() for result in self.results]
        return {"dataset": self.dataset, "passed": not self.failed, "findings": findings}


def audit(data: AuditedDataset, names: Sequence[str] = (), watch: Callable[[str], None] = lambda name: None) -> Audit:
    """Try all checks, or those named."""
    for name in names:
        if name not in CHECKS:
            raise UnknownName(f"no check named {name!r}{suggestion(name, list(CHECKS))}")
    results = []
    for name in names or CHECKS:
        watch(name)
        results.append(CHECKS[name](data))
    return Audit(data.name, tuple(results))

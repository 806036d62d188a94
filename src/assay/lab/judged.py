"""By what a run was judged, and what a record keeps of its diagnosis: enough to judge it again without predictions."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.base import AssayError, ConfigError, Settings
from assay.diagnosis import FINDINGS, Thresholds, read_thresholds

if TYPE_CHECKING:
    from assay.diagnosis import Diagnosis

DIGITS = 5
"""How many digits statistics are kept with."""
JUDGED_BY = "judged_by"
OF_TABLE = ("split", "what", "name", "state", "value", "low", "high", "examples", "threshold")
"""What is kept of a row of the table of a diagnosis."""


@dataclass(frozen=True)
class JudgedBy:
    """The thresholds that differ from the defaults, and the user's findings, each with the hash of its file."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    findings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, diagnose: Mapping[str, Any], findings: Iterable[str], settings: Settings) -> "JudgedBy":
        """Return by what a study judges; thresholds and findings that there are not are refused with their line."""
        for name, value in diagnose.items():
            try:
                read_thresholds({name: value})
            except AssayError as error:
                place = settings.place(f"diagnose.{name}") or settings.place("diagnose")
                raise ConfigError(f"{place}diagnose: {error}") from None
        codes = {name: FINDINGS.entry(name).code for name in findings}
        return cls(dict(diagnose), {name: code.sha256 for name, code in codes.items() if code is not None})

    def settings(self) -> Thresholds:
        """Return the thresholds as settings."""
        return read_thresholds(self.thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the version of the diagnosis."""
        from assay.diagnosis import VERSION

        return {"diagnosis": VERSION, "thresholds": dict(self.thresholds), "findings": dict(self.findings)}


def facts_of(diagnosis: "Diagnosis", by: JudgedBy) -> dict[str, Any]:
    """Return what a record keeps of a diagnosis: by what it judged, how certain it is, and the numbers that decided."""
    return {
        JUDGED_BY: by.to_dict(),
        "certainty": diagnosis.certainty.to_dict(),
        "next": diagnosis.next,
        "statistics": statistics_of(diagnosis),
    }


def statistics_of(diagnosis: "Diagnosis") -> dict[str, Any]:
    """Return the numbers of each finding, and how each concept, label and explanation was judged."""
    findings = [
        {
            "kind": finding.kind,
            "claim": finding.claim,
            "split": finding.split,
            "numbers": {name: _short(number) for name, number in finding.numbers.items()},
            "wrong_labels": finding.wrong_labels,
        }
        for finding in diagnosis.findings
    ]
    rows = [row.to_dict() for row in diagnosis.table if row.what != "finding"]
    return {"findings": findings, "table": [[_short(row[name]) for name in OF_TABLE] for row in rows]}


def _short(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def is_judged(record: Path, by: JudgedBy) -> bool:
    """Return whether the record of a run was judged by this; a damaged one is not judged again."""
    try:
        return bool(_judged_by(record, record.stat().st_mtime_ns) == by.to_dict())
    except (OSError, ValueError, AttributeError):
        return True


@lru_cache(maxsize=4096)
def _judged_by(record: Path, changed: int) -> Any:
    return json.loads(record.read_text(encoding="utf-8")).get(JUDGED_BY)

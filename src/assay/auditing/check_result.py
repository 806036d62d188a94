"""The result of one check of the audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Status = Literal["pass", "note", "fail", "not checked", "nothing to check"]
NOT_CHECKED: Final = "not checked"
NOTHING: Final = "nothing to check"
"""The outcome where the dataset has nothing that the check asks about, such as texts."""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of a check: passed, passed with a note, failed, not checked because that cannot be done here.

    Or there is nothing to check.
    """

    check: str
    status: Status
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {"check": self.check, "status": self.status, "text": self.text, "numbers": dict(self.numbers)}


def fail_if(faults: list[str], check: str, fault: str, passed: str) -> CheckResult:
    """Return a check that failed with the first few faults, or passed where there are none."""
    if faults:
        return CheckResult(check, "fail", f"{fault}: {first_few(faults)}")
    return CheckResult(check, "pass", passed)


def first_few(texts: list[str], most: int = 3) -> str:
    """Write a few of many."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more

"""Laws and their outcomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.base import AssayError


class CheckFailed(AssayError):
    """A law that a task, model, metric or finding does not keep."""

    exit_code = 1


@dataclass(frozen=True)
class LawOutcome:
    """The outcome of one law."""

    law: str
    fault: str | None

    @property
    def passed(self) -> bool:
        """Whether the law holds."""
        return self.fault is None


def try_laws(laws: Mapping[str, Callable[[], None]]) -> list[LawOutcome]:
    """Try every law; a law holds if its function returns."""
    checks = []
    for law, test in laws.items():
        try:
            test()
            checks.append(LawOutcome(law, None))
        except Exception as error:
            checks.append(
                LawOutcome(law, f"{error}" if isinstance(error, AssayError) else f"{type(error).__name__}: {error}")
            )
    return checks


def need(holds: bool, fault: str) -> None:
    """Raise with this fault unless something holds."""
    if not holds:
        raise CheckFailed(fault)


def require(checks: list[LawOutcome], what: str) -> None:
    """Raise if a law does not hold, naming the first."""
    for check in checks:
        if not check.passed:
            raise CheckFailed(f"{what}: {check.law}: {check.fault}")

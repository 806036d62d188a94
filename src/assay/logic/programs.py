"""Who runs a rule that is a program (the formula `Oracle`): named by its address, as registries name tasks.

So logic does not depend on Prolog, which depends on it.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

from assay.base import Array
from assay.logic.concepts import ConceptSpace
from assay.logic.formula import Formula, Oracle

RUNNER = "assay.prolog"


class ProgramRunner(Protocol):
    """What runs programs that label worlds."""

    def check_oracle(self, formula: Oracle, space: ConceptSpace) -> None:
        """Raise unless the program can be read and run on worlds of a space."""

    def ask_program(
        self, formula: Oracle, space: ConceptSpace, rows: Array, numbers: Mapping[str, Sequence[int]]
    ) -> Array:
        """Return the program's answers for worlds given as numbers."""

    def readable(self, formula: Formula, space: ConceptSpace) -> bool:
        """Return whether a formula holds no program, or one whose worlds are few enough to be tabulated."""

    def tabulate(self, formula: Oracle, space: ConceptSpace) -> Formula:
        """Return the program as the list of worlds that it labels true."""


def program_runner() -> ProgramRunner:
    """Return what runs programs; it is imported where a rule is one."""
    return cast(ProgramRunner, import_module(RUNNER))

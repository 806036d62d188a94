"""Prolog: worlds, rules and formulas as programs, and programs that label worlds."""

from assay.logic.prolog.labelling import Worlds, label
from assay.logic.prolog.lift import formula_of
from assay.logic.prolog.limits import ProofLimits
from assay.logic.prolog.oracle import oracle, rule_of
from assay.logic.prolog.program import Program, read_program
from assay.logic.prolog.terms import PrologError
from assay.logic.prolog.vocabulary import Vocabulary

__all__ = [
    "Program", "PrologError", "ProofLimits", "Vocabulary", "Worlds", "formula_of", "label", "oracle",
    "read_program", "rule_of",
]  # fmt: skip

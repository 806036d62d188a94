"""Prolog: worlds, rules and formulas as programs, and programs that label worlds.

`read_program` reads a program, `label` asks it about `Worlds`, `formula_of` lifts it to a formula, `rule_of` makes a
rule of it. `Vocabulary`, `Bias` and the `..._text` functions write facts, labels and rules for learners of programs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.prolog.bias import AttributeTerm as AttributeTerm
    from assay.prolog.bias import Bias as Bias
    from assay.prolog.bias import CountLiteral as CountLiteral
    from assay.prolog.bias import Language as Language
    from assay.prolog.bias import Literal as Literal
    from assay.prolog.bias import literals_by_terms as literals_by_terms
    from assay.prolog.ilp_files import IlpProblem as IlpProblem
    from assay.prolog.ilp_files import aleph_files as aleph_files
    from assay.prolog.ilp_files import popper_files as popper_files
    from assay.prolog.ilp_files import read_clauses as read_clauses
    from assay.prolog.lift import formula_of as formula_of
    from assay.prolog.lift import merge_pairs as merge_pairs
    from assay.prolog.oracles import OracleRunner as OracleRunner
    from assay.prolog.oracles import Worlds as Worlds
    from assay.prolog.oracles import label as label
    from assay.prolog.oracles import oracle as oracle
    from assay.prolog.oracles import question_of as question_of
    from assay.prolog.oracles import rule_of as rule_of
    from assay.prolog.program import read_program as read_program
    from assay.prolog.program import with_predefined as with_predefined
    from assay.prolog.reader import Clause as Clause
    from assay.prolog.store import ProofLimits as ProofLimits
    from assay.prolog.terms import PrologError as PrologError
    from assay.prolog.terms import Variable as Variable
    from assay.prolog.vocabulary import WORLD as WORLD
    from assay.prolog.vocabulary import Vocabulary as Vocabulary
    from assay.prolog.vocabulary import plain_name as plain_name
    from assay.prolog.vocabulary import value_text as value_text
    from assay.prolog.write import facts_text as facts_text
    from assay.prolog.write import label_names as label_names
    from assay.prolog.write import labels_text as labels_text
    from assay.prolog.write import rules_text as rules_text
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

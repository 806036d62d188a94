"""Formulas over concepts, and `Knowledge`: the rule as data.

`parse` reads a formula, `evaluate` computes it for arrays, `compile_diagram` compiles it to a decision diagram,
`to_cnf` writes clauses, `latex` formulas. The classes of formulas (`And`, `Compare`, `Count`, ...) are values.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.logic.all_different import some_different as some_different
    from assay.logic.build import at_least as at_least
    from assay.logic.build import at_most as at_most
    from assay.logic.build import conjunction as conjunction
    from assay.logic.build import disjunction as disjunction
    from assay.logic.build import exactly as exactly
    from assay.logic.build import free_names as free_names
    from assay.logic.build import map_children as map_children
    from assay.logic.build import names_in as names_in
    from assay.logic.build import parity as parity
    from assay.logic.build import substitute as substitute
    from assay.logic.build import var as var
    from assay.logic.build import walk as walk
    from assay.logic.circuit import Diagram as Diagram
    from assay.logic.circuit import WorldRanking as WorldRanking
    from assay.logic.circuit import compile_diagram as compile_diagram
    from assay.logic.circuit import compile_part as compile_part
    from assay.logic.cnf import CNF as CNF
    from assay.logic.cnf import knowledge_from_cnf as knowledge_from_cnf
    from assay.logic.cnf import parse_dimacs as parse_dimacs
    from assay.logic.cnf import to_cnf as to_cnf
    from assay.logic.concepts import ABSENT as ABSENT
    from assay.logic.concepts import ABSENT_NUMBER as ABSENT_NUMBER
    from assay.logic.concepts import Concept as Concept
    from assay.logic.concepts import ConceptSpace as ConceptSpace
    from assay.logic.concepts import EncoderGroup as EncoderGroup
    from assay.logic.concepts import Slot as Slot
    from assay.logic.concepts import Value as Value
    from assay.logic.concepts import bits as bits
    from assay.logic.concepts import digits as digits
    from assay.logic.concepts import kind_of_value as kind_of_value
    from assay.logic.concepts import listing as listing
    from assay.logic.decode import Decoder as Decoder
    from assay.logic.decode import Limits as Limits
    from assay.logic.decode import true_steps as true_steps
    from assay.logic.evaluation import COMPARE as COMPARE
    from assay.logic.evaluation import Evaluator as Evaluator
    from assay.logic.evaluation import evaluate as evaluate
    from assay.logic.features import guard_atom as guard_atom
    from assay.logic.formula import TRUE as TRUE
    from assay.logic.formula import AllDifferent as AllDifferent
    from assay.logic.formula import AllEqual as AllEqual
    from assay.logic.formula import And as And
    from assay.logic.formula import Compare as Compare
    from assay.logic.formula import Const as Const
    from assay.logic.formula import Count as Count
    from assay.logic.formula import Divide as Divide
    from assay.logic.formula import Formula as Formula
    from assay.logic.formula import Function as Function
    from assay.logic.formula import If as If
    from assay.logic.formula import Iff as Iff
    from assay.logic.formula import Implies as Implies
    from assay.logic.formula import Member as Member
    from assay.logic.formula import Minus as Minus
    from assay.logic.formula import Not as Not
    from assay.logic.formula import Operator as Operator
    from assay.logic.formula import Or as Or
    from assay.logic.formula import Oracle as Oracle
    from assay.logic.formula import Product as Product
    from assay.logic.formula import Quantified as Quantified
    from assay.logic.formula import Sum as Sum
    from assay.logic.formula import Var as Var
    from assay.logic.formula import Xor as Xor
    from assay.logic.formula import product as product
    from assay.logic.formula import total as total
    from assay.logic.ground import NUMBER as NUMBER
    from assay.logic.ground import ground_formula as ground_formula
    from assay.logic.ground import shape_of as shape_of
    from assay.logic.knowledge import NO_RULE as NO_RULE
    from assay.logic.knowledge import Constraint as Constraint
    from assay.logic.knowledge import Knowledge as Knowledge
    from assay.logic.knowledge import Label as Label
    from assay.logic.knowledge import LabelNoise as LabelNoise
    from assay.logic.notation import latex as latex
    from assay.logic.notation import parse as parse
    from assay.logic.residual import Residuals as Residuals
    from assay.logic.tally import true_outcomes as true_outcomes
    from assay.logic.tally import truth_diagram as truth_diagram
    from assay.logic.variants import Boundary as Boundary
    from assay.logic.variants import boundary_of as boundary_of
else:
    from assay.doors import door

    __getattr__, __dir__, __all__ = door(__name__)

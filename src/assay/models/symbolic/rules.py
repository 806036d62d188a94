"""A rule list: "if this then A, else if that then B, else C", each rule a few questions to concepts.

Rules are found one by one. Each is grown from the questions that single out one value among the examples not yet
accounted for, by a beam search for the best share of right ones (Laplace's estimate), and the list ends where no rule
is better than the commonest value.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array, Codes
from assay.logic import Compare, Concept, Const, Formula, If, Label, Var, conjunction, evaluate
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.formulas import FormulaModel, LearnedFormulas

SLIGHT = 1e-9


class RuleListConfig(SymbolicConfig):
    """How rules are grown."""

    rules: int = Field(20, ge=1, le=60)
    """The most rules."""
    questions: int = Field(4, ge=1)
    """The most questions in a rule."""
    beam: int = Field(8, ge=1)
    """How many rules are grown side by side."""
    least: int = Field(2, ge=1)
    """The fewest examples that a rule must account for."""


@dataclass(frozen=True)
class _Rule:
    questions: tuple[int, ...]
    holds: Array
    worth: float
    code: int


class RuleList(FormulaModel):
    """A list of rules on concepts."""

    name = "rules"
    Config: ClassVar[type[SymbolicConfig]] = RuleListConfig
    config: RuleListConfig

    def learn_label(self, label: Label, examples: LabelExamples) -> LearnedFormulas:
        """Find rules one by one and write them as one formula."""
        tests = [test for concept in examples.space.concepts for test in questions(concept)]
        truth = np.stack([np.asarray(evaluate(test, examples.space, examples.codes), dtype=bool) for test in tests])
        left, rules = np.ones(len(examples), dtype=bool), list[_Rule]()
        while len(rules) < self.config.rules and len(set(examples.targets[left].tolist())) > 1:
            rule = self._grown(truth, examples.targets, left, len(label.values))
            if rule is None:
                break
            rules.append(rule)
            left = left & ~rule.holds
        rest = examples.targets[left] if left.any() else examples.targets
        otherwise = int(np.bincount(rest).argmax()) if len(rest) else 0
        formula: Formula = Const(label.values[otherwise])
        for rule in reversed(rules):
            condition = conjunction(*(tests[place] for place in rule.questions))
            formula = If(condition, Const(label.values[rule.code]), formula)
        return LearnedFormulas({None: formula}, otherwise, {"rules": len(rules)})

    def _grown(self, truth: Array, targets: Codes, left: Array, values: int) -> _Rule | None:
        """Return the best rule for what is left, if it is better than naming the commonest value."""
        usual = np.bincount(targets[left]).max()
        best = _Rule((), left, (usual + 1) / (left.sum() + values), -1)
        beam: list[_Rule] = [best]
        for _ in range(self.config.questions):
            grown = {rule.holds.tobytes(): rule for old in beam for rule in self._refined(old, truth, targets, values)}
            if not grown:
                break
            beam = sorted(grown.values(), key=lambda rule: (-rule.worth, rule.questions))[: self.config.beam]
            if beam[0].worth > best.worth + SLIGHT:
                best = beam[0]
        return best if best.questions else None

    def _refined(self, rule: _Rule, truth: Array, targets: Codes, values: int) -> list[_Rule]:
        """Return the rule with one more question each, those that single out a value best."""
        holds = truth & rule.holds
        counts = np.stack([(holds & (targets == code)).sum(axis=1) for code in range(values)], axis=1)
        covered = counts.sum(axis=1)
        worth = (counts.max(axis=1) + 1) / (covered + values)
        fit = (covered >= self.config.least) & (covered < rule.holds.sum())
        places = [int(place) for place in np.argsort(-worth, kind="stable") if fit[place]][: self.config.beam]
        return [
            _Rule((*rule.questions, place), holds[place], float(worth[place]), int(counts[place].argmax()))
            for place in places
        ]


def questions(concept: Concept) -> list[Formula]:
    """Return what can be asked of a concept: is it this value or not, is it at least or below this number.

    >>> [str(one) for one in questions(Concept("cars", (0, 1, 2), counts=True))]
    ['cars >= 1', 'cars < 1', 'cars >= 2', 'cars < 2', 'cars == 1', 'cars != 1']
    """
    what = Var(concept.name)
    if concept.kind == "bool" and not concept.optional:
        return [what, ~what]
    tests: list[Formula] = []
    if concept.kind == "int" and not concept.optional:
        for value in concept.values[1:]:
            tests += [Compare(">=", what, Const(value)), Compare("<", what, Const(value))]
    inner = concept.values[1:-1] if concept.kind == "int" and not concept.optional else concept.values
    for value in inner:
        tests += [what.eq(value), what.ne(value)]
    return tests

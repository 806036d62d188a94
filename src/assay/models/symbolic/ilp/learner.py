"""Our own learner of clauses, as a model: search, cover, search again for what is left wrong."""

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array
from assay.logic import Const, Formula, Label, evaluate
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import Examples, LabelExamples, count_bits, pack_bits
from assay.models.symbolic.formulas import FormulaModel, LearnedFormulas
from assay.models.symbolic.ilp.clauses import Coverage, IlpClause, definitions, program_formula
from assay.models.symbolic.ilp.expressible import ClauseWriter, express_rule
from assay.models.symbolic.ilp.search import CandidatePool, Clock, Search, Target
from assay.models.symbolic.ilp.set_cover import CoverSolver, Theory
from assay.prolog import Bias, Language, label_names, plain_name

SPARE = 0.93
"""The share of the time limit that the search may use; the rest is for what must be done at its end."""


class IlpConfig(SymbolicConfig, Language):
    """How clauses are learned."""

    seconds: float = Field(120.0, gt=0)
    """The most seconds for each label; then the best program so far is kept."""


@dataclass(frozen=True)
class InducedClauses:
    """The clauses that a learner found for one value of a label, and notes for the record."""

    clauses: tuple[IlpClause, ...]
    notes: Mapping[str, Any]


class ClauseModel(FormulaModel):
    """A learner of clauses within the declared bias; engines differ, the bias and the scoring do not."""

    Config: ClassVar[type[SymbolicConfig]] = IlpConfig
    config: IlpConfig

    @abstractmethod
    def induce(self, examples: LabelExamples, positive: Array, head: str, seconds: float) -> InducedClauses:
        """Return clauses that hold where `positive` does."""

    @cached_property
    def bias(self) -> Bias:
        """What clauses may be made of: the same for all engines."""
        settings = self.config.model_dump(include=set(Language.model_fields))
        return Bias(self.space, Language.model_validate(settings))

    def learn(self, examples: Examples) -> None:
        """Learn label by label; then record whether the true rule is expressible in the bias."""
        super().learn(examples)
        writer = ClauseWriter(self.bias)
        for label in self.knowledge.labels:
            if not label.has_rule:
                continue
            answer = express_rule(label.formula, self.bias, label.values, writer)
            rule = self.learned[label.name]
            self.learned[label.name] = replace(rule, notes={**rule.notes, "bias": answer.to_dict()})

    def learn_label(self, label: Label, examples: LabelExamples) -> LearnedFormulas:
        """Learn the clauses of "true", or of each value but the commonest."""
        counts = np.bincount(examples.targets, minlength=len(label.values))
        if label.kind == "bool":
            true = label.values.index(True)
            head = label_names(self.knowledge)[label.name]
            formula, notes = self._value(examples, true, head, self.config.seconds)
            return LearnedFormulas({true: formula}, 1 - true, notes)
        otherwise = int(counts.argmax())
        codes = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code] and code != otherwise]
        rules, ends = {}, time.monotonic() + self.config.seconds
        for place, code in enumerate(codes):
            head = plain_name(f"{label.name}_{label.values[code]}".replace("-", "minus_"))
            left = max(ends - time.monotonic(), 0.0) / (len(codes) - place)
            rules[code] = self._value(examples, code, head, left)
        return LearnedFormulas.of_values(label, rules, otherwise)

    def _value(self, examples: LabelExamples, code: int, head: str, seconds: float) -> tuple[Formula, dict[str, Any]]:
        """Return the formula of one value of a label, and notes, with errors counted by us."""
        positive = examples.positive(code)
        if not positive.any() or positive.all():
            return Const(bool(len(positive) and positive.all())), {"errors": 0, "clauses": 0, "seconds": 0.0}
        start = time.monotonic()
        induced = self.induce(examples, positive, head, seconds)
        formula = program_formula(induced.clauses)
        wrong = np.asarray(evaluate(formula, self.space, examples.codes), dtype=bool) != positive
        program = [clause.text(head, self.bias) for clause in induced.clauses]
        return formula, {
            "errors": int(wrong.sum()),
            "clauses": len(induced.clauses),
            "seconds": round(time.monotonic() - start, 3),
            "prolog": [*program, *definitions(induced.clauses)],
            **induced.notes,
        }


class Ilp(ClauseModel):
    """Our own learner: clauses by search over packed bits, a program by set cover with description lengths."""

    name = "ilp"

    def induce(self, examples: LabelExamples, positive: Array, head: str, seconds: float) -> InducedClauses:
        """Search and cover in turn, until nothing shorter is found."""
        clock = Clock.of(seconds * SPARE)
        learner = Learner(Coverage(self.bias, examples.codes), positive)
        theory = learner.run(clock)
        notes = {
            "bits": round(theory.bits, 2), "proved": theory.proved, "complete": learner.search.complete,
            "seen": learner.search.seen, "rounds": learner.rounds,
        }  # fmt: skip
        return InducedClauses(tuple(candidate.clause for candidate in theory.clauses), notes)


class Learner:
    """Learns a program for some examples."""

    def __init__(self, coverage: Coverage, positive: Array) -> None:
        self.coverage = coverage
        self.positive, self.negative = pack_bits(positive), pack_bits(~positive)
        self.search = Search(coverage)
        self.cover = CoverSolver(self.positive, self.negative, coverage.bias.language.clauses)
        self.rounds = 0

    def run(self, clock: Clock) -> Theory:
        """Return the program with the fewest bits that was found in time.

        The first search is for all examples; then, as long as that helps, for those that are wrong, or would be
        without one of the clauses.
        """
        best, pool = self._searched(self.cover.theory(()), self.cover.theory(()), CandidatePool(), clock)
        improved = True
        while improved and best.errors and not clock.over:
            improved = False
            for base in [best, *self.cover.without_each(best)]:
                theory, pool = self._searched(base, best, pool, clock)
                improved |= theory.bits < best.bits - 1e-9
                best = theory
                if improved or clock.over:
                    break
        return self.cover.prove(list(pool.clauses.values()), clock, best)

    def _searched(self, base: Theory, best: Theory, pool: CandidatePool, clock: Clock) -> tuple[Theory, CandidatePool]:
        """Search for clauses to add to a program, and return the best program of all clauses known by then."""
        self.rounds += 1
        left = self.positive & ~base.covers
        target = Target(left, self.negative & ~base.covers, self.cover.savings(base, int(count_bits(left))))
        for level in self.search.run(target, clock.share(0.7)):
            for candidate in level.clauses.values():
                pool.add(candidate)
            best = self.cover.best(list(pool.clauses.values()), clock, best)
            self.search.limit = best.bits - self.cover.least
        return best, pool

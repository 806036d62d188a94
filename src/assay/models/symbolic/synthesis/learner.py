"""The synthesiser as a model: for each label the cheapest program that explains the examples."""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from assay.base import Array
from assay.logic import ConceptSpace, Const, Formula, Label, Var, evaluate, total
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.formulas import FormulaModel, LearnedFormulas
from assay.models.symbolic.synthesis.language import MOST_SUBSETS, NUMBERS, ProgramLanguage, leaves_of
from assay.models.symbolic.synthesis.search import ProgramSearch, SearchBudget, SearchResult

FIRST = 256
MORE = 64
ROUNDS = 6
TERMS = 4


class SynthesisConfig(SymbolicConfig):
    """How programs are searched."""

    seconds: float = Field(300.0, gt=0)
    """The most seconds for each label; then the best program so far is kept."""
    programs: int = Field(300_000, ge=100)
    """The most programs that are kept, which bounds memory."""
    largest_group: int = Field(4, ge=1, le=6)
    """To how many objects one predicate may be applied at once."""
    error_bits: float | None = Field(None, gt=0)
    """The cost in bits of an example that a program gets wrong, where no program is right on all; by default 2 +
    log2(examples)."""
    examples: int = Field(1024, ge=FIRST)
    """How many examples are used at most: some at first, then also those that a program gets wrong."""


class Synthesis(FormulaModel):
    """Programs in a typed language, found by enumeration in order of cost."""

    name = "synthesis"
    Config: ClassVar[type[SymbolicConfig]] = SynthesisConfig
    config: SynthesisConfig

    def learn_label(self, label: Label, examples: LabelExamples) -> LearnedFormulas:
        """Find the program of a label: of its own kind if it is a number, or a true-or-false one for each value."""
        counts = np.bincount(examples.targets, minlength=len(label.values))
        otherwise = int(counts.argmax()) if len(examples) else 0
        if label.kind == "bool":
            true = label.values.index(True)
            formula, notes = self._program(examples, true, self.config.seconds)
            return LearnedFormulas({true: formula}, 1 - true, notes)
        whole = _sum(examples) if label.kind == "int" else None
        if whole is not None:
            return LearnedFormulas({None: whole}, otherwise, {"errors": 0})
        codes = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
        programs = {code: self._program(examples, code, self.config.seconds / len(codes)) for code in codes}
        return LearnedFormulas.of_values(label, programs, otherwise)

    def _program(self, examples: LabelExamples, code: int, seconds: float) -> tuple[Formula, dict[str, Any]]:
        """Return the program for one value, and notes; of many examples, those that it has wrong are added in turn."""
        target = examples.positive(code)
        if not target.any() or target.all():
            return Const(bool(len(target) and target.all())), {"bits": 0.0, "errors": 0, "complete": True}
        rows, spent = self._first(len(examples)), 0.0
        for _ in range(ROUNDS):
            result = self._search(examples, rows, target, seconds - spent)
            spent += result.seconds
            wrong = np.flatnonzero(_holds(result.best.formula, examples) != target)
            fresh = np.setdiff1d(wrong, rows)
            if not len(fresh) or spent >= seconds:
                break
            rows = np.concatenate([rows, self.rng("counterexamples", len(rows)).permutation(fresh)[:MORE]])
        return result.best.formula, {**_notes(result), "errors": len(wrong), "seconds": round(spent, 3)}

    def _first(self, size: int) -> Array:
        if size <= self.config.examples:
            return np.arange(size)
        return np.sort(self.rng("examples").permutation(size)[:FIRST])

    def _search(self, examples: LabelExamples, rows: Array, target: Array, seconds: float) -> SearchResult:
        language = ProgramLanguage.of(examples.space)
        blocks = leaves_of(language, examples.space, examples.codes[rows], self.config.largest_group)
        budget = SearchBudget(seconds, self.config.programs, self.config.error_bits)
        return ProgramSearch(blocks, target[rows], language.costs, budget).run()


def _notes(result: SearchResult) -> dict[str, Any]:
    rivals = [[str(rival.formula), rival.bits] for rival in result.rivals]
    return {"bits": result.best.bits, "programs": result.programs, "complete": result.complete, "rivals": rivals}


def _holds(formula: Formula, examples: LabelExamples) -> Array:
    return np.asarray(evaluate(formula, examples.space, examples.codes), dtype=bool)


def _sum(examples: LabelExamples) -> Formula | None:
    """Return the sum of the fewest Ints and Bools, and perhaps a number, that a label always is, if there is one."""
    parts = _addends(examples.space)
    if not parts or not len(examples):
        return None
    wanted = np.array([int(value) for value in examples.label.values])[examples.targets]
    values = np.stack([np.asarray(evaluate(part, examples.space, examples.codes), dtype=np.int64) for part in parts])
    for size in range(1, min(TERMS, len(parts)) + 1):
        if comb(len(parts), size) > MOST_SUBSETS:
            return None
        for chosen in combinations(range(len(parts)), size):
            rest = wanted - values[list(chosen)].sum(axis=0)
            if (rest == rest[0]).all() and abs(int(rest[0])) in NUMBERS:
                more: Sequence[Formula] = [Const(int(rest[0]))] if rest[0] else []
                return total(*(parts[place] for place in chosen), *more)
    return None


def _addends(space: ConceptSpace) -> list[Formula]:
    return [Var(c.name) for c in space.concepts if c.kind in ("int", "bool") and not c.optional]

"""The differentiable ILP learner as a model (alphaILP style): clauses by beam search, their weights by gradients.

The weights follow from the cross-entropy of the labels, and a price for what is long or undecided.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from assay.base import Array
from assay.logic import Formula, Label
from assay.models.core.perception import one_hot
from assay.models.symbolic.alpha_ilp.beam_search import Beam, ClausePool, Modes, SearchLimits, ground_clause
from assay.models.symbolic.alpha_ilp.soft_reasoning import (
    GroundAtoms,
    GroundBodies,
    Rules,
    SoftOr,
    clause_values,
    program_value,
)
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import Examples, LabelExamples, most_probable_codes
from assay.models.symbolic.formulas import FormulaModel, LearnedFormulas
from assay.models.symbolic.ilp.clauses import IlpClause, PlacedLiteral, definitions, program_formula
from assay.prolog import Bias, Language, plain_name

SEARCH = 0.6
"""The share of the time that is for the search."""
MOST_ROWS = 2048
"""For how many examples values are computed at once."""
SHARP = 8.0
"""How strongly the initial weights follow the scores of the search."""
LEAST_WEIGHT = 1e-4
"""Clauses with less in every rule are forgotten."""
LITERAL = 0.005
"""What a literal costs in the loss."""
UNDECIDED = 0.02
"""What a rule costs in the loss that is undecided between clauses, by its entropy."""
DECIDED, LOOK = 0.999, 10
"""When every rule's strongest clause has so much weight, nothing more is learned; so often that is looked at."""
MARGIN = 1e-4
"""The least distance of probabilities from 0 and 1 in the loss."""


# -- the weights of clauses --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeightedClauses:
    """The clauses of one value of a label, and the weight of each in each rule."""

    clauses: tuple[IlpClause, ...]
    weights: Array

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; literals by name."""
        bodies = [[[placed.literal.name, list(placed.places)] for placed in clause.body] for clause in self.clauses]
        groups = [list(clause.groups) for clause in self.clauses]
        return {"groups": groups, "bodies": bodies, "weights": self.weights.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], bias: Bias) -> "WeightedClauses":
        """Return what `to_dict` wrote."""
        clauses = []
        for groups, body in zip(data["groups"], data["bodies"], strict=True):
            placed = tuple(PlacedLiteral(bias.by_name[name], tuple(places)) for name, places in body)
            clauses.append(IlpClause(tuple(groups), placed))
        weights = np.array(data["weights"], dtype=np.float64).reshape(len(data["weights"]), len(clauses))
        return cls(tuple(clauses), weights)

    def strongest(self, threshold: float) -> tuple[IlpClause, ...]:
        """Return the strongest clause of each rule that is strong enough, each once.

        Where no rule has one, the strongest of all is taken, unless it has less weight than that the rule is none.
        """
        if not self.clauses:
            return ()
        best = [(float(row.max()), int(row.argmax()), 1 - float(row.sum())) for row in self.weights]
        strong = [place for weight, place, _ in best if weight >= threshold]
        weight, place, none = max(best)
        return tuple(dict.fromkeys(self.clauses[at] for at in strong or ([place] if weight >= none else [])))


@dataclass(frozen=True)
class Descent:
    """How many rules there are, and how their weights are learned."""

    rules: int
    steps: int
    rate: float
    ends: float
    """When it must be over, on the clock of `time.monotonic`."""
    way: SoftOr = "noisy"


def warm_up() -> None:
    """Let torch load what it loads with its first optimizer (seconds), before any clock runs."""
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])


def learn_weights(pool: ClausePool, target: Tensor, how: Descent) -> tuple[WeightedClauses, float, int]:
    """Return the clauses with their weights, the loss, and how many steps were made."""
    values = torch.cat(
        [torch.zeros(1, len(target)), pool.values]
    )  # the first clause is never true: a rule that is none
    lengths = torch.tensor([0, *(len(clause) for clause in pool.clauses)]).to(values)
    rules = Rules(_start(pool, how.rules), how.way)
    optimizer = torch.optim.Adam(rules.parameters(), lr=how.rate)
    loss, steps = torch.zeros(()), 0
    while steps < how.steps and time.monotonic() < how.ends:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy(rules(values) * (1 - 2 * MARGIN) + MARGIN, target)
        (loss + _price(rules.weights, lengths, steps / how.steps)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        steps += 1
        if steps % LOOK == 0 and float(rules.weights.detach().amax(dim=1).min()) > DECIDED:
            break
    weights = rules.weights.detach().double().numpy()[:, 1:]
    relevant = np.flatnonzero((weights > LEAST_WEIGHT).any(axis=0))
    weighted = WeightedClauses(tuple(pool.clauses[place] for place in relevant), weights[:, relevant])
    return weighted, float(loss.detach()), steps


def _start(pool: ClausePool, rules: int) -> Tensor:
    """Return the logits to begin with: each rule prefers what its round of the search did, the others begin as none."""
    rounds = pool.scores.shape[1]
    scores = F.pad(pool.scores.T, (1, 0, 0, rules - rounds))
    scores[rounds:, 0] = 1
    return SHARP * scores


def _price(weights: Tensor, lengths: Tensor, done: float) -> Tensor:
    """Return what rules cost: so much a literal, and, more and more, for being undecided between clauses."""
    undecided = -(weights * torch.log(weights.clamp_min(MARGIN))).sum(dim=1)
    return (LITERAL * (weights @ lengths) + UNDECIDED * done * undecided).sum()


# -- the learner -------------------------------------------------------------------------------------------------------


class AlphaConfig(SymbolicConfig):
    """What the differentiable learner can set."""

    reading: Literal["hard", "soft"] = "soft"
    """How concepts are used: the probabilities of all values, or the most probable value of each."""
    rules: int = Field(3, ge=1, le=32)
    """How many rules a program has at most: each becomes one clause, or none."""
    beam: int = Field(30, ge=1)
    """How many clauses are refined at each depth."""
    depth: int = Field(4, ge=1, le=8)
    """The most literals of a clause, not counting those that introduce objects."""
    objects: int = Field(2, ge=0, le=3)
    """The most objects in a clause."""
    most_clauses: int = Field(200, ge=1)
    """How many clauses get a weight at most."""
    counts: int = Field(0, ge=0, le=9)
    """Up to which number objects are counted; 0: they are not."""
    soft_or: SoftOr = "noisy"
    """The soft "or": noisy (one of several independent chances) or a smooth maximum."""
    steps: int = Field(300, ge=0)
    """The most steps of gradient descent for the weights; it ends sooner when each rule has decided for a clause."""
    learning_rate: float = Field(0.05, gt=0)
    """The learning rate of the gradient descent."""
    threshold: float = Field(0.3, ge=0, le=1)
    """The least weight that the strongest clause of a rule must have to be part of the program."""
    answers: Literal["soft", "program"] = "soft"
    """What predicts: the weighted clauses, or the program that is left when each rule keeps its strongest clause."""
    examples: int = Field(2000, ge=2)
    """How many examples are used at most."""
    seconds: float = Field(60.0, gt=0)
    """The most seconds for each label; then the clauses found so far are weighted."""


class AlphaIlp(FormulaModel):
    """Clauses found by beam search, weighed by differentiable forward reasoning on uncertain concepts."""

    name = "alpha-ilp"
    Config: ClassVar[type[SymbolicConfig]] = AlphaConfig
    config: AlphaConfig

    def begin(self) -> None:
        """Start without clauses."""
        super().begin()
        self.weighed: dict[str, dict[int, WeightedClauses]] = {}

    @cached_property
    def bias(self) -> Bias:
        """What clauses may be made of."""
        config = self.config
        language = Language(
            literals=config.depth,
            objects=config.objects,
            clauses=config.rules,
            counts=config.counts,
            triples=config.objects > 2,
        )
        return Bias(self.space, language)

    @cached_property
    def modes(self) -> Modes:
        """How literals enter clauses."""
        return Modes(self.bias)

    # -- learning --------------------------------------------------------------------------------------------------

    def learn(self, examples: Examples) -> None:
        """Learn label by label."""
        warm_up()
        super().learn(examples)

    def learn_label(self, label: Label, examples: LabelExamples) -> LearnedFormulas:
        """Learn when a label is true, or when it has each of its values."""
        ends = time.monotonic() + self.config.seconds
        rows = np.sort(self.rng("examples", label.name).permutation(len(examples))[: self.config.examples])
        targets = examples.targets[rows]
        counts = np.bincount(targets, minlength=len(label.values))
        order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
        wanted = [label.values.index(True)] if label.kind == "bool" else order
        ground = GroundAtoms(self.space, self.modes.literals)
        values = ground.values(self._tensors([concept[rows] for concept in examples.probabilities], torch.float32))
        weighted: dict[int, WeightedClauses] = {}
        notes: dict[str, Any] = {}
        for done, code in enumerate(wanted):
            now = time.monotonic()
            target = torch.from_numpy(targets == code)
            weighted[code], note = self._learn_value(ground, values, target, now + (ends - now) / (len(wanted) - done))
            notes[str(label.values[code])] = note
        self.weighed[label.name] = weighted
        formulas: dict[int | None, Formula] = {code: program_formula(self.clauses(label, code)) for code in wanted}
        notes["prolog"] = self.program(label)
        otherwise = 1 - wanted[0] if label.kind == "bool" else (order or [0])[0]
        return LearnedFormulas(formulas, otherwise, notes)

    def _tensors(self, concepts: Sequence[Array], kind: torch.dtype) -> list[Tensor]:
        """Return probabilities as tensors, in the reading that is set."""
        if self.config.reading == "hard":
            concepts = one_hot(most_probable_codes(concepts), self.space)
        return [torch.from_numpy(np.asarray(concept)).to(kind) for concept in concepts]

    def _learn_value(
        self, ground: GroundAtoms, values: Tensor, target: Tensor, ends: float
    ) -> tuple[WeightedClauses, dict[str, Any]]:
        """Search clauses for one value of a label and weigh them; and notes of how that went."""
        began = time.monotonic()
        if not len(target) or bool(target.all()) or not bool(target.any()):
            always = bool(len(target)) and bool(target.all())
            return WeightedClauses((IlpClause((), ()),) if always else (), np.ones((1, int(always)))), {"loss": 0.0}
        config = self.config
        limits = SearchLimits(
            config.beam,
            config.depth,
            config.rules,
            config.most_clauses,
            began + SEARCH * (ends - began),
            config.soft_or,
        )
        pool = Beam(self.modes, ground, values, target, limits).run()
        weighted, loss, steps = learn_weights(
            pool, target.to(values), Descent(config.rules, config.steps, config.learning_rate, ends, config.soft_or)
        )
        notes = {
            "loss": round(loss, 6), "tried": pool.tried, "clauses": len(pool.clauses), "steps": steps,
            "complete": pool.complete and time.monotonic() < ends, "seconds": round(time.monotonic() - began, 3),
        }  # fmt: skip
        return weighted, notes

    # -- what was learned ------------------------------------------------------------------------------------------

    def clauses(self, label: Label, code: int) -> tuple[IlpClause, ...]:
        """Return the clauses of the program for one value of a label."""
        return self.weighed[label.name][code].strongest(self.config.threshold)

    def head(self, label: Label, code: int) -> str:
        """Return the predicate for a value of a label."""
        plain = plain_name(label.name if label.kind == "bool" else f"{label.name}_{label.values[code]}")
        used = {relation.name for relation in self.bias.vocabulary.relations} | set(self.bias.by_name)
        while plain in used:
            plain += "_"
        return plain

    def program(self, label: Label) -> str:
        """Return what was learned of a label as a Prolog program: clauses, and what their literals mean."""
        lines: list[str] = []
        used: list[IlpClause] = []
        for code in self.weighed[label.name]:
            clauses = self.clauses(label, code)
            lines += [clause.text(self.head(label, code), self.bias) for clause in clauses]
            lines += [] if clauses else [f"{self.head(label, code)}(_) :- fail."]
            used += clauses
        return "".join(f"{line}\n" for line in [*lines, *definitions(used)])

    def describe(self) -> list[str]:
        """Return the programs, in Prolog."""
        return [line for label in self.knowledge.labels for line in self.program(label).splitlines()]

    def label_probabilities(self, concepts: list[Array]) -> list[Array]:
        """Return the label probabilities of the weighted clauses, or of the program."""
        if self.config.answers == "program":
            return super().label_probabilities(concepts)
        return [self._softly(label, concepts) for label in self.knowledge.labels]

    def _softly(self, label: Label, concepts: list[Array]) -> Array:
        self._rule(label)  # says so where nothing was learned
        values = {code: self._value(weighted, concepts) for code, weighted in self.weighed[label.name].items()}
        probabilities = np.zeros((len(concepts[0]), len(label.values)))
        for code, value in values.items():
            probabilities[:, code] = value
        if label.kind == "bool":
            true = label.values.index(True)
            probabilities[:, 1 - true] = 1 - probabilities[:, true]
            return probabilities
        probabilities[:, self.learned[label.name].otherwise] += MARGIN
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def _value(self, weighted: WeightedClauses, concepts: list[Array]) -> Array:
        """Return how true one value of a label is."""
        used = tuple(dict.fromkeys(placed.literal for clause in weighted.clauses for placed in clause.body))
        ground = GroundAtoms(self.space, used)
        bodies = GroundBodies.of([ground_clause(clause, ground) for clause in weighted.clauses])
        weights = torch.from_numpy(weighted.weights)
        results = []
        with torch.no_grad():
            for first in range(0, len(concepts[0]), MOST_ROWS):
                part = [concept[first : first + MOST_ROWS] for concept in concepts]
                values = ground.values([torch.from_numpy(np.asarray(concept)).double() for concept in part])
                truths = clause_values(values, bodies, self.config.soft_or)
                results.append(program_value(weights, truths, self.config.soft_or).clamp(0, 1).numpy())
        return np.concatenate(results) if results else np.zeros(0)

    def state(self) -> dict[str, Any]:
        """Return the formulas as text, and the clauses with their weights."""
        weighed = {
            name: [[code, clauses.to_dict()] for code, clauses in by_code.items()]
            for name, by_code in self.weighed.items()
        }
        return {**super().state(), "weighed": weighed}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        super().set_state(state)
        self.weighed = {
            name: {code: WeightedClauses.from_dict(data, self.bias) for code, data in by_code}
            for name, by_code in state["weighed"].items()
        }

"""The fuzzy model: concepts from the picture, learned by making the rule as true as it can be (LTN).

For each example, "the rule gives this label" has a fuzzy truth. The loss is 1 less "for all examples", a p-mean of what
each lacks, whose p rises during training, so that first the bulk counts and then the exceptions.

Formulas are differentiable fuzzy truth: connectives of choice, and p-mean quantifiers as in Logic Tensor Networks. A
boolean concept is as true as it is probable. A comparison of numbers or symbols is "some values of its concepts fit,
and the concepts have them": an existential over the fitting combinations. At certain concepts every connective gives
the truth of ordinary logic. LTNtorch has no counting, no exclusive or and no comparison of numbers, and grounds each
formula over named variables anew at every step; the formula is read here directly, and its operators are tested
against LTNtorch's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from assay.base import ConfigError
from assay.logic import (
    COMPARE,
    And,
    Compare,
    ConceptSpace,
    Const,
    Count,
    Evaluator,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Value,
    Xor,
    ground_formula,
    guard_atom,
    names_in,
)
from assay.models.core.settings import NeuralConfig
from assay.models.core.tensors import softmax_each
from assay.models.rule.dpl import RuleLearner, RuleLearnerConfig

Tnorm = Literal["goedel", "product", "lukasiewicz"]
Implication = Literal["goedel", "product", "lukasiewicz", "goguen", "kleene-dienes"]
Exists = Literal["p-mean", "or"]
Operator = Callable[[Tensor, Tensor], Tensor]

EPSILON = 1e-4
SMALLEST = 1e-38
"""Below every mean of powers that `EPSILON` allows, so that gradients never vanish; above 0, whose root has none."""
MOST_CASES = 20_000


def _either(a: Tensor, b: Tensor) -> Tensor:
    return a + b - a * b


AND: Mapping[str, Operator] = {
    "goedel": torch.minimum,
    "product": lambda a, b: a * b,
    "lukasiewicz": lambda a, b: (a + b - 1).clamp(min=0),
}
OR: Mapping[str, Operator] = {
    "goedel": torch.maximum,
    "product": _either,
    "lukasiewicz": lambda a, b: (a + b).clamp(max=1),
}
IMPLIES: Mapping[str, Operator] = {
    "goedel": lambda a, b: torch.where(a <= b, torch.ones_like(b), b),
    "product": lambda a, b: 1 - a + a * b,
    "lukasiewicz": lambda a, b: (1 - a + b).clamp(max=1),
    "goguen": lambda a, b: torch.where(a <= b, torch.ones_like(b), b / a.clamp(min=EPSILON)),
    "kleene-dienes": lambda a, b: torch.maximum(1 - a, b),
}


@dataclass(frozen=True)
class Semantics:
    """Which connectives, how "some" is read, and how much the largest truths count (p of the p-mean)."""

    conjunction: Tnorm = "product"
    disjunction: Tnorm = "product"
    implication: Implication = "product"
    exists: Exists = "p-mean"
    p: float = 2.0

    def both(self, a: Tensor, b: Tensor) -> Tensor:
        """Return "a and b"."""
        return AND[self.conjunction](a, b)

    def either(self, a: Tensor, b: Tensor) -> Tensor:
        """Return "a or b"."""
        return OR[self.disjunction](a, b)

    def follows(self, a: Tensor, b: Tensor) -> Tensor:
        """Return "if a then b"."""
        return IMPLIES[self.implication](a, b)

    def some(self, cases: Tensor) -> Tensor:
        """Return "one of these", over the last dimension."""
        if cases.shape[-1] == 0:
            return cases.new_zeros(cases.shape[:-1])
        groups = torch.zeros(cases.shape[-1], dtype=torch.long, device=cases.device)
        return self.some_of_each(cases, groups, 1)[..., 0]

    def some_of_each(self, cases: Tensor, groups: Tensor, count: int) -> Tensor:
        """Return for each group "one of its cases"; `groups` has the number of the group of each column of cases."""
        empty = cases.new_zeros(len(cases), count)
        if self.exists == "p-mean":
            stable = EPSILON + (1 - EPSILON) * cases
            sizes = cases.new_zeros(count).index_add(0, groups, cases.new_ones(len(groups))).clamp(min=1)
            return (empty.index_add(1, groups, stable.pow(self.p)) / sizes).clamp(min=SMALLEST).pow(1 / self.p)
        if self.disjunction == "goedel":
            return empty.scatter_reduce(1, groups.expand_as(cases), cases, "amax")
        if self.disjunction == "lukasiewicz":
            return empty.index_add(1, groups, cases).clamp(max=1)
        return 1 - (empty + 1).scatter_reduce(1, groups.expand_as(cases), 1 - cases, "prod")


def p_mean_error(truths: Tensor, p: float) -> Tensor:
    """Return "all of these" over the last dimension: 1 less the p-mean of what each lacks; strict for large p."""
    lacking = 1 - (1 - EPSILON) * truths
    return 1 - lacking.pow(p).mean(dim=-1).pow(1 / p)


class FuzzyRule(nn.Module):
    """A formula read as fuzzy truth, made ready for batches of concept probabilities; nothing in it is learned."""

    def __init__(self, formula: Formula, space: ConceptSpace) -> None:
        super().__init__()
        self.space = space
        self.formula = ground_formula(formula, space)
        self.places: dict[Formula, tuple[str, tuple[int, ...]]] = {}
        """For each atom the name of the buffer of its cases, and the concepts that it asks for."""
        self._prepare(self.formula)

    def _prepare(self, formula: Formula) -> None:
        """List the combinations of values that make each atom true."""
        if isinstance(formula, Const):
            return
        inside = _parts(formula)
        if inside is None:
            if formula not in self.places:
                places, cases = fitting(guard_atom(formula, self.space), self.space, [True])
                name = f"cases_{len(self.places)}"
                self.places[formula] = name, places
                self.register_buffer(name, cases, persistent=False)
            return
        for part in inside:
            self._prepare(part)

    def forward(self, concepts: Sequence[Tensor], semantics: Semantics) -> Tensor:
        """Return how true the formula is for each example."""
        return self._truth(self.formula, concepts, semantics)

    def _truth(self, formula: Formula, concepts: Sequence[Tensor], s: Semantics) -> Tensor:
        def truth(part: Formula) -> Tensor:
            return self._truth(part, concepts, s)

        match formula:
            case Const(value):
                return concepts[0].new_full(concepts[0].shape[:1], float(bool(value)))
            case Not(body):
                return 1 - truth(body)
            case And(parts):
                return reduce(s.both, map(truth, parts))
            case Or(parts):
                return reduce(s.either, map(truth, parts))
            case Xor(parts):
                return reduce(lambda a, b: s.either(s.both(a, 1 - b), s.both(1 - a, b)), map(truth, parts))
            case Implies(premise, conclusion):
                return s.follows(truth(premise), truth(conclusion))
            case Iff(left, right):
                first, second = truth(left), truth(right)
                return s.both(s.follows(first, second), s.follows(second, first))
            case Compare(operator, Count(parts), Const(number)) if parts:
                return _count_truths([truth(part) for part in parts], operator, int(number), s)
        name, places = self.places[formula]
        return cases_hold(places, self.get_buffer(name), concepts, s)


def _parts(formula: Formula) -> tuple[Formula, ...] | None:
    """Return the parts of a formula that are read by themselves, or None for an atom."""
    match formula:
        case Not(body):
            return (body,)
        case And(parts) | Or(parts) | Xor(parts):
            return parts
        case Implies(first, second) | Iff(first, second):
            return (first, second)
        case Compare(_, Count(parts), Const()) if parts:
            return parts
    return None


def _count_truths(truths: Sequence[Tensor], operator: str, number: int, s: Semantics) -> Tensor:
    """Return "so many of these are true", adding one after the other to the counts so far."""
    none = truths[0].new_zeros(truths[0].shape)
    exact = [1 - none]
    for truth in truths:
        grown = [s.both(count, 1 - truth) for count in exact] + [none]
        exact = [s.either(now, s.both(before, truth)) for now, before in zip(grown, [none, *exact], strict=True)]
    wanted = [count for total, count in enumerate(exact) if COMPARE[operator](total, number)]
    return reduce(s.either, wanted) if wanted else none


def fitting(formula: Formula, space: ConceptSpace, values: Sequence[Value]) -> tuple[tuple[int, ...], Tensor]:
    """Return the concepts that a formula asks for, and the combinations of their codes that give one of the values."""
    formula = ground_formula(formula, space)
    places = tuple(space.place(name) for name in names_in(formula))
    sizes = [space.sizes[place] for place in places]
    if prod(sizes) > MOST_CASES:
        text = str(formula) if len(str(formula)) <= 80 else f"{str(formula)[:77]}..."
        raise ConfigError(f"fuzzy logic would list {prod(sizes):,} cases of '{text}'; use the model 'dpl'")
    combinations = np.array(list(product(*map(range, sizes))), dtype=np.int64).reshape(prod(sizes), len(sizes))
    codes = np.zeros((len(combinations), len(space)), dtype=np.int64)
    codes[:, places] = combinations
    fits = np.array([value in values for value in Evaluator(space, formula)(codes).tolist()], dtype=bool)
    return places, torch.from_numpy(combinations[fits])


def cases_hold(places: tuple[int, ...], cases: Tensor, concepts: Sequence[Tensor], s: Semantics) -> Tensor:
    """Return "the concepts have the values of one of the cases"; what asks for no concept is true or false at once."""
    if not places:
        return concepts[0].new_full(concepts[0].shape[:1], float(len(cases) > 0))
    return s.some(each_holds(places, cases, concepts, s))


def each_holds(places: tuple[int, ...], cases: Tensor, concepts: Sequence[Tensor], s: Semantics) -> Tensor:
    """Return for each case "the concepts have its values"."""
    return reduce(s.both, [concepts[place][:, cases[:, number]] for number, place in enumerate(places)])


class FuzzyValues(nn.Module):
    """A label that is a number or a symbol: how true each of its values is, all cases of all values at once."""

    def __init__(self, formula: Formula, space: ConceptSpace, values: Sequence[Value]) -> None:
        super().__init__()
        by_value = [fitting(formula, space, [value]) for value in values]
        self.places, self.count = by_value[0][0], len(values)
        sizes = torch.tensor([len(cases) for _, cases in by_value])
        self.register_buffer("cases", torch.cat([cases for _, cases in by_value]), persistent=False)
        self.register_buffer("groups", torch.repeat_interleave(torch.arange(self.count), sizes), persistent=False)

    def forward(self, concepts: Sequence[Tensor], semantics: Semantics) -> Tensor:
        """Return the truth of each value for each example."""
        truths = each_holds(self.places, self.get_buffer("cases"), concepts, semantics)
        return semantics.some_of_each(truths, self.get_buffer("groups"), self.count)


class LTNConfig(RuleLearnerConfig):
    """Settings of the fuzzy model."""

    conjunction: Tnorm = "product"
    """The t-norm that stands for "and"."""
    disjunction: Tnorm = "product"
    """The t-norm whose dual stands for "or"."""
    implication: Implication = "product"
    """The fuzzy implication that stands for "if ... then"."""
    exists: Literal["auto", "p-mean", "or"] = "auto"
    """How "for some values" is read: by LTN's p-mean, or as the disjunction of all cases. `auto` is the p-mean for
    labels that are numbers or symbols, and the disjunction for labels that are true or false: there a p-mean would
    give "a equals b" the mean truth of its cases, and certain concepts would not give the rule's label."""
    p: float = Field(2.0, ge=1)
    """The p of the quantifiers; the larger, the more the worst example and the best case count."""
    last_p: float | None = Field(None, ge=1)
    """The p of the last epoch, which the p of the first rises to; by default it stays."""


class LTN(RuleLearner):
    """Concepts that are learned through the rule, read as fuzzy logic."""

    name = "ltn"
    Config: ClassVar[type[NeuralConfig]] = LTNConfig
    config: LTNConfig

    def build(self, backbone: str) -> None:
        """Make the encoder, and the fuzzy reading of each label."""
        super().build(backbone)
        config = self.config
        exists: Exists = "p-mean" if config.exists == "auto" else config.exists
        self.semantics = Semantics(config.conjunction, config.disjunction, config.implication, exists, config.p)
        self.readings = nn.ModuleList(self._reading(place) for place in range(len(self.taught.labels)))

    def _reading(self, place: int) -> FuzzyRule | FuzzyValues:
        """Return a rule for a label that is true or false, and for others the cases of each value."""
        label = self.taught.labels[place]
        if label.kind == "bool":
            return FuzzyRule(label.formula, self.space)
        return FuzzyValues(label.formula, self.space, label.values)

    @property
    def varies(self) -> bool:
        """Whether p rises."""
        return self.config.last_p not in (None, self.config.p)

    def begin(self, epoch: int, epochs: int) -> None:
        """Set the p of this epoch."""
        last = self.config.last_p or self.config.p
        share = (epoch - 1) / max(1, epochs - 1)
        self.semantics = replace(self.semantics, p=self.config.p + share * (last - self.config.p))

    def truths(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return for each label how true each of its values is."""
        truths = []
        inside = replace(self.semantics, exists="or") if self.config.exists == "auto" else self.semantics
        for reading in self.readings:
            truth = reading(concepts, inside if isinstance(reading, FuzzyRule) else self.semantics)
            truths.append(torch.stack([1 - truth, truth], dim=1) if isinstance(reading, FuzzyRule) else truth)
        return truths

    def rule_loss(self, logits: list[Tensor], labels: Tensor) -> Tensor:
        """Return 1 less the truth of "the rule gives every example its labels"."""
        concepts = softmax_each(logits)
        truths = [truth.gather(1, labels[:, i : i + 1])[:, 0] for i, truth in enumerate(self.truths(concepts))]
        return 1 - p_mean_error(torch.cat(truths), self.semantics.p)

    def labels_from_concepts(self, concepts: list[Tensor]) -> list[Tensor]:
        """Return the labels' truths, made to add up to 1."""
        truths = [truth.clamp(min=1e-9) for truth in self.truths(concepts)[: len(self.knowledge.labels)]]
        return [truth / truth.sum(dim=1, keepdim=True) for truth in truths]

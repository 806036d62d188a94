"""Knowledge: a space, the labels that its rule gives, and constraints. Everything else reads this object."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.base import (
    Array,
    Codes,
    FormulaError,
    KnowledgeError,
    RuleUnknown,
    TooLarge,
    UnknownName,
    shorten,
    suggestion,
)
from assay.logic.build import conjunction, substitute, walk
from assay.logic.circuit import Diagram, compile_diagram
from assay.logic.concepts import ABSENT, Concept, ConceptSpace, EncoderGroup, Kind, Slot, Value, kind_of_value, listing
from assay.logic.evaluation import Evaluator
from assay.logic.formula import Const, Formula, If, Oracle, Var
from assay.logic.ground import FormulaShape, ground_formula, program_runner, shape_of, well_formed
from assay.logic.notation import parse
from assay.logic.variants import Boundary, Region, boundary_of

NO_RULE = Var("rule_not_known")
"""The formula of a label whose rule nobody gave: no concept has this name, so that nothing can be computed from it."""


@dataclass(frozen=True)
class LabelNoise:
    """A label left to chance: it is true with probability 1 / (1 + exp(-scale * score))."""

    score: Formula
    scale: float


@dataclass(frozen=True)
class Label:
    """What is to be predicted: a name, the formula that gives it, and its possible values in order.

    With `odds` the label is sampled, and the formula is the more probable of its values. A label of imported data may
    have no known rule; its formula is then `NO_RULE`.
    """

    name: str
    formula: Formula
    values: tuple[Value, ...]
    odds: LabelNoise | None = None
    types: tuple[Region, ...] = ()
    """Near-boundary types that are listed; without any they are derived from the formula."""

    @property
    def kind(self) -> Kind:
        """Whether it is a truth value, a number or a symbol."""
        return kind_of_value(self.values[0])

    @property
    def has_rule(self) -> bool:
        """Whether a formula is known that gives it."""
        return self.formula != NO_RULE

    @property
    def equation(self) -> str:
        """The label and its formula, as it is shown."""
        return f"{self.name} = {self.formula}" if self.has_rule else f"{self.name} by no known rule"


@dataclass(frozen=True)
class Constraint:
    """What must hold of every world: a name, a formula, and tags such as `counting`."""

    name: str
    formula: Formula
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Knowledge:
    """The rule as data. Build it with `Knowledge.of`."""

    space: ConceptSpace
    labels: tuple[Label, ...]
    constraints: tuple[Constraint, ...] = ()
    subconcepts: "Knowledge | None" = None
    """Concepts of two levels: finer concepts, such as the digits of cells, whose labels are concepts of this space."""
    _diagrams: dict[tuple[Formula, ...], Diagram] = field(default_factory=dict, init=False, repr=False, compare=False)
    _evaluators: dict[str, Evaluator] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.subconcepts is not None:
            _must_give_concepts(self.subconcepts, self.space)

    @classmethod
    def of(
        cls,
        space: ConceptSpace,
        labels: Mapping[str, Formula | str],
        constraints: Sequence[Constraint] = (),
        definitions: Mapping[str, Formula | str] | None = None,
        odds: Mapping[str, LabelNoise] | None = None,
        subconcepts: "Knowledge | None" = None,
        types: Mapping[str, Mapping[str, str]] | None = None,
    ) -> "Knowledge":
        """Build knowledge from formulas or their texts; `definitions` name parts that several formulas use.

        `odds` name true-or-false labels that are sampled; their formula must say where true is the more probable.
        `subconcepts` is knowledge of a finer level, whose labels are concepts of this space.
        `types` list near-boundary types of labels, by name and formula, instead of those derived.

        >>> from assay.logic.concepts import digits
        >>> Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}).label("sum").values[-1]
        18
        """
        meanings: dict[str, Formula] = {}
        for name, text in (definitions or {}).items():
            if name in space.places:
                raise KnowledgeError(f"definition {name!r} has the name of a concept; choose another")
            meanings[name] = substitute(_formula(text), meanings)
        formulas = {name: substitute(_formula(text), meanings) for name, text in labels.items()}
        limits = tuple(Constraint(c.name, substitute(c.formula, meanings), c.tags) for c in constraints)
        for limit in limits:
            _must_be_truth(limit, space)
        named_odds = {
            name: replace(given_odds, score=substitute(given_odds.score, meanings))
            for name, given_odds in (odds or {}).items()
        }
        for name in named_odds:
            if name not in formulas:
                raise UnknownName(f"odds for no label: {name!r}{suggestion(name, formulas)}")
        checked_labels = tuple(_label(name, formula, space, named_odds.get(name)) for name, formula in formulas.items())
        if not checked_labels:
            raise KnowledgeError("knowledge without a label: nothing to predict")
        listed = {name: _types(name, given, space) for name, given in (types or {}).items() if name in formulas}
        typed = tuple(replace(label, types=listed.get(label.name, ())) for label in checked_labels)
        return cls(space, typed, limits, subconcepts)

    def label(self, name: str) -> Label:
        """Return the label of this name."""
        for label in self.labels:
            if label.name == name:
                return label
        raise UnknownName(f"no label named {name!r}{suggestion(name, self.label_names)}")

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels, in order."""
        return tuple(label.name for label in self.labels)

    @cached_property
    def has_rule(self) -> bool:
        """Whether every label has a known rule."""
        return all(label.has_rule for label in self.labels)

    def require_rule(self, what: str) -> None:
        """Refuse what cannot be done without a rule."""
        for label in self.labels:
            if not label.has_rule:
                raise RuleUnknown(
                    f"{what} needs a rule, and none is known for label {label.name!r}; give rule.yaml to assay import, "
                    "or have one proposed: assay train rules|tree|ilp|synthesis DATA"
                )

    def _values(self, key: str, formula: Formula, codes: Codes) -> Array:
        if key not in self._evaluators:
            self._evaluators[key] = Evaluator(self.space, formula)
        return self._evaluators[key](codes)

    def labels_of(self, codes: Codes) -> Codes:
        """Return the label codes of each world, one column a label, -1 where the label is absent."""
        columns = [self._label_codes(label, codes) for label in self.labels]
        return np.stack(columns, axis=1)

    def _label_codes(self, label: Label, codes: Codes) -> Array:
        if not label.has_rule:
            self.require_rule("computing a label")
        results = self._values(f"label {label.name}", label.formula, codes)
        if label.kind == "bool":
            return results.astype(np.int64)
        if label.kind == "int":
            values = np.array(label.values, dtype=results.dtype)
            nearest = np.minimum(np.searchsorted(values, results), len(values) - 1)
            return np.where(values[nearest] == results, nearest, -1).astype(np.int64)
        places = {value: place for place, value in enumerate(label.values)}
        return np.array([places.get(value, -1) for value in results], dtype=np.int64)

    @cached_property
    def stochastic(self) -> bool:
        """Whether some label is drawn."""
        return any(label.odds is not None for label in self.labels)

    def chances(self, codes: Codes) -> Array:
        """Return the probability that each true-or-false label is true; NaN for labels of other kinds."""
        return np.stack([self._chance(label, codes) for label in self.labels], axis=1)

    def _chance(self, label: Label, codes: Codes) -> Array:
        if label.kind != "bool":
            return np.full(len(codes), np.nan)
        if label.odds is None:
            return self._label_codes(label, codes).astype(np.float64)
        score = self._values(f"odds {label.name}", label.odds.score, codes).astype(np.float64)
        with np.errstate(over="ignore"):  # a chance of 0
            return np.asarray(1 / (1 + np.exp(-label.odds.scale * score)))

    def drawn_labels(self, codes: Codes, luck: Array) -> Codes:
        """Return each world's label codes, labels with odds sampled: true if `luck` is below their probability."""
        labels = self.labels_of(codes)
        for place, label in enumerate(self.labels):
            if label.odds is not None:
                labels[:, place] = luck[:, place] < self._chance(label, codes)
        return labels

    def violations(self, codes: Codes) -> Array:
        """Return a flag for each world and constraint: true where the constraint is broken."""
        if not self.constraints:
            return np.zeros((len(codes), 0), dtype=bool)
        evaluator, formulas = self._limits
        return ~np.stack(evaluator.together(formulas, codes), axis=1)

    @cached_property
    def _limits(self) -> tuple[Evaluator, list[Formula]]:
        """All constraints prepared for arrays together, since they share subformulas."""
        formulas = [ground_formula(constraint.formula, self.space) for constraint in self.constraints]
        return Evaluator(self.space, conjunction(*formulas)), formulas

    @cached_property
    def symbolic(self) -> bool:
        """Whether every label is a formula, or a program small enough to tabulate."""
        programs = [part for label in self.labels for part in walk(label.formula) if isinstance(part, Oracle)]
        return all(program_runner(program, self.space).is_small() for program in programs)

    @cached_property
    def possible(self) -> Formula:
        """The formula that every world of this knowledge satisfies: slots are whole, constraints hold."""
        rules = [well_formed(self.space), *(constraint.formula for constraint in self.constraints)]
        return conjunction(*(rule for rule in rules if rule != Const(True)))

    def can_be(self, codes: Codes) -> Array:
        """Return which worlds satisfy `possible`."""
        return self._values("possible", self.possible, codes)

    @cached_property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The boundary of each label: in which ways it holds, and in which a world just misses it."""
        self.require_rule("the decision boundary")
        return tuple(boundary_of(label.formula, self.space, self.possible, label.types) for label in self.labels)

    @cached_property
    def diagram(self) -> Diagram:
        """The decision diagram of all labels together; every concept vector counts, possible or not."""
        self.require_rule("a decision diagram")
        return compile_diagram([label.formula for label in self.labels], self.space)

    def diagram_within(self, where: Formula, stages: Sequence[Formula] = ()) -> Diagram:
        """Return the diagram of all labels and stages and, last in each outcome, whether the world lies within."""
        self.require_rule("a decision diagram")
        inside = conjunction(*(part for part in (self.possible, where) if part != Const(True)))
        formulas = (*(label.formula for label in self.labels), *stages, inside)
        if formulas not in self._diagrams:  # the splits of a task ask for the same one
            self._diagrams[formulas] = compile_diagram(formulas, self.space)
        return self._diagrams[formulas]

    def to_dict(self) -> dict[str, Any]:
        """Return the knowledge as plain data, formulas as text."""
        space = self.space
        finer = {} if self.subconcepts is None else {"subconcepts": self.subconcepts.to_dict()}
        return {
            "concepts": [_concept_to_dict(concept) for concept in space.concepts],
            "slots": [{"name": s.name, "group": s.group, "attributes": list(s.attributes)} for s in space.slots],
            "encoders": [{"name": g.name, "concepts": list(g.concepts)} for g in space.encoders],
            "labels": [_label_to_dict(label) for label in self.labels],
            "constraints": [
                {"name": c.name, "formula": str(c.formula), "tags": list(c.tags)} for c in self.constraints
            ],
            **finer,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Knowledge":
        """Return the knowledge that `to_dict` wrote."""
        try:
            space = ConceptSpace(
                tuple(_concept_from_dict(concept) for concept in data["concepts"]),
                tuple(Slot(s["name"], s["group"], tuple(s["attributes"])) for s in data["slots"]),
                tuple(EncoderGroup(g["name"], tuple(g["concepts"])) for g in data["encoders"]),
            )
            labels = tuple(_label_from_dict(label) for label in data["labels"])
            limits = tuple(Constraint(c["name"], parse(c["formula"]), tuple(c["tags"])) for c in data["constraints"])
            finer = cls.from_dict(data["subconcepts"]) if "subconcepts" in data else None
        except (KeyError, TypeError, AttributeError) as error:
            raise KnowledgeError(f"knowledge is not in the form that assay writes: {error!r}") from None
        return cls(space, labels, limits, finer)

    def giving(self, names: Collection[str]) -> "Knowledge | None":
        """Return the knowledge with these of its labels only, None if there are none."""
        kept = tuple(label for label in self.labels if label.name in names)
        return replace(self, labels=kept) if kept else None

    def __repr__(self) -> str:
        rules = shorten("; ".join(label.equation for label in self.labels), 160)
        names = shorten(", ".join(self.space.names), 100)
        return f"Knowledge({rules}; concepts {names}; {len(self.constraints)} constraints)"


def _must_give_concepts(finer: Knowledge, space: ConceptSpace) -> None:
    """Refuse subconcepts that give anything but concepts of a space, or have their names."""
    for label in finer.labels:
        if label.name not in space.places or set(label.values) - set(space.concept(label.name).values):
            raise KnowledgeError(f"subconcepts give {label.name!r} ({listing(label.values)}), which is no such concept")
    twice = [name for name in finer.space.names if name in space.places]
    if twice:
        raise KnowledgeError(f"{twice[0]!r} is both a concept and a subconcept; rename one")


def _formula(text: Formula | str) -> Formula:
    return parse(text) if isinstance(text, str) else text


def _concept_to_dict(concept: Concept) -> dict[str, Any]:
    plain = {"name": concept.name, "values": list(concept.values)}
    counts = {"counts": True} if concept.counts else {}
    return {**plain, **counts, **({} if concept.nothing is None else {"nothing": concept.nothing})}


def _concept_from_dict(data: Mapping[str, Any]) -> Concept:
    return Concept(data["name"], tuple(data["values"]), data.get("counts", False), data.get("nothing"))


def _label_to_dict(label: Label) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": label.name, "formula": str(label.formula), "values": list(label.values)}
    if label.types:
        plain["types"] = {region.name: str(region.formula) for region in label.types}
    if label.odds is not None:
        plain["odds"] = {"score": str(label.odds.score), "scale": label.odds.scale}
    return plain


def _label_from_dict(data: Mapping[str, Any]) -> Label:
    odds = LabelNoise(parse(data["odds"]["score"]), float(data["odds"]["scale"])) if "odds" in data else None
    types = tuple(Region(name, parse(text)) for name, text in data.get("types", {}).items())
    return Label(data["name"], parse(data["formula"]), tuple(data["values"]), odds, types)


def _types(label: str, types: Mapping[str, str], space: ConceptSpace) -> tuple[Region, ...]:
    regions = tuple(Region(name, parse(text)) for name, text in types.items())
    for region in regions:
        if shape_of(region.formula, space).kind != "bool":
            raise FormulaError(f"type {region.name!r} of label {label!r} must be true or false: {region.formula}")
    return regions


def _must_be_truth(constraint: Constraint, space: ConceptSpace) -> None:
    if shape_of(constraint.formula, space).kind != "bool":
        raise FormulaError(f"constraint {constraint.name!r} must be true or false, not a number: {constraint.formula}")


def _label(name: str, formula: Formula, space: ConceptSpace, odds: LabelNoise | None) -> Label:
    if not name.isidentifier():
        raise KnowledgeError(f"label name {name!r} is no identifier (letters, digits and '_')")
    shape = shape_of(formula, space)
    values = (False, True) if shape.kind == "bool" else _possible_values(formula, space, shape)
    if len(values) < 2:
        raise KnowledgeError(f"label {name!r} is always {listing(values)}: '{formula}' leaves nothing to learn")
    if odds is not None and (shape.kind != "bool" or shape_of(odds.score, space).kind == "symbol"):
        raise KnowledgeError(f"label {name!r}: odds are for true-or-false labels, with a number as score")
    return Label(name, formula, values, odds)


def _possible_values(formula: Formula, space: ConceptSpace, shape: FormulaShape) -> tuple[Value, ...]:
    """Return the values that a number or symbol can take, in order."""
    try:
        outcomes = [outcome[0] for outcome in compile_diagram([ground_formula(formula, space)], space).outcomes]
    except TooLarge:
        outcomes = _listed_values(formula)
        if not outcomes:
            raise
    if shape.kind == "symbol":
        return tuple(symbol for symbol in shape.symbols if symbol in outcomes and symbol != ABSENT)
    return tuple(sorted(int(value) for value in outcomes if value != ABSENT))


def _listed_values(formula: Formula) -> list[Value]:
    """Return the values that a formula lists, `1 if ... else 2 if ... else 3`; none where others may come out.

    >>> _listed_values(parse("'a' if x else 'b' if y else 'c'")), _listed_values(parse("1 if x else y"))
    (['a', 'b', 'c'], [])
    """
    if isinstance(formula, Const):
        return [formula.value]
    if not isinstance(formula, If):
        return []
    parts = [_listed_values(part) for part in (formula.then, formula.otherwise)]
    return [value for part in parts for value in part] if all(parts) else []

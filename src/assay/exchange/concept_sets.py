"""Other concepts for the same pictures and labels: some dropped, some refined to subtypes, or all made by a machine.

A label whose rule speaks only of concepts that are kept keeps its rule. Else its rule is what the data say to who knows
the new concepts only: the value for each combination where there is only one, and where there are several the odds, so
that `assay audit` still finds every label lawful.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.base import Array, Codes, ConfigError, import_extra
from assay.exchange.annotation import Annotation
from assay.exchange.annotator import ONE_HOT
from assay.logic import (
    Concept,
    ConceptSpace,
    Const,
    Constraint,
    EncoderGroup,
    Formula,
    If,
    Knowledge,
    Label,
    LabelNoise,
    Member,
    Not,
    Slot,
    Value,
    Var,
    at_most,
    exactly,
    free_names,
    ground_formula,
    listing,
    product,
    total,
)
from assay.render import Layout

MOST_PATTERNS = 256
"""Of how many combinations of concepts the share of a label is listed; of more it is fitted by a sum of weights."""
REPEATS = 4
"""How often combinations must occur on average for more of them to be taken for a rule, not for a list of the rows."""
FINE = 1 / 64
"""Log-odds are kept in this step, since formulas have whole numbers."""
LEAST = 40.0


@dataclass(frozen=True)
class ConceptView:
    """How a new concept is read off the old ones: which old concept, and the new code of each of its codes."""

    concept: Concept
    source: str
    table: tuple[int, ...]


@dataclass(frozen=True)
class ConceptSet:
    """The new concepts of a dataset."""

    old: Knowledge
    views: tuple[ConceptView, ...]

    @classmethod
    def of(cls, old: Knowledge, annotation: Annotation) -> "ConceptSet":
        """Return the concepts that are left, with those that are refined replaced by their subtypes."""
        for name in (*annotation.drop, *annotation.refine):
            old.space.concept(name)
        both = [name for name in annotation.drop if name in annotation.refine]
        if both:
            raise ConfigError(f"concept {both[0]!r} cannot be both dropped and refined")
        views = list[ConceptView]()
        for concept in old.space.concepts:
            if concept.name in annotation.refine:
                views += _indicators(concept, annotation.refine[concept.name])
            elif concept.name not in annotation.drop:
                views.append(ConceptView(concept, concept.name, tuple(range(len(concept.values)))))
        if not views:
            raise ConfigError("drop: no concept is left")
        return cls(old, tuple(views))

    @property
    def unchanged(self) -> set[str]:
        """The concepts that stay as they are."""
        return {view.source for view in self.views if view.concept == self.old.space.concept(view.source)}

    def translate(self, codes: Codes) -> Codes:
        """Return the new concepts of old ones; what is missing stays missing."""
        columns = []
        for view in self.views:
            old = codes[:, self.old.space.place(view.source)]
            columns.append(np.array([*view.table, -1])[old])
        return np.stack(columns, axis=1)

    @property
    def space(self) -> ConceptSpace:
        """The space of the new concepts; slots and encoder groups without those that are gone."""
        old, names = self.old.space, {view.concept.name for view in self.views}
        slots = [Slot(s.name, s.group, tuple(a for a in s.attributes if s.concept(a) in names)) for s in old.slots]
        groups = list[EncoderGroup]()
        for group in old.encoders:
            members: dict[str, list[str]] = {}
            for view in self.views:
                if view.source in group.concepts:
                    suffix = view.concept.name.removeprefix(view.source)
                    members.setdefault(group.name + suffix, []).append(view.concept.name)
            groups += [EncoderGroup(name, tuple(concepts_in)) for name, concepts_in in members.items()]
        concepts = tuple(view.concept for view in self.views)
        return ConceptSpace(concepts, tuple(slot for slot in slots if slot.attributes), tuple(groups))

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints that speak of kept concepts only, and that of subtypes at most one is true."""
        grounds = [Constraint(c.name, ground_formula(c.formula, self.old.space), c.tags) for c in self.old.constraints]
        constraints = [c for c in grounds if set(free_names(c.formula)) <= self.unchanged]
        for source in dict.fromkeys(view.source for view in self.views if view.source not in self.unchanged):
            subtypes = [view for view in self.views if view.source == source]
            if len(subtypes) > 1:
                whole = len(subtypes) == len(self.old.space.concept(source).values)
                parts = [Var(view.concept.name) for view in subtypes]
                formula = exactly(1, *parts) if whole else at_most(1, *parts)
                constraints.append(Constraint(f"one_{source}".replace(".", "_"), formula, (ONE_HOT,)))
        return tuple(constraints)

    def knowledge(self, codes: Codes, labels: Codes) -> Knowledge:
        """Return the rule as it looks through the new concepts, given all rows of the data."""
        space, rules = self.space, list[Label]()
        for place, label in enumerate(self.old.labels):
            needed = _names(label, self.old.space)
            if needed <= self.unchanged:
                odds = label.odds and LabelNoise(ground_formula(label.odds.score, self.old.space), label.odds.scale)
                rules.append(Label(label.name, ground_formula(label.formula, self.old.space), label.values, odds))
                continue
            places = [i for i, view in enumerate(self.views) if view.source in needed]
            if not places:
                raise ConfigError(f"the concepts that are left have no part in the rule of label {label.name!r}")
            rules.append(label_from(space, places, codes, labels[:, place], label))
        finer = self.old.subconcepts
        return Knowledge(space, tuple(rules), self.constraints, None if finer is None else finer.giving(self.unchanged))

    def layout(self, old: Layout, regions: bool) -> Layout:
        """Return where the new concepts show: where the old ones did."""
        boxes = {v.concept.name: old.regions[v.source] for v in self.views if v.source in old.regions}
        boxes |= {name: box for name, box in old.regions.items() if name not in self.old.space.places}
        return Layout(old.width, old.height, old.channels, boxes if regions else {})


def _indicators(concept: Concept, values: Sequence[Value]) -> list[ConceptView]:
    """Return a true-or-false concept for each of these values."""
    if not values or len(set(values)) < len(values):
        raise ConfigError(f"refine: give distinct values of {concept.name!r}: {listing(concept.values)}")
    codes = [concept.code(value) for value in values]
    every = range(len(concept.values))
    return [
        ConceptView(
            Concept(f"{concept.name}_is_{value}", (False, True)), concept.name, tuple(int(c == code) for c in every)
        )
        for value, code in zip(values, codes, strict=True)
    ]


def _names(label: Label, space: ConceptSpace) -> set[str]:
    score = label.odds.score if label.odds else Const(0)
    return {*free_names(ground_formula(label.formula, space)), *free_names(ground_formula(score, space))}


def machine_knowledge(names: Sequence[str], old: Knowledge, codes: Codes, labels: Codes) -> Knowledge:
    """Return the rule as it looks through true-or-false concepts that a machine made up."""
    space = ConceptSpace(tuple(Concept(name, (False, True)) for name in names))
    places = list(range(len(space)))
    rules = [label_from(space, places, codes, labels[:, i], label) for i, label in enumerate(old.labels)]
    return Knowledge(space, tuple(rules))


def label_from(space: ConceptSpace, places: Sequence[int], codes: Codes, labels: Codes, old: Label) -> Label:
    """Return a label as the rows of the data have it for each combination of some concepts."""
    if len(np.unique(labels)) < 2:
        raise ConfigError(f"label {old.name!r} is always {old.values[labels[0]]} in these rows: nothing to learn")
    rows, which = np.unique(codes[:, places], axis=0, return_inverse=True)
    counts = np.zeros((len(rows), len(old.values)))
    np.add.at(counts, (which.ravel(), labels), 1)
    concepts = [space.concepts[place] for place in places]
    terms = tuple(Var(concept.name) for concept in concepts)
    values = [tuple(c.values[code] for c, code in zip(concepts, row, strict=True)) for row in rows.tolist()]
    certain = bool(((counts > 0).sum(axis=1) == 1).all())
    if certain and (len(rows) <= MOST_PATTERNS or _few_of_one_kind(counts)):
        return Label(old.name, _value_formula(terms, values, counts.argmax(axis=1), old.values), old.values)
    if old.kind != "bool":
        raise ConfigError(
            f"label {old.name!r} does not follow from the concepts {listing(c.name for c in concepts)}, "
            "and only true-or-false labels can be left to chance"
        )
    if len(rows) <= MOST_PATTERNS:
        shares = counts[:, 1] / counts.sum(axis=1)
        scores = np.rint(_log_odds(shares) / FINE).astype(np.int64)
        score = _score_formula(terms, values, scores)
        likely = _one_of(terms, values, scores > 0)
    else:
        score = _weight_formula(concepts, codes[:, places], labels)
        likely = score > 0
    return Label(old.name, likely, old.values, LabelNoise(score, FINE))


def _few_of_one_kind(counts: Array) -> bool:
    """Return whether one value of a label has few combinations that occur again and again, as "all are true" has."""
    patterns, rows = (counts > 0).sum(axis=0), counts.sum(axis=0)
    return counts.shape[1] == 2 and bool(((patterns <= MOST_PATTERNS) & (rows >= REPEATS * patterns)).any())


def _log_odds(shares: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(shares) - np.log(1 - shares), -LEAST, LEAST))


def _one_of(terms: tuple[Var, ...], rows: Sequence[tuple[Value, ...]], holds: Array) -> Formula:
    """Return "one of the rows where it holds", or the same by those where it does not, whichever is shorter."""
    if holds.all() or not holds.any():
        return Const(bool(holds.all()))
    few = bool(holds.sum() <= len(rows) / 2)  # of the rows; what no row shows is taken for the rest
    member = Member(terms, tuple(row for row, here in zip(rows, holds, strict=True) if here == few))
    return member if few else Not(member)


def _value_formula(
    terms: tuple[Var, ...], rows: Sequence[tuple[Value, ...]], codes: Array, values: Sequence[Value]
) -> Formula:
    """Return the formula that gives each row its value."""
    if tuple(values) == (False, True):
        return _one_of(terms, rows, codes == 1)
    occurring = np.unique(codes).tolist()
    formula: Formula = Const(values[occurring[-1]])
    for code in reversed(occurring[:-1]):
        formula = If(_one_of(terms, rows, codes == code), Const(values[code]), formula)
    return formula


def _score_formula(terms: tuple[Var, ...], rows: Sequence[tuple[Value, ...]], numbers: Array) -> Formula:
    """Return the formula that gives each row its number: the commonest, and the others' distance from it."""
    levels, counts = np.unique(numbers, return_counts=True)
    base = int(levels[counts.argmax()])
    steps = [
        product(Const(int(level) - base), _one_of(terms, rows, numbers == level)) for level in levels if level != base
    ]
    return total(Const(base), *steps)


def _weight_formula(concepts: Sequence[Concept], codes: Codes, labels: Codes) -> Formula:
    """Return log-odds as a sum of weights, one for each value of each concept but the first, by logistic regression."""
    places = [(i, code) for i, concept in enumerate(concepts) for code in range(1, len(concept.values))]
    ones = np.stack([codes[:, i] == code for i, code in places], axis=1).astype(np.float64)
    fit = (
        import_extra("sklearn.linear_model", "the rule over new concepts")
        .LogisticRegression(max_iter=1000)
        .fit(ones, labels)
    )
    weights = np.rint(np.clip(fit.coef_[0], -LEAST, LEAST) / FINE).astype(np.int64).tolist()
    base = int(np.rint(np.clip(fit.intercept_[0], -LEAST, LEAST) / FINE))
    parts = [_says(concepts[i], code) for i, code in places]
    terms = [product(Const(weight), part) for weight, part in zip(weights, parts, strict=True) if weight]
    return total(Const(base), *terms)


def _says(concept: Concept, code: int) -> Formula:
    """Return "the concept has this value"."""
    if concept.values == (False, True) and code == 1:
        return Var(concept.name)
    return Var(concept.name).eq(concept.values[code])


def draw_luck(chances: Array, labels: Codes, draws: Array) -> Array:
    """Return for each row a number from 0 to 1 that is below the chance exactly where the label is true.

    >>> draw_luck(np.array([0.5, 0.5]), np.array([1, 0]), np.array([0.5, 0.5])).tolist()
    [0.25, 0.75]
    """
    below = chances * draws
    above = chances + (1 - chances) * draws
    return np.asarray(np.where(labels == 1, np.minimum(below, np.nextafter(chances, 0)), np.maximum(above, chances)))

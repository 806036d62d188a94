"""Robots as data: their body parts, the concepts that annotators may name, and what a rule over parts says of those.

A rule is written over the parts, and decides the label of every robot. The concepts of a dataset are *views* of parts:
a part itself, its coarse shape, or one subtype. Where the views leave open what the rule needs, the label that they
give is drawn: with the share of the robots of the same concepts that have it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.base import Array, Codes, ConfigError, UnknownName, suggestion
from assay.logic import (
    Concept,
    ConceptSpace,
    Const,
    Constraint,
    Formula,
    If,
    Knowledge,
    LabelNoise,
    Member,
    Not,
    Value,
    Var,
    free_names,
    product,
    substitute,
    total,
)

HANDS = ("round_circle", "round_oval", "round_oval_tall", "edgy_triangle", "edgy_square", "edgy_trapezoid")
FEET = (
    *("flat_trapezoid", "flat_rounded", "flat_square", "flat_five_sided", "flat_l_shaped"),
    *("pointy_trapezoid", "pointy_rounded", "pointy_square", "pointy_three_sided", "pointy_four_sided"),
)
PARTS = ConceptSpace(
    (
        Concept("head", ("square", "round")),
        Concept("body", ("square", "round")),
        Concept("knees", (False, True)),
        Concept("elbows", (False, True)),
        Concept("antennae", (False, True)),
        Concept("ears", ("square", "triangle")),
        Concept("mouth", ("closed", "open")),
        Concept("hand", HANDS),
        Concept("foot", FEET),
    )
)
COARSE = {"hand_shape": ("hand", ("round", "edgy")), "foot_shape": ("foot", ("flat", "pointy"))}
NAMES = (*PARTS.names, *COARSE)

PAPER_SUBTYPES = (
    *("flat_trapezoid", "flat_square", "flat_five_sided"),
    *("pointy_rounded", "pointy_square", "pointy_four_sided"),
)
OTHERS = ("head", "body", "knees", "antennae", "ears", "mouth")
SETS = {
    "true": (*OTHERS, "foot_shape"),
    "human": (*OTHERS, *(f"foot_is_{subtype}" for subtype in PAPER_SUBTYPES)),
    "incomplete": ("head", "body", "antennae", "ears", "mouth", "foot_shape"),
    "parts": (*PARTS.names[:7], *COARSE),
    "all": PARTS.names,
}
ROBOTS: Codes = PARTS.all_codes().astype(np.int64)
"""All 7,680 robots, the foot changing fastest."""

FINE = 1e-6
"""The step in which the odds of labels that hidden parts decide are written."""


@dataclass(frozen=True)
class PartView:
    """A concept that is read off one part: its code for each code of the part, and the same as a formula."""

    concept: Concept
    part: str
    table: tuple[int, ...]
    meaning: Formula


def part_view(name: str) -> PartView:
    """Return the view of this name: a part, a coarse shape, or a subtype such as `foot_is_flat_square`."""
    if name in PARTS.places:
        part = PARTS.concept(name)
        return PartView(part, name, tuple(range(len(part.values))), Var(name))
    if name in COARSE:
        part_name, pair = COARSE[name]
        each = len(PARTS.concept(part_name).values) // 2
        second = Member((Var(part_name),), tuple((value,) for value in PARTS.concept(part_name).values[each:]))
        table = tuple(code // each for code in range(2 * each))
        return PartView(Concept(name, pair), part_name, table, If(second, Const(pair[1]), Const(pair[0])))
    for part_name in ("hand", "foot"):
        values = tuple(str(value) for value in PARTS.concept(part_name).values)
        subtype = name.removeprefix(f"{part_name}_is_")
        if name != subtype and subtype in values:
            table = tuple(int(value == subtype) for value in values)
            return PartView(Concept(name, (False, True)), part_name, table, Var(part_name).eq(subtype))
    known = (
        *NAMES,
        *(f"{part_name}_is_{value}" for part_name in ("hand", "foot") for value in PARTS.concept(part_name).values),
    )
    raise UnknownName(f"robots have no concept {name!r}{suggestion(name, known)}")


@dataclass(frozen=True)
class Views:
    """The concepts of a dataset, each a view of a part."""

    views: tuple[PartView, ...]

    @classmethod
    def of(cls, names: str | Sequence[str]) -> "Views":
        """Return the views of a named set of concepts, or of these names."""
        if isinstance(names, str) and names not in SETS:
            raise ConfigError(f"no set of concepts named {names!r}{suggestion(names, SETS)}")
        return cls(tuple(part_view(name) for name in (SETS[names] if isinstance(names, str) else names)))

    @cached_property
    def space(self) -> ConceptSpace:
        """The concepts."""
        return ConceptSpace(tuple(view.concept for view in self.views))

    def concepts_of(self, robots: Codes) -> Codes:
        """Return the concepts of robots."""
        columns = [np.array(view.table)[robots[:, PARTS.place(view.part)]] for view in self.views]
        return np.stack(columns, axis=1)

    @cached_property
    def by_part(self) -> Mapping[str, tuple[int, ...]]:
        """The places of the concepts that each part is seen by, for all parts."""
        return {p: tuple(i for i, view in enumerate(self.views) if view.part == p) for p in PARTS.names}

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """The parts that the concepts do not determine."""
        return tuple(p for p in PARTS.names if p not in self.space.places)

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """That several concepts of one part agree, such as subtypes of which only one can be."""
        constraints = []
        for part, places in self.by_part.items():
            if len(places) > 1:
                views = [self.views[place] for place in places]
                rows = dict.fromkeys(
                    tuple(view.concept.values[view.table[code]] for view in views)
                    for code in range(len(PARTS.concept(part).values))
                )
                terms = tuple(Var(view.concept.name) for view in views)
                constraints.append(Constraint(f"one_{part}", Member(terms, tuple(rows)), ("part",)))
        return tuple(constraints)

    def fits(self, part: str, wanted: Mapping[str, Value]) -> list[int]:
        """Return the codes of a part that have the wanted values in all views of it."""
        views = [self.views[place] for place in self.by_part[part] if self.views[place].concept.name in wanted]
        codes = range(len(PARTS.concept(part).values))
        return [c for c in codes if all(v.table[c] == v.concept.code(wanted[v.concept.name]) for v in views)]

    def nearest(self, part: str, observed: Sequence[int], before: int, among: Sequence[int] | None = None) -> int:
        """Return the code of a part that agrees with most concepts seen; of those the one nearest to what it was.

        Near is: the same, or at the same place in the other half of the subtypes, as `flat_square` is to
        `pointy_square`; else the first.
        """
        views = [self.views[place] for place in self.by_part[part]]
        count = len(PARTS.concept(part).values)
        half = max(1, count // 2)

        def rank(code: int) -> tuple[int, bool, bool, int]:
            agreed = sum(view.table[code] == value for view, value in zip(views, observed, strict=True))
            return -agreed, code != before, code % half != before % half, code

        return min(range(count) if among is None else among, key=rank)


@dataclass(frozen=True)
class RobotRule:
    """What makes a robot a glorp: a formula over parts and coarse shapes, and the odds if the label is drawn."""

    formula: Formula
    odds: LabelNoise | None = None

    @property
    def names(self) -> set[str]:
        """The parts and coarse shapes that it speaks of."""
        return set(free_names(self.formula)) | (set(free_names(self.odds.score)) if self.odds else set())

    def over(self, space: ConceptSpace, meanings: dict[str, Formula]) -> Knowledge:
        """Return the rule over other concepts, some names replaced by what they mean."""
        formula = substitute(self.formula, meanings)
        odds = self.odds and {LABEL: LabelNoise(substitute(self.odds.score, meanings), self.odds.scale)}
        return Knowledge.of(space, {LABEL: formula}, odds=odds or None)

    @cached_property
    def of_robots(self) -> Knowledge:
        """The rule over whole robots."""
        return self.over(PARTS, {name: part_view(name).meaning for name in COARSE})

    def knowledge_for(self, views: Views) -> Knowledge:
        """Return the rule as knowledge over these concepts only."""
        meanings = {n: part_view(n).meaning for n in self.names if n in COARSE and n not in views.space.places}
        needed = (self.names - set(meanings)) | {part_view(name).part for name in meanings}
        if needed <= set(views.space.names):
            known = self.over(views.space, meanings)
            return Knowledge(known.space, known.labels, views.constraints)
        return self._marginal_knowledge(views)

    def _marginal_knowledge(self, views: Views) -> Knowledge:
        """Return knowledge with stochastic labels, whose probability is the share of robots with the same concepts."""
        parts = {part_view(name).part for name in self.names}
        places = [place for place, viewed in enumerate(views.views) if viewed.part in parts]
        if not places:
            raise ConfigError(f"the concepts {', '.join(views.space.names)} have no part in the rule: {self.formula}")
        chances = self.of_robots.chances(ROBOTS)[:, 0]
        rows, which = np.unique(views.concepts_of(ROBOTS)[:, places], axis=0, return_inverse=True)
        shares = np.bincount(which.ravel(), chances) / np.bincount(which.ravel())
        concepts = [views.views[place].concept for place in places]
        terms = tuple(Var(concept.name) for concept in concepts)
        values = [tuple(c.values[code] for c, code in zip(concepts, row, strict=True)) for row in rows.tolist()]
        with np.errstate(divide="ignore"):
            scores = np.rint(np.clip(np.log(shares / (1 - shares)), -40, 40) / FINE).astype(np.int64)
        likely = _rows_where(terms, values, scores > 0)
        if np.isin(shares, (0.0, 1.0)).all():
            return Knowledge.of(views.space, {LABEL: likely}, views.constraints)
        odds = LabelNoise(_table(terms, values, scores), FINE)
        return Knowledge.of(views.space, {LABEL: likely}, views.constraints, odds={LABEL: odds})


LABEL = "glorp"


def _rows_where(terms: tuple[Var, ...], rows: Sequence[tuple[Value, ...]], holds: Array) -> Formula:
    """Return "one of the rows where it holds", or the same by the rows where it does not, whichever is shorter."""
    few = bool(holds.sum() <= len(rows) / 2)
    listed = Member(terms, tuple(row for row, here in zip(rows, holds, strict=True) if here == few))
    return listed if few else Not(listed)


def _table(terms: tuple[Var, ...], rows: Sequence[tuple[Value, ...]], numbers: Array) -> Formula:
    """Return the formula that gives each row of values its number: the commonest, and the others' distance from it."""
    levels, counts = np.unique(numbers, return_counts=True)
    base = int(levels[counts.argmax()])
    others = [int(level) for level in levels if level != base]
    steps = [product(Const(level - base), _rows_where(terms, rows, numbers == level)) for level in others]
    return total(Const(base), *steps)


def best_accuracy(rule: RobotRule, observed: Codes) -> float:
    """Return the best accuracy that a classifier of these observations can have, over all robots evenly.

    >>> from assay.logic import parse
    >>> rule = RobotRule(parse("mouth == 'closed' or foot_shape == 'pointy' or not knees"))
    >>> best_accuracy(rule, Views.of(["mouth", "foot_shape"]).concepts_of(ROBOTS))
    0.875
    """
    chances = rule.of_robots.chances(ROBOTS)[:, 0]
    _, which = np.unique(observed, axis=0, return_inverse=True)
    shares = np.bincount(which.ravel(), chances) / np.bincount(which.ravel())
    return float(np.maximum(shares, 1 - shares)[which.ravel()].mean())

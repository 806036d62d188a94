"""How a learned formula relates to the true rule: equal, more general, more specific or different.

It is decided by counting, on the possible worlds (every slot whole, all constraints kept): those where only the
learned formula holds, and those where only the rule does. *Equal* means that there is no such world. Where the decision
diagram of both would be too large, or a rule is a program without symbols, uniformly sampled worlds are compared
instead, and the relation says so; it may then miss worlds.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from assay.base import Codes, NoSymbols, TooLarge, rng_for
from assay.logic import Const, Formula, Knowledge, Label, Not, Value, compile_diagram, evaluate, parse

Relation = Literal["equal", "more general", "more specific", "different"]
RELATIONS: dict[tuple[bool, bool], Relation] = {
    (False, False): "equal",
    (True, False): "more general",
    (False, True): "more specific",
    (True, True): "different",
}
"""By whether some worlds satisfy only the learned formula, and whether some satisfy only the rule."""
SMALL, LARGE = 20_000, 60_000
"""How large diagrams may get, with concepts in the order of the space and then in another."""
SAMPLED = 200_000
"""How many worlds are sampled where they cannot be counted."""


@dataclass(frozen=True)
class RuleRelation:
    """A learned formula compared with the rule, in numbers of possible worlds."""

    label: str
    value: Value
    relation: Relation
    only_learned: int
    only_rule: int
    worlds: int
    exact: bool

    @property
    def text(self) -> str:
        """The relation in words."""
        what = self.label if isinstance(self.value, bool) else f"{self.label} is {self.value}"
        sampled = "" if self.exact else " sampled"
        if self.relation == "equal":
            return f"The learned formula of {what!r} is equal to the rule on all {self.worlds:,} worlds{sampled}."
        parts = [(self.only_learned, "the learned formula"), (self.only_rule, "the rule")]
        wrong = " and in ".join(f"{number:,} only {which} holds" for number, which in parts if number)
        than = " than" if self.relation != "different" else " from"
        return (
            f"The learned formula of {what!r} is {self.relation}{than} the rule: "
            f"of {self.worlds:,} worlds{sampled}, in {wrong}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def relate(learned: Formula, rule: Formula, knowledge: Knowledge, label: str, value: Value = True) -> RuleRelation:
    """Compare two true-or-false formulas on the worlds of some knowledge.

    >>> from assay.logic.concepts import digits
    >>> from assay.logic import Constraint
    >>> known = Knowledge.of(digits(["a", "b"]), {"big": "a > 5"}, [Constraint("less", parse("a < b"))])
    >>> relate(parse("a > 4"), known.labels[0].formula, known, "big").relation
    'more general'
    """
    try:
        counts, exact = _count_worlds([learned, rule, knowledge.possible], knowledge), True
    except (TooLarge, NoSymbols):
        counts, exact = _sample_worlds(learned, rule, knowledge), False
    both = {(holds, rule_holds): 0 for holds in (False, True) for rule_holds in (False, True)}
    for (holds, rule_holds, possible), ways in counts.items():
        if possible:
            both[bool(holds), bool(rule_holds)] += int(ways)
    more, less = both[True, False], both[False, True]
    relation = RELATIONS[more > 0, less > 0]
    return RuleRelation(label, value, relation, more, less, sum(both.values()), exact)


def _count_worlds(formulas: list[Formula], knowledge: Knowledge) -> dict[tuple[Value, ...], int]:
    """Return the exact number of worlds of each outcome; object by object the diagram of slots is small."""
    try:
        return compile_diagram(formulas, knowledge.space, knowledge.space.names, SMALL).counts
    except NoSymbols:
        raise
    except TooLarge:
        return compile_diagram(formulas, knowledge.space, budget=LARGE).counts


def _sample_worlds(learned: Formula, rule: Formula, knowledge: Knowledge) -> dict[tuple[Value, ...], int]:
    """Return how often formulas hold together in worlds sampled uniformly among the possible ones."""
    codes = _worlds(knowledge)
    columns = [
        np.asarray(evaluate(formula, knowledge.space, codes), dtype=bool).tolist() for formula in (learned, rule)
    ]
    return {(formula, _x, True): ways for (formula, _x), ways in Counter(zip(*columns, strict=True)).items()}


def _worlds(knowledge: Knowledge) -> Codes:
    rng = rng_for(0, "rule relation")
    codes = rng.integers(0, np.array(knowledge.space.sizes), (SAMPLED, len(knowledge.space)))
    if knowledge.possible == Const(True):
        return codes
    try:
        diagram = compile_diagram([knowledge.possible], knowledge.space)
        ranking = diagram.among(np.array([bool(outcome[0]) for outcome in diagram.outcomes]))
        if ranking.total < 2**62:
            return ranking.worlds(rng.integers(0, ranking.total, SAMPLED))
    except (TooLarge, NoSymbols):
        pass
    possible: Codes = codes[knowledge.can_be(codes)]
    return possible


@dataclass(frozen=True)
class ComparedWorlds:
    """Worlds to compare rules on: all that are possible, or else a uniform sample of them."""

    codes: Codes
    exact: bool


def worlds_of(knowledge: Knowledge, most: int) -> ComparedWorlds:
    """Return the possible worlds of some knowledge, at most so many."""
    if knowledge.space.worlds <= most:
        codes = knowledge.space.all_codes().astype(np.int64)
        return ComparedWorlds(codes[np.asarray(knowledge.can_be(codes), dtype=bool)], True)
    return ComparedWorlds(_worlds(knowledge)[:most], False)


def relations_in(program: Mapping[str, Any], knowledge: Knowledge) -> list[RuleRelation]:
    """Return how each formula of a learned program relates to the rule of its label, value by value."""
    relations = []
    for name, learned_label in program.get("labels", {}).items():
        label = knowledge.label(name)
        if not label.has_rule:
            continue
        for code, text in learned_label["formulas"]:
            for value, learned, rule in _pairs(label, code, parse(text)):
                relations.append(relate(learned, rule, knowledge, name, value))
    return relations


def _pairs(label: Label, code: int | None, learned: Formula) -> list[tuple[Value, Formula, Formula]]:
    """Return a learned formula beside the rule as true-or-false ones: for one value, or for each that it can give."""
    if label.kind == "bool":
        rule = label.formula if code is None or label.values[code] is True else Not(label.formula)
        return [(True if code is None else label.values[code], learned, rule)]
    if code is not None:
        return [(label.values[code], learned, label.formula.eq(label.values[code]))]
    return [(value, learned.eq(value), label.formula.eq(value)) for value in label.values]

"""How a learned formula relates to the true rule: equal, more general, more specific or different.

It is decided by counting, on the worlds that can be (every slot whole, all constraints kept): those where only the
learned formula holds, and those where only the rule does. *Equal* means that there is no such world. Where the decision
diagram of both would be too large, or a rule is a program without symbols, worlds drawn evenly are compared instead,
and the relation says so; it may then miss worlds.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from assay.arrays import Codes
from assay.concepts import Value
from assay.errors import AssayError, NoSymbols, TooLarge
from assay.logic.circuit import compile_diagram
from assay.logic.evaluate import evaluate
from assay.logic.formula import Const, Formula, Not
from assay.logic.knowledge import Knowledge, Label
from assay.logic.parse import parse
from assay.runs.folder import PROGRAM, RunFolder
from assay.seeds import rng_for

Relation = Literal["equal", "more general", "more specific", "different"]
SMALL, LARGE = 20_000, 60_000
"""How large diagrams may get, with concepts in the order of the space and then in another."""
DRAWN = 200_000
"""How many worlds are drawn where they cannot be counted."""


@dataclass(frozen=True)
class RuleRelation:
    """A learned formula beside the rule, in numbers of worlds that can be."""

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
        drawn = "" if self.exact else " drawn"
        if self.relation == "equal":
            return f"The learned formula of {what!r} is equal to the rule on all {self.worlds:,} worlds{drawn}."
        parts = [(self.only_learned, "the learned formula"), (self.only_rule, "the rule")]
        wrong = " and in ".join(f"{number:,} only {which} holds" for number, which in parts if number)
        than = " than" if self.relation != "different" else " from"
        return (
            f"The learned formula of {what!r} is {self.relation}{than} the rule: "
            f"of {self.worlds:,} worlds{drawn}, in {wrong}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def relate(learned: Formula, rule: Formula, knowledge: Knowledge, label: str, value: Value = True) -> RuleRelation:
    """Compare two true-or-false formulas on the worlds of some knowledge.

    >>> from assay.concepts import digits
    >>> from assay.logic.knowledge import Constraint
    >>> known = Knowledge.of(digits(["a", "b"]), {"big": "a > 5"}, [Constraint("less", parse("a < b"))])
    >>> relate(parse("a > 4"), known.labels[0].formula, known, "big").relation
    'more general'
    """
    try:
        counts, exact = _counted([learned, rule, knowledge.possible], knowledge), True
    except (TooLarge, NoSymbols):
        counts, exact = _drawn(learned, rule, knowledge), False
    both = {(one, other): 0 for one in (False, True) for other in (False, True)}
    for (one, other, possible), ways in counts.items():
        if possible:
            both[bool(one), bool(other)] += int(ways)
    more, less = both[True, False], both[False, True]
    name: Relation = (
        "equal"
        if not more and not less
        else "more general"
        if not less
        else "more specific"
        if not more
        else "different"
    )
    return RuleRelation(label, value, name, more, less, sum(both.values()), exact)


def _counted(formulas: list[Formula], knowledge: Knowledge) -> dict[tuple[Value, ...], int]:
    """Return the exact number of worlds of each outcome; object by object the diagram of slots is small."""
    try:
        return compile_diagram(formulas, knowledge.space, knowledge.space.names, SMALL).counts
    except NoSymbols:
        raise
    except TooLarge:
        return compile_diagram(formulas, knowledge.space, budget=LARGE).counts


def _drawn(learned: Formula, rule: Formula, knowledge: Knowledge) -> dict[tuple[Value, ...], int]:
    """Return how often formulas hold together in worlds that are drawn evenly among those that can be."""
    codes = _worlds(knowledge)
    columns = [np.asarray(evaluate(one, knowledge.space, codes), dtype=bool).tolist() for one in (learned, rule)]
    return {(one, other, True): ways for (one, other), ways in Counter(zip(*columns, strict=True)).items()}


def _worlds(knowledge: Knowledge) -> Codes:
    rng = rng_for(0, "rule relation")
    codes = rng.integers(0, np.array(knowledge.space.sizes), (DRAWN, len(knowledge.space)))
    if knowledge.possible == Const(True):
        return codes
    try:
        diagram = compile_diagram([knowledge.possible], knowledge.space)
        ranking = diagram.among(np.array([bool(outcome[0]) for outcome in diagram.outcomes]))
        if ranking.total < 2**62:
            return ranking.worlds(rng.integers(0, ranking.total, DRAWN))
    except (TooLarge, NoSymbols):
        pass
    found: Codes = codes[np.asarray(evaluate(knowledge.possible, knowledge.space, codes), dtype=bool)]
    return found


def relations_in(program: Mapping[str, Any], knowledge: Knowledge) -> list[RuleRelation]:
    """Return how each formula of a learned program relates to the rule of its label, value by value."""
    found = []
    for name, held in program.get("labels", {}).items():
        label = knowledge.label(name)
        for code, text in held["formulas"]:
            for value, learned, rule in _pairs(label, code, parse(text)):
                found.append(relate(learned, rule, knowledge, name, value))
    return found


def _pairs(label: Label, code: int | None, learned: Formula) -> list[tuple[Value, Formula, Formula]]:
    """Return a learned formula beside the rule as true-or-false ones: for one value, or for each that it can give."""
    if label.kind == "bool":
        rule = label.formula if code is None or label.values[code] is True else Not(label.formula)
        return [(True if code is None else label.values[code], learned, rule)]
    if code is not None:
        return [(label.values[code], learned, label.formula.eq(label.values[code]))]
    return [(value, learned.eq(value), label.formula.eq(value)) for value in label.values]


def learned_rules(run: RunFolder, knowledge: Knowledge) -> tuple[str, ...]:
    """Return in words how what a run has learned relates to the rule, and whether its bias can say the rule."""
    try:
        program = json.loads((run.folder / PROGRAM).read_text(encoding="utf-8"))
        held = program["labels"]
        found = relations_in(program, knowledge)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, AssayError):
        return ()  # a run that learned no formulas, or whose formulas cannot be compared
    said = []
    for label in knowledge.labels:
        mine = [one for one in found if one.label == label.name]
        if len(mine) == 1:
            said.append(mine[0].text)
        elif mine:
            equal = sum(one.relation == "equal" for one in mine)
            said.append(f"Of {len(mine)} learned formulas of {label.name!r}, {equal} are equal to the rule.")
        bias = held.get(label.name, {}).get("notes", {}).get("bias")
        if bias and not bias["expressible"]:
            said.append(f"The bias of the learner does not express the rule of {label.name!r}: {bias['why']}.")
    return tuple(said)

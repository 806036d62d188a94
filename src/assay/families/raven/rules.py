"""The rules of matrices as formulas: what holds of the rows of an attribute, and which candidate completes all."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from assay.logic import (
    AllDifferent,
    Concept,
    ConceptSpace,
    Const,
    Constraint,
    EncoderGroup,
    Formula,
    If,
    Knowledge,
    Label,
    Slot,
    Value,
    Var,
    conjunction,
    disjunction,
    exactly,
)

Row = Sequence[Formula]
CONTEXT = 8
"""How many panels of a matrix are shown."""


def constant(rows: Sequence[Row]) -> Formula:
    """Return "all panels of a row have one value"."""
    return conjunction(*(a.eq(b) for row in rows for a, b in pairwise(row)))


def progression(rows: Sequence[Row]) -> Formula:
    """Return "from panel to panel the value rises, or falls, by the same step in all rows"."""
    first, second, _ = rows[0]
    step = second - first
    equal = [(b - a).eq(step) for row in rows for a, b in pairwise(row)][1:]
    return conjunction(first.ne(second), *equal)


def arithmetic(rows: Sequence[Row]) -> Formula:
    """Return "the last value of each row is the sum of the others, or in each row their difference"."""
    return conjunction(*(c.eq(a + b) for a, b, c in rows)) | conjunction(*(c.eq(a - b) for a, b, c in rows))


def distribute_three(rows: Sequence[Row]) -> Formula:
    """Return "all rows have the same three values, and no two rows have one at the same place"."""
    first, *others = rows
    moved = [
        disjunction(*(row[place].eq(first[other]) for other in range(3) if other != place))
        for row in others
        for place in range(3)
    ]
    apart = [a.ne(b) for row, later in pairwise(others) for a, b in zip(row, later, strict=True)]
    return conjunction(*(AllDifferent(tuple(row)) for row in rows), *moved, *apart)


RULES: dict[str, Callable[[Sequence[Row]], Formula]] = {
    "constant": constant,
    "progression": progression,
    "arithmetic": arithmetic,
    "distribute_three": distribute_three,
}
NUMERIC = ("progression", "arithmetic")
"""The rules that only numbers can follow."""


def rows_of(cells: Sequence[Formula]) -> list[Row]:
    """Return cells as rows of three.

    >>> from assay.logic import var
    >>> RULES["constant"](rows_of(var("a", "b", "c", "d", "e", "f")))
    <a == b and b == c and d == e and e == f>
    """
    return [cells[start : start + 3] for start in range(0, len(cells), 3)]


def panel_names(candidates: int) -> list[str]:
    """Return the names of all panels: the matrix row by row, then the candidates."""
    return [f"panel{i + 1}" for i in range(CONTEXT)] + [f"candidate{i + 1}" for i in range(candidates)]


def space_of(values: Mapping[str, tuple[Value, ...]], candidates: int) -> ConceptSpace:
    """Return the attributes of all panels, attribute by attribute, which keeps decision diagrams small."""
    names = panel_names(candidates)
    slots = tuple(Slot(name, name.rstrip("0123456789") + "s", tuple(values)) for name in names)
    concepts = tuple(Concept(slot.concept(name), values[name]) for name in values for slot in slots)
    encoders = tuple(EncoderGroup(name, tuple(slot.concept(name) for slot in slots)) for name in values)
    return ConceptSpace(concepts, slots, encoders)


def context_of(attribute: str) -> list[Formula]:
    """Return one attribute of the eight panels of the matrix."""
    return [Var(f"{name}.{attribute}") for name in panel_names(0)]


def raven_knowledge(
    values: Mapping[str, tuple[Value, ...]], rules: Mapping[str, Sequence[str]], candidates: int
) -> Knowledge:
    """Return the rule: the number of the candidate with which every attribute follows one rule in all three rows.

    It is 0 where none does, which no world of a dataset is. The constraints say that the first two rows of each
    attribute follow exactly one of the rules, and that exactly one candidate completes the matrix.
    """
    numbers = range(1, candidates + 1)
    right = {name: [_follows(name, rules[name], f"candidate{number}") for number in numbers] for name in rules}
    fits = [conjunction(*(right[name][number - 1] for name in rules)) for number in numbers]
    answer: Formula = Const(0)
    for number in reversed(numbers):
        answer = If(fits[number - 1], Const(number), answer)
    # what some attribute rules out is said first, so that diagrams read attribute by attribute, which keeps them small
    answer = If(conjunction(*(disjunction(*right[name]) for name in rules)), answer, Const(0))
    rows = {name: rows_of(context_of(name))[:2] for name in rules}
    one_rule = {name: exactly(1, *(RULES[rule](rows[name]) for rule in rules[name])) for name in rules}
    limits = [Constraint(f"one_rule_of_{name}", formula, ("rows",)) for name, formula in one_rule.items()]
    limits.append(Constraint("one_answer", exactly(1, *fits), ("candidates",)))
    # the values are given, since to find them by the diagram takes long
    return Knowledge(space_of(values, candidates), (Label("answer", answer, (0, *numbers)),), tuple(limits))


def _follows(attribute: str, allowed: Sequence[str], candidate: str) -> Formula:
    """Return "with this candidate an attribute follows one of its rules in all rows"."""
    rows = rows_of([*context_of(attribute), Var(f"{candidate}.{attribute}")])
    return disjunction(*(RULES[rule](rows) for rule in allowed))


def combinations_where(combinations: Sequence[Sequence[str]], rules: Mapping[str, Sequence[str]]) -> Formula:
    """Return "the attributes follow one of these combinations of rules"."""
    rows = {name: rows_of(context_of(name))[:2] for name in rules}
    pairs = [zip(rules, chosen, strict=True) for chosen in combinations]
    return disjunction(*(conjunction(*(RULES[rule](rows[name]) for name, rule in chosen)) for chosen in pairs))

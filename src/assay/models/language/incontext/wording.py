"""Concepts, examples and labels in the words of a prompt. The name of a label is left out: it may leak the rule."""

from collections.abc import Sequence
from typing import Literal

from assay.base import Codes
from assay.logic import ABSENT, Concept, ConceptSpace, Label, Value
from assay.prolog import Relation, Vocabulary, facts_text, value_text

Form = Literal["formula", "prolog", "words"]
KINDS = {"bool": "true or false", "int": "a whole number", "symbol": "one of the answers, as quoted text"}


def value_word(value: Value) -> str:
    """Return a label's value as prompts have it.

    >>> value_word(True), value_word(7), value_word("stop")
    ('yes', '7', 'stop')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def values_in_words(label: Label) -> str:
    """Return the answers that a rule can give: a list, or the range of many numbers."""
    words = [value_word(value) for value in reversed(label.values)]
    if label.kind == "int" and len(words) > 2:
        return f"a number from {words[-1]} to {words[0]}"
    return " or ".join(words) if len(words) == 2 else f"one of {', '.join(reversed(words))}"


def kind_in_words(label: Label) -> str:
    """Return what a formula must give."""
    return KINDS[label.kind]


def vocabulary(space: ConceptSpace, form: Form) -> str:
    """Return the names that a rule can use, a line each."""
    if form == "words":
        return ""
    if form == "prolog":
        return "\n".join(_predicate(relation) for relation in Vocabulary(space).relations)
    lines = []
    for group, slots in space.groups.items():
        first = slots[0]
        attributes = "; ".join(f"`{name}`: {_values(space.concept(first.concept(name)))}" for name in first.attributes)
        names = ", ".join(f"`{slot.name}`" for slot in slots)
        lines.append(f"- `{group}`: up to {len(slots)} objects, {names}, each with {attributes}")
        lines.append(f"  (written as in `{first.concept(first.attributes[0])}`)")
    slotted = {name for slot in space.slots for name in slot.concepts}
    lines += [f"- `{c.name}`: {_values(c)}" for c in space.concepts if c.name not in slotted]
    return "\n".join(lines)


def quantifier_example(space: ConceptSpace) -> tuple[str, str]:
    """Return a group of objects and a statement about one, as an example; or nothing where there are no objects."""
    for group, slots in space.groups.items():
        attribute = slots[0].attributes[0]
        value = space.concept(slots[0].concept(attribute)).present[0]
        return group, f"x.{attribute} == {value!r}"
    return "", ""


def _values(concept: Concept) -> str:
    if concept.kind == "bool":
        return "true or false"
    values = concept.present
    if len(values) > 3 and all(isinstance(value, int) for value in values) and list(values) == sorted(values):
        return f"a number from {values[0]} to {values[-1]}"
    return ", ".join(repr(value) for value in values)


def _predicate(relation: Relation) -> str:
    name, kinds = relation.name, [kind.capitalize() for kind in relation.types]
    if relation.what == "has":
        return f"- `{name}({kinds[0]}, {kinds[1]})`: the {relation.types[1]} is there"
    if relation.what == "number":
        return f"- `{name}({kinds[0]}, N)`: its place, from 1 on"
    if relation.what == "before":
        return f"- `{name}({kinds[0]}1, {kinds[0]}2)`: the first comes before the second"
    values = ", ".join(value_text(value) for value in relation.values)
    return f"- `{name}({kinds[0]}, V)`: V is one of {values}"


def describe_example(space: ConceptSpace, codes: Codes, form: Form, number: int = 1) -> str:
    """Return an example in symbols: as Prolog facts where a program is asked for, else as `name = value`."""
    if form == "prolog":
        return facts_text(Vocabulary(space), codes[None, :], first=number).strip()
    values = space.decode(codes)
    lines = []
    for slot in space.slots:
        there = {name: values[slot.concept(name)] for name in slot.attributes if values[slot.concept(name)] != ABSENT}
        if there:
            lines.append(f"{slot.name}: {_listed(list(there.items()))}")
    slotted = {name for slot in space.slots for name in slot.concepts}
    plain = [(name, value) for name, value in values.items() if name not in slotted]
    return "\n".join([*lines, _listed(plain)] if plain else lines)


def _listed(pairs: Sequence[tuple[str, Value]]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in pairs)

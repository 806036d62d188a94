"""What a model is sent: prompts, which are files of ours in `prompts/`, and the messages made of them.

Concepts, examples and labels are put into words here. The name of a label is left out: it may leak the rule.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import jinja2

from assay.base import Codes
from assay.logic import ABSENT, Concept, ConceptSpace, Label, Value
from assay.prolog import Vocabulary, facts_text, value_text

Part = dict[str, Any]
Message = dict[str, Any]
NAMES = (
    "system", "rule_from_images", "rule_from_symbols", "example", "as_words", "as_formula", "as_prolog", "not_a_rule",
    "classify", "not_an_answer",
)  # fmt: skip
"""Those of the in-context learner."""
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_PICTURE = 400
"""An estimate for the rate limit, and for endpoints that report no token counts."""
Form = Literal["formula", "prolog", "words"]
KINDS = {"bool": "true or false", "int": "a whole number", "symbol": "one of the answers, as quoted text"}


def source(name: str) -> str:
    """Return the text of a prompt file."""
    return files("assay.models.language").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


@cache
def hashes(names: tuple[str, ...] = NAMES) -> dict[str, str]:
    """Return the hash of each prompt file, for the record."""
    return {name: hashlib.sha256(source(name).encode()).hexdigest() for name in names}


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=False,  # plain text for a model, no page
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def fill(name: str, **values: Any) -> str:
    """Return a prompt filled in.

    >>> fill("not_an_answer", problem="no line 'ANSWER:'", choices="yes or no").splitlines()[-1]
    'ANSWER: yes or no'
    """
    return _environment().get_template(name).render(**values).strip()


def text_part(text: str) -> Part:
    """Return a text as a part of a message."""
    return {"type": "text", "text": text}


def picture_part(png: bytes) -> Part:
    """Return a PNG as a part of a message."""
    data = base64.b64encode(png).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def user(parts: list[Part]) -> Message:
    """Return a user message; as plain text where there is no picture, since some models take nothing else."""
    if all(part["type"] == "text" for part in parts):
        return {"role": "user", "content": "\n\n".join(part["text"] for part in parts)}
    return {"role": "user", "content": parts}


def opening(parts: list[Part], system: str = "system") -> list[Message]:
    """Return the first messages of a conversation, the system's from a prompt file."""
    return [{"role": "system", "content": fill(system)}, user(parts)]


def continue_conversation(messages: list[Message], answer: str, reply: str) -> list[Message]:
    """Return a conversation with the model's answer and our reply to it appended."""
    return [*messages, {"role": "assistant", "content": answer}, user([text_part(reply)])]


def tokens_in(messages: list[Message]) -> int:
    """Return about how many tokens messages are.

    >>> tokens_in([user([text_part("x" * 400)])]), tokens_in([user([picture_part(b"png")])])
    (104, 404)
    """
    total = 0
    for message in messages:
        content = message["content"]
        parts = [text_part(content)] if isinstance(content, str) else content
        total += 4  # for the role
        for part in parts:
            total += len(part["text"]) // CHARACTERS_PER_TOKEN if part["type"] == "text" else TOKENS_PER_PICTURE
    return total


# -- concepts, examples and labels in words ----------------------------------------------------------------------------


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
        return "\n".join(_predicates(Vocabulary(space)))
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


def _predicates(vocabulary: Vocabulary) -> Iterator[str]:
    for relation in vocabulary.relations:
        name, kinds = relation.name, [kind.capitalize() for kind in relation.types]
        values = ", ".join(value_text(value) for value in relation.values)
        yield {
            "has": f"- `{name}({kinds[0]}, {kinds[-1]})`: the {relation.types[-1]} is there",
            "number": f"- `{name}({kinds[0]}, N)`: its place, from 1 on",
            "before": f"- `{name}({kinds[0]}1, {kinds[0]}2)`: the first comes before the second",
        }.get(relation.what, f"- `{name}({kinds[0]}, V)`: V is one of {values}")


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

"""Parsing of a model's replies: a rule in words and as a formula, a class, or the concepts of a picture.

What cannot be parsed is not guessed.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.base import AssayError, Codes
from assay.logic import Concept, ConceptSpace, Formula, Label, Oracle, evaluate, parse, shape_of, walk
from assay.models.language.conversation import one_line
from assay.models.language.endpoint import Reply
from assay.models.language.messages import Form, value_word
from assay.prolog import rule_of

HEAD = "target"
"""What a program must define."""
THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
BLOCK = re.compile(r"```[ \t]*(\w*)[^\n]*\n(.*?)```", re.DOTALL)
RULE = re.compile(r"^[\s*#>]*RULE[\s*]*:[\s*]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
ANSWER = re.compile(r"^[\s*#>]*ANSWER[\s*]*:(.*)$", re.IGNORECASE | re.MULTILINE)
YES = {"yes": True, "true": True, "no": False, "false": False}
LONGEST = 20_000


class NotARule(AssayError):
    """An answer that holds no rule in the form that was asked for."""


class NotAnAnswer(AssayError):
    """An answer that names no class."""


@dataclass(frozen=True)
class ParsedRule:
    """A rule as a model gave it: in words, and unless only words were asked for, as text and as a formula."""

    words: str
    text: str = ""
    formula: Formula | None = None


def read_rule(reply: Reply, form: Form, label: Label, space: ConceptSpace, codes: Codes) -> ParsedRule:
    """Return the rule of an answer, refusing what is of another kind than the label or fails on the examples."""
    answer = _answer_text(reply, NotARule)
    words = RULE.findall(answer)
    if not words:
        raise NotARule(f"there is no line 'RULE: ...' that states the rule in words{_cut(reply)}")
    stated = one_line(words[-1].replace("**", ""), LONGEST)
    if form == "words":
        return ParsedRule(stated)
    text = _block(answer, form, reply)
    try:
        formula = _formula(text, label, space) if form == "formula" else rule_of(text, space, HEAD, name="answer")
        evaluate(formula, space, codes)
    except AssayError as error:
        raise NotARule(str(error)) from None
    except (ArithmeticError, ValueError, RecursionError, MemoryError) as error:
        raise NotARule(f"the {form} cannot be computed: {str(error) or type(error).__name__}") from None
    return ParsedRule(stated, text, formula)


def _formula(text: str, label: Label, space: ConceptSpace) -> Formula:
    formula = parse(" ".join(text.split()))
    if any(isinstance(part, Oracle) for part in walk(formula)):
        raise NotARule("a formula holds no Prolog")
    shape = shape_of(formula, space)
    if shape.kind != label.kind:
        kinds = {"bool": "a truth value", "int": "a number", "symbol": "a text"}
        raise NotARule(f"the formula gives {kinds[shape.kind]}, but the rule gives {kinds[label.kind]}")
    return formula


def _answer_text(reply: Reply, kind: type[AssayError]) -> str:
    """Return a model's answer, without its reasoning."""
    answer = THOUGHTS.sub("", reply.text)
    if not answer.strip():
        raise kind(f"the answer is empty{_cut(reply)}")
    return answer[-LONGEST:]


def _cut(reply: Reply) -> str:
    return ", and it was cut off at max_tokens" if reply.finish == "length" else ""


def _block(answer: str, form: Form, reply: Reply) -> str:
    """Return the last block of code: of this form if one says so, else any."""
    blocks = BLOCK.findall(answer)
    named = [text for name, text in blocks if name.lower() == form]
    if not blocks:
        raise NotARule(f"there is no block ```{form} ... ``` that states the rule as a {form}{_cut(reply)}")
    return str((named or [text for _, text in blocks])[-1]).strip()


def read_class(reply: Reply, label: Label) -> int:
    """Return the code of the value that an answer names in its last line `ANSWER: ...`, or as nothing but a value."""
    answer = _answer_text(reply, NotAnAnswer)
    lines = ANSWER.findall(answer)
    named = (lines[-1] if lines else answer).strip().strip("*`'\". ").lower()
    for code, value in enumerate(label.values):
        if named == value_word(value).lower() or (isinstance(value, bool) and YES.get(named) is value):
            return code
    if not lines:
        raise NotAnAnswer(f"there is no line 'ANSWER: ...'{_cut(reply)}")
    raise NotAnAnswer(f"{named[:60]!r} is none of the answers that the rule can give")


@dataclass(frozen=True)
class ReadValues:
    """The codes of concepts that an answer names, -1 for what it does not tell, and what is wrong with it."""

    codes: list[int]
    fault: str = ""


def read_values(reply: Reply, concepts: Sequence[Concept]) -> ReadValues:
    """Return the concepts of an answer that is one JSON object, refusing unknown names and values."""
    found = find_values(reply.text, concepts)
    if found.fault:
        raise NotAnAnswer(f"{found.fault}{_cut(reply)}")
    return found


def find_values(text: str, concepts: Sequence[Concept]) -> ReadValues:
    """Return what a text tells of concepts, and the first thing that is wrong with it."""
    try:
        given = _json_object(THOUGHTS.sub("", text)[-LONGEST:])
    except ValueError as error:
        return ReadValues([-1] * len(concepts), str(error))
    unknown = [name for name in given if name not in {concept.name for concept in concepts}]
    faults = [f"{one_line(name, 60)!r} is none of the names" for name in unknown]
    codes = []
    for concept in concepts:
        value = given.get(concept.name)
        codes.append(-1 if value is None else _code_of(value, concept))
        if concept.name not in given:
            faults.append(f"there is nothing about {concept.name!r}")
        elif value is not None and codes[-1] < 0:
            faults.append(f"{one_line(json.dumps(value), 60)} is no value of {concept.name!r}")
    return ReadValues(codes, faults[0] if faults else "")


def _json_object(text: str) -> dict[str, Any]:
    """Return the last JSON object of an answer, in a block of code or not; a name that occurs twice is an error."""
    blocks = BLOCK.findall(text)
    answer = str(blocks[-1][1]) if blocks else text[text.find("{") :] if "{" in text else ""
    try:
        found = json.loads(answer.strip(), object_pairs_hook=_each_once)
    except (json.JSONDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("the answer is not one JSON object")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for place, (name, _) in enumerate(pairs):
        if name in [other for other, _ in pairs[:place]]:
            raise ValueError(f"{one_line(name, 60)!r} occurs twice")
    return dict(pairs)


def _code_of(value: Any, concept: Concept) -> int:
    """Return the code of a value as JSON has it, or as it is written; -1 for any other."""
    word = value.strip().lower() if isinstance(value, str) else None
    for code, own in enumerate(concept.values):
        if (type(value) is type(own) and value == own) or (word is not None and word == str(own).lower()):
            return code
        if isinstance(own, bool) and word is not None and YES.get(word) is own:
            return code
    return -1

"""Parsing of a model's replies: a rule in words and as a formula, or a class. What cannot be parsed is not guessed."""

import re
from dataclasses import dataclass

from assay.arrays import Codes
from assay.concepts import ConceptSpace
from assay.errors import AssayError
from assay.logic.evaluate import evaluate
from assay.logic.formula import Formula, Oracle
from assay.logic.ground import shape_of
from assay.logic.knowledge import Label
from assay.logic.parse import parse
from assay.logic.prolog import rule_of
from assay.logic.traverse import walk
from assay.models.incontext.client import Reply
from assay.models.incontext.conversation import one_line
from assay.models.incontext.wording import Form, value_word

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
        raise NotARule(f"the {form} cannot be computed: {error or type(error).__name__}") from None
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

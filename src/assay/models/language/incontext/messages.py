"""The prompts: files of ours in `prompts/`, filled in, and the messages made of them."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

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


def source(name: str) -> str:
    """Return the text of a prompt file."""
    return files("assay.models.language.incontext").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


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

"""Templates of sentences: what a sentence says, as numbers and names.

In a template `{name}` stands for words, `{name:n}` for a whole number, `{name:share}` for a share of so many with its
interval, `{name:percent}` for a share in per cent, `{name:number}` for a decimal one, and `[or this]` may be absent.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.claims.rows import wilson

COUNT, PERCENT, END = r"[\d,]+", r"\d+(?:\.\d)? %", r"\d+(?:\.\d)?"
SHAPES = {
    "": r".+?",
    "n": COUNT,
    "percent": PERCENT,
    "points": r"-?\d+ points?",
    "share": rf"{PERCENT} \({END} to {END} %\) of {COUNT}",
    "number": r"-?\d+\.\d+",
    "name": r"[\w.-]+",
}
PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")
SHARE = re.compile(rf"({PERCENT}) \(({END}) to ({END}) %\) of ({COUNT})")
ONE = re.compile(r"(?<![\d,.])1 (example|label|concept|world)\b")
CLOSE = 1e-6
ALSO = re.compile(r"On ([\w-]+) \(also on ([\w, -]+)\)(, |: )")
"""How a sentence begins that holds on several splits."""


def whole(text: str) -> int:
    """Return a whole number from its text."""
    return int(text.replace(",", ""))


def percent_is(text: str, share: float, slack: float = 0.0) -> bool:
    """Return whether a percentage, as it is written, is this share, or within some slack of it.

    >>> percent_is("86 %", 0.8551), percent_is("100 %", 0.999), percent_is("99.9 %", 0.9999)
    (True, False, True)
    """
    number = float(text.removesuffix(" %"))
    if not slack and number in (0, 100) and "." not in text:
        return abs(share - number / 100) < CLOSE
    least = 0.05 if "." in text else 0.5
    at_end = text in ("0.1 %", "99.9 %") and abs(100 * share - number) <= 0.1
    return at_end or abs(100 * share - number) <= least + 100 * slack + CLOSE


@dataclass(frozen=True)
class Share:
    """A share as a sentence says it: of how many, in per cent, with an interval."""

    text: str

    def is_of(self, hits: int, of: int) -> bool:
        """Return whether it is the share of these counts."""
        match = SHARE.fullmatch(self.text)
        if match is None or whole(match[4]) != of:
            return False
        low, high = wilson(hits, of)
        ends = percent_is(f"{match[2]} %", low) and percent_is(f"{match[3]} %", high)
        return ends and percent_is(match[1], hits / max(1, of))

    @property
    def of(self) -> int:
        """Of how many it is."""
        return whole(self.text.rpartition(" ")[2])

    @property
    def metadata(self) -> float:
        """The share, as exactly as it is written."""
        return float(self.text.partition(" %")[0]) / 100


def read(shape: str, text: str | None) -> Any:
    """Return what a part of a sentence says."""
    if text is None:
        return None
    return {"n": whole, "share": Share, "number": float}.get(shape, str)(text)


@dataclass(frozen=True)
class Pattern:
    """A template of sentences, and the claim that they make."""

    expression: re.Pattern[str]
    shapes: dict[str, str]
    claim: Callable[..., Iterable[str]]

    def read(self, sentence: str) -> dict[str, Any] | None:
        """Return what a sentence says; None if it is not of this template."""
        match = self.expression.fullmatch(sentence) or self.expression.fullmatch(ONE.sub(r"1 \1s", sentence))
        return None if match is None else {name: read(self.shapes[name], match[name]) for name in self.shapes}


PATTERNS: list[Pattern] = []


def says(*templates: str) -> Callable[[Callable[..., Iterable[str]]], Callable[..., Iterable[str]]]:
    """Register what sentences of some templates claim: a function that yields what is false about one."""

    def register(claim: Callable[..., Iterable[str]]) -> Callable[..., Iterable[str]]:
        PATTERNS.extend(compiled(template, claim) for template in templates)
        return claim

    return register


def compiled(template: str, claim: Callable[..., Iterable[str]]) -> Pattern:
    """Return the pattern of a template."""
    shapes: dict[str, str] = {}

    def expression(text: str) -> str:
        parts, start = [], 0
        for match in PLACE.finditer(text):
            name, shape = match[1], match[2] or ""
            shapes[name] = shape
            parts += [re.escape(text[start : match.start()]), f"(?P<{name}>{SHAPES[shape]})"]
            start = match.end()
        return "".join((*parts, re.escape(text[start:])))

    pieces = re.split(r"[\[\]]", template)  # every second one may be absent
    built = "".join(f"(?:{expression(piece)})?" if i % 2 else expression(piece) for i, piece in enumerate(pieces))
    return Pattern(re.compile(built), shapes, claim)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences_of("a.b is right in 0.5. It reads c.")
    ['a.b is right in 0.5.', 'It reads c.']
    """
    return [part for part in re.split(r"(?<=\.) (?=\S)", text.strip()) if part]


def listed(text: str, words: str = "and|or") -> list[str]:
    """Return the parts of a list in a sentence.

    >>> listed("a 1, b 2 and c 3")
    ['a 1', 'b 2', 'c 3']
    """
    return [part for part in re.split(rf", (?!\d{{3}}\b)| (?:{words}) ", text) if part]

"""Prolog text as tokens, each with its line and column."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.prolog.terms import PrologError, Term, Text, intern

Kind = Literal["atom", "quoted", "var", "number", "text", "punct", "end"]
PATTERN = re.compile(
    r"""(?P<space>[\s\x00]+|%[^\n]*)
      | (?P<block>/\*.*?\*/)
      | (?P<end>\.(?=[\s%]|\Z))
      | (?P<number>0'(?:\\x[0-9a-fA-F]+\\?|\\.|''|[^\\\n])|0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+
                  |\d+(?:_\d+)*(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)?)
      | (?P<var>[A-Z_][A-Za-z0-9_]*)
      | (?P<atom>[a-z][A-Za-z0-9_]*|\[\]|\{\}|!|;|[+\-*/\\^<>=~:.?@\#&$]+)
      | (?P<quoted>'(?:[^'\\]|''|\\x[0-9a-fA-F]+\\?|\\[0-7]+\\|\\.)*+')
      | (?P<text>"(?:[^"\\]|""|\\x[0-9a-fA-F]+\\?|\\[0-7]+\\|\\.)*+")
      | (?P<punct>[()\[\]{},|])""",
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "s": " ", "e": "\x1b",
}  # fmt: skip
SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]+)\\?|([0-7]+)\\|(\n)|(.))", re.DOTALL)
LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind, its value, where it begins, and whether '(' follows at once or space went before."""

    kind: Kind
    value: Term
    line: int
    column: int
    calls: bool
    spaced: bool


class SourceText:
    """Finds line and column of a place in a text."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source

    def error(self, start: int, why: str) -> PrologError:
        """Return an error that names the line and the column."""
        line, column = self.at(start)
        return PrologError(f"{self.source} line {line} column {column}: {why}")

    def at(self, start: int) -> tuple[int, int]:
        """Return the line and the column, both from 1."""
        before = self.text.rfind("\n", 0, start)
        return self.text.count("\n", 0, start) + 1, start - before


def tokens_of(text: str, source: str) -> Iterator[Token]:
    """Give the tokens of a Prolog text; `source` names it in errors."""
    place = SourceText(text, source)
    if len(text) > LONGEST:
        raise PrologError(f"{source}: a program of {len(text):,} characters is longer than {LONGEST:,}")
    stray = SURROGATE.search(text)
    if stray is not None:
        raise place.error(stray.start(), "half of a character (an unpaired surrogate)")
    at, line, line_start, spaced = 0, 1, 0, True
    while at < len(text):
        match = PATTERN.match(text, at)
        if match is None:
            raise place.error(at, _why(text, at))
        kind, piece, after = str(match.lastgroup), match.group(), match.end()
        if kind in ("space", "block"):
            spaced = True
        else:
            value = _value(kind, piece, place, at)
            calls = after < len(text) and text[after] == "("
            yield Token(kind, value, line, at - line_start + 1, calls, spaced)  # type: ignore[arg-type]
            spaced = False
        if "\n" in piece:
            line += piece.count("\n")
            line_start = at + piece.rfind("\n") + 1
        at = after


def _why(text: str, at: int) -> str:
    if text.startswith("/*", at):
        return "this comment is never closed with '*/'"
    if text[at] in "'\"":
        return f"this {text[at]} is never closed"
    return f"{text[at]!r} does not belong in Prolog"


def _value(kind: str, piece: str, place: SourceText, at: int) -> Term:
    if kind == "number":
        return _number(piece, place, at)
    if kind in ("quoted", "text"):
        body = _unescaped(piece[1:-1].replace(piece[0] * 2, piece[0]), place, at)
        return intern(body) if kind == "quoted" else Text(body)
    if kind == "atom" and piece.startswith("/*"):
        raise place.error(at, "this comment is never closed with '*/'")
    return intern(piece)


def _number(piece: str, place: SourceText, at: int) -> int | float:
    if piece.startswith("0'"):
        return ord("'" if piece == "0'''" else _unescaped(piece[2:], place, at))
    if len(piece) > 1200:
        raise place.error(at, f"a number of {len(piece)} digits is too long")
    if piece[:2] in ("0x", "0o", "0b"):
        return int(piece, 0)
    if "." in piece or "e" in piece.lower():
        return float(piece)
    return int(piece.replace("_", ""))


def _unescaped(body: str, place: SourceText, at: int) -> str:
    def unescape(match: re.Match[str]) -> str:
        hexadecimal, octal, newline, letter = match.groups()
        if newline:
            return ""
        if hexadecimal or octal:
            number = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
            if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                raise place.error(at, f"no character has the number {hexadecimal or octal:.20}")
            return chr(number)
        if letter in ESCAPES or letter in "\\'\"`":
            return ESCAPES.get(letter, letter)
        raise place.error(at, f"no escape \\{letter}")

    return ESCAPED.sub(unescape, body) if "\\" in body else body

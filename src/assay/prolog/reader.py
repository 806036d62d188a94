"""Read Prolog: text to tokens, tokens to terms by operator priority, and a text to clauses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from assay.prolog.terms import CURLY, INFIX, NIL, PREFIX, PrologError, Term, TermWriter, Text, Variable, as_list, intern

DEEPEST = 200
"""How deep a term may be nested in a text; lists and chains of operators do not count."""


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


@dataclass(frozen=True)
class Clause:
    """A head, a body (`true` for a fact), where it was read, and the names of its variables."""

    head: Term
    body: Term
    line: int = 0
    names: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        writer = TermWriter(self.names)
        head = writer.write(self.head, 999)
        return f"{head}." if self.body == "true" else f"{head} :- {writer.write(self.body)}."


@dataclass(frozen=True)
class Sentence:
    """A term that ends in a full stop, with the line it begins in and the names of its variables."""

    term: Term
    line: int
    names: dict[int, str]


def sentences(text: str, source: str = "program") -> Iterator[Sentence]:
    """Give the sentences of a Prolog text, one after the other.

    >>> [str(sentence.line) for sentence in sentences("a. b :- c,\\n  d. e(X, _, X).")]
    ['1', '1', '2']
    """
    reader = _Reader(list(tokens_of(text, source)), source)
    while reader.more():
        yield reader.sentence()


def read_term(text: str, source: str = "term") -> Term:
    """Read one term; the full stop may be left away."""
    reader = _Reader(list(tokens_of(text, source)), source)
    term = reader.expression(1200, 0)
    if reader.more() and reader.peek().kind != "end":
        raise reader.refuse(reader.peek(), "an operator is wanted here")
    return term


class _Reader:
    """Turns tokens into terms."""

    def __init__(self, tokens: list[Token], source: str) -> None:
        self.tokens = tokens
        self.source = source
        self.at = 0
        self.variables: dict[str, Variable] = {}

    def more(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self) -> Token:
        if not self.more():
            last = self.tokens[-1] if self.tokens else None
            where = f" line {last.line} column {last.column}" if last else ""
            raise PrologError(f"{self.source}{where}: the text ends too early; a clause ends in '.'")
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def refuse(self, token: Token, why: str) -> PrologError:
        text = "the end of the clause" if token.kind == "end" else repr(str(token.value))
        return PrologError(f"{self.source} line {token.line} column {token.column}: at {text}: {why}")

    def sentence(self) -> Sentence:
        self.variables = {}
        line = self.peek().line
        term = self.expression(1200, 0)
        token = self.take()
        if token.kind != "end":
            raise self.refuse(token, "an operator or '.' is wanted here")
        names = {id(variable): name for name, variable in self.variables.items()}
        return Sentence(term, line, names)

    def expect(self, value: str) -> None:
        token = self.take()
        if token.kind != "punct" or token.value != value:
            raise self.refuse(token, f"{value!r} is wanted here")

    def at_punct(self, value: str) -> bool:
        return self.more() and self.peek().kind == "punct" and self.peek().value == value

    def expression(self, most: int, depth: int) -> Term:
        """Read a term whose priority is no higher than this."""
        if depth > DEEPEST:
            raise self.refuse(self.peek(), f"terms are nested more than {DEEPEST} deep")
        left, level = self.primary(most, depth + 1)
        return self.infix(left, level, most, depth)

    def infix(self, left: Term, level: int, most: int, depth: int) -> Term:
        while self.more():
            name = self.operator(self.peek())
            if name is None or name not in INFIX:
                break
            priority, kind = INFIX[name]
            if priority > most or level > priority - (kind != "yfx"):
                break
            if kind == "xfy":
                left = self.chain(left, priority, depth)
            else:
                self.at += 1
                left = (name, left, self.expression(priority - 1, depth + 1))
            level = priority
        return left

    def chain(self, left: Term, priority: int, depth: int) -> Term:
        """Read `a, b, c`: right-associative, however long, without going deeper."""
        operands, names = [left], []
        while self.more() and (name := self.operator(self.peek())) and INFIX.get(name) == (priority, "xfy"):
            self.at += 1
            names.append(";" if name == "|" else name)
            operands.append(self.expression(priority - 1, depth + 1))
        chained = operands.pop()
        while names:
            chained = (names.pop(), operands.pop(), chained)
        return chained

    def operator(self, token: Token) -> str | None:
        if token.kind == "atom" or (token.kind == "punct" and token.value in (",", "|")):
            return str(token.value)
        return None

    def primary(self, most: int, depth: int) -> tuple[Term, int]:
        if depth > DEEPEST:
            raise self.refuse(self.peek(), f"terms are nested more than {DEEPEST} deep")
        token = self.take()
        if token.kind in ("number", "text"):
            return token.value, 0
        if token.kind == "var":
            return self.variable(str(token.value)), 0
        if token.kind == "punct":
            return self.bracket(token, depth), 0
        if token.kind == "end":
            raise self.refuse(token, "a term is wanted here")
        name = str(token.value)
        if token.calls:
            self.at += 1
            return (name, *self.arguments(depth)), 0
        if token.kind == "atom" and name in PREFIX:
            return self.prefix(token, name, most, depth)
        return name, 0

    def variable(self, name: str) -> Variable:
        if name == "_":
            return Variable()
        return self.variables.setdefault(name, Variable())

    def prefix(self, token: Token, name: str, most: int, depth: int) -> tuple[Term, int]:
        following = self.peek() if self.more() else None
        if following is None or self._is_operand_end(following):
            return name, 0
        if name in ("-", "+") and following.kind == "number" and not following.spaced:
            self.at += 1
            return (-following.value if name == "-" else following.value), 0
        priority, kind = PREFIX[name]
        if priority > most and most != 999:  # as SWI-Prolog, which lets arguments have any priority
            raise self.refuse(token, "this operator needs parentheses around it here")
        priority = min(priority, most)
        argument = self.expression(priority if kind == "fy" else priority - 1, depth + 1)
        return (name, argument), priority

    def _is_operand_end(self, token: Token) -> bool:
        """Return whether no operand follows, so that the operator is an atom here."""
        if token.kind == "end" or (token.kind == "punct" and token.value in (")", "]", "}", ",", "|")):
            return True
        is_infix = token.kind == "atom" and token.value in INFIX and token.value not in PREFIX
        return is_infix and not token.calls

    def terms(self, depth: int) -> list[Term]:
        """Read terms between commas."""
        terms = [self.expression(999, depth + 1)]
        while self.at_punct(","):
            self.at += 1
            terms.append(self.expression(999, depth + 1))
        return terms

    def arguments(self, depth: int) -> list[Term]:
        terms = self.terms(depth)
        self.expect(")")
        return terms

    def bracket(self, token: Token, depth: int) -> Term:
        if token.value == "(":
            inner = self.expression(1200, depth + 1)
            self.expect(")")
            return inner
        if token.value == "{":
            inner = self.expression(1200, depth + 1)
            self.expect("}")
            return (CURLY, inner)
        if token.value == "[":
            return self.list(depth)
        raise self.refuse(token, "a term is wanted here")

    def list(self, depth: int) -> Term:
        if self.at_punct("]"):
            self.at += 1
            return NIL
        items = self.terms(depth)
        tail: Term = NIL
        if self.at_punct("|"):
            self.at += 1
            tail = self.expression(999, depth + 1)
        self.expect("]")
        return as_list(items, tail)

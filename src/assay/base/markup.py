"""The door by which text gets into HTML, in notebooks: a table, a picture, a link; all that is given is text.

What strangers wrote (names, values, links) may hold markup. Nothing here takes markup, so nothing here lets it through.

The door by which text gets into Markdown: text that stays text, and code that stays code.

What strangers wrote (names, values, links) may hold markup, which pages like those of GitHub or the hub would render.
"""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

STYLE = "border-collapse:collapse;font-size:13px"
CELL = "padding:2px 8px;text-align:left;vertical-align:top"
SCHEME = re.compile(r"[^/?#]*:")
ADDRESS = re.compile(r"[\w.~!$&'()*+,;=:@%/?#\[\]-]*")
"""All that an address may hold: no spaces and signs that browsers leave out, or take for others."""


@dataclass(frozen=True)
class HtmlPicture:
    """A cell of a table that shows a picture, which needs no other file."""

    png: bytes
    height: int = 64


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; all cells are text but those that are `HtmlPicture`."""
    top = "".join(f'<th style="{CELL}">{html.escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{_cell(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    return f'<table style="{STYLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def html_text(text: str, bold: bool = False) -> str:
    """Return a paragraph."""
    safe = html.escape(text).replace("\n", "<br>")
    return f"<p>{f'<b>{safe}</b>' if bold else safe}</p>"


def html_lines(text: str) -> str:
    """Return text whose lines and spaces are kept."""
    return f"<pre>{html.escape(text)}</pre>"


def html_link(address: str, note: str = "") -> str:
    """Return a link that opens beside the notebook, with a note after it; an address that is none is text."""
    shown = html.escape(address)
    link = f'<a href="{shown}" target="_blank" rel="noopener">{shown}</a>' if safe_link(address) else shown
    return f"{link} {html.escape(note)}".rstrip()


def safe_link(address: str) -> str:
    """Return an address that a page may link to: of http or https, or relative; else an empty text.

    >>> safe_link("https://example.org/x"), safe_link("runs/a.html#b"), safe_link("javascript:alert(1)")
    ('https://example.org/x', 'runs/a.html#b', '')
    """
    absolute = address.startswith(("http://", "https://"))
    if not ADDRESS.fullmatch(address) or (not absolute and (SCHEME.match(address) or address.startswith("//"))):
        return ""
    return address


def _cell(cell: object) -> str:
    if not isinstance(cell, HtmlPicture):
        return html.escape(str(cell))
    data = base64.b64encode(cell.png).decode()
    return f'<img style="image-rendering:pixelated" height="{int(cell.height)}" src="data:image/png;base64,{data}">'


def shorten(text: str, most: int) -> str:
    """Return a text that is no longer than this, with dots where something was left out.

    >>> shorten("a, b, c, d", 8)
    'a, b ...'
    """
    return text if len(text) <= most else text[: most - 4] + " ..."


MARKUP = re.compile(r"[\\`|*\[\]]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])")
"""Signs of code, tables, links and emphasis; `(` begins an address only after `]`; `_` within a word is a letter."""
BLOCK = re.compile(r"[#>+*=~_-]+(?=\s|$)|>|(?:~{3}|-{3}|={3})|\d+(?=[.)](?:\s|$))")
"""What makes a line a heading, a list, a quotation, a rule or code."""
SIGNS = re.compile(r"[\x00-\x1f\x7f]+")
TAG = re.compile(r"<[A-Za-z/!?]")
BAR = re.compile(r"(?<!\\)\|")
"""A bar that would end a cell, also within code."""
ENTITY = re.compile(r"&(?=#?\w+;)")


def join_words(texts: Sequence[str], word: str = "and") -> str:
    """Return texts as a list in a sentence.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def join_first(texts: Sequence[str], most: int = 6, word: str = "and") -> str:
    """Return a list in a sentence, the first few of many and how many more there are.

    Parameters
    ----------
    texts
        The list.
    most
        How many are written out; of more, the rest is counted.
    word
        What stands before the last.

    >>> join_first(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    if len(texts) <= most:
        return join_words(texts, word)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


class Markdown(str):
    """Text that is Markdown already: whatever of it was not ours is escaped."""

    __slots__ = ()


def escape_text(text: str) -> Markdown:
    """Return a text on one line that Markdown shows as it is, also in a cell of a table: no link, no HTML, no code.

    >>> escape_text("a | b"), escape_text("[x](javascript:y)"), escape_text("<b>")
    ('a \\\\| b', '\\\\[x\\\\]\\\\(javascript:y)', '&lt;b>')
    """
    plain = " ".join(SIGNS.sub(" ", text).split())
    block = BLOCK.match(plain)
    safe = ENTITY.sub("&amp;", MARKUP.sub(r"\\\g<0>", plain)).replace("<", "&lt;")
    if block is None:
        return Markdown(safe)
    digits = len(block[0]) if block[0].isdigit() else 0
    return Markdown(f"{safe[:digits]}\\{safe[digits:]}")


def code_text(text: str) -> Markdown:
    """Return a text as code on one line; what may begin a tag is text, not code.

    Some readers of Markdown look for HTML before they look for code. Grave accents in code become apostrophes.

    >>> code_text("a < `b`"), code_text("<b>")
    ("`a < 'b'`", '&lt;b>')
    """
    plain = " ".join(SIGNS.sub(" ", text).split()).replace("`", "'")
    if not plain or TAG.search(plain):
        return escape_text(plain)
    return Markdown(f"`{plain}`")


def prose_text(text: str) -> Markdown:
    """Return a sentence of ours, in which what stands between grave accents is code and all else is text.

    >>> prose_text("See `a < b` and <b>.")
    'See `a < b` and &lt;b>.'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # the last accent begins nothing
        parts[-2:] = ["`".join(parts[-2:])]
    shown = ""
    for number, part in enumerate(parts):
        piece = _piece(part, number % 2 == 1)
        shown += f" {piece}" if shown.endswith("`") and piece.startswith("`") else piece
    return Markdown(shown.strip())


def _piece(part: str, is_code: bool) -> str:
    if is_code:
        return code_text(part)
    before, after = " " if part[:1].isspace() else "", " " if part[-1:].isspace() else ""
    return f"{before}{escape_text(part)}{after}" if part.strip() else part[:1]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    """Return a table; cells are text, but those that are `Markdown`."""
    lines = [_line(head), f"|{' --- |' * len(head)}", *(_line(row) for row in rows)]
    return Markdown("\n".join(lines))


def _line(cells: Sequence[str]) -> str:
    shown = (BAR.sub(r"\|", cell) if isinstance(cell, Markdown) else escape_text(cell) for cell in cells)
    return f"| {' | '.join(shown)} |"

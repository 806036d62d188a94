"""What a look-up gives: plain data, and the same as text and tables for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.base import html_lines, html_table, to_frame

if TYPE_CHECKING:
    import pandas as pd


class Listing(NamedTuple):
    """A table of texts: the head, and a row for each thing."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, repr=False)
class Facts:
    """What there is to know of something: as plain data, as text, as a table."""

    data: Any
    """What `--json` prints."""
    parts: tuple[str | Listing, ...]
    """The same for people: texts and tables, one below the other."""
    notes: tuple[str, ...] = ()
    """What else is to be said, such as what was left out."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """An entry for each thing of a list; of lists by kind each has its `kind` as well."""
        if isinstance(self.data, dict) and all(isinstance(things, list) for things in self.data.values()):
            return [{"kind": kind, **thing} for kind, things in self.data.items() for thing in things]
        return list(self.data) if isinstance(self.data, list) else [self.data]

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as a data frame."""
        return to_frame(self.rows)

    def __str__(self) -> str:
        return "\n".join(part if isinstance(part, str) else _aligned(part) for part in (*self.parts, *self.notes))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = (*self.parts, *self.notes)
        return "".join(html_lines(part) if isinstance(part, str) else html_table(*part) for part in parts)


def _aligned(table: Listing) -> str:
    """Return a table as lines, its columns below one another."""
    lines = [table.head, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(map(str.ljust, line, widths)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)

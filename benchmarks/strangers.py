"""The rows of what strangers' folders may hold: links in every place, and names that are markup."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.fuzz import Work
from benchmarks.hostile import hostile_pages
from benchmarks.links import links_to_read, planted_links

INPUTS = ("data", "table", "mine.parquet", "run")


def rows_of_strangers(place: Path) -> dict[str, Iterable[tuple[str, Work]]]:
    """Return the attempts of each row; a link through which is written or read, and live markup, is damage."""
    names = tuple(name for name in INPUTS if (place / name).exists())
    return {
        "links where a command writes": planted_links(place, names),
        "links where a command reads": links_to_read(place, names),
        "names and values that are markup": hostile_pages(place),
    }

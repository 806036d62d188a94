"""The rows of what strangers' folders and files may hold, and of what happens beside a command."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.bombs import hostile_values, small_files
from benchmarks.deleted import deleted_outputs
from benchmarks.fuzz import Work
from benchmarks.hostile import hostile_pages
from benchmarks.links import links_to_read, planted_links
from benchmarks.rows import rows_at_once, spoilt_rows

INPUTS = ("data", "table", "mine.parquet", "run")


def rows_of_strangers(place: Path) -> dict[str, Iterable[tuple[str, Work]]]:
    """Return the attempts of each row; a link through which is written or read, and live markup, is damage."""
    names = tuple(name for name in INPUTS if (place / name).exists())
    return {
        "links where a command writes": planted_links(place, names),
        "links where a command reads": links_to_read(place, names),
        "names and values that are markup": hostile_pages(place),
        "hostile values": hostile_values(place),
        "small files of much": small_files(place),
        "rows of boards": spoilt_rows(place),
        "rows added at once": rows_at_once(place),
        "output deleted under a command": deleted_outputs(place),
    }

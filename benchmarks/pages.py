"""Tables in pages of the documentation, each between two markers, so that a command can write them again.

What took long to measure is kept as records, a small JSON file for each run.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def publish(text: str, begin: str, end: str) -> None:
    """Print a text, and put it between two markers of the pages that the command line names."""
    print(text)
    write_between(sys.argv[1:], begin, end, text)


def write_between(pages: Iterable[str], begin: str, end: str, text: str) -> None:
    """Put a text between two markers of pages, in place of what stands there."""
    for name in pages:
        page = Path(name).read_text(encoding="utf-8")
        before, _, rest = page.partition(begin)
        Path(name).write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a folder, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]

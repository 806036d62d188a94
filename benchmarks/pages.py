"""Tables in pages of the documentation, each between two markers."""

from pathlib import Path


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text into a page, between the markers of this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")

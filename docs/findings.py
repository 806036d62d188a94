"""Writes the tables of findings and thresholds into docs/diagnosis.md: `python docs/findings.py`.

Both come from the registry, so that the page says what the checks do.
"""

from collections.abc import Sequence
from pathlib import Path

from assay.diagnosis import FINDINGS, Check, described, kinds_in_order

PAGE = Path(__file__).parent / "diagnosis.md"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def findings() -> str:
    """Return what every finding says, what it is tested against, and which rivals withdraw it."""
    head = ["finding", "what it says", "null hypothesis", "statistic", "withdrawn by"]
    return table(head, [_row(FINDINGS[kind]()) for kind in kinds_in_order()])


def _row(check: Check) -> list[str]:
    rivals = list(dict.fromkeys(rival.kind for rival in check.rivals))
    says = check.summary + (" Asked only where nothing else is found." if check.fallback else "")
    return [f"**{check.name}**", says, check.null, check.statistic, ", ".join(rivals)]


def thresholds() -> str:
    """Return every threshold with its default and the reason for it."""
    rows = [[f"`{each.name}`", f"{each.default:g}", each.about, each.chosen] for each in described()]
    return table(["threshold", "default", "what it decides", "chosen by"], rows)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, text in (("findings", findings()), ("thresholds", thresholds())):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"{PAGE.name} lacks {begin} or {end}")
        page = f"{before}{begin}\n\n{text}\n\n{end}{after}"
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

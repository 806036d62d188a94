"""The audit in the dataset card: a section that is written anew each time."""

from pathlib import Path

from assay.audit.audit import Audit
from assay.data.manifest import to_json
from assay.files import write_atomically
from assay.markdown import cell

START, END = "<!-- audit -->", "<!-- end of audit -->"
SIGNS = {"pass": "passed", "note": "noted", "fail": "**failed**", "skip": "left out"}


def card_section(audit: Audit) -> str:
    """Return the section."""
    rows = [f"| {result.check} | {SIGNS[result.status]} | {cell(result.text)} |" for result in audit.results]
    head = ["## Audit", "", "What `assay audit` found.", "", "| check | outcome | |", "| --- | --- | --- |"]
    return "\n".join([START, *head, *rows, END])


def write_audit(folder: Path, audit: Audit) -> None:
    """Write `audit.json`, and the section into the card, in place of an earlier one."""
    write_atomically(folder / "audit.json", to_json(audit.to_dict()))
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    write_atomically(card, f"{before.rstrip()}\n\n{card_section(audit)}\n{after.lstrip()}".encode())

"""What docs/boundary.md says is what happens, and its table is that of the derivation."""

import doctest
import re
from pathlib import Path

from assay.auditing import CHECKS
from tests.logic.test_paper_rules import NOT_IN_THE_PAPER, RULES

DOCS = Path(__file__).parent.parent / "docs"


def test_the_examples_give_what_the_page_says():
    assert doctest.testfile(str(DOCS / "boundary.md"), module_relative=False).failed == 0


def test_the_table_of_the_ten_rules_is_the_one_derived():
    rows = [
        line.split(" | ") for line in (DOCS / "boundary.md").read_text().splitlines() if re.match(r"\| \d+ \| `", line)
    ]
    assert len(rows) == len(RULES) == 10
    for row, (rule, (variants, types)) in zip(rows, RULES.items(), strict=True):
        said = [dict(re.findall(r"([PN]\d+|\*\*ours\*\*) `([^`]*)`", cell)) for cell in row[2:]]
        assert row[1] == f"`{rule}`"
        assert said[0] == {f"P{place}": name for place, name in enumerate(variants, start=1)}
        assert said[1] == {mark if mark != NOT_IN_THE_PAPER else "**ours**": name for name, mark in types.items()}


def test_the_page_of_the_audit_tells_of_every_check():
    told = re.findall(r"^\| `(\w+)` \| ", (DOCS / "audit.md").read_text(), re.MULTILINE)
    assert [name for name in told if name in CHECKS] == list(CHECKS)

"""Each number in the docs can be rebuilt: the command that does it is named beside it and exists, and some are run."""

import re
from pathlib import Path

import pytest
from benchmarks import clevr_hans, facts, mending, ten_seeds
from benchmarks.__main__ import ALL

from tests.samples import MISSING

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RECORDS = ROOT / "benchmarks" / "records"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "board"]
WRITTEN = r"<!-- (facts|settings|models): begin -->.*?<!-- \1: end -->"
"""What `docs/pages.py` writes from the code: settings and their defaults, which nobody measured."""
FRACTION = re.compile(r"(?<![\w.])[+-]?\d*\.\d+(?![\w.])|\d ± \d|\d %")
REBUILDS = re.compile(
    r"python -m\s+benchmarks|python docs/\w+|tests/[\w/]+\.py|^assay (?:train|align|count|run|demo) |`assay\s(?:count|demo|run) ",
    re.MULTILINE,
)
LIMITS = {"## How a verdict is found"}
"""Tables of limits that the code sets: conditions of a verdict, not results."""
FEWEST = 4
"""A table with so many fractions was measured or computed."""


def sections(text):
    """Give each section of a page, from heading to heading, without what the code itself writes."""
    text = re.sub(WRITTEN, "", text, flags=re.DOTALL)
    fenced = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    marked = "".join(part.replace("\n#", "\n\0") if part.startswith("```") else part for part in fenced)
    return re.split(r"\n(?=#+ )", marked)


def fractions_in_tables(section):
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [number for row in rows for number in FRACTION.findall(re.sub(r"`[^`]*`", "", row))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_table_of_measured_numbers_names_what_rebuilds_it(page):
    whole = page.read_text(encoding="utf-8")
    lacking = [
        section.splitlines()[0]
        for section in sections(whole)
        if len(fractions_in_tables(section)) >= FEWEST and not REBUILDS.search(section)
    ]
    lacking = [heading for heading in lacking if heading not in LIMITS]
    if REBUILDS.search(whole.split("\n## ")[0]) and "written by" in whole.split("\n## ")[0]:
        lacking = []  # the whole page is written by the command that its beginning names
    assert not lacking, "no command or test that rebuilds the numbers is named there"


def test_a_table_without_a_command_is_noticed():
    table = "## Speed\n\n| what | value |\n| --- | --- |\n| a | 0.5 |\n| b | 0.25 |\n| c | 1.5 |\n| d | 3 % |\n"
    assert len(fractions_in_tables(table)) == FEWEST and not REBUILDS.search(table)
    assert REBUILDS.search(table + "\n`python -m benchmarks.speed` prints it.")
    assert not fractions_in_tables("| `0.5` | version 1.2.3 | see [2](a.md) |")
    assert len(sections("# a\n\n```\n# no heading\n```\n\n## b\n")) == 2


def named(pattern):
    found = {(page.name, name) for page in PAGES for name in re.findall(pattern, page.read_text(encoding="utf-8"))}
    assert found
    return found


def test_every_benchmark_that_a_page_names_exists():
    modules = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    modules |= {path.parent.name for path in (ROOT / "benchmarks").glob("*/__main__.py")}
    assert [pair for pair in named(r"python -m\s+benchmarks\.([a-z]\w*)") if pair[1] not in modules] == []
    assert [pair for pair in named(r"python -m\s+benchmarks (\w+)") if pair[1] not in ALL] == []


def test_every_script_and_test_that_a_page_names_exists():
    assert [pair for pair in named(r"\b((?:docs|benchmarks|tests)/[\w/]+\.(?:py|json))\b") if not _there(pair[1])] == []


def _there(name):
    return (ROOT / name.replace("NAME", "chess")).exists()


@pytest.mark.skipif(bool(MISSING), reason="a family was deleted")
@pytest.mark.parametrize("page", sorted(facts.FACTS))
def test_what_can_be_computed_is_what_the_page_says(page):
    assert facts.missing_from(page) == []


def test_tables_from_records_are_current():
    models, mended = ((DOCS / name).read_text(encoding="utf-8") for name in ("models.md", "mending.md"))
    assert ten_seeds.written() in models, "run: python -m benchmarks.ten_seeds docs/models.md"
    assert mending.table(RECORDS / "mending") in mended
    confounded = (DOCS / "confounders.md").read_text(encoding="utf-8")
    assert clevr_hans.table(RECORDS / "clevr-hans") in confounded

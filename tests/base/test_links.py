"""Every local link of the README and the pages leads somewhere, on the site and where the repository is read."""

import re
from pathlib import Path

import pytest

from tests.samples import MISSING, SAMPLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
GONE = {family for family, names in SAMPLES.items() if MISSING & set(names)}
"""Families that were deleted, to which overviews still link."""


def links_of(page):
    found = [plain or html for plain, html in LINK.findall(CODE.sub("``", page.read_text()))]
    return [link for link in found if "://" not in link]


def anchor_of(heading):
    """Return the anchor of a heading, as mkdocs and GitHub make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors_of(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {anchor_of(line) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def test_anchors_are_those_of_mkdocs():
    toc = pytest.importorskip("markdown.extensions.toc")
    headings = {line for page in PAGES for line in re.findall(r"^#+ ([^`\[\n]*)$", page.read_text(), re.MULTILINE)}
    linked = {link.partition("#")[2] for page in PAGES for link in links_of(page)}
    for heading in headings:
        assert anchor_of(heading) not in linked or anchor_of(heading) == toc.slugify(heading, "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    broken = []
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target.parent.name == "families" and target.stem in GONE:
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []


def test_pages_of_the_site_link_to_nothing_outside_of_it():
    outside = [
        f"{page.name}: {link}"
        for page in PAGES
        if page.is_relative_to(DOCS)
        for link in links_of(page)
        if not (page.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS)
    ]
    assert outside == []


def test_every_page_is_in_the_navigation():
    listed = (ROOT / "mkdocs.yml").read_text()
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert [page for page in pages if f" {page}\n" not in listed] == []

"""The page in a browser: nothing is cut on a narrow screen, print shows what is folded, and no fault of access."""

from pathlib import Path

import pytest

from assay.base import Dots, PlottedValue
from assay.reporting import ChartGroup, DotChart, Table, write_report
from tests.browser import started_browser
from tests.predictors import predictions
from tests.reporting.pages import SHIFTED

AXE = Path(__file__).parent.parent / "viewer" / "axe" / "axe.min.js"
OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"
SERIOUS = "axe.run().then(found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact)).map(one => one.id))"


@pytest.fixture(scope="module")
def address(evenodd, tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("page"), evenodd.symbols("test")
    read = SHIFTED[data.concepts]
    predictions(data, evenodd.knowledge.labels_of(read), read).write(folder / "shifted.parquet", evenodd.knowledge)
    predictions(data, data.labels).write(folder / "a-model-with-a-rather-long-name.parquet", evenodd.knowledge)
    dots = DotChart("label f1", "d", "label f1", [Dots("shifted", [0.7, 0.9], PlottedValue(0.8, 0.6, 1.0))])
    group = ChartGroup("Over seeds", (dots,), "mnadd-evenodd", "Each dot is a run.", folded=True)
    table = Table("Means", ("model", *(f"a long name {n}" for n in range(9))), (("shifted", *map(str, range(9))),))
    return write_report(
        sorted(folder.glob("*.parquet")), folder / "out", "Mine", [table], [group], dataset=evenodd
    ).as_uri()


@pytest.fixture(scope="module")
def browser():
    with started_browser() as chromium:
        yield chromium


@pytest.fixture
def look(browser, address):
    """Return a function that opens the page; the browser may not complain of anything."""
    complaints, pages = [], []

    def open_page(width=1400, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []


def test_nothing_is_cut_on_a_narrow_screen(look):
    page = look(400)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    outside = """[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > 401
        && !one.closest('.scroll, nav') && !one.closest('svg svg, g')).map(one => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(outside) == []


def test_the_first_screen_shows_matrix_and_proof(look):
    page = look()
    bottom = "one => one.getBoundingClientRect().bottom"
    assert page.locator(".matrix").evaluate(bottom) <= 900 and page.locator(".proof").evaluate(bottom) <= 900


def test_a_verdict_leads_to_its_details_and_unfolds_them(look):
    page = look()
    assert not page.locator("#run-2").is_visible()
    page.locator(".matrix a", has_text="shortcut").click()
    assert page.locator("#run-2").is_visible() and "It reads digit 0 as 1" in page.locator("#run-2").inner_text()


def test_dark_paper_has_light_ink_in_text_and_charts(look):
    ink = "one => getComputedStyle(one).fill"
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = look(), look(scheme="dark")
    assert light.evaluate(colour) == "rgb(255, 255, 255)" and dark.evaluate(colour) == "rgb(15, 19, 25)"
    text = "svg text >> nth=0"
    assert (
        light.locator(text).evaluate(ink) == "rgb(28, 36, 48)"
        and dark.locator(text).evaluate(ink) == "rgb(228, 233, 240)"
    )


def test_print_shows_what_is_folded(look):
    page = look()
    shown = "[...document.querySelectorAll('details')].map(one => one.getBoundingClientRect().height)"
    before = page.evaluate(shown)
    page.emulate_media(media="print")
    folded = [place for place, height in enumerate(before) if height]
    after = page.evaluate(shown)
    assert folded and all(after[place] > before[place] + 50 for place in folded)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_access(look, scheme):
    page = look(400, scheme)
    page.evaluate(OPEN_ALL)
    page.add_script_tag(path=str(AXE))
    assert page.evaluate(SERIOUS) == []

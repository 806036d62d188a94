"""The page in a browser: filter, open, change a concept, compare; live and from a bundle; markup is text."""

import json
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pytest

from assay.contracts import Prediction, Predictions
from assay.logic import Concept, ConceptSpace, Knowledge
from assay.render import Box, Layout, ObjectBox, Picture
from assay.tasks import Task
from assay.viewer import State, write_bundle
from tests.toys import written
from tests.viewer.conftest import choose, go, settled
from tests.viewer.forging import forged

EVIL = "<img src=x onerror=window.struck=1>"
NEAR_ERRORS = [("tag", "y:*near"), ("run", "poor"), ("outcome", "wrong")]


def filter_near_errors(page, address):
    """Walk from the first page to the near-boundary errors of the poor run."""
    go(page, address)
    page.click("#datasets h3 a")
    page.click("#split-test")
    page.wait_for_selector("#run")
    choose(page, "run", "poor")
    choose(page, "outcome", "wrong")
    choose(page, "tag-y", "*near")
    return [int(one.get_attribute("id").removeprefix("sample-")) for one in page.query_selector_all(".thumbs a")]


def cells(page, head):
    """Return the texts of a row of the outcome."""
    row = page.locator("#outcome tr", has=page.locator("th", has_text=head)).first
    return [" ".join(cell.inner_text().split()) for cell in row.locator("td").all()]


def test_near_boundary_errors_and_a_changed_concept(page, address, viewer):
    shown = filter_near_errors(page, address)
    assert shown == viewer.rows("test", NEAR_ERRORS) and shown
    page.click(".thumbs a")
    page.wait_for_selector("#concepts")
    choose(page, "versus", "good")
    before = page.get_attribute(".stack .base", "src")
    page.select_option("#set-c", label="true")
    page.wait_for_selector("#outcome:not([aria-busy]) h2")
    after = page.get_attribute("#edited .base", "src")
    assert "api/data" in before and after.startswith("data:image/png")
    pixels = (
        "async src => { const i = new Image(); i.src = src; await i.decode(); const c = document.createElement('canvas');"
        "c.width = i.width; c.height = i.height; const x = c.getContext('2d'); x.drawImage(i, 0, 0);"
        "return [...x.getImageData(0, 0, i.width, i.height).data]; }"
    )
    assert page.evaluate(pixels, before) != page.evaluate(pixels, after)
    assert cells(page, "y, by the rule") == ["false", "→ true (changed)"]
    for way in ("on the changed image", "with the concept set"):
        was, now = cells(page, f"y, by dpl {way}")
        assert was.startswith("false") and now.startswith("→") and "true" in now
    assert page.is_enabled("#undo")
    page.click("#undo")
    assert page.locator("#edited .base").count() == 0 and page.locator("#outcome h2").count() == 0
    assert page.input_value("#set-c") == "0"


def test_keyboard_alone_is_enough(page, address):
    go(page, address, "#/data/pixels/test?run=poor")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#outcome")
    page.keyboard.press("l")  # "labels right"
    page.wait_for_function("() => location.hash.includes('outcome=right')")
    settled(page)
    assert page.evaluate("document.activeElement.id") == "outcome"  # the choice keeps the keyboard
    page.focus(".thumbs a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#concepts")
    first = page.inner_text("h1")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("first => document.querySelector('h1').innerText !== first", arg=first)


def test_every_control_has_a_name(page, address):
    for hash in (
        "#/",
        "#/data/pixels/test?run=poor",
        "#/data/pixels/test/0?run=poor",
        "#/compare/pixels/test",
        "#/tasks/mnlogic",
    ):
        go(page, address, hash)
        nameless = page.evaluate(
            "[...document.querySelectorAll('select, button, input, a, img')].filter(e => !(e.labels?.length || e.ariaLabel"
            " || e.textContent.trim() || e.alt !== undefined || e.closest('[aria-hidden]'))).map(e => e.outerHTML)"
        )
        assert nameless == [] and page.locator("h1").count() == 1


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 360)])
def test_it_fits_and_can_be_read(browser, address, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    query = "?run=poor&versus=good"
    for hash in ("#/", f"#/data/pixels/test{query}", f"#/data/pixels/test/0{query}", "#/compare/pixels/test"):
        go(page, address, hash)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), hash
        assert page.evaluate(CONTRAST) == [], hash
    page.close()


CONTRAST = """(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > .9) return c; } return [255, 255, 255]; };
  const texts = [...document.querySelectorAll('body *')].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && e.checkVisibility() && !e.closest('svg, :disabled'));
  return texts.map(e => { const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))]; return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.outerHTML.slice(0, 80)]; }).filter(([ratio]) => ratio < 4.5);
})()"""


def test_the_short_answer_comes_first_and_everything_that_was_tested_is_folded(page, address, viewer):
    found = viewer.get("runs/pixels/poor/verdict.json")
    go(page, address, "#/run/pixels/poor")
    page.wait_for_selector("#tested")
    seen = " ".join(page.inner_text("#verdict").split())
    for text in (found["meaning"], *found["reasons"], found["certainty"]["text"], f"Next: {found['next']}"):
        assert text.replace("`", "") in seen
    assert not any(note in seen for note in found["notes"] if note not in found["reasons"])
    page.click("#tested > summary")
    page.click("#tested details >> text=All tests and judgements")
    whole = " ".join(page.inner_text("#tested").split())
    for text in (*found["notes"], *(one["text"] for one in found["findings"])):
        assert text.replace("`", "") in whole
    assert page.locator("table.tested tbody tr").count() == len(found["table"])


def test_a_verdict_in_which_everything_is_markup_is_text(page, static, folder, tmp_path):
    write_bundle(State.open([folder]), tmp_path / "out", samples=4)
    path = tmp_path / "out" / "runs" / "pixels" / "poor" / "verdict.json"
    found = json.loads(path.read_text())
    found |= {
        "verdict": EVIL,
        "tone": EVIL,
        "meaning": EVIL,
        "reasons": [EVIL],
        "next": EVIL,
        "notes": [EVIL],
        "thresholds": [EVIL],
    }
    found["certainty"]["text"] = EVIL
    texts = dict.fromkeys(("kind", "tone", "meaning", "text", "split", "next"), EVIL)
    found["findings"] = [{**found["findings"][0], **texts, "details": [EVIL], "unsettled": [EVIL]}] * 2
    found["table"] = [
        {**row, "what": EVIL, "name": EVIL, "split": EVIL, "state": EVIL, "note": EVIL} for row in found["table"]
    ]
    path.write_text(json.dumps(found))
    go(page, static(tmp_path / "out"), "#/run/pixels/poor")
    page.wait_for_selector("#tested")
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    assert_unharmed(page)
    assert page.inner_text("#verdict").count(EVIL) > 10


def test_comparing_leads_to_the_samples(page, address, viewer):
    go(page, address, "#/compare/pixels/test?run=good&versus=poor")
    count = int(page.inner_text("#only-good-poor"))
    page.click("#only-good-poor")
    page.wait_for_selector(".thumbs")
    settled(page)
    assert page.locator(".thumbs li").count() == count > 0
    assert page.inner_text("#count").startswith(f"{count} of 64")


def test_the_bundle_does_the_same_without_the_model(page, bundled, viewer):
    shown = filter_near_errors(page, bundled)
    assert shown == viewer.rows("test", NEAR_ERRORS)
    page.click(".thumbs a")
    page.wait_for_selector("#no-edit")
    assert "a bundle holds neither the task" in page.inner_text("#no-edit")
    assert page.locator("[id^=set-]").count() == 0 and page.is_visible(".stack .base")
    go(page, bundled, "#/compare/pixels/test?run=good&versus=poor")
    count = int(page.inner_text("#see-differ"))
    page.click("#see-differ")
    page.wait_for_selector(".thumbs")
    settled(page)
    assert page.locator(".thumbs li").count() == count
    go(page, bundled, "#/tasks/mnlogic")
    assert page.locator(".thumbs img").count() == 8


def test_the_bundle_filters_as_the_server_does(page, bundled, viewer):
    for query in QUERIES:
        wanted = viewer.rows("hard", [tuple(pair.split("=")) for pair in query.split("&")])
        go(page, bundled, f"#/data/pixels/hard?{query}")
        assert [
            int(link.get_attribute("id").removeprefix("sample-")) for link in page.query_selector_all(".thumbs a")
        ] == wanted


QUERIES = [
    "label=y:1", "concept=a:1&concept=b:0", "tag=y:c", "tag=y:*holds", "run=poor&outcome=hidden", "run=poor&outcome=misread",
    "run=poor&outcome=right", "run=good&versus=poor&outcome=only_first", "run=poor&versus=good&outcome=only_second",
    "run=poor&versus=good&outcome=all_wrong", "run=poor&versus=good&outcome=differ",
]  # fmt: skip


class Evil(Task):
    """A task all texts of which are markup."""

    name = "evil"
    sizes = {"train": 4, "test": 6}
    pools = {"train": "train", "test": "test"}

    @cached_property
    def knowledge(self):
        space = ConceptSpace((Concept("one", (EVIL, "plain")), Concept("two", (EVIL, "plain"))))
        return Knowledge.of(space, {"same": "one == two"})

    @cached_property
    def layout(self):
        return Layout(4, 4, 3)

    @property
    def columns(self):
        return ("image", "things", "text")

    def style(self, rng, codes: Sequence[int], pool):
        return {EVIL: EVIL}

    def render(self, world):
        return Picture(np.zeros((4, 4, 3), dtype=np.uint8), (ObjectBox(EVIL, Box(0, 0, 2, 2)),), text=EVIL)


def evil_files(folder):
    """A dataset and a run in which every text that a user can give is markup."""
    dataset = written(Evil(), folder / "data")
    data = dataset["test"]
    labels = {"same": Prediction(1 - data.labels[:, 0])}
    concepts = {name: Prediction(np.zeros(len(data), dtype=np.int64)) for name in ("one", "two")}
    Predictions(dataset.fingerprint, "test", data.index, labels, concepts, {"model": EVIL}).write(
        folder / f"{EVIL}.parquet", dataset.knowledge
    )
    return folder / "data", folder / f"{EVIL}.parquet"


def assert_unharmed(page):
    assert page.evaluate("window.struck") is None and page.locator('img[src="x"]').count() == 0


def test_markup_is_shown_as_text(page, opened, tmp_path):
    viewer = opened(*evil_files(tmp_path))
    address, run = viewer.address, viewer.get("shelf.json")["datasets"][0]["runs"][0]["key"]
    where = ("#/", f"#/data/data/test?run={run}&concept=one:0", f"#/run/data/{run}", f"#/data/data/test/0?run={run}")
    for hash in where:
        go(page, address, hash)
        page.wait_for_function("() => !document.querySelector('main [aria-busy]')")
        assert_unharmed(page)
        assert EVIL in page.inner_text("main")
    page.check("#show-names")
    assert page.locator("svg.names text").first.text_content() == EVIL
    page.select_option("#set-one", index=1 if page.input_value("#set-one") == "0" else 0)
    page.wait_for_selector("#outcome:not([aria-busy]) h2")
    assert_unharmed(page)


def test_markup_even_in_names_of_concepts_labels_and_runs(page, static, folder, tmp_path):
    """No dataset can have such a name, but a page must not trust that."""
    write_bundle(State.open([folder]), tmp_path / "out", samples=4)
    quoted = json.dumps(EVIL)
    for path in (tmp_path / "out").rglob("*.json"):
        text = path.read_text()
        for name in ("a", "b", "y", "dpl", "cbm on mnlogic, seed 3", "not a and b and not c", "mnlogic"):
            text = text.replace(f'"{name}"', quoted)
        path.write_text(text)
    address = static(tmp_path / "out")
    row = json.loads((tmp_path / "out/data/pixels/test.json").read_text())["samples"][0]["row"]
    for hash in ("#/", "#/data/pixels/test", f"#/data/pixels/test/{row}"):
        go(page, address, hash)
        assert_unharmed(page)
        assert EVIL in page.inner_text("main")


def test_a_dataset_with_such_a_name_is_refused_in_plain_text(page, opened, folder, tmp_path):
    def change(manifest):
        manifest["knowledge"]["concepts"][0]["name"] = EVIL

    forged(folder / "data" / "pixels", tmp_path / "forged", change)
    go(page, opened(folder / "data", tmp_path / "forged").address)
    assert_unharmed(page)
    assert EVIL in page.inner_text(".broken")

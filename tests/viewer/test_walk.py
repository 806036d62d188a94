"""A walk through the pages in a browser, live and from a bundle; what axe-core finds on each of them."""

from pathlib import Path

import pytest

from tests.viewer.conftest import choose, go, settled

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text()
PAGES = [
    "#/?q=",
    "#/data/pixels",
    "#/data/pixels/test?run=poor&run=good",
    "#/data/pixels/test/0?run=poor",
    "#/run/pixels/poor",
    "#/map/pixels/test/poor",
    "#/compare/pixels/test?run=good&run=poor",
    "#/tasks/mnlogic",
    "#/no/such/page",
]


def ready(page):
    """Wait until everything on the page is there."""
    settled(page)
    page.wait_for_function("() => !document.querySelector('main [aria-busy], .badge.open')")


def follow(page, selector):
    """Click what leads to another page, and wait for that."""
    before = page.evaluate("location.hash")
    page.locator(selector).first.click()
    page.wait_for_function("before => location.hash !== before", arg=before)
    ready(page)


def shown_rows(page):
    return [int(one.get_attribute("id").removeprefix("sample-")) for one in page.query_selector_all(".thumbs a")]


def walk_to_a_cell(page, address, viewer):
    """Walk from the first page to a run and a cell of its confusion; return the samples that are shown."""
    go(page, address)
    ready(page)
    follow(page, "#run-poor")
    assert page.inner_text("h1").startswith("cbm on mnlogic, seed 3")
    assert page.inner_text("#verdict .badge") == page.inner_text("h1 .badge")
    cell = page.locator(".confusion a.cell.other").first
    told, count = cell.get_attribute("aria-label"), int(cell.inner_text())
    follow(page, ".confusion a.cell.other")
    rows = shown_rows(page)
    name, truth, said = told.split()[0], *(("false", "true").index(told.split()[place].strip(":")) for place in (1, 4))
    query = [("run", "poor"), ("reads", f"{name}:{truth}:{said}")]
    assert rows == viewer.rows("test", query)[:48] and count >= len(rows) > 0
    card = page.locator(f"#sample-{rows[0]}").inner_text().replace("\xa0", " ")
    assert f"{name} {('false', 'true')[truth]}→{('false', 'true')[said]}" in card
    return rows


def test_from_home_to_a_changed_concept_and_a_comparison(page, address, viewer):
    rows = walk_to_a_cell(page, address, viewer)
    follow(page, ".thumbs a")
    assert page.evaluate("location.hash").startswith(f"#/data/pixels/test/{rows[0]}?")
    page.select_option("#set-c", index=1 - int(page.input_value("#set-c")))
    page.wait_for_selector("#outcome:not([aria-busy]) h2")
    assert page.locator("#edited .base").count() == 1 and page.locator(".drawing-again").count() == 0
    follow(page, "#compare")
    assert page.is_checked("#compare-poor")
    page.check("#compare-good")
    settled(page)
    assert "run=poor&run=good" in page.evaluate("location.hash") or page.is_checked("#compare-good")
    number = int(page.inner_text("#only-good-poor"))
    follow(page, "#only-good-poor")
    assert len(shown_rows(page)) == number


def test_the_same_walk_in_a_bundle(page, bundled, viewer):
    rows = walk_to_a_cell(page, bundled, viewer)
    follow(page, ".thumbs a")
    assert page.is_visible("#no-edit") and page.inner_text("h1").startswith(f"Sample {rows[0]} of test")
    go(page, bundled, "#/run/pixels/good")
    ready(page)
    assert page.locator(".pair-list li").count() > 0
    page.click("#try-interventions button")
    page.fill("#budget", "3")
    assert "3 of 3 concepts intervened on: labels right in 100.0\xa0%" in page.inner_text("#corrected")
    go(page, bundled, "#/compare/pixels/test?run=poor&run=good")
    assert int(page.inner_text("#only-poor-good")) == len(
        viewer.rows("test", [("run", "poor"), ("run", "good"), ("outcome", "only_first")])
    )
    go(page, bundled, "#/data/pixels")
    ready(page)
    assert "training worlds" in page.inner_text("#shortcuts") and page.locator("#audit button").count() == 0
    go(page, bundled, "#/map/pixels/test/good")
    ready(page)
    assert page.locator("circle.point").count() > 64 and "holds no models" in page.inner_text("main")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 400)])
def test_axe_finds_no_serious_fault(browser, address, scheme, width):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    go(page, address)
    page.evaluate(AXE)
    for hash in PAGES:
        page.evaluate("hash => { location.hash = hash; }", hash)
        ready(page)
        page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
        found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], hash
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), hash
    context.close()


def test_search_and_sort_stay_in_the_address(page, address):
    go(page, address)
    ready(page)
    page.keyboard.press("/")
    page.keyboard.type("cbm")
    assert page.locator("table.runs tbody tr:visible").count() == 1 and "q=cbm" in page.evaluate("location.hash")
    page.click("#sort-label_f1")
    again = page.evaluate("location.hash")
    go(page, address, "#/tasks/mnlogic")
    go(page, address, again)
    ready(page)
    assert page.input_value("#search") == "cbm" and page.locator("table.runs tbody tr:visible").count() == 1
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("label F1")
    page.fill("#search", "nothing is called so")
    assert page.locator("#datasets .card:visible").count() == 0 and page.is_visible("text=No dataset has this")


def test_runs_are_sorted_by_their_numbers(page, address):
    go(page, address, "#/?sort=label_f1")
    ready(page)
    numbers = lambda: [float(one) for one in page.locator("table.runs td:nth-child(4)").all_inner_texts()]  # noqa: E731
    assert numbers() == sorted(numbers()) and len(set(numbers())) == 2
    page.click("#sort-label_f1")
    assert numbers() == sorted(numbers(), reverse=True)


def test_the_theme_is_kept_and_keys_are_told(page, address):
    go(page, address)
    paper = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
    light = paper()
    page.keyboard.press("t")
    page.keyboard.press("t")
    assert paper() != light and page.inner_text("#theme") == "Theme: dark"
    page.reload()
    settled(page)
    assert page.inner_text("#theme") == "Theme: dark" and paper() != light
    page.keyboard.press("?")
    assert page.is_visible("dialog") and "previous and next sample" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    assert not page.is_visible("dialog")


def test_a_slider_corrects_concepts(page, address):
    go(page, address, "#/run/pixels/poor")
    page.click("#try-interventions button")
    page.wait_for_selector("#budget")
    before = page.inner_text("#corrected")
    page.fill("#budget", "3")
    after = page.inner_text("#corrected")
    assert (
        "0 of 3 concepts intervened on" in before
        and "3 of 3 concepts intervened on" in after
        and "concepts in 100.0\xa0%" in after
    )


def test_pairs_and_maps_are_deep_links(page, address):
    go(page, address, "#/run/pixels/poor?pairs=unnoticed")
    ready(page)
    assert page.input_value("#pairs-kind") == "unnoticed" and page.locator(".pair-list li").count() > 0
    follow(page, ".pair-list .sides div:last-child a")
    assert "changed" in page.inner_text("main") and page.inner_text("h1").endswith("Next")
    follow(page, "#origin")
    assert "of test" in page.inner_text("h1") and page.locator(".stack .base").count() == 1
    go(page, address, "#/map/pixels/test/poor?colour=concept+c&layer=input")
    ready(page)
    assert page.input_value("#colour") == "concept c" and page.input_value("#layer") == "input"
    assert page.locator(".plane circle").count() == 64
    page.locator(".plane circle").nth(7).dispatch_event("click")
    page.wait_for_selector("#concepts")
    assert page.inner_text("h1").startswith("Sample 7 of test")


def test_two_chosen_models_are_kept(page, address):
    go(page, address, "#/data/pixels/test")
    choose(page, "run", "poor")
    choose(page, "versus", "good")
    choose(page, "outcome", "only_second")
    number = len(shown_rows(page))
    follow(page, "#compare")
    assert page.is_checked("#compare-poor") and page.is_checked("#compare-good")
    assert int(page.inner_text("#only-good-poor")) == number
    page.click("#compare-poor")  # two are the least
    assert page.is_checked("#compare-poor")


def test_what_is_not_there_says_so(page, address):
    go(page, address, "#/data/pixels/test?concept=a:0&concept=b:1&label=y:1&concept=c:0")
    assert "No sample is like this" in page.inner_text("#nothing")
    page.click("#nothing a")
    settled(page)
    assert len(shown_rows(page)) == 48
    go(page, address, "#/run/pixels/nobody")
    assert "There is no run “nobody”" in page.inner_text("[role=alert]")


def test_slow_work_shows_that_it_goes_on(page, address):
    waits = []

    def slowly(route):
        waits.append(1)
        route.fulfill(status=202, content_type="application/json", body='{"pending": "labels (1 of 12)"}') if len(
            waits
        ) < 3 else route.fulfill(content_type="application/json", body='{"findings": [], "stored": false}')

    page.route("**/audit.json", slowly)
    go(page, address, "#/data/pixels")
    page.click("#audit button")
    page.wait_for_selector("text=Auditing … labels (1 of 12)")
    assert page.locator("#audit .spinner").count() == 1
    page.wait_for_function("() => !document.querySelector('#audit .spinner')")
    assert len(waits) == 3


def test_pictures_of_tasks_are_drawn_when_they_are_seen(page, address):
    asked = []

    def draw(route):
        name = route.request.url.split("/")[-2]
        asked.append(name)
        broken = '{"error": "photographs are missing"}'
        body = broken if len(asked) == 2 else '{"image": null, "text": "a world in words"}'
        route.fulfill(content_type="application/json", body=body)

    page.route("**/picture.json", draw)
    go(page, address, "#/tasks")
    page.wait_for_selector("text=No picture: photographs are missing")
    cards, seen = page.locator(".tasks .card").count(), len(asked)
    assert 2 <= seen < cards and "a world in words" in page.inner_text(".tasks")
    page.locator(".tasks .card").last.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('.tasks .card:last-child .snippet')")
    assert len(set(asked)) == len(asked) > seen


def test_a_picture_that_is_drawn_again_shows_it(page, address):
    def slowly(route):
        page.wait_for_selector("#edited .spinner")
        assert "Drawing the picture again" in page.inner_text("#edited")
        route.continue_()

    page.route("**/edit", slowly)
    go(page, address, "#/data/pixels/test/0?run=good")
    page.select_option("#set-a", index=1 - int(page.input_value("#set-a")))
    page.wait_for_selector("#outcome:not([aria-busy]) h2")
    assert page.locator("#edited .spinner").count() == 0 and page.locator("#edited .base").count() == 1


def test_formulas_are_set_in_the_signs_of_logic(page, address):
    go(page, address, "#/data/pixels")
    assert page.inner_text("#rule .equation") == "y = a ∧ b ∨ c"
    set_as = page.evaluate(
        "async (texts) => { const { typeset } = await import('./typeset.js'); return texts.map((one) => typeset(one).textContent); }",
        ["not a.b and (c != 'red' or d <= 3)", "count(a == True, b) >= 2", "any(x.size ** 2 == 4 for x in objects)"],
    )
    assert set_as == ["¬a.b ∧ (c ≠ red ∨ d ≤ 3)", "count(a = ⊤, b) ≥ 2", "any(x.size ^ 2 = 4 for x ∈ objects)"]

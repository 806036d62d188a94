"""The board says what its rows say: verdicts over seeds, numbers, refusals, pictures of errors; no name is markup."""

import json
import re
from html.parser import HTMLParser

import pytest

from assay.base import DataError
from assay.dataset import Dataset
from assay.lab import BoardRow, SuiteBoard, write_board, write_rows

WHY = "reads a as <b>bold</b> | & more"


def row(model, dataset, seed, verdict="sound", **more):
    level = {"cbm": "concepts", "cem": "concepts", "blackbox": "labels", "theirs": "concepts"}[model]
    tone = {"sound": "good", "shortcut": "bad", "noisy": "weak"}[verdict]
    facts = {"verdict": verdict, "tone": tone, "why": WHY, "label_f1": 0.5 + 0.1 * seed, **more}
    return BoardRow("tiny", dataset, model, level, seed, "done", **facts)


ROWS = [
    *(row("cbm", data, seed, verdict) for data in ("plain", "noisy") for seed, verdict in ((0, "sound"), (1, "noisy"))),
    *(row("cem", "plain", seed, "shortcut", wrong='{"3": "true"}', misread='{"5": "a 0→1"}') for seed in (0, 1)),
    *(BoardRow("tiny", "noisy", "cem", "concepts", s, "refused", reason="no <i>noise</i> | here") for s in (0, 1)),
    row("theirs", "plain", 0, link="https://example.org/x?a=1&b=2"),
]


class Tags(HTMLParser):
    """The tags, classes and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.links += [found[key] for key in ("href", "src") if key in found]
        self.ids += [found["id"]] if "id" in found else []


@pytest.fixture
def site(suite, output, tmp_path):
    for name in ("cbm", "cem", "theirs"):
        write_rows([one for one in ROWS if one.model == name], tmp_path / "rows" / f"{name}.parquet")
    write_board(suite, [tmp_path / "rows"], tmp_path / "board", output, "https://example.org/viewer/")
    return tmp_path / "board"


def cell_of(suite, *rows):
    """Return the only cell of a board."""
    ((cell,),) = (model.cells for model in SuiteBoard(suite, rows).models)
    return cell


def test_a_cell_is_the_most_frequent_verdict_the_gravest_of_equals(suite):
    told = [("sound", "good", "all is right"), ("noisy", "weak", "it wavers"), ("sound", "good", "again")]
    rows = [
        BoardRow("tiny", "plain", "cbm", "concepts", seed, "done", verdict=verdict, tone=tone, why=why, label_f1=f1)
        for seed, ((verdict, tone, why), f1) in enumerate(zip(told, (0.5, 0.6, 0.7), strict=True))
    ]
    cell = cell_of(suite, *rows)
    assert (cell.verdict, cell.tone, cell.seeds, cell.other) == ("sound", "good", "2 of 3", "noisy 1")
    assert cell.why == "all is right" and (cell.text("label_f1"), cell.text("ood")) == ("0.60 ± 0.10", "–")
    equal = cell_of(suite, *rows[:2])
    assert (equal.verdict, equal.why) == ("noisy", "it wavers")


@pytest.mark.parametrize(
    ("values", "text"),
    [((10.0, 10.0), "10.00 ± 0.00"), ((10.5, 8.0), "9.25"), ((0.125,), "0.12"), ((1234.4, 1300.0), "1,267"), ((), "–")],
)
def test_numbers_of_a_cell_are_means_and_shares_have_deviations(suite, values, text):
    rows = [row("cbm", "plain", seed, ood=value) for seed, value in enumerate(values)] or [row("cbm", "plain", 0)]
    deviating = text if "±" in text or len(values) < 2 or max(values) > 10 else f"{text} ± "
    assert cell_of(suite, *rows).text("ood").startswith(deviating)


def test_the_board_is_ordered_by_level_then_by_how_many_are_sound_then_by_name(suite):
    rows = [
        row("cem", "plain", 0, "noisy"),
        row("cbm", "plain", 0),
        row("theirs", "plain", 0),
        row("theirs", "noisy", 0),
    ]
    rows.append(row("blackbox", "noisy", 0, "noisy"))
    board = SuiteBoard(suite, tuple(rows))
    assert [model.name for model in board.models] == ["blackbox", "theirs", "cbm", "cem"]
    assert [data.name for data in board.datasets] == ["plain", "noisy"] and set(board.meanings) == {"noisy", "sound"}


def test_a_verdict_that_nobody_knows_has_no_colour(suite):
    for facts, tone in (
        ({"verdict": "perfect", "tone": "good"}, "unknown"),
        ({"verdict": "sound", "tone": "x"}, "unknown"),
        ({"verdict": "sound", "tone": "good"}, "good"),
    ):
        assert cell_of(suite, BoardRow("tiny", "plain", "m", "rule", 0, "done", **facts)).tone == tone


def test_a_refused_cell_says_why_and_one_that_was_not_run_too(suite):
    board = SuiteBoard(suite, tuple(ROWS))
    cells = {(model.name, cell.dataset): cell for model in board.models for cell in model.cells}
    assert (cells["cem", "noisy"].verdict, cells["cem", "noisy"].why) == ("refused", "no <i>noise</i> | here")
    assert (cells["theirs", "noisy"].verdict, cells["theirs", "noisy"].why) == ("", "not run")
    assert board.refusals == [("cem", "refused: no <i>noise</i> | here", ["noisy"])]


def test_pages_name_no_markup_and_link_only_what_is_there(site):
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        tags = Tags(text)
        assert "<b>bold" not in text and "<i>noise" not in text and {"b", "i"}.isdisjoint(tags.tags)
        for link in tags.links:
            target, _, anchor = link.partition("#")
            if not link.startswith("https://"):
                there = page if not target else site / target
                assert there.exists(), link
                assert not anchor or anchor in Tags(there.read_text(encoding="utf-8")).ids, link


def test_a_page_shows_pictures_of_errors_and_links_to_the_viewer(site, output):
    page = (site / "plain.html").read_text(encoding="utf-8")
    test = Dataset.open(output / "data" / "plain")["test"]
    assert (site / "pictures" / "plain-3.png").read_bytes() == test.files([3])[0]
    assert "wrong in 2 of 5 runs: true (2)" in page and "right, but cem: a 0→1" in page
    assert 'href="https://example.org/viewer/plain/index.html"' in page


def test_without_data_there_are_no_pictures(suite, tmp_path):
    write_rows(ROWS[4:6], tmp_path / "cem.parquet")
    write_board(suite, [tmp_path / "cem.parquet"], tmp_path / "board")
    assert not (tmp_path / "board" / "pictures").exists()
    assert "example 3" in (tmp_path / "board" / "plain.html").read_text(encoding="utf-8")


def test_examples_are_shown_by_how_many_runs_miss_them_and_at_most_six_of_a_kind(suite, tmp_path):
    rows = [
        row("cbm", "plain", 0, wrong='{"9": "x", "4": "u", "30": "v"}', misread='{"12": "r"}'),
        row("cbm", "plain", 1, wrong='{"30": "v", "9": "x", "4": "w"}', misread='{"12": "s", "11": "s"}'),
        row("cem", "plain", 0, wrong='{"9": "x"}', misread='{"11": "t", "9": "t"}'),
    ]
    many, others = (json.dumps({str(n): "z" for n in range(first, first + 20)}) for first in (100, 200))
    for name, given, wanted in (
        ("few", rows, [9, 4, 30, 11, 12]),
        ("many", [row("cbm", "plain", 0, wrong=many, misread=others)], [*range(100, 106), *range(200, 206)]),
    ):
        write_rows(given, tmp_path / name / "rows.parquet")
        write_board(suite, [tmp_path / name], tmp_path / name / "board")
        page = (tmp_path / name / "board" / "plain.html").read_text(encoding="utf-8")
        shown = [int(number) for number in re.findall(r"example (\d+)", page)]
        assert list(dict.fromkeys(shown)) == wanted


def test_markdown_and_latex_hold_the_verdicts(site):
    markdown = (site / "board.md").read_text(encoding="utf-8")
    assert "| plain (boundary) | sound 1 of 1 | noisy 1 of 2 | shortcut 2 of 2 |" in markdown
    assert "\\|" in markdown and "<i>" not in markdown
    latex = (site / "board.tex").read_text(encoding="utf-8")
    assert "shortcut 2 of 2" in latex and latex.count(r"\begin{tabular}") == 2


def test_the_same_rows_give_the_same_bytes(site, suite, output, tmp_path):
    write_board(suite, [tmp_path / "rows"], tmp_path / "again", output, "https://example.org/viewer")
    for page in site.rglob("*.*"):
        assert page.read_bytes() == (tmp_path / "again" / page.relative_to(site)).read_bytes()


def test_rows_of_another_suite_are_refused(suite, tmp_path):
    write_rows([BoardRow("other", "plain", "cbm", "concepts", 0, "done")], tmp_path / "cbm.parquet")
    with pytest.raises(DataError, match="no rows of suite 'tiny'"):
        write_board(suite, [tmp_path], tmp_path / "board")

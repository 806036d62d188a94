"""Law: names and values that are markup are text, in whatever Assay shows: no element, no attribute, no link is live."""

import ast

import numpy as np
import pytest
from benchmarks.hostile import HOSTILE, PLAIN, Pages, Shape, surplus

from assay.base import ConfigError, DataError
from assay.dataset import Dataset
from assay.lab import BoardRow, find_suite, read_rows, score_entry, write_board, write_rows
from assay.render import encode_png
from tests.own_files import call
from tests.source_trees import FILES, PACKAGE, nodes_of


@pytest.fixture(scope="module", params=[True, False], ids=["rule", "no rule"])
def pages(request, tmp_path_factory):
    """All pages of hostile names, and those of plain names."""
    folder = tmp_path_factory.mktemp("hostile")
    return tuple(Pages(folder / which, names, request.param).all() for which, names in (("h", HOSTILE), ("p", PLAIN)))


def test_no_name_or_value_is_markup(pages):
    hostile, clean = pages
    assert hostile.keys() == clean.keys() and len(HOSTILE) >= 30
    assert {name: found for name in hostile if (found := surplus(hostile[name], clean[name]))} == {}


def test_hostile_names_are_shown(pages):
    """They are in the pages as text, so the law looks at pages that hold them."""
    for name, page in pages[0].items():
        if name not in ("bundle index.html", "InterventionResult"):
            assert "onerror" in page or "alert(" in page, name


def test_all_that_notebooks_show_is_among_the_pages(pages):
    shown = {node.name for path in FILES for node in nodes_of(path)
             if isinstance(node, ast.ClassDef) for part in node.body
             if isinstance(part, ast.FunctionDef) and part.name == "_repr_html_"}  # fmt: skip
    assert shown - {"ReadingCount"} <= pages[0].keys()


def test_markup_is_made_by_the_doors_alone():
    """Nobody else writes tags or escapes; templates escape all that they are given."""
    for path in (PACKAGE / "reporting" / "templates").iterdir():
        assert "safe" not in [part.strip() for part in path.read_text().split("|")], path.name
        assert "autoescape" not in path.read_text(), path.name
    for path in FILES:
        if path.name != "html.py":
            for node in nodes_of(path):
                if isinstance(node, ast.FunctionDef) and node.name == "_repr_html_":
                    texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
                    assert not [text for text in texts if isinstance(text, str) and "<" in text], path


def test_the_law_sees():
    assert surplus("<p>a<img src=x onerror=y></p>", "<p>a</p>") == ["('img', ('onerror', 'src'))", "a file"]
    assert surplus('<a href="javascript:x">b</a>', '<a href="#x">b</a>') == ["javascript:x"]
    assert Shape('<img src="data:image/png;base64,xx">').links == {"a picture"}


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "java\nscript:x", "x:y"])
def test_a_link_is_checked_when_it_is_read(link, tmp_path):
    suite = find_suite()
    row = BoardRow(suite.name, next(iter(suite.datasets)), "mine", next(iter(suite.levels)), 0, "refused", link=link)
    write_rows([row], tmp_path / "rows" / "mine.parquet")
    with pytest.raises(DataError, match=r"^[^\n]* has the link .*; a link begins with https://$"):
        read_rows(tmp_path / "rows")
    with pytest.raises(DataError):
        write_board(suite, [tmp_path / "rows"], tmp_path / "board")
    write_rows([], tmp_path / "rows" / "mine.parquet")
    with pytest.raises(ConfigError, match="--viewer"):
        write_board(suite, [tmp_path / "rows"], tmp_path / "board", viewer=link)
    text = f"suite: {suite.name}\nname: mine\nlevel: {row.level}\nseeds: [0]\nlink: {link!r}\n"
    (tmp_path / "entry.yaml").write_text(text)
    with pytest.raises(ConfigError, match="link"):
        score_entry(tmp_path, tmp_path, tmp_path / "rows")


def test_names_with_marks_are_cleaned_at_import(tmp_path):

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.png").write_bytes(encode_png(np.zeros((8, 8, 3), dtype=np.uint8)))
    head = "file,concept_<i>=1,concept_<i>=2,concept_b@<u>,concept_b@y,label_<img src=x onerror=alert(1)>,label_c@d"
    rows = [f"x.png,0.9,0.1,{row % 2},{row % 2},{row % 2},{row // 2 % 2}" for row in range(40)]
    (tmp_path / "a" / "concepts.csv").write_text("\n".join([head, *rows, "x.png,0.1,0.9,1,1,1,1"]))
    assert call("import", tmp_path / "a", "-o", tmp_path / "b")[0] == 0
    dataset = Dataset.open(tmp_path / "b")
    assert dataset.knowledge.space.names == ("i", "b")
    assert dataset.knowledge.label_names == ("img_src_x_onerror_alert_1", "c_d")

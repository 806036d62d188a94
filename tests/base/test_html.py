"""What strangers wrote is text in notebooks and in Markdown, never markup; what is too long is cut."""

import pytest

from assay.base import (
    HtmlPicture,
    Markdown,
    code_text,
    escape_text,
    html_lines,
    html_table,
    html_text,
    markdown_table,
    prose_text,
    safe_link,
    shorten,
)


def test_cells_are_text_unless_they_are_pictures():
    ours = '<img style="image-rendering:pixelated" height="32" src="data:image/png;base64,iVBORw==">'
    table = html_table(["<b>", "y"], [["<script>", HtmlPicture(b"\x89PNG", 32)], ["a & b", ours], [3, None]])
    assert "&lt;b&gt;" in table and "<script>" not in table and "&lt;script&gt;" in table and "a &amp; b" in table
    assert table.count("<tr>") == 4 and table.count("<td") == 6 and table.count(ours) == 1 and table.count("<img") == 1
    assert ">3</td>" in table and ">None</td>" in table


def test_paragraphs_and_lines_are_kept():
    assert html_text("a < b\nc") == "<p>a &lt; b<br>c</p>" and html_text("x", bold=True) == "<p><b>x</b></p>"
    assert html_lines("a  <\n b") == "<pre>a  &lt;\n b</pre>"


@pytest.mark.parametrize(
    ("address", "fine"),
    [
        ("http://a.b/c?d=e#f", True), ("https://a.b", True), ("a/b.html#c:d", True), ("", True), ("#x", True), ("../x", True),
        ("javascript:alert(1)", False), ("JaVaScRiPt:alert(1)", False), (" javascript:x", False), ("java\tscript:x", False),
        ("\x01javascript:x", False), ("data:text/html,<b>", False), ("vbscript:x", False), ("//evil.example", False),
        ("\\\\evil.example", False), ("/\\evil.example", False), ("ftp://a.b", False), ("HTTPS:javascript", False), ("a:b", False),
        ("https://a.b/\n", False),
    ],
)  # fmt: skip
def test_links_lead_to_pages_or_nowhere(address, fine):
    assert safe_link(address) == (address if fine else "")


def test_texts_are_cut_to_a_length():
    for most in range(5, 14):
        cut = shorten("abcdefghij", most)
        assert len(cut) == min(most, 10) and (cut == "abcdefghij") == (most >= 10) and cut[0] == "a"
    assert shorten("abcdefghij", 9) == "abcde ..."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b\n\n c  <i>", "a\\|b c &lt;i>"),
        ("[x](javascript:y)", "\\[x\\]\\(javascript:y)"),
        ("f(x) = `y` \\", "f(x) = \\`y\\` \\\\"),
        ("&lt;b&gt; & c", "&amp;lt;b&amp;gt; & c"),
        ("# a", "\\# a"), ("- a", "\\- a"), ("-1", "-1"), ("12. a", "12\\. a"), ("12.5", "12.5"), ("> a", "\\> a"), ("---", "\\---"),
    ],
)  # fmt: skip
def test_text_stays_text_in_markdown(text, shown):
    assert escape_text(text) == shown


def test_code_and_sentences_in_markdown():
    assert code_text("a | `b`\n< c") == "`a | 'b' < c`" and code_text("a <c>") == "a &lt;c>" and code_text("") == ""
    assert prose_text("See `a < b` (or <b>), [x].") == "See `a < b` (or &lt;b>), \\[x\\]."
    assert prose_text("it`s <b>") == "it\\`s &lt;b>" and prose_text("`a``b` c`s") == "`a` `b` c\\`s"
    table = markdown_table(("a|b", "c"), [("<x>", Markdown("**y**")), (code_text("a | b"), escape_text("|"))])
    assert table == "| a\\|b | c |\n| --- | --- |\n| &lt;x> | **y** |\n| `a \\| b` | \\| |"

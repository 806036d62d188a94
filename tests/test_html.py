"""What strangers wrote is text in notebooks and in Markdown, never markup; what is too long is cut."""

from assay.html import html_picture, html_table, html_text, shorten
from assay.markdown import escape_cell


def test_cells_are_text_unless_they_are_pictures_of_ours():
    table = html_table(["<b>", "y"], [["<script>", html_picture(b"\x89PNG", 32)], ["a & b", "<imgx"]])
    assert "<th" in table and "&lt;b&gt;" in table and "<script>" not in table and "&lt;script&gt;" in table
    assert table.count("<tr>") == 3 and table.count("<td") == 4 and "a &amp; b" in table and "&lt;imgx" in table
    assert '<img style="image-rendering:pixelated" height="32" src="data:image/png;base64,iVBORw==">' in table


def test_paragraphs_keep_their_lines():
    assert html_text("a < b\nc") == "<p>a &lt; b<br>c</p>" and html_text("x", bold=True) == "<p><b>x</b></p>"


def test_texts_are_cut_to_a_length():
    for most in range(5, 14):
        cut = shorten("abcdefghij", most)
        assert len(cut) == min(most, 10) and (cut == "abcdefghij") == (most >= 10) and cut[0] == "a"
    assert shorten("abcdefghij", 9) == "abcde ..."


def test_cells_of_markdown_tables():
    assert escape_cell("a|b\n\n c  <i>") == "a\\|b c &lt;i>"


def test_a_table_is_this_text():
    style = 'style="padding:2px 8px;text-align:left;vertical-align:top"'
    picture = html_picture(b"ab", 9)
    assert html_table(["a", "<b>"], [["1", picture], ["x", "&"]]) == (
        '<table style="border-collapse:collapse;font-size:13px"><thead><tr>'
        f"<th {style}>a</th><th {style}>&lt;b&gt;</th></tr></thead><tbody>"
        f"<tr><td {style}>1</td><td {style}>{picture}</td></tr>"
        f"<tr><td {style}>x</td><td {style}>&amp;</td></tr></tbody></table>"
    )
    assert html_text('a "b"\n\n<c>', bold=True) == "<p><b>a &quot;b&quot;<br><br>&lt;c&gt;</b></p>"

"""Edges of a report's parts: limits and what happens at them, ties, orders, and SVG rewritten element by element."""

import math
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import Markup

from assay.markdown import Markdown
from assay.metrics import Score
from assay.plots import Line
from assay.reporting import (
    Chart,
    ChartGroup,
    Table,
    comparison,
    discovery,
    plot,
    provenance,
    svg,
    templating,
    tex_file,
    write,
)
from assay.reporting import case as cases
from assay.reporting.curves import _reliability, reliability_of, thin_curve
from assay.reporting.plot import ConfusionMap, _room, _Sheet
from assay.reporting.sections import VerdictMatrix
from assay.reporting.table import latex
from tests.reporting.test_comparison import NAN, drawn, example, reading, run, state

__all__ = ["drawn"]

# SVG


def copied(text, markers=""):
    """Return what becomes of an element."""
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    root = ElementTree.fromstring(f"<svg {space}>{markers}{text}</svg>")
    named = {path.attrib["id"]: path for path in root.iter(f"{svg.SPACE}path") if "id" in path.attrib}
    into = ElementTree.Element("svg")
    svg._copy(root[-1], into, named)
    return "".join(ElementTree.tostring(child, encoding="unicode") for child in into)


def test_paths_keep_what_is_seen():
    style = "fill: #1c2431; stroke: #0072b2; stroke-width: 0.8; stroke-linecap: square; clip-path: x"
    assert copied(f'<path d="M 1.26 2.0 L 3 4.04 z" style="{style}"/>') == (
        '<path d="M1.3 2L3 4z" fill="currentColor" stroke="#0072b2" stroke-width="0.8" />'
    )
    assert copied('<path d=""/>') == "" and copied("<defs><path d='M 1 2'/></defs>") == ""
    assert copied('<g id="axes"><path d="M 1 2"/><g><path d="M 3 4"/></g></g>') == '<path d="M1 2" /><path d="M3 4" />'
    assert copied('<g id="mark: a: 0.5"><path d="M 1 2"/></g>') == '<g><title>a: 0.5</title><path d="M1 2" /></g>'


def test_markers_are_drawn_in_their_places():
    marker = '<path id="m1" d="M 0.126 -1.254" style="fill: #ff0000; stroke: #1c2431"/>'
    assert copied('<use xlink:href="#m1" x="10.456" y="3.04" style="fill: #00ff00"/>', marker) == (
        '<path d="M0.13 -1.25" transform="translate(10.5 3)" fill="#00ff00" stroke="currentColor" />'
    )


def test_texts_are_turned_only_where_they_are():
    assert copied('<text x="1.26" y="2.0" transform="rotate(-0 1 2)" style="font-size: 9px">a</text>') == (
        '<text x="1.3" y="2" font-size="9" fill="currentColor">a</text>'
    )
    turned = copied('<text x="1" y="2" transform="rotate(-90 1.26 2)" style="fill: #ffffff; font-weight: 700">b</text>')
    assert turned == '<text x="1" y="2" transform="rotate(-90 1.3 2)" fill="#ffffff" font-weight="700">b</text>'
    assert svg._short("m -0.04 1.25 L 7.777", 2) == "m-0.04 1.25L7.78" and svg._short("M -0.04 0.06") == "M0 0.1"
    assert svg._short("rotate(-90  1.26 2)") == "rotate(-90  1.3 2)"


def test_a_figure_is_larger_on_the_page_and_says_no_control_characters():
    from matplotlib.figure import Figure

    with svg.svg_style():
        text = svg.svg_of(Figure(figsize=(2, 1)), "a\x00<b", "c\x0bd\n", "one")
    root = ElementTree.fromstring(text)
    assert (root.get("viewBox"), root.get("width"), root.get("height")) == ("0 0 144 72", "173", "86")
    assert [(part.get("id"), part.text) for part in root[:2]] == [("one-title", "a<b"), ("one-description", "cd\n")]
    assert root.get("font-family") == "system-ui, sans-serif" and text.endswith("</svg>\n")


# sheets and charts


def test_a_legend_has_as_many_columns_as_fit():
    def columns(*names, width=340.0):
        return _Sheet(width, 100, "", 40, 30, names)._columns

    assert columns() == 1 and columns("a") == 1 and columns("a", "b", "c") == 3
    assert columns(*("abcdefghij" for _ in range(8))) == 3  # each takes 91 points
    assert columns("x" * 100, "y") == 1 and columns(*("a" * 12 for _ in range(4)), width=203.2) == 2
    assert (
        _Sheet(63, 1, "one two three", 1, 1)._title_lines == ["one two", "three"]
        and _Sheet(63, 1, "", 1, 1)._title_lines == []
    )
    assert _room([]) == 12 and _room(["ab", 12345]) == pytest.approx(12 + 5.3 * 5)
    assert _room(["x" * 22]) == _room(["x" * 23]) == pytest.approx(12 + 5.3 * 22)


def test_only_shares_end_at_one(drawn):
    def top(*lines):
        return drawn(Chart("T", "D", "x", "y", lines))[1].get_ylim()[1]

    assert top(Line("a", [0, 1], [0.1, 1.0])) == pytest.approx(1.01)
    assert top(Line("a", [0, 1], [0.1, 1.2])) > 1.2
    assert top(Line("a", [0, 1], [0.1, 1.0], [0.0, 0.5], [0.2, 1.5])) > 1.4  # its band is higher
    assert top(Line("a", [0, 1], [0.1, NAN]), Line("b", [0, 1], [1.0, 0.5])) == pytest.approx(1.01)


def test_the_diagonal_is_where_both_axes_are(drawn):
    _, axes, _, _ = drawn(Chart("T", "D", "x", "y", [Line("a", [0.2, 0.8], [0.4, 0.9])], diagonal=True))
    ends = max(axes.get_xlim()[0], axes.get_ylim()[0]), min(axes.get_xlim()[1], axes.get_ylim()[1])
    assert list(axes.lines[-1].get_xdata()) == list(axes.lines[-1].get_ydata()) == pytest.approx(list(ends))
    _, plain, _, _ = drawn(Chart("T", "D", "x", "y", [Line("a", [0.2, 0.8], [0.4, 0.9])]))
    assert len(plain.lines) == len(axes.lines) - 1


def test_maps_of_up_to_24_values_are_named(drawn):
    for size, named in ((24, True), (25, False)):
        _, axes, _, box = drawn(ConfusionMap("T", "D", np.eye(size, dtype=int), range(size), range(size)))
        assert (len(axes.get_yticks()) == size) is named
        assert box[0] == pytest.approx(12 + 5.3 * 2 + 14 if named else 26)
    _, axes, _, box = drawn(ConfusionMap("T", "D", np.eye(2, dtype=int), ["p", "q"], ["longer name", "w"]))
    assert box[2] == pytest.approx(2 * (5.3 * 11 + 8)) and {t.get_rotation() for t in axes.get_xticklabels()} == {0}
    assert box[3] == pytest.approx(48)


def test_what_charts_are_called_by_default():
    assert ChartGroup("t", ()).folded is False and ChartGroup("t", ()).task == ChartGroup("t", ()).note == ""
    text = Chart("T", "D", "x", "y", [Line("a", [0, 1], [0.1, 0.2])]).svg()
    assert 'aria-labelledby="chart-title chart-description"' in text
    assert (plot.WIDTH, plot.HEIGHT, plot.MOST_LETTERS) == (340.0, 230.0, 22)


# curves


def test_confidences_on_the_edge_of_a_bin_belong_to_the_lower_one():
    line = _reliability("n", np.array([0.0, 0.1, 0.10001, 0.2, 1.0]), np.array([1, 0, 1, 1, 0], dtype=bool))
    assert line.name == "n" and line.x == pytest.approx([0.05, 0.150005, 1.0]) and line.y == [0.5, 1.0, 0.0]
    soft = np.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.1], [0.25, 0.1, 0.65]])
    line = reliability_of("c", np.array([1, 1, 2]), soft)
    assert line.x == pytest.approx([0.6, 0.675]) and line.y == [1.0, 0.5]


def test_a_curve_is_thinned_beyond_sixty_points():
    for size, kept in ((1, 1), (59, 59), (60, 60), (61, 60), (300, 60)):
        x, y = thin_curve((np.arange(size), -np.arange(size)))
        assert len(x) == len(y) == kept and (x[0], x[-1]) == (0, size - 1) and (y == -x).all()


# sections


def test_many_models_are_rows_only_where_they_outnumber_the_tasks():
    def rows(models, tasks):
        return VerdictMatrix((None,) * tasks, ("m",) * models).has_model_rows

    assert [rows(6, 1), rows(7, 1), rows(7, 6), rows(7, 7), rows(6, 9)] == [False, True, True, False, False]


# examples


def test_a_sentence_names_four_concepts_and_a_summary_six():
    truth, said = {f"c{n}": 0 for n in range(7)}, {f"c{n}": 1 for n in range(7)}
    seven = example(truth, said)
    assert seven.changes == "c0 0→1, c1 0→1, c2 0→1, c3 0→1, c4 0→1, c5 0→1 and 1 more"
    assert seven.sentences("m") == (
        "True: c0 = 0, c1 = 0, c2 = 0, c3 = 0 and 3 more; y = True.",
        "m predicts c0 = 1, c1 = 1, c2 = 1, c3 = 1 and 3 more, and still y = True.",
    )
    four = {name: truth[name] for name in list(truth)[:4]}
    assert example(four, four).sentences("m")[0] == "True: c0 = 0, c1 = 0, c2 = 0 and c3 = 0; y = True."
    two = example({"a": 1}, {"a": 1}, labels={"y": 1, "z": 2}, said={"y": 1, "z": 3})
    assert two.sentences("m") == (
        "True: a = 1; y = 1 and z = 2.",
        "m predicts every concept right, yet y = 1 and z = 3.",
    )


# cases


def made_case(**values):
    made = cases.ReportCase.__new__(cases.ReportCase)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def test_a_case_is_called_by_its_folder_or_file(tmp_path):
    (tmp_path / "run.one").mkdir()
    (tmp_path / "said.parquet").write_text("")
    assert made_case(folder=tmp_path / "run.one").name == "run.one"
    assert made_case(folder=tmp_path / "said.parquet").name == "said"
    diagnosis = SimpleNamespace(
        scores={"test": {"m": SimpleNamespace(applies=False)}, "ood": {"m": SimpleNamespace(applies=False)}}
    )
    plain = made_case(diagnosis=diagnosis, split="test", about={"model": "dpl", "seed": 0})
    assert plain.at_boundary == "test" and not plain.applies("m") and (plain.model, plain.seed) == ("dpl", "0")


# what is written


def scored(**values):
    return {name: Score(name, value, value - 0.1, value + 0.1, 9) for name, value in values.items()}


def test_the_summary_has_a_row_for_each_run():
    full = scored(label_f1=0.9, concept_f1=0.5, collapse=0.25, rule_consistency=math.nan)
    one = SimpleNamespace(
        title="one", split="test", diagnosis=SimpleNamespace(verdict="sound", scores={"valid": {}, "test": full})
    )
    away = {"test": full, "ood": scored(label_accuracy=0.75)}
    two = SimpleNamespace(title="two", split="test", diagnosis=SimpleNamespace(verdict="noisy", scores=away))
    table = write._summary([one, two])
    assert table.head == (
        "run", "verdict", "label f1", "concept f1", "collapse", "rule consistency", "label accuracy, ood",
    )  # fmt: skip
    same = ("0.90 (0.80–1.00)", "0.50 (0.40–0.60)", "0.25 (0.15–0.35)", "–")
    assert table.rows == (("one", "sound", *same, "–"), ("two", "noisy", *same, "0.75 (0.65–0.85)"))
    assert table.stubs == 2 and table.caption == "Verdicts, and scores with 95 % intervals"


def test_charts_of_a_page_are_numbered_and_have_no_namespace():
    names = []

    def chart(text):
        return SimpleNamespace(svg=lambda name: names.append(name) or text)

    draw = write._drawing()
    space = ' xmlns="http://www.w3.org/2000/svg"'
    found = draw(chart(f"<svg{space}><svg{space}></svg>"))
    assert found == f"<svg><svg{space}></svg>" and isinstance(found, Markup)
    draw(chart(""))
    write._drawing()(chart(""))
    assert names == ["chart-1", "chart-2", "chart-1"]


def test_maps_that_a_section_does_not_compare_are_in_the_details():
    used = [state(name) for name in "abcd"]
    wide, widest = reading("wide", np.eye(48)), reading("widest", np.eye(49))
    groups = [reading(name, [[9 - n, n], [0, 9]]) for n, name in enumerate("abcd")]
    one = run("x", [*groups, wide, widest], used).case
    assert comparison.compared_groups([one]) == ["d", "c"]
    assert [chart.title for chart in write._other_maps(one, [one])] == ["a", "b", "wide"]


# provenance, tables, words


def test_folders_three_steps_away_are_near(tmp_path):
    out = tmp_path / "a" / "b" / "c" / "d"
    assert provenance.relative_folder(tmp_path / "a" / "x", out) == "../../../x"
    assert provenance.relative_folder(tmp_path / "x", out) == "x"
    assert provenance.relative_folder(tmp_path / "a" / "1" / "2" / "3", out) == "../../../1/2/3"
    assert provenance.relative_folder(tmp_path / "a" / "1" / "2" / "3" / "4", out) == "4"
    assert provenance.relative_folder(out, out) == "."
    assert provenance.relative_folder("/data/x", Path("/work/out")) == "x"  # by way of the root
    assert dict(provenance.flatten({"t": "x" * 160, "n": (1, (True, None)), 3: 0}, out)) == {
        "t": "x" * 160, "n": "1, yes, –", "3": "0",
    }  # fmt: skip


def test_what_has_rows_of_its_own_is_not_told_twice(tmp_path):
    manifest = {"seed": 4, "splits": []}
    dataset = SimpleNamespace(manifest=manifest, name="toy", fingerprint="ff", folder=tmp_path / "data")
    about = dict.fromkeys(("knowledge", "layout", "files", "called"), "hidden") | {"data": {"folder": "s3://b/d"}}
    rows = provenance.provenance_of(SimpleNamespace(about=about, dataset=dataset, folder=tmp_path / "r"), tmp_path)
    assert rows == {
        "run": "r", "task": "toy", "dataset fingerprint": "ff", "dataset seed": "4", "dataset": "s3://b/d", "splits": "",
    }  # fmt: skip


def test_every_sign_that_latex_reads_is_escaped():
    assert latex("\\&%$#_{}~^<>±×–−αμ a") == (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"
        r"$\pm$$\times$--$-$$\alpha$$\mu$ a"
    )
    table = Table("c", ("h", "i", "j"), (), 2)
    assert r"\begin{tabular}{llr}" in table.latex and "footnotesize" not in table.latex
    assert tex_file([]) == "% \\usepackage{booktabs}\n\n" and table.markdown.endswith("| --- | --- | --- |")


def test_pages_refuse_what_is_not_given_and_leave_markup_whole():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        templating.page_environment().from_string("{{ x }}").render()
    pages = templating.page_environment(html=False)
    assert pages.from_string("{{ x }}{{ y }}").render(x=Markup("<b>|"), y=Markdown("**y**")) == "&lt;b>\\|**y**"
    assert templating.page_environment().from_string("{{ x }}{{ 0.5 | percent }}").render(x=Markup("<b>")) == "<b>50 %"
    assert pages.from_string("a\n  {% if true %}\nb\n  {% endif %}\n").render() == "a\nb\n"
    assert templating.number(-1.0) == "-1.00" and templating.percent(0.0) == "0 %"


def test_units_of_a_page_are_named_where_they_have_names():
    assert [discovery._name(["a", "b"], unit) for unit in (0, 1, 2)] == ["a", "b", ""]
    assert (discovery.TOP, discovery.MOST_OTHERS, discovery.THUMBNAIL) == (8, 24, 128)

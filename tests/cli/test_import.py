"""`assay import` on the command line: a table becomes a dataset that `show`, `audit` and `count` take."""

from tests.exchange.imports.drawn import draw, write_table


def test_import_show_count_and_refusals(assay, tmp_path):
    write_table(tmp_path / "mine", draw(48, missing=0.1))
    told = assay("import", tmp_path / "mine", "-o", tmp_path / "bare")
    assert told.status == 0 and "no rule is known" in told.err and "; not known: " in told.err
    assert "needs a rule" in assay("count", tmp_path / "bare").error
    (tmp_path / "mine" / "rule.yaml").write_text("labels: {alarm: red and dotted}\n")
    told = assay("import", tmp_path / "mine", "-o", tmp_path / "data", "--set", "resize=crop", "--set", "size=16")
    assert told.status == 0 and "resized by crop" in told.err
    shown = assay("show", tmp_path / "data").out
    assert "red and dotted" in shown and "imported from a table of concepts: 48 examples" in shown
    assert "reasoning shortcuts" in assay("count", tmp_path / "data").out
    assert "not an empty folder" in assay("import", tmp_path / "mine", "-o", tmp_path / "data").error
    assert "cannot be redrawn" in assay("pairs", tmp_path / "data").error
    (tmp_path / "empty").mkdir()
    assert "no layout that is known" in assay("import", tmp_path / "empty", "-o", tmp_path / "x").error

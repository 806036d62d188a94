"""Tables as HTML, Markdown and LaTeX, whole."""

from assay.reporting import Table, tex_file

TABLE = Table("Of <a>", ("task", "model", "F1"), (("a_b", "x|y", "50 %"), ("<c>", "z", "±1")), stubs=2, note="A & b.")


def test_html():
    assert str(TABLE.html) == (
        '<div class="scroll" tabindex="0" role="group" aria-label="Of &lt;a&gt;"><table>'
        "<caption>Of &lt;a&gt;</caption>\n"
        '<thead><tr><th scope="col">task</th><th scope="col">model</th><th scope="col">F1</th></tr></thead>\n<tbody>\n'
        '<tr><th scope="row">a_b</th><th scope="row">x|y</th><td>50 %</td></tr>\n'
        '<tr><th scope="row">&lt;c&gt;</th><th scope="row">z</th><td>±1</td></tr>\n'
        '</tbody></table></div><p class="soft">A &amp; b.</p>'
    )
    assert str(Table("c", ("a", "b"), (("x", "y"),)).html).endswith(
        '<tr><th scope="row">x</th><td>y</td></tr>\n</tbody></table></div>'
    )


def test_markdown():
    assert TABLE.markdown.splitlines() == [
        "**Of &lt;a>**",
        "",
        "| task | model | F1 |",
        "| --- | --- | --- |",
        "| a_b | x\\|y | 50 % |",
        "| &lt;c> | z | ±1 |",
        "",
        "A & b.",
    ]
    assert Table("c", ("a",), (("x",),)).markdown == "**c**\n\n| a |\n| --- |\n| x |"


def test_latex():
    assert TABLE.latex.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Of \textless{}a\textgreater{}}",
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"task & model & F1 \\",
        r"\midrule",
        r"a\_b & x|y & 50 \% \\",
        r"\textless{}c\textgreater{} & z & $\pm$1 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\\[2pt]",
        r"\footnotesize A \& b.",
        r"\end{table}",
    ]
    assert "footnotesize" not in Table("c", ("a",), (("x",),)).latex
    assert tex_file([TABLE, TABLE]) == f"% \\usepackage{{booktabs}}\n\n{TABLE.latex}\n\n{TABLE.latex}\n\n"


def test_every_sign_that_a_page_or_latex_reads_is_escaped():
    signs = "\\&%$#_{}~^<>±×–−αμ| a"
    table = Table("c", ("h", "i"), ((signs, signs),), 1, note=signs)
    told = (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"
        r"$\pm$$\times$--$-$$\alpha$$\mu$| a"
    )
    assert f"{told} & {told} \\\\" in table.latex and told in table.latex.splitlines()[-2]
    assert "&lt;&gt;" in str(table.html) and "<>" not in str(table.html)
    assert "<" not in str(table.markdown) and str(table.markdown).count("\\|") == 3


def test_a_table_is_closed_and_has_one_stub_unless_it_says_otherwise():
    table = Table("c", ("a",), ())
    assert (table.stubs, table.note, table.open) == (1, "", False)

"""LaTeX is balanced, tells formulas apart, and looks as it should."""

import re

import pytest

from assay.logic import formula as f
from assay.logic.formula import var
from assay.logic.latex import latex
from assay.logic.parse import parse
from tests.logic.formulas import CASES, case


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a + 2 == b or not c", r"\mathit{a} + 2 = \mathit{b} \lor \lnot \mathit{c}"),
        ("(a or b) and c", r"\left(\mathit{a} \lor \mathit{b}\right) \land \mathit{c}"),
        ("implies(a, b) and iff(a, b)",
         r"\left(\mathit{a} \Rightarrow \mathit{b}\right) \land \left(\mathit{a} \Leftrightarrow \mathit{b}\right)"),
        ("xor(a, b, c)", r"\mathit{a} \oplus \mathit{b} \oplus \mathit{c}"),
        ("xor(a)", r"\mathrm{xor}\left(\mathit{a}\right)"),
        ("a - 3 - b * -2", r"\mathit{a} - 3 - \mathit{b} \cdot -2"),
        ("(a + b) * c >= -1", r"\left(\mathit{a} + \mathit{b}\right) \cdot \mathit{c} \geq -1"),
        ("-(a + b) != 0", r"-\left(\mathit{a} + \mathit{b}\right) \neq 0"),
        ("a // b", r"\left\lfloor \frac{\mathit{a}}{\mathit{b}} \right\rfloor"),
        ("(a + 1) % 2 <= 1", r"\left(\mathit{a} + 1\right) \bmod 2 \leq 1"),
        ("abs(a - b) ** 2", r"\left|\mathit{a} - \mathit{b}\right|^{2}"),
        ("(a ** 2) ** 3", r"\left(\mathit{a}^{2}\right)^{3}"),
        ("(-a) ** b ** c", r"\left(-\mathit{a}\right)^{\mathit{b}^{\mathit{c}}}"),
        ("max(a, b) + count(c)",
         r"\mathrm{max}\left(\mathit{a}, \mathit{b}\right) + \mathrm{count}\left(\mathit{c}\right)"),
        ("a if b else c",
         r"\begin{cases} \mathit{a} & \text{if } \mathit{b} \\ \mathit{c} & \text{else} \end{cases}"),
        ("a in (1, 2)", r"\mathit{a} \in \{1, 2\}"),
        ("(a, b) in [(1, 'red')]", r"(\mathit{a}, \mathit{b}) \in \{(1, \text{red})\}"),
        ("any(x.hue == 'red' for x in cars) and a",
         r"\left(\exists \mathit{x} \in \mathit{cars} : \mathit{x.hue} = \text{red}\right) \land \mathit{a}"),
        ("all(a for x, y in pairs(cars))", r"\forall \mathit{x}, \mathit{y} \in \mathit{cars} : \mathit{a}"),
        ("count(a for x in cars) == 2", r"\left|\{\mathit{x} \in \mathit{cars} : \mathit{a}\}\right| = 2"),
        ("red_light == True", r"\mathit{red\_light} = \top"),
        (r"a == 'x_1 {50%} #2 & $3 ^ ~ \\'",
         r"\mathit{a} = \text{x\_1 \{50\%\} \#2 \& \$3 \textasciicircum{} \textasciitilde{} \textbackslash{}}"),
    ],
)  # fmt: skip
def test_as_it_is_written(text, written):
    assert latex(parse(text)) == written


@pytest.mark.parametrize("place", range(CASES))
def test_brackets_and_braces_are_balanced(place):
    text = latex(case(place).formula)
    plain = re.sub(r"\\[{}|]", "", text)
    assert plain.count("{") == plain.count("}") and text.count(r"\left") == text.count(r"\right")
    assert text.count(r"\begin") == text.count(r"\end")
    assert not re.search(r"\^\{[^{}]*\}\^", text)  # two exponents in a row do not compile


def test_formulas_are_told_apart():
    texts = {}
    for place in range(CASES):
        formula = case(place).formula
        assert texts.setdefault(latex(formula), formula) == formula


def test_a_formula_that_fits_no_space_is_written_all_the_same():
    (a,) = var("a")
    assert latex(f.Sum((a, f.Const("red"), f.Const(True)))) == r"\mathit{a} + \text{red} + \top"


def test_what_is_taken_away_stands_in_brackets_and_so_does_what_binds_less():
    a, b, c = var("a", "b", "c")
    less = f.Sum((a, f.Minus(f.Sum((b, c)))))
    assert latex(less) == r"\mathit{a} - \left(\mathit{b} + \mathit{c}\right)"
    assert latex(f.Sum((a, f.Minus(f.Product((b, c)))))) == r"\mathit{a} - \mathit{b} \cdot \mathit{c}"
    assert latex(f.Not(f.And((a, b)))) == r"\lnot \left(\mathit{a} \land \mathit{b}\right)"
    assert latex(f.Not(a.eq(b))) == r"\lnot \mathit{a} = \mathit{b}"
    assert latex(f.Implies(f.Implies(a, b), c)) == (
        r"\left(\mathit{a} \Rightarrow \mathit{b}\right) \Rightarrow \mathit{c}"
    )

"""Formulas as LaTeX look as they should; that they are told apart is a law of all formulas."""

import re

import pytest

from assay import latex, parse


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a + 2 == b or not c", r"\mathit{a} + 2 = \mathit{b} \lor \lnot \mathit{c}"),
        ("(a or b) and c", r"\left(\mathit{a} \lor \mathit{b}\right) \land \mathit{c}"),
        ("implies(a, b) and iff(a, b)",
         r"\left(\mathit{a} \Rightarrow \mathit{b}\right) \land \left(\mathit{a} \Leftrightarrow \mathit{b}\right)"),
        ("xor(a, b, c)", r"\mathit{a} \oplus \mathit{b} \oplus \mathit{c}"),
        ("count(a or b, a + 1 == 2)", r"\mathrm{count}\left(\mathit{a} \lor \mathit{b}, \mathit{a} + 1 = 2\right)"),
        ("all_different(a + b, -c)", r"\mathrm{alldifferent}\left(\mathit{a} + \mathit{b}, -\mathit{c}\right)"),
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


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("(-3) ** a", r"\left(-3\right)^{a}"), ("a - (b - c)", r"a - \left(b - c\right)"), ("a - (b + c) - -2", r"a - \left(b + c\right) + 2"), ("xor(a and b, c or d)", r"\left(a \land b\right) \oplus \left(c \lor d\right)"),
        ("not (a or b)", r"\lnot \left(a \lor b\right)"), ("not not a", r"\lnot \lnot a"), ("not a == b", r"\lnot a = b"), ("(a == b) == c", r"\left(a = b\right) = c"), ("-(a * b)", r"-\left(a \cdot b\right)"),
        ("(a * b) // c", r"\left\lfloor \frac{a \cdot b}{c} \right\rfloor"), ("a % (b + c) * 2", r"\left(a \bmod \left(b + c\right)\right) \cdot 2"), ("a * (b % c)", r"a \cdot \left(b \bmod c\right)"), ("(a, b) in [(1, True), (2, False)]", r"(a, b) \in \{(1, \top), (2, \bot)\}"),
        ("a + b in (1,)", r"a + b \in \{1\}"), ("not any(b for a in c)", r"\lnot \left(\exists a \in c : b\right)"), ("implies(implies(a, b), c)", r"\left(a \Rightarrow b\right) \Rightarrow c"), ("iff(a, b) or c", r"\left(a \Leftrightarrow b\right) \lor c"),
        ("xor(xor(a, b), c)", r"\left(a \oplus b\right) \oplus c"), ("(1 if a else 2) + 3", r"\begin{cases} 1 & \text{if } a \\ 2 & \text{else} \end{cases} + 3"), ("count(a, b) > min(a, 2)", r"\mathrm{count}\left(a, b\right) > \mathrm{min}\left(a, 2\right)"),
        ("all_equal(a, b) and all_different(a, b)", r"\mathrm{allequal}\left(a, b\right) \land \mathrm{alldifferent}\left(a, b\right)"), ("a == False", r"a = \bot"), ("count(a and b for c, d in pairs(a)) * 2", r"\left|\{c, d \in a : a \land b\}\right| \cdot 2"),
        ("prolog('p.', 'yes', 't', a, b)", r"\mathrm{prolog: yes}\left(a, b\right)"), ("2 * -a", r"2 \cdot -a"), ("a * -3 * b", r"a \cdot -3 \cdot b"), ("(a + b) ** (c - 1)", r"\left(a + b\right)^{c - 1}"), ("a ** 2 * b", r"a^{2} \cdot b"),
    ],
)  # fmt: skip
def test_brackets_stand_where_they_are_needed(text, written):
    assert latex(parse(text)) == re.sub(r"(?<![\\\w])([a-d])(?!\w)", r"\\mathit{\1}", written)

"""Prolog is read as SWI-Prolog reads it, is written so that it reads back, and what is wrong is said with its place."""

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.prolog import PrologError, Variable, read_program
from assay.prolog.reader import read_term, sentences
from assay.prolog.terms import NIL, PAIR, TermWriter, Text, as_list, show

TEXTS = [
    "a", "'Hello World'", "X", "f(X, Y, X)", "[1, 2|T]", "[]", "[a]", "{a, b}", "- 1", "-1", "-(1)", "- a", "a - 1",
    "a -1", "a- -1", "1 - -1", "-(-(1))", "1 + 2 * 3", "1 - 2 - 3", "2 ** 3", "2 ^ 3 ^ 4", "a :- b, c ; d -> e ; f",
    "\\+ a, b", "\\+ (a, b)", "X is Y mod 2 + 1", "X = \\+ a", "[a|b]", "[(a, b), c]", "f(:-, a)", "(a :- b)", "'\\n'",
    "'it''s'", "0'a", "0'\\n", "0x1F", "1.5e3", "1.0", "a = b", "f(a = b, (c, d))", "- (1)", "-(2) + 3", "\"text\"",
    "p :- \\+ q, !, r", "a ; b ; c", "(a ; b) ; c", "(a, b), c", "X @< Y", "X =.. [f, a]", "a:b:c", "f(-)", "f(- , a)",
    "[-]", "- - a", "\\ a", "1 rdiv 2", "X^member(X, L)", "a /* comment */ + b", "f(A, _B, _)", "'\\x41\\'", "[a, b | [c]]",
    "f(,)", "a b", "f(a", "[a, b", "{a", "f(a,)", ":- dynamic a/1", "a --> b", "-(3) ** 2", "- 3 ** 2", "2 - (3 - 4)",
    "x is - Y", "a = (:-)", "(a , b)", "{}", "'[]'", "f(;)", "[a|b, c]", "0b101", "0o17", "1_000", "a- (-1)", "!",
]  # fmt: skip


def plain(term, names):
    """Return a term in one form without operators."""
    if isinstance(term, Variable):
        return names.setdefault(id(term), f"V{len(names)}")
    if isinstance(term, Text):
        return f'"{term}"'
    if isinstance(term, tuple):
        name = "[|]" if term[0] == PAIR else term[0]
        return f"{name}({';'.join(plain(part, names) for part in term[1:])})"
    return f"<{term}>" if isinstance(term, str) else repr(term)


SWI = r"""
plain(T) :- copy_term(T, C), term_variables(C, Vs), bind(Vs, 0), out(C), nl.
bind([], _). bind(['$v'(N)|Vs], N) :- M is N + 1, bind(Vs, M).
out('$v'(N)) :- !, format("V~w", [N]).
out(T) :- string(T), !, format("\"~w\"", [T]).
out([]) :- !, write('<[]>').
out(T) :- atom(T), !, format("<~w>", [T]).
out(T) :- atomic(T), !, write(T).
out(T) :- T =.. [N|As], write(N), write('('), outs(As), write(')').
outs([A]) :- !, out(A).
outs([A|As]) :- out(A), write(';'), outs(As).
go :- read_term(user_input, L, []), ( L == end_of_file -> true ; catch(( term_string(T, L), plain(T) ), _, ( write(error), nl )), go ).
"""


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
def test_texts_are_read_as_swi_prolog_reads_them(tmp_path):
    (tmp_path / "read.pl").write_text(SWI)
    lines = "".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '".\n' for text in TEXTS)
    command = ["swipl", "-q", "-f", "none", "-s", str(tmp_path / "read.pl"), "-g", "go", "-t", "halt"]
    found = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True).stdout
    theirs = dict(zip(TEXTS, found.replace("<\n>", "<\\n>").splitlines(), strict=True))
    ours = {}
    for text in TEXTS:
        try:
            ours[text] = plain(read_term(text), {}).replace("\n", "\\n")
        except PrologError:
            ours[text] = "error"
    assert ours == theirs


ATOMS = st.sampled_from(["a", "foo", "B c", "it's", "[]", "+", "-", "mod", "is", ";", "!", "{}", "\\", ":-", "é", ""])
LEAVES = (
    ATOMS
    | st.integers(-50, 50)
    | st.floats(-9, 9).map(lambda x: round(x, 3))
    | st.text('ab"\\\n', max_size=3).map(Text)
)
NAMES = st.sampled_from(
    ["f", "+", "-", "*", ",", ";", "->", "is", "=", "\\+", ":-", "mod", "^", "**", "{}", "G h", "|"]
)
TERMS = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(NAMES, st.lists(inner, min_size=1, max_size=3)).map(lambda pair: (pair[0], *pair[1]))
        | st.lists(inner, max_size=3).map(as_list)
        | st.tuples(inner, inner).map(lambda pair: as_list([pair[0]], pair[1]))
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@example(("f", ("\\+", "mod")))
@given(TERMS)
def test_what_is_written_reads_back(term):
    assert plain(read_term(TermWriter().write(term)), {}) == plain(term, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a :- b", "rule.pl line 1 column 6: the text ends too early; a clause ends in '.'"),
        ("a.\nb :- (c, d.\n", "rule.pl line 2 column 11: at the end of the clause: ')' is wanted here"),
        ("a.\nb :- , c.", "rule.pl line 2 column 6: at ',': a term is wanted here"),
        ("a b.", "rule.pl line 1 column 3: at 'b': an operator or '.' is wanted here"),
        ("a :- X = 'abc.", "rule.pl line 1 column 10: this ' is never closed"),
        ("a. /* b.", "rule.pl line 1 column 4: this comment is never closed with '*/'"),
        ("a :- `b`.", "rule.pl line 1 column 6: '`' does not belong in Prolog"),
        ("a :- X = '\\q'.", "rule.pl line 1 column 10: no escape \\q"),
        ("p(X) :- 3.", "rule.pl line 1: 3 is no goal"),
        ("3 :- p.", "rule.pl line 1: 3 cannot be the head of a clause"),
        ("p --> q.", "rule.pl line 1: grammar rules (-->) are not understood; write clauses with ':-'"),
        ("length(X, Y) :- p.", "rule.pl line 1: length/2 is built in and cannot be defined anew"),
        (":- initialization(p).", "rule.pl line 1: the directive ':- initialization p' is not allowed; "
         "allowed are dynamic, discontiguous and use_module of library(lists), (apply), (aggregate), (pairs)"),
        ("p :- lists:member(X, Y).", "rule.pl line 1: a module qualifier in 'lists : member(A,B)' is not allowed"),
        ("p(" * 300 + "a" + ")" * 300 + ".", "rule.pl line 1 column 201: at 'p': terms are nested more than 200 deep"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(text, message):
    with pytest.raises(PrologError) as caught:
        read_program(text, "rule.pl")
    assert str(caught.value) == message


def test_sentences_know_their_lines():
    found = list(sentences("a.\n\n% comment\nb :-\n  c. d."))
    assert [(sentence.line, show(sentence.term)) for sentence in found] == [(1, "a"), (4, "b :- c"), (5, "d")]


def test_long_chains_need_no_depth():
    body = ", ".join(f"p{number}" for number in range(5000))
    program = read_program(f"a :- {body}. x([{','.join(map(str, range(5000)))}]).")
    again = read_program(str(program))
    assert str(again) == str(program)
    assert read_term("[]") == NIL


def test_harmless_directives_are_taken():
    program = read_program(
        ":- use_module(library(lists)).\n:- dynamic q/1, r/2.\n:- discontiguous([s/0]).\np(X) :- q(X)."
    )
    assert {("q", 1), ("r", 2), ("s", 0)} == program.declared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a', '<a>'), ("'Hello World'", '<Hello World>'), ('X', 'V0'), ('f(X, Y, X)', 'f(V0;V1;V0)'),
        ('[1, 2|T]', '[|](1;[|](2;V0))'), ('[]', '<[]>'), ('[a]', '[|](<a>;<[]>)'), ('{a, b}', '{}(,(<a>;<b>))'),
        ('- 1', '-(1)'), ('-1', '-1'), ('-(1)', '-(1)'), ('- a', '-(<a>)'), ('a - 1', '-(<a>;1)'),
        ('a -1', '-(<a>;1)'), ('a- -1', '-(<a>;-1)'), ('1 - -1', '-(1;-1)'), ('-(-(1))', '-(-(1))'),
        ('1 + 2 * 3', '+(1;*(2;3))'), ('1 - 2 - 3', '-(-(1;2);3)'), ('2 ** 3', '**(2;3)'),
        ('2 ^ 3 ^ 4', '^(2;^(3;4))'), ('a :- b, c ; d -> e ; f', ':-(<a>;;(,(<b>;<c>);;(->(<d>;<e>);<f>)))'),
        ('\\+ a, b', ',(\\+(<a>);<b>)'), ('\\+ (a, b)', '\\+(,(<a>;<b>))'),
        ('X is Y mod 2 + 1', 'is(V0;+(mod(V1;2);1))'), ('X = \\+ a', 'error'), ('[a|b]', '[|](<a>;<b>)'),
        ('[(a, b), c]', '[|](,(<a>;<b>);[|](<c>;<[]>))'), ('f(:-, a)', 'f(<:->;<a>)'), ('(a :- b)', ':-(<a>;<b>)'),
        ("'\\n'", '<\n>'), ("'it''s'", "<it's>"), ("0'a", '97'), ("0'\\n", '10'), ('0x1F', '31'),
        ('1.5e3', '1500.0'), ('1.0', '1.0'), ('a = b', '=(<a>;<b>)'),
        ('f(a = b, (c, d))', 'f(=(<a>;<b>);,(<c>;<d>))'), ('- (1)', '-(1)'), ('-(2) + 3', '+(-(2);3)'),
        ('"text"', '"text"'), ('p :- \\+ q, !, r', ':-(<p>;,(\\+(<q>);,(<!>;<r>)))'),
        ('a ; b ; c', ';(<a>;;(<b>;<c>))'), ('(a ; b) ; c', ';(;(<a>;<b>);<c>)'), ('(a, b), c', ',(,(<a>;<b>);<c>)'),
        ('X @< Y', '@<(V0;V1)'), ('X =.. [f, a]', '=..(V0;[|](<f>;[|](<a>;<[]>)))'), ('a:b:c', ':(<a>;:(<b>;<c>))'),
        ('f(-)', 'f(<->)'), ('f(- , a)', 'f(<->;<a>)'), ('[-]', '[|](<->;<[]>)'), ('- - a', '-(-(<a>))'),
        ('\\ a', '\\(<a>)'), ('1 rdiv 2', 'rdiv(1;2)'), ('X^member(X, L)', '^(V0;member(V0;V1))'),
        ('a /* comment */ + b', '+(<a>;<b>)'), ('f(A, _B, _)', 'f(V0;V1;V2)'), ("'\\x41\\'", '<A>'),
        ('[a, b | [c]]', '[|](<a>;[|](<b>;[|](<c>;<[]>)))'), ('f(,)', 'error'), ('a b', 'error'), ('f(a', 'error'),
        ('[a, b', 'error'), ('{a', 'error'), ('f(a,)', 'error'), (':- dynamic a/1', ':-(dynamic(/(<a>;1)))'),
        ('a --> b', '-->(<a>;<b>)'), ('-(3) ** 2', '**(-(3);2)'), ('- 3 ** 2', '-(**(3;2))'),
        ('2 - (3 - 4)', '-(2;-(3;4))'), ('x is - Y', 'is(<x>;-(V0))'), ('a = (:-)', '=(<a>;<:->)'),
        ('(a , b)', ',(<a>;<b>)'), ('{}', '<{}>'), ("'[]'", '<[]>'), ('f(;)', 'f(<;>)'), ('[a|b, c]', 'error'),
        ('0b101', '5'), ('0o17', '15'), ('1_000', '1000'), ('a- (-1)', '-(<a>;-1)'), ('!', '<!>'),
        ("0'\\x41\\", '65'), ("0'''", '39'), ('1.5e-3', '0.0015'), ('2E2', '200.0'), ("'\\101\\'", '<A>'),
        ("'a\\\nb'", '<ab>'), ("'\\t\\s\\e\\0'", '<\t \x1b\x00>'), ("'\\`'", '<`>'), ('a:-b:-c', 'error'),
        ('+1', '1'), ('+ 1', '+(1)'), ('-a', '-(<a>)'), ('f(- 1)', 'f(-(1))'), ('1-1', '-(1;1)'),
        ('"a""b"', '"a"b"'), ('X=Y->a;b', ';(->(=(V0;V1);<a>);<b>)'), ('a|b', ';(<a>;<b>)'), ('\\+a', '\\+(<a>)'),
        ('- (-)', '-(<->)'), ('*', '<*>'), ('f(*)', 'f(<*>)'), ('1*2+3', '+(*(1;2);3)'), ('-2**2', '**(-2;2)'),
        ('dynamic a', 'dynamic(<a>)'), ('(dynamic)', '<dynamic>'), ('1 = 2 = 3', 'error'),
        ('a -> b -> c', '->(<a>;->(<b>;<c>))'), ('2 ** 3 ** 4', 'error'), ('1 xor 2', 'xor(1;2)'),
        ('f(a)(b)', 'error'), ('[(a:-b)]', '[|](:-(<a>;<b>);<[]>)'), ('f(:- a)', 'f(:-(<a>))'),
    ],
)  # fmt: skip
def test_texts_are_read_as_these_terms(text, expected):
    try:
        found = plain(read_term(text), {})
    except PrologError:
        found = "error"
    assert found == expected


def test_errors_say_where_a_text_of_several_lines_goes_wrong():
    with pytest.raises(PrologError, match=r"mine line 3 column 6: at 'e': an operator or '.' is wanted here"):
        list(sentences("a.\n/* b\n*/ d e.", "mine"))
    with pytest.raises(PrologError, match=r"mine line 2 column 5: half of a character"):
        list(sentences("a.\nb('\ud800').".replace("b('", "b( '"), "mine"))
    with pytest.raises(PrologError, match=r"line 1 column 3: a number of 1201 digits is too long"):
        read_term(f"f({'9' * 1201})")
    assert read_term("9" * 1200) == int("9" * 1200)
    with pytest.raises(PrologError, match="no character has the number 110000"):
        read_term("'\\x110000\\'")
    with pytest.raises(PrologError, match="no character has the number d800"):
        read_term("'\\xd800\\'")
    assert read_term("'\\x10FFFF\\'") == "\U0010ffff" and read_term("'\\xdfff0\\'") == "\U000dfff0"


def test_terms_may_be_nested_so_deep_and_no_deeper():
    def nested(depth):
        return "f(" * depth + "a" + ")" * depth

    deepest = max(depth for depth in range(60, 130) if _reads(nested(depth)))
    assert deepest == 99
    assert len(list(sentences("a. " * 50))) == 50


def _reads(text):
    try:
        read_term(text)
    except PrologError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1_000_000", "1000000"), ("f(:- a, b)", "f(:-(<a>);<b>)"), ("[dynamic a, b]", "[|](dynamic(<a>);[|](<b>;<[]>))"), ("'a b'(c)", "a b(<c>)"), ("'+'(1)", "+(1)"), ("'-'(1, 2)", "-(1;2)"),
        ("a '+' b", "error"), ("'-' 1", "error"), ("f('-' , 1)", "f(<->;1)"), ("[a '|' b]", "error"), ("f(a ')'", "error"),
        ("f(a ',' b)", "error"), ("'\\+' a", "error"), ("\\+ (a), b", ",(\\+(<a>);<b>)"), ("\\+(a, b)", "\\+(<a>;<b>)"),
        ("a :- b ; c, d", ":-(<a>;;(<b>;,(<c>;<d>)))"), ("a, b ; c -> d, e", ";(,(<a>;<b>);->(<c>;,(<d>;<e>)))"),
        ("a -> b ; c *-> d", ";(->(<a>;<b>);*->(<c>;<d>))"), ("a | b, c", ";(<a>;,(<b>;<c>))"), ("2 ^ 3 : a", "^(2;:(3;<a>))"),
        ("a : b ^ c : d", ":(<a>;^(<b>;:(<c>;<d>)))"), ("1 - 2 + 3 - 4", "-(+(-(1;2);3);4)"), ("- - 1", "-(-(1))"),
        ("- (1) ^ 2", "-(^(1;2))"), ("1 * 2 ^ 3 * 4", "*(*(1;^(2;3));4)"), ("- a * b", "*(-(<a>);<b>)"), ("f(a :- b)", "error"),
        ("f((a :- b), c)", "f(:-(<a>;<b>);<c>)"), ("[a, b|c]", "[|](<a>;[|](<b>;<c>))"), ("[a|[b|T]]", "[|](<a>;[|](<b>;V0))"),
        ("[a|X = b]", "[|](<a>;=(V0;<b>))"), ("{a}", "{}(<a>)"), ("{a :- b}", "{}(:-(<a>;<b>))"), ("{}(x)", "{}(<x>)"),
        ("[](x)", "[](<x>)"), ("f (a)", "error"), ("- (a, b)", "-(,(<a>;<b>))"), ("dynamic a, b", "dynamic(,(<a>;<b>))"),
        ("dynamic(a)", "dynamic(<a>)"), ("_X + _X + _ + _", "+(+(+(V0;V0);V1);V2)"), ("'\\xdffe\\'", "error"), ("'\\xdfff\\'", "error"),
        ("'\\xe000\\'", "<\ue000>"), ("'\\xd7ff\\'", "<\ud7ff>"), ("'\\12\\'", "<\n>"), ("0'\\12\\", "error"), ("0'ab", "error"),
        ("0' ", "32"), ("1e5", "100000.0"), ("1E5", "100000.0"), ("1.e5", "error"), ("1.5E+2", "150.0"), ("0xfF", "255"), ("0b2", "error"),
        ("a. ", "<a>"), ("a.b", "error"), ("\"a\\nb\"", '"a\nb"'), ("\"it''s\"", '"it\'\'s"'), ("'say \"\"'", '<say "">'), ("p % q", "<p>"),
    ],
)  # fmt: skip
def test_operators_quotes_and_numbers_are_read_by_their_place(text, expected):
    try:
        found = plain(read_term(text), {})
    except PrologError:
        found = "error"
    assert found == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a. /** b.", "rule.pl line 1 column 4: this comment is never closed with '*/'"),
        ("a.\n\n  /* b *", "rule.pl line 3 column 3: this comment is never closed with '*/'"),
        ("a :- b,\n\n\n   \"c.", 'rule.pl line 4 column 4: this " is never closed'),
        ("a('x\ny') :- b c.", "rule.pl line 2 column 10: at 'c': an operator or '.' is wanted here"),
        ("a :- f(b].", "rule.pl line 1 column 9: at ']': ')' is wanted here"),
        ("a :- [b).", "rule.pl line 1 column 8: at ')': ']' is wanted here"),
        ("a :- {b).", "rule.pl line 1 column 8: at ')': '}' is wanted here"),
        ("a :- b = ( .", "rule.pl line 1 column 12: at the end of the clause: a term is wanted here"),
        ("a :- X = \\+ b.", "rule.pl line 1 column 10: at '\\\\+': this operator needs parentheses around it here"),
        ("", None),
    ],
)  # fmt: skip
def test_the_first_thing_that_is_wrong_is_named_with_its_place(text, message):
    try:
        read_program(text, "rule.pl")
        said = None
    except PrologError as error:
        said = str(error)
    assert said == message


def test_a_text_may_be_so_long():
    assert len(list(sentences("a." + " " * 999_998))) == 1
    with pytest.raises(PrologError, match="mine: a program of 1,000,001 characters is longer than 1,000,000"):
        list(sentences("a." + " " * 999_999, "mine"))


def test_named_variables_that_are_not_cared_about_keep_their_names():
    assert str(read_program("p(_Foo, X, _Foo, _).")) == "p(_Foo,X,_Foo,A).\n"
    assert plain(read_term("f(a)/* */"), {}) == "f(<a>)" and plain(read_term("[-]/**/- 1"), {}) == "-([|](<->;<[]>);1)"


@pytest.mark.parametrize(
    ("opening", "closing", "deepest"),
    [
        ("f(", ")", 99), ("(", ")", 99), ("[", "]", 99), ("{", "}", 99), ("- ", "", 99), ("\\+ ", "", 99), ("[a|", "]", 99),
        ("f(b, ", ")", 99), ("1 - (", ")", 66), ("b, (", ")", 66), ("b = (", ")", 66), ("b ^ (", ")", 66),
    ],
)  # fmt: skip
def test_what_may_be_nested_how_deep(opening, closing, deepest):
    assert _reads(opening * deepest + "a" + closing * deepest)
    with pytest.raises(PrologError, match="terms are nested more than 200 deep"):
        read_term(opening * (deepest + 1) + "a" + closing * (deepest + 1))

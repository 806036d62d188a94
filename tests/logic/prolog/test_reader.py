"""Prolog is read as SWI-Prolog reads it, is written so that it reads back, and what is wrong is said with its place."""

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.logic.prolog import PrologError, read_program
from assay.logic.prolog.reader import read_term, sentences
from assay.logic.prolog.terms import NIL, PAIR, TermWriter, Text, Variable, as_list, show

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

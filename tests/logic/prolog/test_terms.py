"""Terms are walked, joined and written as the books have it, and no further than is asked for."""

import pytest

from assay.concepts import bits
from assay.logic import Knowledge
from assay.prolog import PrologError, Variable, chain_of, key_of, label_names, labels_text
from assay.prolog.reader import read_term
from assay.prolog.terms import (
    NIL,
    TermWriter,
    Text,
    as_list,
    free_vars,
    indicator,
    items_of,
    join_terms,
    quoted_atom,
    show,
)


def text(term, **how):
    return TermWriter(**how).write(term)


@pytest.mark.parametrize(
    ("term", "written"),
    [
        (("+", ("+", 1, 2), 3), "1 + 2 + 3"),
        (("+", 1, ("+", 2, 3)), "1 + (2 + 3)"),
        (("-", ("-", 9, 4), 3), "9 - 4 - 3"),
        (("-", 9, ("-", 4, 3)), "9 - (4 - 3)"),
        (("*", ("+", 1, 2), 3), "(1 + 2) * 3"),
        (("^", 2, ("^", 3, 2)), "2 ^ 3 ^ 2"),
        (("^", ("^", 2, 3), 2), "(2 ^ 3) ^ 2"),
        ((",", "a", (",", "b", "c")), "a,b,c"),
        ((";", (",", "a", "b"), "c"), "a,b ; c"),
        ((",", (";", "a", "b"), "c"), "(a ; b),c"),
        (("<", ("+", "x", 1), 2), "x + 1 < 2"),
        (("=", ("=", "a", "b"), "c"), "(a = b) = c"),
        (("\\+", ("\\+", "a")), "\\+ \\+ a"),
        (("f", ("=", "a", "b"), (",", "a", "b")), "f(a = b,(a,b))"),
        (as_list([1, 2], "t"), "[1,2|t]"),
        (as_list([("a", 1), NIL]), "[a(1),[]]"),
        (Text('say "so"\n'), '"say \\"so\\"\\n"'),
        (("{}", ("+", 1, 2)), "{1 + 2}"),
        (1e22, "1.0e+22"),
        (-2.5, "-2.5"),
    ],
)
def test_brackets_stand_where_they_must_and_only_there(term, written):
    assert text(term) == written
    if not isinstance(term, Text):
        assert read_term(written) == term


def test_variables_have_names_in_their_order_that_no_other_has():
    first, second, taken = Variable(), Variable(), Variable()
    writer = TermWriter({id(taken): "A"})
    assert writer.write(("f", first, second, taken, first)) == "f(B,C,A,B)"
    many = [Variable() for _ in range(54)]
    names = [TermWriter().write(as_list(many))[1:-1].split(",")][0]
    assert names[:2] + names[25:28] + names[52:] == ["A", "B", "Z", "A1", "B1", "A2", "B2"]


def test_no_more_parts_are_written_than_allowed():
    assert text(("f", 1, 2, 3), most=3) == "f(1,2,...)"
    assert text(("f", 1, 2, 3), most=4) == "f(1,2,3)"
    assert text(1, most=0) == "..."
    assert text(as_list(range(9)), most=4).startswith("[0,1,2,...")
    assert len(show(as_list(range(1000)))) == 60 and show(as_list(range(1000))).endswith("...")
    assert show("a" * 60) == "a" * 60 and show("a" * 61) == "a" * 57 + "..."


def test_lists_and_chains_are_taken_apart_and_joined():
    assert list(items_of(as_list("abc"))) == ["a", "b", "c"] and as_list([]) == NIL
    for wrong, why in ((as_list("ab", "c"), "ends in c"), (as_list("a", Variable()), "ends in an unbound variable")):
        with pytest.raises(PrologError, match=why):
            list(items_of(wrong))
    goals = join_terms(["a", ";", "c"], ",", "true")
    assert goals == (",", "a", (",", ";", "c")) and chain_of(goals, ",") == ["a", ";", "c"]
    assert join_terms([], ",", "true") == "true" and chain_of("a", ",") == ["a"]
    assert chain_of((",", "a", (",", "b", "c")), ",", most=2) == ["a", "b", "c"]
    with pytest.raises(PrologError, match="a chain of ',' has more than 1 parts"):
        chain_of((",", "a", (",", "b", "c")), ",", most=1)


def test_free_variables_come_once_in_order_and_not_when_bound():
    x, y, z = Variable(), Variable(), Variable()
    y.ref = ("g", z)
    assert [id(v) for v in free_vars(("f", x, y, ("h", z, x)))] == [id(x), id(z)]


def test_names_of_predicates():
    assert key_of(("f", 1, 2)) == ("f", 2) and key_of("a") == ("a", 0)
    assert indicator(("f", 2)) == "f/2" and indicator(("big one", 0)) == "'big one'/0"


@pytest.mark.parametrize("name", ["a", "aB_1", "+", "[]", "!", ";", "{}", "=.."])
def test_plain_atoms_need_no_quotes(name):
    assert quoted_atom(name) == name


@pytest.mark.parametrize("name", [".", "A", "_a", "a b", "it's", "1a", "", "a\\b", "tab\t", "line\n", "\x01", "é"])
def test_other_atoms_are_quoted_and_read_back(name):
    assert quoted_atom(name)[0] == quoted_atom(name)[-1] == "'" and read_term(quoted_atom(name)) == name


def test_labels_have_predicates_of_their_own():
    knowledge = Knowledge.of(bits(["a", "b"]), {"Big": "a", "big": "b", "member": "a", "a": "b", "violates": "a"})
    names = label_names(knowledge)
    assert len(set(names.values())) == 5 and not set(names.values()) & {"a", "b", "member", "violates"}
    assert labels_text(knowledge, knowledge.labels_of(knowledge.space.all_codes()), first=7).count("(w10)") == 5

"""Formulas, knowledge and worlds as Prolog say what the formulas say."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from assay.concepts import digits
from assay.logic import Constraint, Knowledge, Label, parse, shape_of
from assay.prolog import (
    Bias,
    IlpProblem,
    Vocabulary,
    Worlds,
    aleph_files,
    facts_text,
    label,
    label_names,
    labels_text,
    popper_files,
    read_program,
    rules_text,
)
from assay.prolog.oracles import _whole
from assay.prolog.reader import sentences
from assay.prolog.terms import quoted_atom
from assay.prolog.vocabulary import atom_of
from assay.registry import Registry
from assay.tasks import TASKS
from tests.logic.formulas import CASES, case

from .trains import SPACE, drawn


@pytest.mark.parametrize("place", range(0, CASES, 2))
def test_random_formulas_mean_the_same_in_prolog(place):
    one = case(place)
    whole = _whole(one.space, one.codes)
    values = tuple(dict.fromkeys(one.values))
    truth = shape_of(one.formula, one.space).kind == "bool"
    text = rules_text(Knowledge(one.space, (Label("said", one.formula, (False, True) if truth else values),)))
    worlds = Worlds(one.space, one.codes[whole])
    expected = [value for value, kept in zip(one.values, whole, strict=True) if kept]
    if truth:
        assert label(text, worlds, head="said").tolist() == expected
        return
    for value in values:
        atom = atom_of(value)
        asked = f"{text}is(W) :- said(W,{atom if isinstance(atom, int) else quoted_atom(atom)}).\n".replace(
            "is(W)", "yes(W)"
        )
        assert label(asked, worlds, head="yes").tolist() == [one == value for one in expected]


def rows_of(task):
    split = task.splits()[0]
    return task.worlds_in(split, 0).codes(np.arange(min(12, split.size)))


@pytest.mark.parametrize("name", ["trains", "kand-logic", "mnadd", "sudoku-mini", "robots", "clevr"])
def test_the_knowledge_of_a_task_labels_its_worlds_in_prolog(name):
    assert isinstance(TASKS, Registry)
    knowledge = TASKS[name]().knowledge
    codes, text, names = rows_of(TASKS[name]()), rules_text(knowledge), label_names(knowledge)
    true = knowledge.labels_of(codes)
    for place, one in enumerate(knowledge.labels):
        for code, value in enumerate(one.values[:20]):
            if one.kind != "bool" or value is True:
                said = f"{names[one.name]}(W)" if one.kind == "bool" else f"{names[one.name]}(W,{atom_of(value)})"
                found = label(f"{text}yes(W) :- {said}.", Worlds(knowledge.space, codes), head="yes")
                assert found.tolist() == (true[:, place] == code).tolist()


def test_constraints_say_which_worlds_break_them():
    space = digits(["a", "b"], (0, 1, 2))
    limits = (Constraint("different", parse("a != b")), Constraint("small", parse("a + b < 3")))
    knowledge = Knowledge.of(space, {"more": "a > b"}, limits)
    codes = space.all_codes()
    text = rules_text(knowledge)
    for place, limit in enumerate(limits):
        found = label(f"{text}yes(W) :- violates(W,{limit.name}).", Worlds(space, codes), head="yes")
        assert found.tolist() == knowledge.violations(codes)[:, place].tolist()


def test_facts_name_what_is_there_and_nothing_else():
    codes = drawn(40)
    text = facts_text(Vocabulary(SPACE), codes, first=5)
    assert re.search(r"^has_car\(w5,w5_car1\)\.$", text, re.M) and "absent" not in text
    cars = [sum(SPACE.decode(row)[f"car{n}.colour"] != "absent" for n in range(1, 5)) for row in codes]
    assert text.count("has_car(") == sum(cars) == text.count("colour(") == text.count("car_length(")
    assert text.count("before(") == sum(n * (n - 1) // 2 for n in cars)
    assert not re.search(r"^length\(", text, re.M)  # a name that Prolog has already
    read_program(text)


def test_labels_are_facts_too():
    knowledge = Knowledge.of(digits(["a", "b"]), {"sum": "a + b", "same": "a == b"})
    codes = np.array([[3, 4], [2, 2]])
    assert labels_text(knowledge, knowledge.labels_of(codes)) == "sum(w0,7).\nsum(w1,4).\nsame(w1).\n"


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
def test_swi_prolog_loads_worlds_and_rules_without_a_word(tmp_path):
    knowledge = Knowledge.of(SPACE, {"east": "any(c.colour == 'red' and c.loads > c.number for c in cars)"})
    codes = drawn(50)
    (tmp_path / "all.pl").write_text(facts_text(Vocabulary(SPACE), codes) + rules_text(knowledge))
    goal = "forall(east(W), (write(W), nl))"
    command = ["swipl", "-q", "-f", "none", "-s", str(tmp_path / "all.pl"), "-g", goal, "-t", "halt"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stderr == ""
    expected = {f"w{number}" for number in np.flatnonzero(knowledge.labels_of(codes)[:, 0])}
    assert set(found.stdout.split()) == expected and expected


def test_all_learners_get_the_same_language():
    bias = Bias(SPACE)
    problem = IlpProblem(bias, "east", facts_text(bias.vocabulary, drawn(3)), ["w0"], ["w1", "w2"])
    aleph, popper = aleph_files(problem), popper_files(problem)
    assert ":- modeh(1,east(+world)).\n" in aleph[".b"] and ":- modeb(*,has_car(+world,-car)).\n" in aleph[".b"]
    said = "body_pred(colour_red,1).\ntype(colour_red,(car,)).\ndirection(colour_red,(in,)).\n"
    assert ":- modeb(1,colour_red(+car)).\n" in aleph[".b"] and said in popper["bias.pl"]
    asked = set(re.findall(r"body_pred\((\w+),", popper["bias.pl"]))
    assert asked == set(re.findall(r"determination\(east/1,(\w+)/", aleph[".b"])) == {"has_car", *bias.by_name}
    assert asked <= set(re.findall(r"^(\w+)\(", problem.background, re.M))
    assert aleph[".b"].endswith(popper["bk.pl"]) and list(sentences(aleph[".b"]))
    assert (aleph[".f"], aleph[".n"]) == ("east(w0).\n", "east(w1).\neast(w2).\n")
    assert popper["exs.pl"] == "pos(east(w0)).\nneg(east(w1)).\nneg(east(w2)).\n"

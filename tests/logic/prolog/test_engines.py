"""The interpreter gives the labels that clingo and SWI-Prolog give, and cannot be made to do anything but label."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from assay.concepts import digits
from assay.prolog import PrologError, ProofLimits, Worlds, label, read_program
from assay.prolog.labelling import question_of
from assay.prolog.templates import WorldTemplate
from assay.prolog.terms import show

from . import asp, swi
from .trains import ASKED, FACTS, FLAT, HEAD, LISTS, ON_LISTS, SPACE, TEMPLATE, drawn, theory_x

CODES = drawn(300)
needs_swi = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
LIST_RULES = {name: ON_LISTS + text for name, text in {**LISTS, **ASKED}.items()}
FACT_RULES = {**FLAT, **{f"{name} on facts": text for name, text in FACTS.items()}}


def labels(text, template="", reference=None, codes=CODES, **limits):
    program, worlds = read_program(text, "mine"), Worlds(SPACE, codes, template)
    if reference is None:
        return label(program, worlds, ProofLimits(**limits), head=HEAD)
    return reference.labelled(question_of(program, worlds, HEAD), codes, ProofLimits(**limits))


@pytest.mark.parametrize(("text", "template"), [(LIST_RULES["theory_x"], TEMPLATE), (FLAT["theory_x"], "")])
def test_theory_x_is_what_plain_python_says(text, template):
    assert labels(text, template).tolist() == theory_x(CODES)


@needs_swi
@pytest.mark.parametrize("name", LIST_RULES)
def test_swi_prolog_agrees_on_lists(name):
    found = labels(LIST_RULES[name], TEMPLATE)
    assert 0 < found.sum() < len(CODES)
    assert np.array_equal(found, labels(LIST_RULES[name], TEMPLATE, swi))


@needs_swi
@pytest.mark.parametrize("name", FACT_RULES)
def test_swi_prolog_agrees_on_facts(name):
    found = labels(FACT_RULES[name])
    assert 0 < found.sum() < len(CODES)
    assert np.array_equal(found, labels(FACT_RULES[name], reference=swi))


@pytest.mark.parametrize("name", FLAT)
def test_clingo_agrees_on_flat_rules(name):
    pytest.importorskip("clingo")
    assert np.array_equal(labels(FLAT[name]), labels(FLAT[name], reference=asp))


@pytest.mark.parametrize(
    ("text", "template", "why"),
    [
        (LIST_RULES["theory_x"], TEMPLATE, "mine: clingo knows worlds as facts only, not as terms"),
        (FACTS["cut"], "", "mine line 1: clingo takes flat rules only: !/0 is there"),
        (FACTS["if-then-else"], "", "mine line 1: clingo takes flat rules only: '->' is there"),
        ("eastbound(T) :- p(T). p(T) :- has_car(T, C), \\+ q(T). q(T) :- has_car(T, C), \\+ p(T).", "",
         "mine: a predicate depends on its own negation, which clingo cannot decide"),
    ],
)  # fmt: skip
def test_clingo_says_what_it_cannot_take(text, template, why):
    pytest.importorskip("clingo")
    with pytest.raises(PrologError) as caught:
        labels(text, template, asp)
    assert str(caught.value) == why


def test_clingo_is_killed_at_the_time_limit():
    pytest.importorskip("clingo")
    with pytest.raises(PrologError) as caught:
        labels("n(0). n(X) :- n(Y), X is Y + 1. eastbound(_) :- n(-1).", reference=asp, seconds=0.5)
    assert str(caught.value) == "rule mine was stopped at the time limit of 0.5 seconds; it may loop"


@needs_swi
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("eastbound(T) :- eastbound(T).", "was stopped at the limit of 100,000 inferences for one world; it may loop"),
        ("eastbound(T) :- repeat, fail.", "was stopped at the limit of 100,000 inferences for one world; it may loop"),
        ("eastbound(T) :- T > 1.", "SWI-Prolog says: type_error(evaluable,w/0)"),
    ],
)
def test_swi_prolog_is_stopped_by_name(text, why):
    with pytest.raises(PrologError) as caught:
        labels(text, reference=swi, codes=CODES[:2], inferences=100_000)
    assert str(caught.value).startswith("rule mine (eastbound/1)") and str(caught.value).endswith(why)


@needs_swi
def test_swi_prolog_is_killed_at_the_time_limit():
    with pytest.raises(PrologError, match="was stopped at the time limit of 0.5 seconds"):
        labels("eastbound(T) :- repeat, fail.", reference=swi, codes=CODES[:2], inferences=10**12, seconds=0.5)


ATTACKS = [
    "eastbound(_) :- G =.. [shell, 'touch FILE'], call(G).",
    "eastbound(_) :- X = shell, maplist(X, ['touch FILE']).",
    "eastbound(_) :- X = shell('touch FILE'), findall(a, X, _).",
    "eastbound(_) :- X = (true, shell('touch FILE')), \\+ X.",
    "eastbound(_) :- X = open('FILE', write, _), forall(X, true).",
    "eastbound(_) :- foldl(call, [shell], 'touch FILE', _).",
    "eastbound(_) :- X = (system:shell('touch FILE')), call(X).",
    "eastbound(_) :- X = call(shell), call(X, 'touch FILE').",
    "eastbound(_) :- X = aggregate_all(count, shell('touch FILE'), _), call(X).",
    "term_expansion(a, (:- shell('touch FILE'))). a. eastbound(_).",
    "goal_expansion(short(_), shell('touch FILE')). short(_). eastbound(X) :- short(X).",
    "portray(_) :- b. b. prolog_load_file(_, _) :- b. message_hook(_, _, _) :- b. eastbound(_) :- b.",
    "'assay goal'(_) :- b. b. eastbound(_) :- b.",
    "'), shell(''touch FILE''), X=(''a'. eastbound(_) :- '), shell(''touch FILE''), X=(''a'.",
]


@pytest.mark.parametrize("reference", [None, pytest.param(swi, marks=needs_swi)], ids=["ours", "swi"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_program_can_touch_a_file(attack, reference, tmp_path):
    target = tmp_path / "touched"
    try:
        labels(attack.replace("FILE", str(target)), reference=reference, codes=CODES[:1])
    except PrologError as error:
        assert "\n" not in str(error)
    assert not target.exists()


@pytest.mark.parametrize("text", [":- shell('touch FILE').", "?- shell('touch FILE').", ":- initialization(main). main.",
                                  ":- use_module(library(process)).", ":- consult('FILE').", ":- include('FILE')."])  # fmt: skip
def test_no_directive_is_run(text, tmp_path):
    with pytest.raises(PrologError, match="the directive .* is not allowed"):
        read_program(text.replace("FILE", str(tmp_path / "touched")))
    assert not (tmp_path / "touched").exists()


def test_the_head_is_the_predicate_that_no_other_calls():
    worlds = Worlds(digits(["a", "b"]), np.array([[3, 4], [9, 9], [5, 5]]))
    text = "equal(W) :- a(W, X), b(W, X). big(W) :- a(W, X), X > 4, \\+ small(W). small(W) :- \\+ equal(W)."
    assert label(text, worlds).tolist() == [False, True, True]
    assert label(text, worlds, head="small").tolist() == [True, False, False]
    with pytest.raises(PrologError, match="defines no bigg/1, which decides the label; did you mean 'big/1'"):
        label(text, worlds, head="bigg")
    with pytest.raises(PrologError, match="defines no predicate of one argument"):
        label("p(1, 2).", worlds)


def test_templates_write_worlds_as_terms():
    [term] = WorldTemplate(SPACE, "t({'car1.colour'}, {each(cars, [{place}, {roof: [none-open, solid-flat]}])})").terms(
        CODES[:1]
    )
    values = SPACE.decode(CODES[0])
    names = {"none": "open", "solid": "flat"}
    roofs = [values[f"car{number}.roof"] for number in range(1, 5) if values[f"car{number}.roof"] != "absent"]
    cars = ",".join(f"[{at},{names.get(roof, roof)}]" for at, roof in enumerate(roofs, 1))
    assert show(term, 200) == f"t({values['car1.colour']},[{cars}])"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("f({colour})", "no concept or attribute 'colour'"),
        ("{each(cars, {color})}", "did you mean 'colour'"),
        ("{each(car, a)}", "no group of slots car; did you mean 'cars'"),
        ("f(X)", "a variable has no value"),
        ("f({1})", "names no concept, attribute or group"),
        ("f({'car1.colour': red})", "a list is wanted"),
        ("f({a", "the text ends too early"),
    ],
)
def test_a_bad_template_is_said_in_one_line(template, why):
    with pytest.raises(PrologError, match=why):
        labels(ON_LISTS + LISTS["theory_x"], template)


def test_nothing_is_left_in_the_folder_of_temporary_files(monkeypatch, tmp_path):
    if shutil.which("swipl") is None:
        pytest.skip("SWI-Prolog is not installed")
    monkeypatch.setattr(swi.tempfile, "tempdir", str(tmp_path))
    labels(FLAT["theory_x"], reference=swi)
    assert list(Path(tmp_path).iterdir()) == []

"""The interpreter gives the labels that plain Python, clingo and SWI-Prolog give."""

import shutil

import numpy as np
import pytest

from assay.prolog import PrologError, ProofLimits, Worlds, label, question_of, read_program

from . import asp, swi
from .trains import ASKED, FACTS, FLAT, HEAD, LISTS, ON_LISTS, SPACE, TEMPLATE, drawn, theory_x

CODES = drawn(300)
needs_swi = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")
RULES = {name: (ON_LISTS + text, TEMPLATE) for name, text in {**LISTS, **ASKED}.items()}
RULES |= {f"{name} on facts": (text, "") for name, text in {**FLAT, **FACTS}.items()}


def labels(text, template="", reference=None, codes=CODES, **limits):
    program, worlds = read_program(text, "mine"), Worlds(SPACE, codes, template)
    if reference is None:
        return label(program, worlds, ProofLimits(**limits), head=HEAD)
    return reference.labelled(question_of(program, worlds, HEAD), codes, ProofLimits(**limits))


@pytest.mark.parametrize("name", ["theory_x", "theory_x on facts"])
def test_theory_x_is_what_plain_python_says(name):
    assert labels(*RULES[name]).tolist() == theory_x(CODES)


@needs_swi
@pytest.mark.parametrize("name", RULES)
def test_swi_prolog_agrees(name):
    found = labels(*RULES[name])
    assert 0 < found.sum() < len(CODES) and np.array_equal(found, labels(*RULES[name], swi))


@pytest.mark.parametrize("name", FLAT)
def test_clingo_agrees_on_flat_rules(name):
    pytest.importorskip("clingo")
    assert np.array_equal(labels(FLAT[name]), labels(FLAT[name], reference=asp))


def test_clingo_says_what_it_cannot_take():
    pytest.importorskip("clingo")
    odd = "eastbound(T) :- p(T). p(T) :- has_car(T, C), \\+ q(T). q(T) :- has_car(T, C), \\+ p(T)."
    for text, why in ((FACTS["cut"], "clingo takes flat rules only"), (odd, "depends on its own negation")):
        with pytest.raises(PrologError, match=why):
            labels(text, reference=asp)

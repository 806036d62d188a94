"""A learned formula beside the rule: worlds counted one by one say the same, and so do the words."""

import json
from itertools import product

import numpy as np
import pytest

from assay.diagnosis import diagnose_run
from assay.logic import NO_RULE, Concept, ConceptSpace, Constraint, Knowledge, Label, bits, digits, evaluate, parse
from assay.metrics import relations_in, worlds_of
from assay.runs import PROGRAM, RunFolder
from tests.predictors import predictions

LESS = Knowledge.of(digits(["a", "b"]), {"big": "a > 5"}, [Constraint("less", parse("a < b"))])
FORMULAS = ["a > 5", "a > 4", "a > 6", "b > 6", "a > 5 and b > 2", "b > 8 or a == 7", "True", "False"]


def relate(learned, rule, value=True):
    """Compare a learned formula of the value of a label with its rule, on the worlds where a < b."""
    rules = {"big": rule} if value is True else {"big": f"({rule}) * {value}"}
    knowledge = Knowledge.of(LESS.space, rules, LESS.constraints)
    (found,) = relations_in({"labels": {"big": {"formulas": [[None if value is True else value, learned]]}}}, knowledge)
    return found


def counted(learned, rule):
    codes = LESS.space.all_codes()
    codes = codes[LESS.can_be(codes)]
    one, two = (np.asarray(evaluate(parse(text), LESS.space, codes), dtype=bool) for text in (learned, rule))
    return int((one & ~two).sum()), int((two & ~one).sum()), len(codes)


@pytest.mark.parametrize(("learned", "rule"), list(product(FORMULAS, FORMULAS)))
def test_worlds_are_counted(learned, rule):
    found = relate(learned, rule)
    more, less, worlds = counted(learned, rule)
    assert (found.only_learned, found.only_rule, found.worlds, found.exact) == (more, less, worlds, True)
    names = {(0, 0): "equal", (1, 0): "more general", (0, 1): "more specific", (1, 1): "different"}
    assert found.relation == names[bool(more), bool(less)]


def test_where_worlds_cannot_be_counted_they_are_sampled(monkeypatch):
    for limit, size in (("SMALL", 1), ("LARGE", 1), ("SAMPLED", 20_000)):  # limits: few diagrams are that large
        monkeypatch.setattr(f"assay.metrics.rule_relation.{limit}", size)
    found = relate("a > 4", "a > 5")
    more, less, worlds = counted("a > 4", "a > 5")
    assert not found.exact and found.worlds == 20_000 and found.only_rule == less == 0
    assert found.only_learned / found.worlds == pytest.approx(more / worlds, abs=0.01)
    assert "worlds sampled" in found.text and found.relation == "more general"


def test_relations_in_words():
    for learned, rule, words in (
        ("a > 4", "a > 5", "more general than the rule: of 45 worlds, in 4 only the learned formula holds"),
        ("a > 5", "a > 5", "equal to the rule on all 45 worlds"),
        ("a == 4", "a > 6", "in 5 only the learned formula holds and in 3 only the rule holds"),
    ):
        assert words in relate(learned, rule).text


def test_formulas_are_compared_value_by_value():
    space = ConceptSpace((*bits(["a", "b"]).concepts, Concept("n", (0, 1, 2))))
    knowledge = Knowledge.of(space, {"y": "a and b", "n2": "n + a"})
    program = {
        "labels": {
            "y": {"formulas": [[0, "not (a and b)"]]},
            "n2": {"formulas": [[1, "n + a == 1"], [None, "n"]]},
        }
    }
    found = relations_in(program, knowledge)
    assert [(one.label, one.value, one.relation) for one in found] == [
        ("y", False, "equal"), ("n2", 1, "equal"),
        ("n2", 0, "more general"), ("n2", 1, "different"), ("n2", 2, "different"), ("n2", 3, "more specific"),
    ]  # fmt: skip
    whole = relations_in({"labels": {"y": {"formulas": [[None, "a"]]}}}, knowledge)
    assert [(one.value, one.relation, one.only_learned) for one in whole] == [(True, "more general", 3)]


def test_a_run_tells_what_it_learned(tmp_path, mnlogic):
    data, run = mnlogic.symbols("test"), RunFolder(tmp_path)
    label = mnlogic.knowledge.labels[0]
    predictions(data, data.labels, data.concepts).write(run.predictions("test"), mnlogic.knowledge)
    before = diagnose_run(run, mnlogic).notes

    def told(formulas, notes=None):
        (tmp_path / PROGRAM).write_text(
            json.dumps({"labels": {label.name: {"formulas": formulas, "notes": notes or {}}}})
        )
        return diagnose_run(run, mnlogic).notes[len(before) :]

    first, second = told([[None, "a or not a"]], {"bias": {"expressible": False, "why": "no such literal"}})
    assert "is more general than the rule: of 8 worlds" in first
    assert "does not express the rule" in second and "no such literal" in second
    (both,) = told([[1, str(label.formula)], [0, "a"]])
    assert both.startswith("Of 2 learned formulas") and "1 are equal" in both
    for text in ("", "[]", '{"labels": {"other": {"formulas": []}}}'):
        (tmp_path / PROGRAM).write_text(text)
        assert diagnose_run(run, mnlogic).notes == before


def test_worlds_to_compare_on_are_all_or_a_sample():
    exact = worlds_of(LESS, 100)
    assert exact.exact and len(exact.codes) == 45 and (exact.codes[:, 0] < exact.codes[:, 1]).all()
    some = worlds_of(LESS, 99)
    assert not some.exact and len(some.codes) == 99 and (some.codes[:, 0] < some.codes[:, 1]).all()
    assert len(np.unique(worlds_of(LESS, 99).codes, axis=0)) > 20


def test_labels_without_a_rule_are_not_compared():
    unruled = Knowledge(bits(["a"]), (Label("y", NO_RULE, (False, True)),))
    assert relations_in({"labels": {"y": {"formulas": [[None, "a"]]}}}, unruled) == []

"""A learned formula beside the rule: worlds counted one by one say the same, and so do the words."""

import json
from itertools import product

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.diagnosis import relations_in, rule_relation, worlds_of
from assay.diagnosis.rule_relation import describe_learned_rules, relate
from assay.logic import NO_RULE, Constraint, Knowledge, Label, evaluate, parse
from assay.runs import PROGRAM, RunFolder

LESS = Knowledge.of(digits(["a", "b"]), {"big": "a > 5"}, [Constraint("less", parse("a < b"))])
FORMULAS = ["a > 5", "a > 4", "a > 6", "b > 6", "a > 5 and b > 2", "b > 8 or a == 7", "True", "False"]


def counted(learned, rule):
    codes = LESS.space.all_codes()
    codes = codes[LESS.can_be(codes)]
    one, two = (np.asarray(evaluate(parse(text), LESS.space, codes), dtype=bool) for text in (learned, rule))
    return int((one & ~two).sum()), int((two & ~one).sum()), len(codes)


@pytest.mark.parametrize(("learned", "rule"), list(product(FORMULAS, FORMULAS)))
def test_worlds_are_counted(learned, rule):
    found = relate(parse(learned), parse(rule), LESS, "big")
    more, less, worlds = counted(learned, rule)
    assert (found.only_learned, found.only_rule, found.worlds, found.exact) == (more, less, worlds, True)
    names = {(0, 0): "equal", (1, 0): "more general", (0, 1): "more specific", (1, 1): "different"}
    assert found.relation == names[bool(more), bool(less)]


def test_where_worlds_cannot_be_counted_they_are_sampled(monkeypatch):
    monkeypatch.setattr(rule_relation, "SMALL", 1)
    monkeypatch.setattr(rule_relation, "LARGE", 1)
    monkeypatch.setattr(rule_relation, "SAMPLED", 20_000)
    found = relate(parse("a > 4"), parse("a > 5"), LESS, "big")
    more, less, worlds = counted("a > 4", "a > 5")
    assert not found.exact and found.worlds == 20_000 and found.only_rule == less == 0
    assert found.only_learned / found.worlds == pytest.approx(more / worlds, abs=0.01)
    assert "worlds sampled" in found.text and found.relation == "more general"


def test_relations_in_words():
    text = relate(parse("a > 4"), parse("a > 5"), LESS, "big").text
    assert (
        text
        == "The learned formula of 'big' is more general than the rule: of 45 worlds, in 4 only the learned formula holds."
    )
    text = relate(parse("a > 5"), parse("a > 5"), LESS, "big").text
    assert text == "The learned formula of 'big' is equal to the rule on all 45 worlds."
    text = relate(parse("a == 4"), parse("a > 6"), LESS, "big").text
    assert text.endswith(
        "is different from the rule: of 45 worlds, in 5 only the learned formula holds and in 3 only the rule holds."
    )
    assert "'sum is 3'" in relate(parse("a == 3"), parse("a == 3"), LESS, "sum", 3).text


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


def test_a_run_tells_what_it_learned(tmp_path):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    notes = {"bias": {"expressible": False, "why": "no such literal"}}
    (tmp_path / PROGRAM).write_text(json.dumps({"labels": {"y": {"formulas": [[None, "a"]], "notes": notes}}}))
    first, second = describe_learned_rules(RunFolder(tmp_path), knowledge)
    assert "is more general than the rule: of 4 worlds, in 1 only" in first
    assert second == "The bias of the learner does not express the rule of 'y': no such literal."
    formulas = [[1, "a and b"], [0, "not a"]]
    (tmp_path / PROGRAM).write_text(json.dumps({"labels": {"y": {"formulas": formulas}}}))
    assert describe_learned_rules(RunFolder(tmp_path), knowledge) == (
        "Of 2 learned formulas of 'y', 1 are equal to the rule.",
    )
    for text in ("", "[]", '{"labels": {"z": {"formulas": []}}}'):
        (tmp_path / PROGRAM).write_text(text)
        assert describe_learned_rules(RunFolder(tmp_path), knowledge) == ()


def test_worlds_to_compare_on_are_all_or_a_sample():
    exact = worlds_of(LESS, 100)
    assert exact.exact and len(exact.codes) == 45 and (exact.codes[:, 0] < exact.codes[:, 1]).all()
    some = worlds_of(LESS, 99)
    assert not some.exact and len(some.codes) == 99 and (some.codes[:, 0] < some.codes[:, 1]).all()
    assert len(np.unique(worlds_of(LESS, 99).codes, axis=0)) > 20


def test_labels_without_a_rule_are_not_compared():
    unruled = Knowledge(bits(["a"]), (Label("y", NO_RULE, (False, True)),))
    assert relations_in({"labels": {"y": {"formulas": [[None, "a"]]}}}, unruled) == []

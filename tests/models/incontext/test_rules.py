"""Answers, read: rules in words, as formulas and as Prolog, and classes; and what is refused."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.logic import Knowledge
from assay.models.incontext.client import Reply
from assay.models.incontext.messages import NAMES, fill, hashes, source
from assay.models.incontext.replies import NotAnAnswer, NotARule, read_class, read_rule
from assay.models.incontext.wording import describe_example, quantifier_example, values_in_words, vocabulary
from tests.endpoint import rule

COLOURS = ("absent", "red", "blue")
SPACE = ConceptSpace(
    (
        Concept("n", (0, 1, 2, 3, 4)),
        Concept("on", (False, True)),
        Concept("car1.colour", COLOURS),
        Concept("car2.colour", COLOURS),
    ),
    (Slot("car1", "cars", ("colour",)), Slot("car2", "cars", ("colour",))),
)
KNOWLEDGE = Knowledge.of(SPACE, {"y": "n > 1 and on", "sum": "n + 1", "word": "'stop' if on else 'go'"})
SHOWN = np.array([[0, 1, 1, 0], [4, 0, 2, 1]])


def reply(text, finish="stop"):
    return Reply(text, finish, "m", 1, 1)


def read(text, form="formula", label="y", finish="stop"):
    return read_rule(reply(text, finish), form, KNOWLEDGE.label(label), SPACE, SHOWN)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (rule("w", "n > 1 and on"), "n > 1 and on"),
        (rule("w", "n > 1\n  and on"), "n > 1 and on"),
        (rule("w", "any(x.colour == 'red' for x in cars)"), "any(x.colour == 'red' for x in cars)"),
        ("<think>RULE: no\n```formula\nn\n```</think>\n" + rule("w", "on"), "on"),
        ("```formula\nn > 3\n```\nNo, wait.\n" + rule("w", "on"), "on"),
        ("**RULE:** w\n```python\non\n```", "on"),
    ],
)
def test_a_formula_is_found_in_an_answer(text, formula):
    found = read(text)
    assert (found.words, str(found.formula)) == ("w", formula)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the answer is empty"),
        ("<think>RULE: x</think>", "the answer is empty"),
        ("no idea", "there is no line 'RULE: ...'"),
        ("RULE: w", "there is no block ```formula"),
        (rule("w", "n = 1"), "cannot be read"),
        (rule("w", "m > 1"), "'m'"),
        (rule("w", "n + 1"), "the formula gives a number, but the rule gives a truth value"),
        (rule("w", "__import__('os')"), "formula"),
        (rule("w", "prolog('y(W) :- y(W).', 'y', '', n)"), "a formula holds no Prolog"),
        (rule("w", "n > 10 ** 10 ** 10"), "n > 10 ** 10"),
        (rule("w", "(" * 500 + "on" + ")" * 500), "cannot be read"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_rule_is_refused(text, said):
    with pytest.raises(NotARule) as caught:
        read(text)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_shown_of_an_answer_is_one_line_of_plain_characters():
    assert read("RULE: a\x1b[31m  b\x00\n```formula\non\n```").words == "a[31m b"


def test_an_answer_that_was_cut_off_says_so():
    with pytest.raises(NotARule, match="cut off at max_tokens"):
        read("I think that", finish="length")


def test_other_labels_get_formulas_of_their_kind():
    assert str(read(rule("w", "n + 1"), label="sum").formula) == "n + 1"
    assert read(rule("w", "'stop' if on else 'go'"), label="word").formula == KNOWLEDGE.label("word").formula
    with pytest.raises(NotARule, match="gives a truth value, but the rule gives a text"):
        read(rule("w", "on"), label="word")
    assert read("so\nRULE: more than one, and on", "words").words == "more than one, and on"


def test_a_program_becomes_a_formula():
    found = read(rule("w", "target(W) :- has_car(W, C), colour(C, red).", "prolog"), "prolog")
    assert "any(" in str(found.formula) and "red" in str(found.formula)
    for program, said in {
        "target(W) :- has_car(W, C)": "line 1",
        "goal(W) :- has_car(W, _).": "target",
        "target(W) :- wheels(W, 3).": "wheels",
        "target(W) :- loop(W). loop(W) :- loop(W).": "loop",
    }.items():
        with pytest.raises(NotARule, match=said):
            read(rule("w", program, "prolog"), "prolog")


@pytest.mark.parametrize(
    ("text", "label", "code"),
    [
        ("ANSWER: yes", "y", 1), ("**ANSWER:** No.", "y", 0), ("answer: TRUE", "y", 1), ("Yes", "y", 1),
        ("ANSWER: yes\nHm, wait.\nANSWER: no", "y", 0), ("<think>ANSWER: no</think>ANSWER: yes", "y", 1),
        ("ANSWER: 3", "sum", 2), ("ANSWER: `stop`", "word", None),
    ],
)  # fmt: skip
def test_a_class_is_read(text, label, code):
    held = KNOWLEDGE.label(label)
    assert read_class(reply(text), held) == (held.values.index("stop") if code is None else code)


@pytest.mark.parametrize("text", ["", "it is not clear, yes or no", "ANSWER: maybe", "ANSWER: yes and no", "ANSWER:"])
def test_what_is_no_class_is_not_guessed(text):
    with pytest.raises(NotAnAnswer):
        read_class(reply(text), KNOWLEDGE.label("y"))


def test_concepts_and_examples_in_words():
    said = vocabulary(SPACE, "formula")
    assert "- `n`: a number from 0 to 4" in said and "- `on`: true or false" in said
    assert "- `cars`: up to 2 objects, `car1`, `car2`, each with `colour`: 'red', 'blue'" in said
    assert vocabulary(SPACE, "words") == "" and quantifier_example(SPACE) == ("cars", "x.colour == 'red'")
    assert "`colour(Car, V)`: V is one of red, blue" in vocabulary(SPACE, "prolog")
    assert describe_example(SPACE, SHOWN[0], "formula") == "car1: colour = red\nn = 0, on = True"
    assert "has_car(w3,w3_car1)." in describe_example(SPACE, SHOWN[0], "prolog", 3)
    assert [values_in_words(x) for x in KNOWLEDGE.labels[:2]] == ["yes or no", "a number from 1 to 5"]


def test_every_prompt_is_a_file_and_its_hash_is_known():
    assert set(hashes()) == set(NAMES) and all(source(name).strip() for name in NAMES)
    for description in ("", "car1: colour = red"):
        asked = fill(
            "classify", description=description, values="yes or no", rule="w", program="on", form="formula",
            vocabulary="- `on`", choices="yes or no",
        )  # fmt: skip
        assert asked.endswith("ANSWER: yes or no") and ("picture" in asked) == (not description)

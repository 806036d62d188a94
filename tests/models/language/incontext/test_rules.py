"""What is asked, and what is made of the answers: rules in words, as formulas and as Prolog, and classes."""

import numpy as np
import pytest

from assay import parse
from assay.base import AssayError, ConfigError
from assay.models import MODELS
from tests.endpoint import Fault, rule, texts
from tests.models.language.incontext.conftest import RULES, taught

END = "RULE: late\n```formula\non\n```"


def completion(text, finish="stop"):
    """Return a reply of the protocol that ended in some way."""
    import json

    message = {"role": "assistant", "content": text}
    return Fault(body=json.dumps({"choices": [{"message": message, "finish_reason": finish}]}))


# -- rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (rule("w", "n > 1 and on"), "n > 1 and on"),
        (rule("w", "n > 1\n  and on"), "n > 1 and on"),
        ("<think>RULE: no\n```formula\nn\n```</think>\n" + rule("w", "on"), "on"),
        ("RULE: not this\n```formula\nn > 3\n```\nNo, wait.\n" + rule("w", "on"), "on"),  # the last of several
        ("## **RULE:** w\n```python\non\n```", "on"),
        ("RULE: w\n```Formula\non\n```\n```python\nn > 2\n```", "on"),  # that of the form, where one says so
        ("RULE: a\x1b[31m  b\x00\n```formula\non\n```", "on"),
        ("RULE: early\n" + "so " * 7000 + "\n" + rule("w", "on"), "on"),
    ],
)
def test_a_formula_is_found_in_an_answer(text, formula, one, server):
    server.answerer = lambda body: text
    model = taught(one)
    assert len(server.asked) == 1 and model.formulas["y"] == parse(formula)
    words, told = model.describe()[:2]
    assert words in ("y: w", "y: a[31m b") and told == f"y: {formula}"  # one line of plain characters


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
        (rule("w", "on and prolog('h(1).', 'h', '', on)"), "a formula holds no Prolog"),
        (rule("w", "n > 10 ** 10 ** 10"), "n > 10 ** 10"),
        (rule("w", "1 // (n - n) > 0"), ""),
        (rule("w", "(" * 500 + "on" + ")" * 500), "cannot be read"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_rule_is_told_why_and_asked_for_again(text, said, one, server):
    server.script.append(text)
    server.answerer = lambda body: rule("w", "on")
    assert str(taught(one).formulas["y"]) == "on" and len(server.asked) == 2
    complaint = server.asked[1]["messages"][-1]["content"]
    assert said in complaint and "RULE: " in complaint
    server.answerer = lambda body: text
    model = taught(one, seed=1, tries=1)
    (problem,) = model.failures.values()
    assert said in problem and "\n" not in problem and len(problem) <= 500
    for answer in (model.predict(one["test"]).labels["y"], *model.label_probabilities([np.eye(5), np.eye(2)[[0] * 5]])):
        assert (answer.codes == -1).all() if hasattr(answer, "codes") else (answer == 0.5).all()


@pytest.mark.parametrize("text", ["", "I think that", "RULE: x"])
def test_an_answer_that_was_cut_off_says_so(text, one, server):
    server.script.append(completion(text, "length"))
    server.script.append(completion(text, "tool_calls"))
    assert "cut off at max_tokens" in taught(one, tries=1).failures["y"]
    assert "cut off" not in taught(one, seed=1, tries=1).failures["y"]


def test_labels_of_any_kind_get_formulas_of_their_kind(three, server):
    def answer(body):
        said = texts(body)
        name = "y" if "gives true or false" in said else "total" if "gives a whole number" in said else "word"
        return rule("w", RULES[name])

    server.answerer = answer
    model, test = taught(three), three["test"]
    assert {name: str(formula) for name, formula in model.formulas.items()} == RULES
    said = model.predict(test)
    assert all((said.labels[name].codes == test.labels[:, place]).all() for place, name in enumerate(RULES))
    assert model.history[0].loss == 0 and model.history[0].score == 1
    asked = [texts(body) for body in server.asked]
    assert ["yes or no" in asked[0], "a number from 1 to 5" in asked[1], "go or stop" in asked[2]] == [True] * 3
    server.answerer = lambda body: rule("w", "on")
    wrong = taught(three, seed=1, tries=1)
    assert wrong.failures == {
        "total": "the formula gives a truth value, but the rule gives a number",
        "word": "the formula gives a truth value, but the rule gives a text",
    }


def test_a_rule_that_fits_the_shots_badly_is_kept_and_its_fit_told(one, server):
    server.answerer = lambda body: rule("w", "not on")
    model = taught(one, shots=12)
    notes = model.state()["labels"]["y"]["notes"]
    assert notes["shots"] == 12 and notes["right"] < 12 and "Example 1, the rule answers" in notes["prompt"]
    assert model.history[0].loss == pytest.approx(1 - notes["right"] / 12)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("target(W) :- has_car(W, C), car_length(C, short).", ""),
        ("target(W) :- has_car(W, C)", "line 1"),
        ("goal(W) :- has_car(W, _).", "target"),
        ("target(W) :- sails(W, 3).", "sails"),
        ("target(W) :- loop(W). loop(W) :- loop(W).", "loop"),
    ],
)
def test_a_program_becomes_a_formula(program, said, trains, server):
    server.answerer = lambda body: rule("w", program, "prolog")
    model = taught(trains, form="prolog", tries=1)
    if said:
        assert said in next(iter(model.failures.values()))
    else:
        assert "any(" in str(next(iter(model.formulas.values())))


def test_form_prolog_needs_labels_that_are_true_or_false(three):
    with pytest.raises(ConfigError, match="form=prolog needs labels that are true or false"):
        taught(three, form="prolog")


# -- what is shown -----------------------------------------------------------------------------------------------------


def shown(body, data):
    """Return the rows of training that a prompt shows as symbols, and the answers that it gives for them."""
    lines = texts(body).splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("Example ")]
    answers = [lines[place].split("answers ")[1].rstrip(":") for place in heads]
    return [lines[place + 1] for place in heads], answers


@pytest.mark.parametrize("shots", [2, 6, 99])
def test_shots_are_balanced_over_the_values_and_differ_by_seed(shots, one, server):
    server.answerer = lambda body: rule("w", "on")
    train = one["train"]
    size, told = min(shots, len(train)), []
    for seed in (0, 1):
        taught(one, seed=seed, shots=shots)
        described, answers = shown(server.asked[-1], one)
        assert len(described) == size
        told.append(described)
        for text, answer in zip(described, answers, strict=True):  # each as it is in the data
            n, on = text.removeprefix("n = ").split(", on = ")
            assert answer == ("yes" if int(n) > 1 and on == "True" else "no")
        if shots < 9:
            assert answers.count("yes") == shots // 2
    assert told[0] != told[1]


def test_the_names_of_concepts_and_values_are_told_and_that_of_the_label_is_not(three, trains, server):
    server.answerer = lambda body: rule("w", "on")
    taught(three, tries=1)
    said = texts(server.asked[1])
    assert "- `n`: a number from 0 to 4" in said and "- `on`: true or false" in said and "total" not in said
    server.answerer = lambda body: rule("w", "target(W) :- has_car(W, C), car_length(C, short).", "prolog")
    taught(trains, form="prolog")
    said = texts(server.asked[-1])
    assert "- `has_car(World, Car)`: the car is there" in said and "- `car_num(Car, N)`" in said
    assert "`car_length(Car, V)`: V is one of" in said and "has_car(w1,w1_car1)." in said
    server.answerer = lambda body: rule("w", "any(c.car_length == 'short' for c in cars)")
    taught(trains, form="formula", tries=1)
    said = texts(server.asked[-1])
    assert "- `cars`: up to" in said and "any(x." in said  # with an example of how to speak of objects


# -- classes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "text", "value"),
    [
        ("y", "ANSWER: yes", True), ("y", "**ANSWER:** No.", False), ("y", "answer: TRUE", True), ("y", "Yes", True),
        ("y", "ANSWER: yes\nHm, wait.\nANSWER: no", False), ("y", "<think>ANSWER: no</think>ANSWER: yes", True),
        ("y", "true.", True), ("total", "ANSWER: 4\nwait\n> ANSWER: '2'", 2), ("total", "`1`", 1),
        ("word", "ANSWER: Stop.", "stop"), ("word", "GO", "go"),
        *(("y", text, None) for text in ("", "it is not clear, yes or no", "ANSWER: maybe", "ANSWER: yes and no")),
        ("total", "ANSWER: yes", None), ("total", "ANSWER: 9", None), ("word", "ANSWER: " + "x" * 90, None),
    ],
)  # fmt: skip
def test_a_class_is_read_and_what_is_none_is_not_guessed(label, text, value, three, server):
    kinds = {"y": "yes or no", "total": "a number from 1 to 5", "word": "go or stop"}

    def answer(body):
        said = texts(body)
        return "RULE: w" if "What is the rule?" in said else text if kinds[label] in said else ""

    server.answerer = answer
    model = taught(three, form="words", classify="ask", tries=1)
    given = model.predict(three["test"][:1]).labels[label]
    values = three.knowledge.label(label).values
    if value is None:
        assert given.codes.tolist() == [-1] and given.probabilities is None
    else:
        assert values[given.codes[0]] == value and given.probabilities.tolist() == [[one == value for one in values]]


def test_what_names_no_class_is_asked_for_again_with_the_reason(one, server):
    server.script.extend(["RULE: w", completion("hm", "length"), "ANSWER: maybe", "ANSWER: yes"])
    model = taught(one, form="words", classify="ask")
    assert model.predict(one["test"][:1]).labels["y"].codes.tolist() == [1]
    first, second = (body["messages"][-1]["content"] for body in server.asked[2:])
    assert "there is no line 'ANSWER: ...', and it was cut off at max_tokens" in first
    assert "'maybe' is none of the answers that the rule can give" in second and second.endswith("ANSWER: yes or no")


@pytest.mark.parametrize("form", ["formula", "words"])
def test_an_example_is_asked_about_with_the_rule_as_it_was_given(form, one, server):
    server.answerer = lambda body: rule("it is on", "on") if "What is the rule?" in texts(body) else "ANSWER: no"
    model = taught(one, form=form, classify="ask")
    model.predict(one["test"][:1])
    said = texts(server.asked[-1])
    assert "it is on" in said and ("```" in said or "formula" in said) == (form == "formula")
    n, on = one["test"].concepts[0].tolist()
    assert f"n = {n}, on = {bool(on)}" in said and said.endswith("ANSWER: yes or no")


def test_only_the_splits_that_are_set_are_asked_about(one, server):
    server.answerer = lambda body: "RULE: w" if "What is the rule?" in texts(body) else "ANSWER: no"
    model = taught(one, form="words", classify="ask", splits=["valid"])
    asked = len(server.asked)
    with pytest.raises(AssayError, match="split 'test' is not among those that the model is asked about"):
        model.predict(one["test"])
    assert len(server.asked) == asked
    assert (model.predict(one["valid"]).labels["y"].codes == 0).all()
    with pytest.raises(ConfigError, match="has no concepts to set; use classify=evaluate"):
        model.predict(one["valid"], {"n": np.zeros(len(one["valid"]), dtype=int)})


def test_a_label_without_examples_is_refused(one, server):
    bare = one["train"][:]
    vars(bare)["given_labels"] = np.full_like(one["train"].labels, -1)
    model = MODELS["incontext"](one.knowledge, one.layout, _settings(), {}, 0)
    with pytest.raises(ConfigError, match="label 'y' is given for no training example"):
        model.fit(bare, one["valid"])


def _settings():
    from assay.base import Settings

    return Settings({"show": "symbols"})

"""Replies that list concepts, and what is cut off, hidden or wrong in replies."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from assay.concepts import Concept, bits
from assay.errors import AssayError
from assay.logic import Knowledge
from assay.models.incontext import replies
from assay.models.incontext.client import Reply
from assay.models.incontext.rate_limit import RateLimit, RetryPolicy, Timer, retry_after
from assay.models.incontext.replies import NotAnAnswer, NotARule, find_values, read_class, read_rule, read_values
from assay.seeds import rng_for

CONCEPTS = (
    Concept("shape", ("round", "square")),
    Concept("knees", (False, True)),
    Concept("n", (0, 1, 7)),
)


def reply(text, finish="stop"):
    return Reply(text, finish, "model", 1, 1)


@pytest.mark.parametrize(
    ("text", "codes", "fault"),
    [
        ('{"shape": "round", "knees": true, "n": 7}', [0, 1, 2], ""),
        ('{"shape": " SQUARE ", "knees": "no", "n": "1"}', [1, 0, 1], ""),
        ('{"shape": "square", "knees": "True", "n": 0}', [1, 1, 0], ""),
        ('{"shape": "round", "knees": "yes", "n": null}', [0, 1, -1], ""),
        ('{"shape": null, "knees": null, "n": null}', [-1, -1, -1], ""),
        ('{"shape": "oval", "knees": true, "n": 7}', [-1, 1, 2], "\"oval\" is no value of 'shape'"),
        ('{"shape": "round", "knees": 1, "n": true}', [0, -1, -1], "1 is no value of 'knees'"),
        ('{"shape": "yes", "knees": 0, "n": 7.0}', [-1, -1, -1], "\"yes\" is no value of 'shape'"),
        ('{"shape": "round", "n": 2}', [0, -1, -1], "there is nothing about 'knees'"),
        ('{"hat": 1, "shape": "round", "knees": true}', [0, 1, -1], "'hat' is none of the names"),
        ('{"shape": "round", "knees": true, "knees": false, "n": 0}', [-1, -1, -1], "'knees' occurs twice"),
        ('{"shape": {"x": 1, "x": 2}, "knees": true, "n": 0}', [-1, -1, -1], "'x' occurs twice"),
        ('{"shape": "round"} and {"knees": true}', [-1, -1, -1], "the answer is not one JSON object"),
        ("[1, 2]", [-1, -1, -1], "the answer is not one JSON object"),
        ("", [-1, -1, -1], "the answer is not one JSON object"),
        ('Here: {"shape": "round", "knees": false, "n": 1}', [0, 0, 1], ""),
        ('```json\n{"n": 1}\n```\nno:\n```\n{"shape": "round", "knees": true, "n": 7}\n```\n{', [0, 1, 2], ""),
        ('<think>{"n": 0}</think>{"shape": "round", "knees": true, "n": 1}', [0, 1, 1], ""),
    ],
)  # fmt: skip
def test_concepts_are_read_off_a_json_object(text, codes, fault):
    found = find_values(text, CONCEPTS)
    assert (found.codes, found.fault) == (codes, fault)
    if fault:
        with pytest.raises(NotAnAnswer) as caught:
            read_values(reply(text), CONCEPTS)
        assert str(caught.value) == fault
        with pytest.raises(NotAnAnswer) as caught:
            read_values(reply(text, "length"), CONCEPTS)
        assert str(caught.value) == f"{fault}, and it was cut off at max_tokens"
    else:
        assert read_values(reply(text), CONCEPTS).codes == codes


def test_only_the_end_of_a_long_reply_is_read(monkeypatch):
    text = '{"shape": "round", "knees": true, "n": 7}'
    monkeypatch.setattr(replies, "LONGEST", len(text))
    assert find_values("{" + text, CONCEPTS).fault == ""
    monkeypatch.setattr(replies, "LONGEST", len(text) - 1)
    assert find_values(text, CONCEPTS).fault == "the answer is not one JSON object"


LABELS = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "n": "a + b", "word": "'stop' if a else 'go'"})


@pytest.mark.parametrize(
    ("label", "text", "value"),
    [
        ("y", "ANSWER: yes", True), ("y", "ANSWER: **False**", False), ("y", "true.", True), ("y", "No", False),
        ("n", "ANSWER: 0\nwait\n> ANSWER: '2'", 2), ("n", "`1`", 1), ("word", "ANSWER: Stop.", "stop"),
    ],
)  # fmt: skip
def test_the_last_answer_counts(label, text, value):
    own = LABELS.label(label)
    assert own.values[read_class(reply(text), own)] == value


@pytest.mark.parametrize(
    ("label", "text", "finish", "message"),
    [
        ("n", "ANSWER: yes", "stop", "'yes' is none of the answers that the rule can give"),
        ("n", "ANSWER: 3", "length", "'3' is none of the answers that the rule can give"),
        ("y", "I do not know", "stop", "there is no line 'ANSWER: ...'"),
        ("y", "I do not know", "length", "there is no line 'ANSWER: ...', and it was cut off at max_tokens"),
        ("y", "<think>yes</think> ", "length", "the answer is empty, and it was cut off at max_tokens"),
        ("word", "ANSWER: " + "x" * 90, "stop", f"{'x' * 60!r} is none of the answers that the rule can give"),
    ],
)
def test_what_names_no_class_is_refused(label, text, finish, message):
    with pytest.raises(NotAnAnswer) as caught:
        read_class(reply(text, finish), LABELS.label(label))
    assert str(caught.value) == message


def rule_of(text, form="formula", finish="stop"):
    return read_rule(reply(text, finish), form, LABELS.label("y"), LABELS.space, np.array([[0, 1], [1, 1]]))


def test_a_rule_must_be_computable_on_the_examples(monkeypatch):
    asked = []
    monkeypatch.setattr(replies, "evaluate", lambda *given: asked.append(given))
    found = rule_of("RULE: w\n```formula\na\n```")
    ((formula, space, codes),) = asked
    assert formula is found.formula and space is LABELS.space and codes.tolist() == [[0, 1], [1, 1]]
    for error, said in (
        (ZeroDivisionError("by zero"), "the formula cannot be computed: by zero"),
        (RecursionError(), "the formula cannot be computed: RecursionError"),
        (AssayError("no such thing"), "no such thing"),
    ):

        def failing(*given, error=error):
            raise error

        monkeypatch.setattr(replies, "evaluate", failing)
        with pytest.raises(NotARule, match=f"^{said}$"):
            rule_of("RULE: w\n```formula\na\n```")


def test_what_is_hidden_in_a_rule_is_found_and_only_its_end_is_read(monkeypatch):
    with pytest.raises(NotARule, match="a formula holds no Prolog"):
        rule_of("RULE: w\n```formula\na and prolog('h(1).', 'h', '', b)\n```")
    assert rule_of("RULE: w\n```Formula\na\n```\n```python\nb\n```").text == "a"
    with pytest.raises(NotARule) as caught:
        rule_of("no rule", finish="tool_calls")
    assert "cut off" not in str(caught.value)
    end = "RULE: late\n```formula\nb\n```"
    monkeypatch.setattr(replies, "LONGEST", len(end))
    assert rule_of("RULE: early\n```formula\na\n```\n" + end).words == "late"


def test_a_date_without_a_zone_is_in_universal_time():
    later = (datetime.now(UTC) + timedelta(seconds=90)).replace(tzinfo=None)
    text = format_datetime(later)
    assert text.endswith("-0000") and 80 < retry_after(text) <= 90


def test_values_are_read_whatever_their_letters_and_unknown_names_are_refused():
    concepts = (Concept("c", ("Red", "BLUE")), Concept("on", (False, True)))
    assert find_values('{"c": "blue", "on": "FALSE"}', concepts).codes == [1, 0]
    assert find_values('{"c": "red ", "on": "Yes"}', concepts).codes == [0, 1]
    with pytest.raises(NotAnAnswer, match="^'hat' is none of the names$"):
        read_values(reply('{"c": "Red", "on": true, "hat": 1}'), concepts)


def test_answers_are_read_whatever_their_letters():
    label = Knowledge.of(bits(["a"]), {"word": "'Stop now' if a else 'GO'"}).labels[0]
    assert [label.values[read_class(reply(f"ANSWER: {text}"), label)] for text in ("stop NOW", "go")] == [
        "Stop now",
        "GO",
    ]


def test_pauses_are_spread_out_beyond_the_longest_and_single_tokens_count():
    spread = 1 + 0.5 * float(rng_for(3, "pause", "r", 9).random())
    assert RetryPolicy(seed=3).pause(9, "r") == pytest.approx(60 * spread)
    now, slept = [5.0], []
    limit = RateLimit(
        None, 10, Timer(lambda: now[0], lambda seconds: slept.append(seconds) or now.append(now.pop() + seconds))
    )
    limit.wait(9)
    limit.count_extra(1)
    limit.wait(1)
    assert slept == [60.0]

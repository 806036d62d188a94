"""The parts of an in-context learner by hand: prompts, replies, the limit by the minute, the ledger, settings."""

import base64
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot
from assay.config import Settings, validate
from assay.errors import AssayError, ConfigError
from assay.logic import Knowledge
from assay.models.incontext import messages, wording
from assay.models.incontext.cache import Cache, request_hash
from assay.models.incontext.client import Reply
from assay.models.incontext.conversation import Conversation, ReadFailure, one_line
from assay.models.incontext.endpoint import Endpoint
from assay.models.incontext.endpoint_settings import EndpointConfig, ledger_of, open_conversation
from assay.models.incontext.learner import InContext
from assay.models.incontext.ledger import BudgetSpent, Ledger, Prices
from assay.models.incontext.rate_limit import RateLimit, RetryPolicy, Timer, retry_after
from assay.models.incontext.replies import NotAnAnswer, NotARule, find_values, read_class, read_rule, read_values
from assay.models.incontext.settings import InContextConfig
from assay.models.symbolic.examples import LabelExamples

COLOUR, SIZE = (ABSENT, "red", "blue"), (ABSENT, 1, 2)
SPACE = ConceptSpace(
    (
        Concept("car1.colour", COLOUR),
        Concept("car1.size", SIZE),
        Concept("car2.colour", COLOUR),
        Concept("car2.size", SIZE),
        Concept("n", (0, 1, 2, 3, 4)),
        Concept("on", (False, True)),
    ),
    (Slot("car1", "cars", ("colour", "size")), Slot("car2", "cars", ("colour", "size"))),
)
KNOWLEDGE = Knowledge.of(SPACE, {"y": "on", "sum": "n + 1", "word": "'stop' if on else 'go' if n > 2 else 'wait'"})


def reply(text, **facts):
    return Reply(text, **{"model": "m", "tokens_in": 1, "tokens_out": 1, "finish": "stop", **facts})


# -- prompts -----------------------------------------------------------------------------------------------------------


def test_messages_are_plain_text_unless_there_is_a_picture():
    first, second, picture = messages.text_part("a"), messages.text_part("b"), messages.picture_part(b"\x89PNG")
    assert messages.user([first, second]) == {"role": "user", "content": "a\n\nb"}
    assert messages.user([first, picture]) == {"role": "user", "content": [first, picture]}
    shown = picture["image_url"]["url"]
    assert shown.startswith("data:image/png;base64,") and base64.b64decode(shown.split(",")[1]) == b"\x89PNG"
    opened = messages.opening([first])
    assert [message["role"] for message in opened] == ["system", "user"] and opened[0]["content"]
    longer = messages.continue_conversation(opened, "yes", "no")
    assert longer[:2] == opened and longer[2:] == [
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "no"},
    ]


def test_tokens_are_a_quarter_of_the_letters_and_pictures_cost_four_hundred():
    both = messages.user([messages.text_part("x" * 41), messages.picture_part(b"p"), messages.picture_part(b"q")])
    assert messages.tokens_in([both]) == 4 + 10 + 2 * 400
    assert messages.tokens_in([both, messages.user([messages.text_part("x" * 8)])]) == 814 + 4 + 2
    assert messages.tokens_in([]) == 0


def test_labels_in_words_have_their_values_and_no_name():
    boolean, number, word = KNOWLEDGE.labels
    assert [wording.values_in_words(label) for label in (boolean, number)] == ["yes or no", "a number from 1 to 5"]
    assert wording.values_in_words(word) == f"one of {', '.join(word.values)}" and len(word.values) == 3
    pair = Knowledge.of(SPACE, {"few": "1 if on else 3"}).labels[0]
    assert wording.values_in_words(pair) == "3 or 1"
    kinds = [wording.kind_in_words(label) for label in KNOWLEDGE.labels]
    assert kinds == ["true or false", "a whole number", "one of the answers, as quoted text"]


def test_the_vocabulary_lists_objects_before_plain_concepts():
    assert wording.vocabulary(SPACE, "formula").splitlines() == [
        "- `cars`: up to 2 objects, `car1`, `car2`, each with `colour`: 'red', 'blue'; `size`: 1, 2",
        "  (written as in `car1.colour`)",
        "- `n`: a number from 0 to 4",
        "- `on`: true or false",
    ]
    few = ConceptSpace((Concept("k", (0, 1, 2)), Concept("odd", (5, 3, 4, 1)), Concept("far", (0, 1, 2, 7))))
    assert wording.vocabulary(few, "formula").splitlines() == [
        "- `k`: 0, 1, 2",
        "- `odd`: 5, 3, 4, 1",
        "- `far`: a number from 0 to 7",
    ]
    assert wording.quantifier_example(few) == ("", "") and wording.vocabulary(few, "words") == ""


def test_absent_objects_are_not_described():
    codes = np.array([0, 0, 2, 1, 3, 0])
    assert wording.describe_example(SPACE, codes, "formula") == "car2: colour = blue, size = 1\nn = 3, on = False"
    objects = ConceptSpace(SPACE.concepts[:4], SPACE.slots)
    assert wording.describe_example(objects, np.array([1, 2, 0, 0]), "words") == "car1: colour = red, size = 2"
    facts = wording.describe_example(SPACE, codes, "prolog", 7)
    assert "w7" in facts and "car2" in facts and "car1" not in facts


# -- replies -----------------------------------------------------------------------------------------------------------


def rule_in(text, form="formula", label="y", **facts):
    codes = np.array([[1, 1, 0, 0, 0, 1], [2, 2, 1, 1, 4, 0]])
    return read_rule(reply(text, **facts), form, KNOWLEDGE.label(label), SPACE, codes)


def test_the_last_rule_and_the_last_block_of_its_form_count():
    text = (
        "<think>RULE: not this</think>\nRULE: first\n## **RULE:** the **light** is on\n"
        "```formula\nn > 1\n```\n```formula\non\n```\n```python\nn\n```"
    )
    found = rule_in(text)
    assert (found.words, found.text, str(found.formula)) == ("the light is on", "on", "on")
    unnamed = rule_in("RULE: x\n```\nn > 1\n```\n```python\nn > 2\n```")
    assert unnamed.text == "n > 2"
    assert rule_in("RULE: only words", form="words") == type(found)("only words")


@pytest.mark.parametrize(
    ("text", "label", "problem"),
    [
        ("  ", "y", "the answer is empty"),
        ("```formula\non\n```", "y", "there is no line 'RULE: ...'"),
        ("RULE: x", "y", "there is no block ```formula"),
        ("RULE: x\n```formula\nn + 1\n```", "y", "the formula gives a number, but the rule gives a truth value"),
        ("RULE: x\n```formula\non\n```", "sum", "the formula gives a truth value, but the rule gives a number"),
        ("RULE: x\n```formula\nn\n```", "word", "the formula gives a number, but the rule gives a text"),
        ("RULE: x\n```formula\nprolog('h(1).', 'h', '', on)\n```", "y", "a formula holds no Prolog"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_reason(text, label, problem):
    with pytest.raises(NotARule) as refused:
        rule_in(text, label=label)
    assert problem in str(refused.value) and "cut off" not in str(refused.value)


def test_an_answer_that_was_cut_off_says_so_wherever_something_lacks():
    for text in ("", "RULE: x"):
        with pytest.raises(NotARule, match="cut off at max_tokens"):
            rule_in(text, finish="length")
    with pytest.raises(NotAnAnswer, match="cut off at max_tokens"):
        read_class(reply("hm", finish="length"), KNOWLEDGE.label("y"))


def test_classes_are_values_words_or_yes_and_no():
    boolean, number, word = KNOWLEDGE.labels
    yes, no = boolean.values.index(True), boolean.values.index(False)
    said = {"ANSWER: yes": yes, "so\nANSWER: **No**.": no, "ANSWER: yes\nANSWER: false": no, "True": yes, "'no'": no}
    assert {text: read_class(reply(text), boolean) for text in said} == said
    assert number.values[read_class(reply("ANSWER: 4"), number)] == 4
    assert word.values[read_class(reply("answer: GO"), word)] == "go"
    with pytest.raises(NotAnAnswer, match="there is no line 'ANSWER: ...'"):
        read_class(reply("yes and no"), boolean)
    with pytest.raises(NotAnAnswer, match="'maybe' is none of the answers"):
        read_class(reply("ANSWER: maybe"), boolean)
    with pytest.raises(NotAnAnswer, match="'yes' is none of the answers"):
        read_class(reply("ANSWER: yes"), number)


def test_concepts_are_read_from_the_last_block_and_each_fault_is_named():
    concepts = [Concept("n", (0, 1, 2)), Concept("on", (False, True)), Concept("c", ("red", "blue"))]

    def codes(text):
        found = find_values(text, concepts)
        return found.codes, found.fault

    assert codes('{"n": 2, "on": true, "c": "blue"}') == ([2, 1, 1], "")
    assert codes('```json\n{"n": 0}\n```\n```json\n{"n": " 1 ", "on": "no", "c": "RED"}\n```') == ([1, 0, 0], "")
    assert codes('It is {"n": null, "on": null, "c": null}') == ([-1, -1, -1], "")
    assert codes('{"n": true, "on": 1, "c": 0}') == ([-1, -1, -1], "true is no value of 'n'")
    assert codes('{"n": 0, "on": false}') == ([0, 0, -1], "there is nothing about 'c'")
    assert codes('{"n": 1, "on": "yes", "c": "red", "d": 1}') == ([1, 1, 0], "'d' is none of the names")
    assert codes('{"n": 1, "n": 2}') == ([-1, -1, -1], "'n' occurs twice")
    assert codes("[1]") == ([-1, -1, -1], "the answer is not one JSON object")
    with pytest.raises(NotAnAnswer, match="nothing about 'on', and it was cut off"):
        read_values(reply('{"n": 1}', finish="length"), concepts)


# -- the endpoint ------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that moves only by sleeping."""

    def __init__(self):
        self.now, self.slept = 1000.0, []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    @property
    def timer(self):
        return Timer(lambda: self.now, self.sleep)


def test_the_third_request_waits_until_the_first_is_a_minute_old():
    clock = Clock()
    limit = RateLimit(2, None, clock.timer)
    limit.wait(5)
    clock.now += 10
    limit.wait(5)
    clock.now += 20
    limit.wait(5)
    assert clock.slept == [30.0]
    clock.now += 9.5
    limit.wait(5)
    assert clock.slept == [30.0, 0.5]


def test_tokens_may_fill_the_minute_and_no_more():
    clock = Clock()
    limit = RateLimit(None, 100, clock.timer)
    limit.wait(60)
    limit.wait(40)
    assert clock.slept == []
    limit.wait(1)
    assert clock.slept == [60.0]
    limit.count_extra(0)
    limit.count_extra(-7)
    limit.wait(99)
    assert clock.slept == [60.0]
    limit.count_extra(3)
    limit.wait(1)
    assert clock.slept == [60.0, 60.0]
    RateLimit(None, 10, clock.timer).wait(1000)
    assert clock.slept == [60.0, 60.0]


def test_waits_double_up_to_a_minute_and_are_drawn_by_seed_and_request():
    policy = RetryPolicy(first=3.0)
    for attempt, low in enumerate([3.0, 6.0, 12.0, 24.0, 48.0, 60.0, 60.0]):
        assert low <= policy.pause(attempt, "r") <= 1.5 * low
    assert policy.pause(1, "r") == RetryPolicy(first=3.0).pause(1, "r") != policy.pause(1, "s")
    assert policy.pause(1, "r") != RetryPolicy(first=3.0, seed=1).pause(1, "r")
    assert (RetryPolicy().retries, RetryPolicy().first, RetryPolicy().longest) == (5, 1.0, 600.0)


def test_a_wait_is_asked_for_in_seconds_or_by_a_date():
    assert [retry_after(text) for text in (None, "0", "2.5", "-1", "inf", "nan", "soon")] == [
        *(None, 0.0, 2.5, None, None, None, None)
    ]
    later = retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True))
    assert 80 < later <= 90
    assert retry_after("Thu, 01 Jan 1970 00:00:00 GMT") == 0.0


def test_the_ledger_counts_each_request_once_and_spends_only_what_was_asked_now():
    ledger = Ledger(Prices(2.0, 10.0))
    ledger.enter("b", "1", reply("", tokens_in=100, tokens_out=7, retries=2, model="x"), cached=False)
    ledger.enter("a", "2", reply("", tokens_in=30, tokens_out=1, retries=1, model="w", estimated=True), cached=True)
    ledger.enter("a", "2", reply("", tokens_in=30, tokens_out=1, retries=1, model="w"), cached=True)
    assert (ledger.spent_tokens, ledger.spent_cost) == (107, pytest.approx(270e-6))
    assert ledger.totals() == {
        "requests": 2, "from_cache": 1, "retries": 3, "tokens_in": 130, "tokens_out": 8, "tokens_estimated": 1,
        "cost": pytest.approx(340e-6), "answered_by": ["w", "x"],
    }  # fmt: skip
    assert [(entry["purpose"], entry["cached"]) for entry in ledger.to_list()] == [("a", True), ("b", False)]
    other = Ledger()
    other.take(ledger.to_list())
    assert other.to_list() == ledger.to_list() and other.spent_tokens == 0


def test_a_budget_may_be_spent_to_its_end_and_no_further():
    ledger = Ledger(Prices(1_000_000, 0.0), most_tokens=100)
    ledger.enter("p", "1", reply("", tokens_in=60, tokens_out=10), cached=False)
    ledger.reserve(30)
    with pytest.raises(BudgetSpent, match=r"most_tokens: the budget of 100 .* \(70 spent in 1 requests\)"):
        ledger.reserve(31)
    costly = Ledger(Prices(1_000_000, 5.0), most_cost=50.0)
    costly.reserve(50)
    with pytest.raises(BudgetSpent, match="most_cost: the budget of 50 "):
        costly.reserve(51)


def test_settings_of_an_endpoint_reach_what_they_are_for(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_LLM_URL", "http://localhost:9/v1/chat/completions")
    monkeypatch.setenv("ASSAY_LLM_KEY", "secret-key")
    given = {
        "model": "m", "tries": 2, "temperature": 0.5, "max_tokens": 9, "extra": {"seed": None, "top_p": 0.1},
        "timeout": 7.0, "retries": 1, "first_wait": 0.2, "longest_wait": 3.0, "requests_per_minute": 4,
        "tokens_per_minute": 5, "parallel": 6, "price_in": 1.5, "price_out": 2.5, "most_tokens": 8, "most_cost": 0.5,
        "cache": str(tmp_path / "answers"),
    }  # fmt: skip
    config = validate(EndpointConfig, Settings(given))
    ledger = ledger_of(config)
    assert (ledger.prices, ledger.most_tokens, ledger.most_cost) == (Prices(1.5, 2.5), 8, 0.5)
    talk = open_conversation(config, 11, ledger)
    assert talk.body == {"model": "m", "temperature": 0.5, "max_tokens": 9, "top_p": 0.1}
    assert (talk.tries, talk.parallel, talk.ledger) == (2, 6, ledger)
    client = talk.client
    assert (client.endpoint.url, client.endpoint.key, client.timeout) == ("http://localhost:9/v1", "secret-key", 7.0)
    assert client.endpoint.local and client.endpoint.without_key("a secret-key b") == "a [key] b"
    assert client.retry_policy == RetryPolicy(1, 0.2, 3.0, 11)
    assert (client.rate_limit.requests, client.rate_limit.tokens) == (4, 5)
    plain = open_conversation(EndpointConfig(cache=str(tmp_path)), 3, Ledger())
    assert plain.body == {"model": "default", "seed": 3, "temperature": 0.0, "max_tokens": 32768}


def test_an_endpoint_is_local_only_on_this_machine_and_short_keys_are_left_in_texts():
    hosts = {"localhost": True, "127.0.0.9": True, "[::1]": True, "192.168.0.1": False, "example.org": False}
    assert {host: Endpoint(f"http://{host}/v1").local for host in hosts} == hosts
    assert Endpoint("http://x", "1234567").without_key("1234567") == "1234567"
    assert Endpoint("http://x", "12345678").without_key("12345678") == "[key]"


@pytest.mark.parametrize("url", ["ftp://x/v1", "http://", "http://x:99999/v1", "http://x/ v1", "x/v1"])
def test_what_is_no_address_is_refused(monkeypatch, url):
    monkeypatch.setenv("ASSAY_LLM_URL", url)
    with pytest.raises(ConfigError, match="ASSAY_LLM_URL is no address"):
        Endpoint.from_environment()


@pytest.mark.parametrize("url", ["http://u@x/v1", "http://x/v1?a=1", "http://x/v1#a"])
def test_an_address_has_no_user_query_or_place(monkeypatch, url):
    monkeypatch.setenv("ASSAY_LLM_URL", url)
    with pytest.raises(ConfigError, match="must be a plain base address"):
        Endpoint.from_environment()


def test_the_first_address_and_its_own_key_count(monkeypatch):
    for name in ("ASSAY_LLM_URL", "OPENAI_BASE_URL", "ASSAY_LLM_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="no endpoint to ask"):
        Endpoint.from_environment()
    monkeypatch.setenv("OPENAI_BASE_URL", "https://b/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    found = Endpoint.from_environment()
    assert (found.url, found.key, found.name, found.key_name) == (
        *("https://b/v1", "of-openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    )
    monkeypatch.setenv("ASSAY_LLM_URL", "https://a/v1")
    found = Endpoint.from_environment()
    assert (found.url, found.key, found.key_name) == ("https://a/v1", "", "ASSAY_LLM_KEY")


# -- conversations -----------------------------------------------------------------------------------------------------


class Scripted:
    """A client that gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def ask(self, body, request, tokens):
        self.asked.append((body, request, tokens))
        return reply(self.answers.pop(0), tokens_in=tokens)


def spoken(tmp_path, *answers, **settings):
    return Conversation(Scripted(*answers), Cache(tmp_path), Ledger(), {"model": "m"}, **settings)


def test_the_same_is_asked_once_and_then_comes_from_the_cache(tmp_path):
    talk = spoken(tmp_path, "a", "b")
    first, other = [messages.user([messages.text_part(text)]) for text in ("x" * 40, "y")]
    assert [talk.ask([part], "p").text for part in (first, first, other)] == ["a", "a", "b"]
    body, request, tokens = talk.client.asked[0]
    assert body == {"model": "m", "messages": [first]} and tokens == 14 and request == request_hash(body)
    assert talk.ledger.totals()["requests"] == 2 and len(talk.client.asked) == 2


def test_what_cannot_be_read_is_asked_again_with_the_reason_until_tries_end(tmp_path):
    def read(answer):
        if answer.text != "good":
            raise AssayError(f"no:\n{answer.text}")
        return 7

    talk = spoken(tmp_path, "bad", "", "good", tries=3)
    start = [messages.user([messages.text_part("q")])]
    assert talk.read(start, "p", read, lambda why: f"again, {why}") == 7
    last = talk.client.asked[-1][0]["messages"]
    assert [part["content"] for part in last] == ["q", "bad", "again, no: bad", "(no answer)", "again, no:"]
    talk = spoken(tmp_path / "other", "bad", "worse", tries=2)
    assert talk.read(start, "p", read, lambda why: why) == ReadFailure("no: worse", "worse")
    assert one_line("a" * 600) == "a" * 500 and one_line("ab", 1) == "a"


@pytest.mark.parametrize("parallel", [1, 3])
def test_each_item_has_its_result_in_order_and_is_counted(tmp_path, parallel):
    talk, done = spoken(tmp_path, parallel=parallel), []
    barrier = threading.Barrier(parallel)

    def work(item):
        barrier.wait(5)
        return item * item

    assert talk.each(work, range(3 if parallel == 3 else 4), done.append) == [0, 1, 4, 9][: 3 if parallel == 3 else 4]
    assert done == [1] * (3 if parallel == 3 else 4)


# -- the learner -------------------------------------------------------------------------------------------------------


def test_shots_are_balanced_over_the_values_of_the_label():
    model = InContext(KNOWLEDGE, None, Settings({"shots": 6, "model": "m"}), {}, 0)
    label = KNOWLEDGE.label("y")
    targets = np.array([0] * 20 + [1] * 3 + [0] * 10)

    def examples(some):
        return LabelExamples(SPACE, label, np.zeros((len(some), 6), dtype=np.int64), [], some)

    rows = model._chosen(label, examples(targets))
    assert len(rows) == len(set(rows.tolist())) == 6 and targets[rows].sum() == 3
    assert sorted(model._chosen(label, examples(targets[:5])).tolist()) == [0, 1, 2, 3, 4]
    assert sorted(model._chosen(label, examples(targets[18:24])).tolist()) == [0, 1, 2, 3, 4, 5]


def test_settings_that_leave_nothing_to_evaluate_are_refused():
    assert InContextConfig(form="words", classify="ask").splits == ["test"]
    default = InContextConfig()
    assert (default.shots, default.show, default.form, default.classify) == (24, "images", "formula", "evaluate")
    with pytest.raises(ValueError, match="form=words leaves nothing to evaluate"):
        InContextConfig(form="words")
    with pytest.raises(ConfigError, match="form=prolog needs labels that are true or false"):
        InContext(KNOWLEDGE, None, Settings({"form": "prolog"}), {}, 0)
    with pytest.raises(ValueError, match="most_cost needs prices"):
        EndpointConfig(most_cost=1.0)
    assert EndpointConfig(most_cost=1.0, price_out=1.0).most_cost == 1.0
    for extra, problem in (
        ({"n": 2}, "extra: 'n' is not to be changed"),
        ({"x": float("nan")}, "only what JSON can say"),
        ({"API_KEY": "k"}, "a key belongs into ASSAY_LLM_KEY"),
        ({"Authorization": "k"}, "a key belongs into ASSAY_LLM_KEY"),
    ):
        with pytest.raises(ValueError, match=problem):
            EndpointConfig(extra=extra)

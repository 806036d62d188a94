"""The client at its edges: replies of any form, refusals by status, connections that break, answers kept on disk."""

import email.message
import http.client
import io
import json
import ssl
import urllib.error

import pytest

from assay.models.incontext import client as module
from assay.models.incontext.cache import Cache, request_hash
from assay.models.incontext.client import PASSING, Client, Reply, TemporaryFailure, _reply, _sound
from assay.models.incontext.conversation import Conversation
from assay.models.incontext.endpoint import Endpoint, EndpointError
from assay.models.incontext.endpoint_settings import EndpointConfig, open_conversation
from assay.models.incontext.ledger import BudgetSpent, Ledger, Prices
from assay.models.incontext.messages import fill
from assay.models.incontext.rate_limit import RateLimit, RetryPolicy, Timer

KEY = "sk-a-secret-of-the-test"


class Clock:
    """A clock that goes on where somebody sleeps."""

    def __init__(self):
        self.time, self.slept = 10.0, []
        self.timer = Timer(lambda: self.time, self.sleep)

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += seconds


def client(clock=None, key="", timeout=2.5, url="http://localhost:1/v1", **patience):
    pace = RateLimit(None, None, (clock or Clock()).timer)
    return Client(Endpoint(url, key, "URL", "KEY_NAME"), pace, RetryPolicy(**patience), timeout)


def body(message, usage=None, **more):
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, **more})


def test_replies_of_any_form_are_read():
    usage = {"prompt_tokens": 7, "completion_tokens": 0}
    assert _reply(body({"content": "yes"}, usage, model="m"), 5) == Reply("yes", "stop", "m", 7, 0)
    parts = [{"text": "a"}, {"type": "image"}, {"text": "b"}]
    assert _reply(body({"content": parts}, usage), 5).text == "ab"
    assert _reply(body({"content": None}, usage), 5).text == "" and _reply(body({}, usage), 5).text == ""
    bare = json.dumps({"choices": [{"message": {"content": "abcdefgh"}}]})
    assert _reply(bare, 5) == Reply("abcdefgh", "", "", 5, 3, estimated=True)
    assert _reply(body({"content": "x"}, usage, model=None), 5).model == ""
    two = json.dumps({"choices": [{"message": {"content": "first"}}, {"message": {"content": "second"}}]})
    assert _reply(two, 5).text == "first"


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": 7}, {"prompt_tokens": 7, "completion_tokens": -1},
              {"prompt_tokens": True, "completion_tokens": 2}, {"prompt_tokens": 7.0, "completion_tokens": 2}]
)  # fmt: skip
def test_counts_that_are_none_are_estimated(usage):
    found = _reply(body({"content": "abc"}, usage), 9)
    assert (found.tokens_in, found.tokens_out, found.estimated) == (9, 1, True)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"choices": []}', '{"choices": [{"message": "x"}]}', "3"])
def test_what_is_no_reply_is_asked_for_again(text):
    with pytest.raises(TemporaryFailure, match="it answered something that is no chat completion") as caught:
        _reply(text, 1)
    assert caught.value.wait is None and _sound("a\ud800b") == "a?b"


def error(status, content=b"", **headers):
    message = email.message.Message()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    return urllib.error.HTTPError("http://x", status, "", message, io.BytesIO(content))


def refusal(status, content=b"", key="", **headers):
    return client(key=key)._refusal(error(status, content, **headers))


def test_each_status_has_its_refusal():
    assert {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529} == PASSING
    found = refusal(429, b'{"error": {"message": "too  fast"}}', Retry_After="3")
    assert isinstance(found, TemporaryFailure) and found.wait == 3.0
    assert str(found) == "it answered HTTP 429 (too fast)" and refusal(503).wait is None
    assert str(refusal(401)) == "the endpoint of URL refuses a request without a key (HTTP 401); set KEY_NAME"
    assert str(refusal(403, key=KEY)) == "the endpoint of URL refuses the key (HTTP 403); set KEY_NAME"
    for status in (404, 405):
        assert str(refusal(status, b'{"error": "none"}')).startswith(
            f"URL has no chat or no such model (HTTP {status}) (none); is it the base"
        )
    for status in (300, 307, 399):
        elsewhere = f"the endpoint of URL is elsewhere (HTTP {status}); set its own address"
        assert str(refusal(status)) == elsewhere
    for status in (400, 422, 501):
        found = refusal(status, b'{"message": "odd"}')
        assert isinstance(found, EndpointError)
        assert str(found) == f"the endpoint of URL refuses the request (HTTP {status}) (odd)"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", ""), (b"<html>", ""), (b"[1]", ""), (b'{"error": {}}', ""), (b'{"error": " "}', ""),
     (b'{"error": "a\\n b\\u0007"}', " (a b)"), (b'{"message": 5}', " (5)"),
     (json.dumps({"error": f"bad {KEY}!"}).encode(), " (bad [key]!)"),
     (json.dumps({"error": "x" * 201}).encode(), f" ({'x' * 200})")]
)  # fmt: skip
def test_a_reason_is_one_short_line_without_the_key(content, reason):
    assert client(key=KEY)._reason(error(400, content)) == reason


def test_connections_that_break_are_tried_again_and_wrong_addresses_are_not():
    mine = client()
    late = mine._not_reached(urllib.error.URLError(TimeoutError()))
    assert isinstance(late, TemporaryFailure) and str(late) == "it gave no answer within 2.5 s (timeout)"
    dropped = [ConnectionResetError(), BrokenPipeError(), http.client.IncompleteRead(b"")]
    assert {str(mine._not_reached(each)) for each in dropped} == {"the connection was dropped"}
    refused = ConnectionRefusedError(111, "Connection refused")
    found = mine._not_reached(urllib.error.URLError(refused))
    assert isinstance(found, EndpointError)
    assert str(found) == "the endpoint of URL cannot be reached: Connection refused; is the address right?"
    assert "reached: OSError;" in str(mine._not_reached(OSError())) and not mine._reached
    mine._reached = True
    assert isinstance(mine._not_reached(refused), TemporaryFailure)
    assert isinstance(mine._not_reached(ssl.SSLCertVerificationError(1, "bad")), EndpointError)


def test_pauses_are_those_asked_for_up_to_the_longest():
    mine = client(retries=2, longest=30.0)
    assert mine._pause_after(TemporaryFailure("x", 30.0), 1, "r") == 30.0
    assert mine._pause_after(TemporaryFailure("x", 0.0), 1, "r") == 0.0
    assert mine._pause_after(TemporaryFailure("x"), 1, "r") == RetryPolicy(2, longest=30.0).pause(1, "r")
    with pytest.raises(EndpointError, match=r"asks to wait 31 s, more than longest_wait \(30 s\)"):
        mine._pause_after(TemporaryFailure("x", 31.0), 0, "r")
    with pytest.raises(EndpointError, match="the endpoint of URL was asked 3 times, and it broke; answers so far"):
        mine._pause_after(TemporaryFailure("it broke", 1.0), 2, "r")
    with pytest.raises(EndpointError, match="was asked once, and x"):
        client(retries=0)._pause_after(TemporaryFailure("x"), 0, "r")


def test_tries_are_counted_and_tokens_beyond_those_expected_too(monkeypatch):
    clock, failures = Clock(), [TemporaryFailure("a", 4.0), TemporaryFailure("b", 5.0)]
    mine, extra = client(clock, retries=2), []

    def once(data, tokens):
        assert (json.loads(data), tokens) == ({"q": 1}, 9)
        if failures:
            raise failures.pop(0)
        return Reply("x", "stop", "m", 20, 3)

    monkeypatch.setattr(mine, "_once", once)
    monkeypatch.setattr(mine.rate_limit, "count_extra", extra.append)
    assert mine.ask({"q": 1}, "r", 9) == Reply("x", "stop", "m", 20, 3, retries=2)
    assert clock.slept == [4.0, 5.0] and extra == [14]


class Pieces:
    """A response that comes in pieces, and takes its time for each."""

    def __init__(self, clock, *pieces):
        self.clock, self.pieces = clock, list(pieces)

    def read1(self, size):
        self.clock.time += 1.0
        return self.pieces.pop(0) if self.pieces else b""


def test_an_answer_is_read_to_its_end_within_its_time_and_size(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "LARGEST", 5)
    assert client(clock, timeout=2.0)._read(Pieces(clock, b"ab", b"cde")) == b"abcde"
    with pytest.raises(TimeoutError):
        client(clock, timeout=1.5)._read(Pieces(clock, b"a", b"b"))
    with pytest.raises(EndpointError, match="answers with more than 5 bytes"):
        client(clock, timeout=9.0)._read(Pieces(clock, b"abc", b"def"))


def test_only_an_endpoint_elsewhere_is_reached_through_a_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:1")

    def proxies(url):
        return [h for h in client(url=url)._opener.handlers if type(h).__name__ == "ProxyHandler" and h.proxies]

    assert not proxies("http://127.0.0.1:5/v1") and proxies("http://far.example/v1")


def test_an_answer_is_kept_by_its_request_and_a_changed_one_is_none(tmp_path):
    cache, reply = Cache(tmp_path / "deep" / "answers"), Reply("x", "stop", "m", 1, 2, True, 3)
    cache.check()
    request = request_hash({"b": [1], "a": 2})
    assert request == request_hash({"a": 2, "b": [1]}) != request_hash({"a": 2, "b": 1})
    assert cache.get(request) is None
    cache.put(request, reply)
    path = tmp_path / "deep" / "answers" / request[:2] / f"{request}.json"
    assert cache.get(request) == reply and cache.path(request) == path and path.is_file()
    whole = json.loads(path.read_text())
    changes = ({"format": 2}, {"request": "0" * 64}, {"sha256": "0"}, {"reply": {**whole["reply"], "text": "y"}})
    for change in changes:
        path.write_text(json.dumps({**whole, **change}))
        assert cache.get(request) is None
    path.write_text(json.dumps(whole))
    assert cache.get(request) == reply


def test_prompts_need_all_their_words_and_are_plain_text():
    with pytest.raises(Exception, match="undefined"):
        fill("not_an_answer", problem="x")
    assert "<a & b>" in fill("not_an_answer", problem="<a & b>", choices="yes")


@pytest.mark.parametrize("status", sorted(PASSING))
def test_every_status_that_may_pass_is_tried_again(status):
    assert isinstance(refusal(status, Retry_After="0"), TemporaryFailure) and refusal(status, Retry_After="0").wait == 0


def test_a_request_waits_for_room_for_its_tokens(monkeypatch):
    mine, waited = client(retries=1), []
    failures = [TemporaryFailure("a", 1.0)]

    def once(data, tokens):
        if failures:
            raise failures.pop()
        return Reply("x", "stop", "m", 4, 2)

    monkeypatch.setattr(mine, "_once", once)
    monkeypatch.setattr(mine.rate_limit, "wait", waited.append)
    mine.ask({"q": 1}, "r", 9)
    assert waited == [9, 9]


def test_counts_that_are_null_are_none():
    found = _reply(json.dumps({"choices": [{"message": {"content": "abcd"}}], "usage": None}), 6)
    assert (found.text, found.tokens_in, found.tokens_out, found.estimated) == ("abcd", 6, 2, True)


def test_a_ledger_adds_up_and_keeps_what_it_has():
    ledger = Ledger(Prices(1_000_000, 2_000_000), most_cost=30.0)
    for request, purpose, cached in (("c", "p", False), ("b", "q", True), ("a", "p", False), ("d", "p", False)):
        estimated = request in "ab"
        ledger.enter(purpose, request, Reply("", "", request, 3, 1, estimated, retries=2), cached)
    ledger.enter("p", "a", Reply("", "", "other", 3, 1), cached=False)  # asked twice is paid twice, and listed once
    assert (ledger.spent_tokens, ledger.spent_cost) == (16, pytest.approx(20.0))
    totals = ledger.totals()
    assert (totals["from_cache"], totals["tokens_estimated"], totals["retries"]) == (1, 2, 8)
    assert type(totals["tokens_estimated"]) is int and totals["answered_by"] == ["a", "b", "c", "d"]
    assert [entry["request"] for entry in ledger.to_list()] == ["a", "c", "d", "b"] and len(ledger.uncached) == 3
    ledger.reserve(10)
    with pytest.raises(BudgetSpent, match=r"most_cost: the budget of 30 .* \(20 spent in 3 requests\)"):
        ledger.reserve(11)
    ledger.take([{**ledger.to_list()[0], "request": "z"}])
    assert sorted(ledger.exchanges) == ["a", "b", "c", "d", "z"]


def test_answers_are_kept_where_that_is_set(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_LLM_URL", "http://localhost:9/v1")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "usual"))
    talk = open_conversation(
        EndpointConfig(cache=str(tmp_path / "own"), extra={"temperature": 0.5, "top_p": 0}), 0, Ledger()
    )
    assert talk.cache.folder == tmp_path / "own" and (tmp_path / "own").is_dir()
    assert talk.body == {"model": "default", "seed": 0, "temperature": 0.5, "max_tokens": 32768, "top_p": 0}
    assert open_conversation(EndpointConfig(), 0, Ledger()).cache.folder == tmp_path / "usual" / "answers"


def test_of_several_keys_the_first_that_may_be_sent_is(monkeypatch):
    monkeypatch.delenv("ASSAY_LLM_URL", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", " https://b/v1/chat/completions/ ")
    for name in ("ASSAY_LLM_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    bare = Endpoint.from_environment()
    assert (bare.url, bare.key, bare.key_name) == ("https://b/v1", "", "OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", " of-openai ")
    assert Endpoint.from_environment().key == "of-openai"
    monkeypatch.setenv("ASSAY_LLM_KEY", "of-assay")
    found = Endpoint.from_environment()
    assert (found.key, found.key_name, found.name) == ("of-assay", "ASSAY_LLM_KEY", "OPENAI_BASE_URL")
    hosts = {"localhost": True, "localhost.example.org": False, "10.0.0.1": False, "127.0.0.1": True}
    assert {host: Endpoint(f"http://{host}:5/v1").local for host in hosts} == hosts


def test_an_answer_is_not_taken_for_that_to_another_request(tmp_path):
    cache = Cache(tmp_path)
    asked, other = request_hash({"q": 1}), request_hash({"q": 2})
    cache.put(asked, Reply("x", "stop", "m", 1, 2))
    cache.path(other).parent.mkdir(parents=True, exist_ok=True)
    cache.path(other).write_text(cache.path(asked).read_text().replace(asked, other))
    assert cache.get(other) is None and cache.get(asked).text == "x"


def test_what_the_cache_holds_is_free_and_the_rest_must_fit_the_budget(tmp_path):
    asked = []

    class Answering:
        def ask(self, body, request, tokens):
            asked.append(tokens)
            return Reply("x", "stop", "m", tokens, 1)

    question = [{"role": "user", "content": "q" * 40}]
    first = Conversation(Answering(), Cache(tmp_path), Ledger(), {"model": "m"})
    first.ask(question, "p")
    later = Conversation(Answering(), Cache(tmp_path), Ledger(most_tokens=13), {"model": "m"})
    assert later.ask(question, "p").text == "x" and later.ledger.totals()["from_cache"] == 1
    assert later.ledger.spent_tokens == 0 and first.ledger.totals()["from_cache"] == 0 and asked == [14]
    with pytest.raises(BudgetSpent, match="most_tokens: the budget of 13"):
        later.ask([{"role": "user", "content": "r" * 40}], "p")
    other = Conversation(Answering(), Cache(tmp_path), Ledger(), {"model": "another"})
    other.ask(question, "p")
    assert asked == [14, 14]  # another model is asked anew

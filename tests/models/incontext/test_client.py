"""The client: what is tried again and what is not, limits by the minute, budgets, and a key that is never shown."""

import http.server
import json
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from assay.config import Settings
from assay.errors import AssayError, ConfigError
from assay.models import Order, train_run
from assay.models.incontext.cache import Cache, request_hash
from assay.models.incontext.client import Client, Reply
from assay.models.incontext.endpoint import Endpoint, EndpointError
from assay.models.incontext.ledger import BudgetSpent, Ledger, Prices
from assay.models.incontext.rate_limit import RateLimit, RetryPolicy, Timer, retry_after
from tests import endpoint as protocol
from tests.cli.conftest import assay
from tests.endpoint import Fault

__all__ = ["assay"]
KEY = "sk-a-secret-of-the-test"


class Time:
    """A clock that goes on only where somebody sleeps."""

    def __init__(self):
        self.now, self.slept = 100.0, []
        self.clock = Timer(lambda: self.now, self.sleep)

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def server():
    made = protocol.Endpoint(lambda body: f"answer to {body['messages']}")
    yield made
    made.close()


def client(server, clock=None, timeout=5.0, **patience):
    pace = RateLimit(None, None, clock or Time().clock)
    return Client(Endpoint(server.url), pace, RetryPolicy(**patience), timeout)


def test_what_may_pass_is_tried_again_and_waits_grow(server):
    server.script.extend([Fault(500), Fault(502), Fault(503), Fault(drop=True), Fault(body="{}")])
    times = Time()
    reply = client(server, times.clock).ask({"model": "m", "messages": "hello"})
    assert (reply.text, reply.retries, len(server.asked)) == ("answer to hello", 5, 6)
    for place, slept in enumerate(times.slept):
        assert 2**place <= slept <= 1.5 * 2**place
    again = Time()
    server.script.extend([Fault(500), Fault(502), Fault(503), Fault(drop=True), Fault(body="{}")])
    client(server, again.clock).ask({"model": "m", "messages": "hello"})
    assert again.slept == times.slept  # the spread is a function of the seed


def test_the_endpoint_says_how_long_to_wait(server):
    server.script.extend([Fault(429, {"Retry-After": "7"}), Fault(503, {"Retry-After": "1.5"})])
    times = Time()
    client(server, times.clock).ask({"model": "m", "messages": ""})
    assert times.slept == [7.0, 1.5]
    server.script.append(Fault(429, {"Retry-After": "3600"}))
    with pytest.raises(EndpointError, match="asks to wait 3600 s, more than longest_wait"):
        client(server).ask({"model": "m", "messages": ""})
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < retry_after(later) <= 30 and retry_after("-1") is None and retry_after("nan") is None


def test_too_many_faults_end_with_one_line(server):
    server.script.extend([Fault(429, body='{"error": {"message": "slow\\ndown"}}')] * 3)
    with pytest.raises(EndpointError, match=r"asked 3 times, and it answered HTTP 429 \(slow down\); answers so far"):
        client(server, retries=2).ask({"model": "m", "messages": ""})
    assert len(server.asked) == 3


@pytest.mark.parametrize(("status", "said"), [(400, "refuses the request"), (401, "without a key"), (307, "elsewhere")])
def test_what_will_not_pass_is_not_tried_again(server, status, said):
    server.script.append(Fault(status, {"Location": "http://127.0.0.1:9/v1"}))
    with pytest.raises(EndpointError, match=said):
        client(server).ask({"model": "m", "messages": ""})
    assert len(server.asked) == 1


def test_an_answer_that_trickles_ends_in_time(server):
    class Slow(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                pass

        def log_message(self, *_):
            pass

    slow = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=slow.serve_forever, args=(0.02,), daemon=True).start()
    asking = Client(
        Endpoint(f"http://127.0.0.1:{slow.server_address[1]}"),
        RateLimit(None, None),
        RetryPolicy(retries=0),
        timeout=0.3,
    )
    with pytest.raises(EndpointError, match=r"no answer within 0.3 s \(timeout\)"):
        asking.ask({"model": "m", "messages": ""})
    slow.shutdown()
    slow.server_close()


def test_tokens_are_estimated_where_the_endpoint_does_not_tell(server):
    server.usage = False
    reply = client(server).ask({"model": "m", "messages": "x" * 38}, tokens=50)
    assert (reply.tokens_in, reply.tokens_out, reply.estimated) == (50, 13, True)


def test_halves_of_characters_and_odd_counts_do_no_harm(server, tmp_path):
    told = {
        "choices": [{"message": {"content": [{"type": "text", "text": "a\ud800b"}]}}],
        "usage": {"prompt_tokens": -1},
    }
    server.script.append(Fault(body=json.dumps(told)))
    reply = client(server).ask({"model": "m", "messages": ""}, tokens=3)
    assert (reply.text, reply.tokens_in, reply.estimated) == ("a?b", 3, True)
    Cache(tmp_path).put("0" * 64, reply)
    assert Cache(tmp_path).get("0" * 64) == reply


def test_no_minute_has_more_requests_or_tokens_than_allowed():
    times = Time()
    pace, sent = RateLimit(3, None, times.clock), []
    for _ in range(10):
        pace.wait(1)
        sent.append(times.now)
    assert all(later - earlier >= 60 for earlier, later in zip(sent, sent[3:], strict=False))
    times = Time()
    pace, sent = RateLimit(None, 100, times.clock), []
    for _ in range(4):
        pace.wait(30)
        pace.count_extra(15)  # it was 45
        sent.append(times.now - 100)
    assert sent == [0, 0, 60, 60]
    RateLimit(None, 100, times.clock).wait(1000)  # one that is larger than a minute goes alone


def test_a_budget_ends_asking_and_the_cache_is_free():
    ledger = Ledger(Prices(1_000_000, 0), most_tokens=250, most_cost=None)
    ledger.enter("rule", "a", Reply("", "", "m", 100, 100), cached=False)
    ledger.enter("rule", "b", Reply("", "", "m", 1000, 100), cached=True)
    ledger.reserve(50)
    with pytest.raises(BudgetSpent, match="most_tokens: the budget of 250 .*200 spent in 1 requests"):
        ledger.reserve(51)
    dear = Ledger(Prices(1_000_000, 0), most_cost=10)
    with pytest.raises(BudgetSpent, match="most_cost"):
        dear.reserve(11)


def test_a_cached_answer_is_whole_or_is_not_there(tmp_path):
    cache, reply = Cache(tmp_path / "cache"), Reply("RULE: ü", "stop", "m", 1, 2, False, 3)
    request = request_hash({"model": "m"})
    assert cache.get(request) is None
    cache.put(request, reply)
    assert cache.get(request) == reply
    path = cache.path(request)
    whole = path.read_text()
    for damaged in (
        whole[: len(whole) // 2],
        whole.replace("RULE", "RUDE"),
        "[]",
        "",
        whole.replace(request, "0" * 64),
    ):
        path.write_text(damaged)
        assert cache.get(request) is None
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="answers cannot be kept"):
        Cache(tmp_path / "file" / "cache").check()


# -- addresses and keys ------------------------------------------------------------------------------------------------


def test_a_key_goes_only_where_it_belongs(monkeypatch):
    monkeypatch.setenv("ASSAY_LLM_URL", "http://localhost:1/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Endpoint.from_environment().key == ""  # another's key is not for this address
    monkeypatch.delenv("ASSAY_LLM_URL")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1/chat/completions")
    found = Endpoint.from_environment()
    assert (found.key, found.url, found.local) == (KEY, "https://models.example/v1", False)
    assert KEY not in repr(found) and "example" not in repr(found)
    assert Endpoint("http://[::1]:5/v1").local and Endpoint("http://127.8.0.1").local


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://a/v1", "http://", "http://a:port/v1", "http://a b", "https://u:p@a/v1"]
)
def test_an_address_that_is_none_is_told_without_showing_it(monkeypatch, url):
    monkeypatch.setenv("ASSAY_LLM_URL", url)
    with pytest.raises(ConfigError, match="ASSAY_LLM_URL") as caught:
        Endpoint.from_environment()
    assert "u:p" not in str(caught.value)
    monkeypatch.setenv("ASSAY_LLM_URL", "http://localhost")
    monkeypatch.setenv("ASSAY_LLM_KEY", "two\nlines")
    with pytest.raises(ConfigError, match="no key has"):
        Endpoint.from_environment()


def test_the_key_is_in_the_request_and_nowhere_else(mnlogic, tmp_path, monkeypatch):
    made = protocol.Endpoint(lambda body: protocol.first_concept(body) + KEY, key=KEY)
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_LLM_KEY", KEY)
    train_run(Order("incontext", Settings({"cache": str(tmp_path / "cache")})), mnlogic, tmp_path / "run")
    made.close()
    assert made.headers[0]["Authorization"] == f"Bearer {KEY}"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    host = made.url.removeprefix("http://").removesuffix("/v1")
    for path in files:
        assert KEY.encode() not in path.read_bytes() and host.encode() not in path.read_bytes()


def test_a_key_that_comes_back_in_numbers_is_hidden_too(mnlogic, tmp_path, monkeypatch):
    made = protocol.Endpoint(protocol.first_concept)
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    text = protocol.rule("x", "a == True").replace("\n", "\\n").replace('"', '\\"') + spelled
    choice = f'{{"message": {{"content": "{text}"}}, "finish_reason": "{spelled}"}}'
    made.script.append(protocol.Fault(body=f'{{"model": "{spelled}", "choices": [{choice}]}}'))
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_LLM_KEY", KEY)
    train_run(Order("incontext", Settings({"cache": str(tmp_path / "cache")})), mnlogic, tmp_path / "run")
    made.close()
    assert len(made.asked) == 1
    files = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert any("[key]" in text for text in files) and not [text for text in files if KEY in text or spelled in text]


# -- as a user ---------------------------------------------------------------------------------------------------------


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("case", ["none", "wrong", "key", "timeout", "path", "many"])
def test_what_is_wrong_is_one_line_and_nothing_is_written(case, mnlogic, server, assay, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_LLM_URL", server.url)
    said = {
        "none": "no endpoint to ask: set ASSAY_LLM_URL",
        "wrong": "cannot be reached: Connection refused",
        "key": "refuses the key (HTTP 401); set ASSAY_LLM_KEY",
        "timeout": "no answer within 0.1 s (timeout)",
        "path": "has no chat or no such model (HTTP 404)",
        "many": "was asked 2 times, and it answered HTTP 500",
    }[case]
    if case == "none":
        monkeypatch.delenv("ASSAY_LLM_URL")
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if case == "wrong":
        monkeypatch.setenv("ASSAY_LLM_URL", f"http://127.0.0.1:{unused_port()}/v1")
    if case == "key":
        server.key = KEY
        monkeypatch.setenv("ASSAY_LLM_KEY", "sk-another-one")
    if case == "path":
        monkeypatch.setenv("ASSAY_LLM_URL", server.url.removesuffix("/v1"))
    if case in ("timeout", "many"):
        server.script.extend([Fault(wait=0.5) if case == "timeout" else Fault(500)] * 2)
    quick = ["--set", "timeout=0.1", "--set", f"retries={int(case == 'many')}", "--set", "first_wait=0.001"]
    told = assay("train", "incontext", mnlogic.folder, "-o", tmp_path / "run", *quick)
    assert told.status == 2 and said in told.error and "sk-another" not in told.err
    assert not (tmp_path / "run").exists() and not list(tmp_path.rglob("*.json"))


def test_several_seeds_leave_nothing_either(mnlogic, assay, tmp_path, monkeypatch):
    monkeypatch.delenv("ASSAY_LLM_URL")
    told = assay("train", "incontext", mnlogic.folder, "-o", tmp_path / "runs", "--seeds", "0-2")
    assert told.status == 2 and "no endpoint" in told.error and not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"form": "words"}, "form=words leaves nothing to evaluate"),
        ({"most_cost": 1.0}, "most_cost needs prices"),
        ({"extra": {"messages": []}}, "'messages' is not to be changed"),
        ({"extra": {"api_key": "x"}}, "a key belongs into ASSAY_LLM_KEY"),
        ({"shots": 0}, "shots"),
        ({"url": "http://x"}, "unknown key 'url'"),
    ],
)
def test_settings_that_do_not_fit(mnlogic, tmp_path, settings, said):
    with pytest.raises(AssayError, match=said):
        train_run(Order("incontext", Settings(settings)), mnlogic, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_extra_changes_a_request(mnlogic, tmp_path, server, monkeypatch):
    server.answerer = protocol.first_concept
    monkeypatch.setenv("ASSAY_LLM_URL", server.url)
    extra = {"seed": None, "reasoning_effort": "high", "max_tokens": None, "max_completion_tokens": 9}
    settings = {"extra": extra, "cache": str(tmp_path / "cache"), "temperature": None}
    train_run(Order("incontext", Settings(settings)), mnlogic, tmp_path / "run")
    assert server.asked[0].keys() == {"model", "messages", "reasoning_effort", "max_completion_tokens"}
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["extra"] == extra

"""What an endpoint may do, and what then happens: tries, waits, budgets, the cache, addresses, and keys never shown."""

import http.server
import json
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from assay.base import AssayError, Settings
from assay.models import TrainSpec, train_run
from tests import endpoint as protocol
from tests.cli.conftest import assay
from tests.endpoint import Fault, rule, texts
from tests.models.language.incontext.conftest import taught

__all__ = ["assay"]
KEY = "sk-a-secret-of-the-test"
LOOKS = "What is the rule?"


@pytest.fixture
def server(monkeypatch, tmp_path):
    """An endpoint that gives a rule, and says no of every example."""
    made = protocol.Endpoint(lambda body: rule("w", "on") if LOOKS in texts(body) else "ANSWER: no")
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    yield made
    made.close()


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on only where somebody sleeps: its sleeps, and what time it is."""
    now, slept = [100.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr("assay.models.language.endpoint.time", clock)  # nobody waits for an hour in a test
    return slept, lambda: now[0]


def totals(model):
    return model.metadata()["incontext"]


def refusal(data, **settings):
    with pytest.raises(AssayError) as caught:
        taught(data, **settings)
    message = str(caught.value)
    assert "\n" not in message and KEY not in message and "127.0.0.1" not in message
    return message


# -- tries and waits ---------------------------------------------------------------------------------------------------

FAULTS = [Fault(500), Fault(502), Fault(503), Fault(drop=True), Fault(body="{}")]


def test_what_may_pass_is_tried_again_and_waits_grow(one, server, clock, tmp_path):
    slept, seen = clock[0], []
    for number, seed in enumerate((0, 0, 1)):
        slept.clear()
        server.script.extend(FAULTS)
        model = taught(one, seed=seed, cache=str(tmp_path / str(number)))
        assert totals(model)["retries"] == 5 and str(model.formulas["y"]) == "on"
        assert all(2**place <= pause <= 1.5 * 2**place for place, pause in enumerate(slept)) and len(slept) == 5
        seen.append(list(slept))
    assert seen[0] == seen[1] != seen[2]  # the spread is a function of the seed and the request


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529])
def test_every_status_that_may_pass_is_tried_again(status, one, server, clock):
    server.script.append(Fault(status, {"Retry-After": "0"}))
    assert totals(taught(one))["retries"] == 1 and clock[0] == [0]


@pytest.mark.parametrize("body", ["", "{", "[]", '{"choices": []}', '{"choices": [{"message": "x"}]}', "3", "<html>"])
def test_what_is_no_reply_is_asked_for_again(body, one, server, clock):
    server.script.append(Fault(body=body))
    assert totals(taught(one))["retries"] == 1
    server.script.append(Fault(body=body))
    assert "it answered something that is no chat completion" in refusal(one, seed=1, retries=0)


def test_the_endpoint_says_how_long_to_wait(one, server, clock):
    slept = clock[0]
    server.script.extend([Fault(429, {"Retry-After": "7"}), Fault(503, {"Retry-After": "1.5"})])
    taught(one)
    assert slept == [7.0, 1.5]
    slept.clear()
    later = datetime.now(UTC) + timedelta(seconds=90)
    dates = [
        format_datetime(later, usegmt=True),
        format_datetime(later.replace(tzinfo=None)),
        "Thu, 01 Jan 1970 00:00:00 GMT",
    ]
    server.script.extend(Fault(429, {"Retry-After": date}) for date in dates)
    taught(one, seed=1)
    assert 80 < slept[0] <= 90 and 80 < slept[1] <= 90 and slept[2] == 0
    slept.clear()
    server.script.extend(Fault(429, {"Retry-After": text}) for text in ("-1", "nan", "inf", "soon"))
    taught(one, seed=2)  # none of these is a time: our own waits
    assert all(2**place <= pause <= 1.5 * 2**place for place, pause in enumerate(slept))
    server.script.append(Fault(429, {"Retry-After": "31"}))
    assert "asks to wait 31 s, more than longest_wait (30 s)" in refusal(one, seed=3, longest_wait=30)


def test_too_many_faults_end_with_one_line(one, server, clock):
    server.script.extend([Fault(429, body='{"error": {"message": "slow\\ndown"}}')] * 3)
    assert "was asked 3 times, and it answered HTTP 429 (slow down); answers so far are kept" in refusal(one, retries=2)
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(400, body='{"error": "odd"}'), "refuses the request (HTTP 400) (odd)"),
        (Fault(422, body='{"message": 5}'), "refuses the request (HTTP 422) (5)"),
        (Fault(400, body="<html>"), "refuses the request (HTTP 400)"),
        (Fault(400, body=json.dumps({"error": f"a\n b\u0007 {'x' * 300}"})), "(a b xxx"),
        (Fault(401), "refuses a request without a key (HTTP 401); set ASSAY_LLM_KEY"),
        (Fault(403), "(HTTP 403); set ASSAY_LLM_KEY"),
        (Fault(404), "has no chat or no such model (HTTP 404)"),
        (Fault(405), "has no chat or no such model (HTTP 405)"),
        (Fault(307, {"Location": "http://127.0.0.1:9/v1"}), "is elsewhere (HTTP 307); set its own address"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(fault, said, one, server):
    server.script.append(fault)
    message = refusal(one)
    assert said in message and len(message) < 400 and len(server.asked) == 1


def test_an_answer_that_trickles_ends_in_time(one, monkeypatch):
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
    monkeypatch.setenv("ASSAY_LLM_URL", f"http://127.0.0.1:{slow.server_address[1]}")
    began = time.monotonic()
    assert "no answer within 0.3 s (timeout)" in refusal(one, retries=0, timeout=0.3)
    assert time.monotonic() - began < 4
    slow.shutdown()
    slow.server_close()


def test_an_answer_without_end_is_refused(one, server):
    server.script.append(Fault(body="x" * (33 << 20)))
    assert "answers with more than" in refusal(one, retries=0)


def test_a_proxy_is_not_for_this_machine(one, server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert str(taught(one, retries=0).formulas["y"]) == "on"


# -- rates, budgets and the cache --------------------------------------------------------------------------------------

ASK = {"form": "words", "classify": "ask", "show": "symbols"}


@pytest.mark.parametrize(("limit", "most"), [({"requests_per_minute": 3}, 3), ({"tokens_per_minute": 500}, 4)])
def test_no_minute_has_more_requests_or_tokens_than_allowed(limit, most, one, server, clock):
    """An answer takes 110 tokens here: more than was expected of its prompt, or about so many."""
    sent, usual = [], server.answerer
    server.answerer = lambda body: sent.append(clock[1]()) or usual(body)
    taught(one, **ASK, **limit, splits=["train"]).predict(one["train"])
    assert len(sent) == 11  # the rule, and each world once
    assert all(later - earlier >= 60 for earlier, later in zip(sent, sent[most:], strict=False))
    assert sent[-1] - sent[0] < 61 * len(sent)


def test_a_request_larger_than_a_whole_minute_goes_alone(one, server, clock):
    taught(one, tokens_per_minute=1)
    assert len(server.asked) == 1 and clock[0] == []


def test_a_budget_ends_asking_and_the_cache_is_free(one, server):
    words = {**ASK, "tries": 1}
    model = taught(one, **words, most_tokens=1000)
    with pytest.raises(AssayError, match=r"most_tokens: the budget of 1000 does not do for another request") as caught:
        for split in ("test", "train"):
            model.config.splits.append(split)
            model.predict(one[split])
    assert "answers so far are kept" in str(caught.value)
    asked = len(server.asked)
    assert 110 * asked <= 1000 + 110
    again = taught(one, **words, most_tokens=120)
    assert (
        totals(again)["from_cache"] == 1 and len(server.asked) == asked
    )  # the same question, in another order of work
    dear = refusal(one, seed=1, price_in=1_000_000, most_cost=0.5)
    assert dear.startswith("most_cost: the budget of 0.5 ")


def test_what_was_asked_is_told_with_its_price(one, server):
    server.script.extend([Fault(503, {"Retry-After": "0"})])
    model = taught(one, price_in=2.0, price_out=10.0)
    assert totals(model) == {
        "endpoint": "local", "prompts": totals(model)["prompts"], "failed": {}, "requests": 1, "from_cache": 0,
        "retries": 1, "tokens_in": 100, "tokens_out": 10, "tokens_estimated": 0,
        "cost": pytest.approx(300e-6), "answered_by": ["scripted"],
    }  # fmt: skip
    assert "answers: 1 (0 from the cache), retries: 1, tokens: 100 + 10, cost: 0.0003" in model.describe()


@pytest.mark.parametrize(
    "usage", [None, {"prompt_tokens": 7}, {"prompt_tokens": 7, "completion_tokens": -1},
              {"prompt_tokens": True, "completion_tokens": 2}, {"prompt_tokens": 7.0, "completion_tokens": 2}]
)  # fmt: skip
def test_counts_that_are_none_are_estimated(usage, one, server):
    text = rule("w", "on")
    server.script.append(Fault(body=json.dumps({"choices": [{"message": {"content": text}}], "usage": usage})))
    found = totals(taught(one))
    asked = sum(len(json.dumps(message["content"])) for message in server.asked[0]["messages"])
    assert found["tokens_estimated"] == 1 and found["tokens_out"] == len(text) // 4 + 1
    assert asked / 8 < found["tokens_in"] < asked / 2  # about a quarter of the letters


@pytest.mark.parametrize("content", ["parts", "second", "half"])
def test_replies_of_any_form_are_read(content, one, server):
    text = rule("w \ud800" if content == "half" else "w", "on")  # JSON can hold halves of characters
    message = {"content": [{"text": text[:9]}, {"type": "image"}, {"text": text[9:]}] if content == "parts" else text}
    choices = [{"message": message}, *([{"message": {"content": "no"}}] if content == "second" else [])]
    server.script.append(Fault(body=json.dumps({"choices": choices})))
    model = taught(one, tries=1)
    assert str(model.formulas["y"]) == "on" and model.describe()[0] == ("y: w ?" if content == "half" else "y: w")
    assert taught(one, tries=1).describe()[0] == model.describe()[0] and len(server.asked) == 1  # from the cache


def test_a_cached_answer_is_whole_or_is_not_there(one, server, tmp_path):
    cache = tmp_path / "cache"
    words = taught(one, cache=str(cache)).describe()
    (path,) = cache.rglob("*.json")
    whole = path.read_text()
    taught(one, seed=1, cache=str(cache))
    (other,) = set(cache.rglob("*.json")) - {path}
    for damaged in (whole[: len(whole) // 2], whole.replace("RULE", "RUDE"), "[]", "", other.read_text()):
        path.write_text(damaged)
        asked = len(server.asked)
        assert taught(one, cache=str(cache)).describe()[0] == words[0]
        assert len(server.asked) == asked + 1 and path.read_text() == whole  # asked anew, and kept again


def test_where_answers_cannot_be_kept_nothing_is_asked(one, server, tmp_path):
    (tmp_path / "file").write_text("")
    assert "answers cannot be kept" in refusal(one, cache=str(tmp_path / "file" / "cache")) and not server.asked
    taught(one, cache=str(tmp_path / "own"))
    assert len(list((tmp_path / "own").rglob("*.json"))) == 1 and not list((tmp_path / "cache").rglob("*.json"))


# -- addresses and keys ------------------------------------------------------------------------------------------------

NAMES = ("ASSAY_LLM_URL", "OPENAI_BASE_URL", "ASSAY_LLM_KEY", "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({"ASSAY_LLM_URL": "/", "OPENAI_API_KEY": KEY}, None),  # another's key is not for this address
        ({"ASSAY_LLM_URL": "", "ASSAY_LLM_KEY": KEY}, KEY),
        ({"OPENAI_BASE_URL": "/chat/completions", "OPENAI_API_KEY": f" {KEY} "}, KEY),
        ({"OPENAI_BASE_URL": "", "OPENAI_API_KEY": "other", "ASSAY_LLM_KEY": KEY}, KEY),
        ({"ASSAY_LLM_URL": "", "OPENAI_BASE_URL": "/none", "OPENAI_API_KEY": KEY}, None),
    ],
)
def test_a_key_goes_only_where_it_belongs(environment, sent, one, server, monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, server.url + value if name.endswith("URL") else value)
    assert str(taught(one).formulas["y"]) == "on"
    assert server.headers[0].get("Authorization") == (f"Bearer {sent}" if sent else None)


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://a/v1", "http://", "http://a:port/v1", "http://a:99999/v1", "http://a b",
            "https://u:p@a/v1", "http://x/v1?a=1", "http://x/v1#a"]
)  # fmt: skip
def test_an_address_that_is_none_is_told_without_showing_it(url, one, monkeypatch):
    monkeypatch.setenv("ASSAY_LLM_URL", url)
    message = refusal(one)
    assert message.startswith("ASSAY_LLM_URL ") and "u:p" not in message


def test_a_key_that_no_header_can_hold_is_refused(one, server, monkeypatch):
    monkeypatch.setenv("ASSAY_LLM_KEY", f"{KEY}\nlines")
    assert "ASSAY_LLM_KEY holds a space or another character that no key has" in refusal(one)


def test_the_key_is_in_the_request_and_nowhere_else(mnlogic, tmp_path, monkeypatch):
    made = protocol.Endpoint(lambda body: protocol.first_concept(body) + KEY, key=KEY)
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_LLM_KEY", KEY)
    train_run(TrainSpec("incontext", Settings({"cache": str(tmp_path / "cache")})), mnlogic, tmp_path / "run")
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
    text = rule("x", "a == True").replace("\n", "\\n").replace('"', '\\"') + spelled
    choice = f'{{"message": {{"content": "{text}"}}, "finish_reason": "{spelled}"}}'
    made.script.append(Fault(body=f'{{"model": "{spelled}", "choices": [{choice}]}}'))
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_LLM_KEY", KEY)
    train_run(TrainSpec("incontext", Settings({"cache": str(tmp_path / "cache")})), mnlogic, tmp_path / "run")
    made.close()
    assert len(made.asked) == 1
    files = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert any("[key]" in text for text in files) and not [text for text in files if KEY in text or spelled in text]


def test_a_key_in_a_refusal_is_hidden(one, server, monkeypatch):
    monkeypatch.setenv("ASSAY_LLM_KEY", KEY)
    server.script.append(Fault(400, body=json.dumps({"error": f"bad {KEY}!"})))
    assert "(bad [key]!)" in refusal(one)


# -- as a user ---------------------------------------------------------------------------------------------------------


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("case", ["none", "wrong", "key", "timeout", "path", "many"])
def test_what_is_wrong_is_one_line_and_nothing_is_written(case, mnlogic, server, assay, tmp_path, monkeypatch):
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
        ({"extra": {"n": 2}}, "'n' is not to be changed"),
        ({"extra": {"x": float("nan")}}, "only what JSON can say"),
        ({"extra": {"api_key": "x"}}, "a key belongs into ASSAY_LLM_KEY"),
        ({"extra": {"Authorization": "x"}}, "a key belongs into ASSAY_LLM_KEY"),
        ({"shots": 0}, "shots"),
        ({"url": "http://x"}, "unknown key 'url'"),
    ],
)
def test_settings_that_do_not_fit(mnlogic, tmp_path, settings, said):
    with pytest.raises(AssayError, match=said):
        train_run(TrainSpec("incontext", Settings(settings)), mnlogic, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_extra_changes_a_request(mnlogic, tmp_path, server):
    server.answerer = protocol.first_concept
    extra = {"seed": None, "reasoning_effort": "high", "max_tokens": None, "max_completion_tokens": 9}
    settings = {"extra": extra, "cache": str(tmp_path / "cache"), "temperature": None}
    train_run(TrainSpec("incontext", Settings(settings)), mnlogic, tmp_path / "run")
    assert server.asked[0].keys() == {"model", "messages", "reasoning_effort", "max_completion_tokens"}
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["extra"] == extra

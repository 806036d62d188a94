"""A client of the chat protocol that llama.cpp, vLLM, Ollama and hosted models speak; of the standard library alone.

The address and the key come from the environment. Requests keep to a rate by the minute and are retried; neither key
nor address occurs in an error, a reply or a record.
"""

import http.client
import ipaddress
import json
import os
import re
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from assay.base import AssayError, ConfigError, rng_for

URLS = {"ASSAY_LLM_URL": ("ASSAY_LLM_KEY",), "OPENAI_BASE_URL": ("ASSAY_LLM_KEY", "OPENAI_API_KEY")}
"""Names of the address in the environment, the first that is set counts; and of the key that may be sent there."""
PATH = "/chat/completions"
SHORTEST_KEY = 8
"""A shorter key is a stand-in, such as `none`: it may occur in any text."""
PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
"""The HTTP status codes that are retried."""
LARGEST, PIECE = 32 * 1024 * 1024, 64 * 1024
"""How many bytes a reply may have, and how many are read at once."""
MINUTE, LONGEST_PAUSE = 60.0, 60.0
"""In seconds; the pause before a retry, unless the endpoint asks for another."""


class EndpointError(AssayError):
    """An endpoint that cannot be reached, refuses, or does not answer as agreed."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint. Neither its address nor its key is ever shown or written."""

    url: str = field(repr=False)
    key: str = field(default="", repr=False)
    name: str = "ASSAY_LLM_URL"
    """The name in the environment that gave the address."""
    key_name: str = "ASSAY_LLM_KEY"

    @classmethod
    def from_environment(cls) -> "Endpoint":
        """Return the endpoint that the environment names."""
        for name, key_names in URLS.items():
            url = os.environ.get(name, "").strip()
            if url:
                set_names = [key_name for key_name in key_names if os.environ.get(key_name, "").strip()]
                key_name = set_names[0] if set_names else key_names[-1]
                return cls(_checked_url(url, name), _checked_key(key_name), name, key_name)
        raise ConfigError(
            "no endpoint to ask: set ASSAY_LLM_URL to the base of an OpenAI-compatible one, such as "
            "http://localhost:8080/v1, and ASSAY_LLM_KEY to its key if it needs one"
        )

    @property
    def local(self) -> bool:
        """Whether it is on this machine: all that is recorded about its address."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def without_key(self, text: str) -> str:
        """Return a text in which the key does not occur."""
        return text.replace(self.key, "[key]") if len(self.key) >= SHORTEST_KEY else text


def _checked_url(url: str, name: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or re.search(r"[\x00-\x20\x7f-\uffff]", url):
        raise ConfigError(f"{name} is no address: it must look like https://HOST/v1 or http://localhost:8080/v1")
    if parts.query or parts.fragment or parts.username is not None:
        raise ConfigError(
            f"{name} must be a plain base address, without user, '?' or '#'; a key goes into ASSAY_LLM_KEY"
        )
    return url.rstrip("/").removesuffix(PATH)


def _checked_key(name: str) -> str:
    key = os.environ.get(name, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", key):
        raise ConfigError(f"{name} holds a space or another character that no key has")
    return key


# -- pace --------------------------------------------------------------------------------------------------------------


class RateLimit:
    """Holds requests back so that no minute has more of them, or of their tokens, than allowed."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        self.requests = requests
        self.tokens = tokens
        self._sent: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()

    def wait(self, tokens: int) -> None:
        """Return when a request of about so many tokens may be sent, and count it as sent."""
        while True:
            with self._lock:
                pause = self._pause(tokens)
                if pause <= 0:
                    self._sent.append((time.monotonic(), tokens))
                    return
            time.sleep(pause)

    def count_extra(self, tokens: int) -> None:
        """Count tokens that a request used beyond what was expected."""
        if tokens > 0:
            with self._lock:
                self._sent.append((time.monotonic(), tokens))

    def _pause(self, tokens: int) -> float:
        """Return how long to wait until there is room; a request larger than a whole minute goes alone."""
        now = time.monotonic()
        while self._sent and now - self._sent[0][0] >= MINUTE:
            self._sent.popleft()
        if not self._sent:
            return 0.0
        full = self.requests is not None and len(self._sent) >= self.requests
        spent = sum(count for _, count in self._sent)
        over = self.tokens is not None and spent + tokens > self.tokens
        return self._sent[0][0] + MINUTE - now if full or over else 0.0


@dataclass(frozen=True)
class RetryPolicy:
    """How often to try again, and how long to wait in between."""

    retries: int = 5
    first: float = 1.0
    longest: float = 600.0
    """The longest wait that an endpoint may ask for."""
    seed: int = 0

    def pause(self, attempt: int, request: str) -> float:
        """Return the wait before another try: doubling, and spread out at random, from the seed and the request.

        >>> [1 <= RetryPolicy().pause(attempt, "") / 2**attempt <= 1.5 for attempt in range(3)]
        [True, True, True]
        """
        jitter = 1 + 0.5 * float(rng_for(self.seed, "pause", request, attempt).random())
        return min(LONGEST_PAUSE, self.first * 2.0**attempt) * jitter


def retry_after(text: str | None) -> float | None:
    """Return the seconds that a `Retry-After` header asks for: a number or a date; None for neither.

    >>> retry_after("2.5"), retry_after("soon"), retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (2.5, None, 0.0)
    """
    if text is None:
        return None
    try:
        seconds = float(text)
        return seconds if 0 <= seconds < float("inf") else None
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


# -- requests ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """What a model answered, and what that took."""

    text: str
    finish: str
    model: str
    tokens_in: int
    tokens_out: int
    estimated: bool = False
    """Whether the token counts are estimates, because the endpoint did not report them."""
    retries: int = 0


class TemporaryFailure(Exception):
    """A failure that is retried, and how long the endpoint asks to wait."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the key is for one endpoint only."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


class Client:
    """Sends requests to an endpoint, with retries and within the rate limit."""

    def __init__(self, endpoint: Endpoint, pace: RateLimit, patience: RetryPolicy, timeout: float) -> None:
        self.endpoint, self.rate_limit, self.retry_policy, self.timeout = endpoint, pace, patience, timeout
        self._reached = False
        around = [urllib.request.ProxyHandler({})] if endpoint.local else []
        self._opener = urllib.request.build_opener(_NoRedirect, *around)

    def ask(self, body: Mapping[str, Any], request: str = "", tokens: int = 0) -> Reply:
        """Return the answer to a request of about so many tokens; `request` is its hash."""
        data = json.dumps(body).encode()
        attempt = 0
        while True:
            self.rate_limit.wait(tokens)
            try:
                reply = self._once(data, tokens)
                self.rate_limit.count_extra(reply.tokens_in + reply.tokens_out - tokens)
                return replace(reply, retries=attempt)
            except TemporaryFailure as problem:
                pause = self._pause_after(problem, attempt, request)
            time.sleep(pause)
            attempt += 1

    def _pause_after(self, problem: TemporaryFailure, attempt: int, request: str) -> float:
        if attempt >= self.retry_policy.retries:
            times = "once" if attempt == 0 else f"{attempt + 1} times"
            raise EndpointError(
                f"the endpoint of {self.endpoint.name} was asked {times}, and {problem}; "
                "answers so far are kept: start again to go on"
            ) from None
        if problem.wait is None:
            return self.retry_policy.pause(attempt, request)
        if problem.wait > self.retry_policy.longest:
            raise EndpointError(
                f"the endpoint of {self.endpoint.name} asks to wait {problem.wait:.0f} s, more than longest_wait "
                f"({self.retry_policy.longest:g} s); answers so far are kept: start again later"
            ) from None
        return problem.wait

    def _once(self, data: bytes, tokens: int) -> Reply:
        """Ask once."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "assay"}
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key}"
        request = urllib.request.Request(self.endpoint.url + PATH, data, headers, method="POST")
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                self._reached = True
                body = self._read(response)
        except urllib.error.HTTPError as error:
            self._reached = True
            with error:
                raise self._refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._not_reached(error) from None
        hide = self.endpoint.without_key
        reply = _reply(hide(body.decode("utf-8", "replace")), tokens)
        # JSON may write any letter as a number, so that the key shows only now
        return replace(reply, text=hide(reply.text), finish=hide(reply.finish), model=hide(reply.model))

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """Read an answer, however slowly it comes, within the time for one."""
        end = time.monotonic() + self.timeout
        pieces, size = list[bytes](), 0
        while piece := response.read1(PIECE):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > end:
                raise TimeoutError
            if size > LARGEST:
                raise EndpointError(f"the endpoint of {self.endpoint.name} answers with more than {LARGEST} bytes")
        return b"".join(pieces)

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """Return the error for an HTTP status: one that is retried, or one that the user must fix."""
        reason, name = self._reason(error), self.endpoint.name
        if error.code in PASSING:
            return TemporaryFailure(
                f"it answered HTTP {error.code}{reason}", retry_after(error.headers.get("Retry-After"))
            )
        if error.code in (401, 403):
            what = "the key" if self.endpoint.key else "a request without a key"
            return EndpointError(
                f"the endpoint of {name} refuses {what} (HTTP {error.code}); set {self.endpoint.key_name}"
            )
        if error.code in (404, 405):
            hint = "is it the base, mostly ending in /v1, and 'model' a name that it knows?"
            return EndpointError(f"{name} has no chat or no such model (HTTP {error.code}){reason}; {hint}")
        if 300 <= error.code < 400:
            return EndpointError(f"the endpoint of {name} is elsewhere (HTTP {error.code}); set its own address")
        return EndpointError(f"the endpoint of {name} refuses the request (HTTP {error.code}){reason}")

    def _reason(self, error: urllib.error.HTTPError) -> str:
        """Return the endpoint's error message, on one line and without the key."""
        try:
            body = json.loads(error.read(PIECE))
            body = body.get("error", body)
            text = body if isinstance(body, str) else str(body["message"])
        except (OSError, ValueError, LookupError, AttributeError, TypeError, http.client.HTTPException):
            return ""
        plain = " ".join(self.endpoint.without_key(text).split())
        return f" ({''.join(c for c in plain if c.isprintable())[:200]})" if plain else ""

    def _not_reached(self, error: OSError | http.client.HTTPException) -> Exception:
        """Return the error for a broken connection: one that was never established is most likely a wrong address."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return TemporaryFailure(f"it gave no answer within {self.timeout:g} s (timeout)")
        dropped = isinstance(reason, ConnectionResetError | BrokenPipeError | http.client.HTTPException)
        if dropped or (self._reached and not isinstance(reason, ssl.SSLCertVerificationError)):
            return TemporaryFailure("the connection was dropped")
        what = reason.strerror if isinstance(reason, OSError) and reason.strerror else type(reason).__name__
        return EndpointError(f"the endpoint of {self.endpoint.name} cannot be reached: {what}; is the address right?")


def _sound(text: str) -> str:
    """Return a text that can be written: JSON can hold halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _reply(text: str, tokens: int) -> Reply:
    """Parse a reply of the protocol; anything else is retried."""
    try:
        body = json.loads(text)
        choice = body["choices"][0]
        content = choice["message"].get("content")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        answer = _sound(content if isinstance(content, str) else "")
        usage = body.get("usage") or {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        spent = [number for number in counts if type(number) is int and number >= 0]
        known = len(spent) == len(counts)
        spent = spent if known else [tokens, len(answer) // 4 + 1]
        finish, model = _sound(str(choice.get("finish_reason") or "")), _sound(str(body.get("model") or ""))
    except (ValueError, LookupError, AttributeError, TypeError):
        raise TemporaryFailure("it answered something that is no chat completion") from None
    return Reply(answer, finish, model, spent[0], spent[1], estimated=not known)

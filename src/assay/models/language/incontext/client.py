"""A client of the chat protocol that llama.cpp, vLLM, Ollama and hosted models speak; of the standard library alone."""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.models.language.incontext.endpoint import PATH, Endpoint, EndpointError
from assay.models.language.incontext.rate_limit import RateLimit, RetryPolicy, Timer, retry_after

PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
"""The HTTP status codes that are retried."""
LARGEST = 32 * 1024 * 1024
PIECE = 64 * 1024


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
        self.endpoint = endpoint
        self.rate_limit = pace
        self.retry_policy = patience
        self.timeout = timeout
        self.clock: Timer = pace.clock
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
            self.clock.sleep(pause)
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
        end = self.clock.now() + self.timeout
        pieces, size = list[bytes](), 0
        while piece := response.read1(PIECE):
            pieces.append(piece)
            size += len(piece)
            if self.clock.now() > end:
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

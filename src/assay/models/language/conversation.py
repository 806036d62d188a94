"""Conversations with an endpoint: their settings, the replies on disk, and what they cost.

A reply comes from the cache, by the hash of the request, or else from the endpoint, so that a restarted run requests
only what is missing. The ledger records each with its tokens and its cost, and keeps to the budget.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, model_validator

from assay.base import AssayError, Config, ConfigError, write_atomically
from assay.contracts import to_json
from assay.dataset import cache_folder
from assay.models.language.endpoint import Client, Endpoint, RateLimit, Reply, RetryPolicy
from assay.models.language.messages import Message, continue_conversation, tokens_in

OWN = {"model", "messages", "stream", "n"}
"""What `extra` may not change."""
DAY = 86_400.0
MILLION = 1_000_000
FORMAT = 1
"""The version of the files of the cache."""
T = TypeVar("T")
R = TypeVar("R")


class EndpointConfig(Config):
    """How an endpoint is asked. Its address and its key come from the environment only."""

    model: str = Field("default", min_length=1)
    """The model's name, as the endpoint has it."""
    tries: int = Field(3, ge=1)
    """How often a question is asked until its answer can be read."""
    temperature: float | None = Field(0.0, ge=0, le=10)
    """How random answers are; null leaves it to the endpoint."""
    max_tokens: int | None = Field(32768, ge=1)
    """The most tokens of an answer; null leaves it to the endpoint."""
    extra: dict[str, Any] = {}
    """More entries of a request, such as {reasoning_effort: high}; {seed: null} removes one."""
    timeout: float = Field(600.0, gt=0, le=DAY)
    """The most seconds that one answer may take."""
    retries: int = Field(5, ge=0)
    """How often a request is tried again after HTTP 429, 500, 502, 503, 504, a timeout or a dropped connection."""
    first_wait: float = Field(1.0, ge=0, le=DAY)
    """Seconds before the first further try; each wait doubles, unless the endpoint says how long to wait."""
    longest_wait: float = Field(600.0, ge=0, le=DAY)
    """The longest wait that the endpoint may ask for."""
    requests_per_minute: int | None = Field(None, ge=1)
    """No more requests than this in any minute."""
    tokens_per_minute: int | None = Field(None, ge=1)
    """No more tokens than this in any minute."""
    parallel: int = Field(1, ge=1, le=64)
    """How many requests are under way at once."""
    price_in: float = Field(0.0, ge=0, le=1e9)
    """What a million tokens of prompts cost."""
    price_out: float = Field(0.0, ge=0, le=1e9)
    """What a million tokens of answers cost."""
    most_tokens: int | None = Field(None, ge=1)
    """The budget in tokens; what the cache holds is free."""
    most_cost: float | None = Field(None, gt=0)
    """The budget in money."""
    cache: str | None = None
    """Where answers are kept; by default `answers` in $ASSAY_CACHE or in the user's cache folder."""

    @model_validator(mode="after")
    def _fits(self) -> "EndpointConfig":
        if self.most_cost is not None and not self.price_in and not self.price_out:
            raise ValueError("most_cost needs prices: set price_in and price_out, per million tokens")
        for name in sorted(OWN & self.extra.keys()):
            raise ValueError(f"extra: {name!r} is not to be changed here")
        try:
            json.dumps(self.extra, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError("extra: only what JSON can say") from None
        if any("key" in name.lower() or "authorization" in name.lower() for name in self.extra):
            raise ValueError("extra: settings are written into the run; a key belongs into ASSAY_LLM_KEY")
        return self


# -- replies on disk ---------------------------------------------------------------------------------------------------


def default_folder() -> Path:
    """Return where answers are kept: in `$ASSAY_CACHE`, or in `assay` in the user's cache folder."""
    return cache_folder() / "answers"


def request_hash(body: Mapping[str, Any]) -> str:
    """Return the hash of a request: of the model's name, the settings and every message, pictures included.

    >>> request_hash({"a": 1, "b": 2}) == request_hash({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Cache:
    """A folder of answers, a file each, written whole or not at all."""

    folder: Path
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def check(self) -> None:
        """Raise unless the folder can be written: replies cost too much to be lost."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cache: answers cannot be kept in {str(self.folder)!r}: {error.strerror}") from None

    def path(self, request: str) -> Path:
        """Return where the answer to a request is."""
        return self.folder / request[:2] / f"{request}.json"

    def get(self, request: str) -> Reply | None:
        """Return the answer to a request; None where there is none, or a damaged one, which is asked for again."""
        try:
            entry = json.loads(self.path(request).read_bytes())
            body = entry["reply"]
            if entry["format"] != FORMAT or entry["request"] != request or entry["sha256"] != _seal(request, body):
                return None
            return Reply(**body)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, request: str, reply: Reply) -> None:
        """Keep an answer."""
        body = asdict(reply)
        entry = {"format": FORMAT, "request": request, "reply": body, "sha256": _seal(request, body)}
        with self._lock:
            write_atomically(self.path(request), to_json(entry))


def _seal(request: str, body: Mapping[str, Any]) -> str:
    return request_hash({"request": request, "reply": body})


# -- requests, tokens and cost -----------------------------------------------------------------------------------------


class BudgetSpent(AssayError):
    """The budget is spent."""


@dataclass(frozen=True)
class Exchange:
    """One request and its answer, for the record."""

    purpose: str
    request: str
    """The hash of the request."""
    model: str
    tokens_in: int
    tokens_out: int
    cost: float
    retries: int
    cached: bool
    estimated: bool = False


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in and out, in any currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what so many tokens cost.

        >>> Prices(3, 15).of(1_000_000, 100_000)
        4.5
        """
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / MILLION


@dataclass
class Ledger:
    """All exchanges of a run; a budget counts only what is asked now, not what the cache holds."""

    prices: Prices = field(default_factory=Prices)
    most_tokens: int | None = None
    most_cost: float | None = None
    exchanges: dict[str, Exchange] = field(default_factory=dict)
    spent_tokens: int = 0
    spent_cost: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def reserve(self, tokens: int) -> None:
        """Raise if a prompt of about so many tokens would outgrow the budget."""
        with self._lock:
            for name, most, spent, more in (
                ("most_tokens", self.most_tokens, self.spent_tokens, tokens),
                ("most_cost", self.most_cost, self.spent_cost, self.prices.of(tokens, 0)),
            ):
                if most is not None and spent + more > most:
                    raise BudgetSpent(
                        f"{name}: the budget of {most:g} does not do for another request ({spent:.6g} spent in "
                        f"{len(self.uncached)} requests); answers so far are kept: raise it and start again"
                    )

    def enter(self, purpose: str, request: str, reply: Reply, cached: bool) -> None:
        """Record an exchange; asking the same again costs nothing and is one exchange."""
        cost = self.prices.of(reply.tokens_in, reply.tokens_out)
        exchange = Exchange(
            purpose, request, reply.model, reply.tokens_in, reply.tokens_out, cost, reply.retries, cached,
            reply.estimated,
        )  # fmt: skip
        with self._lock:
            self.exchanges.setdefault(request, exchange)
            if not cached:
                self.spent_tokens += reply.tokens_in + reply.tokens_out
                self.spent_cost += cost

    @property
    def uncached(self) -> list[Exchange]:
        """The exchanges that the cache did not hold."""
        return [exchange for exchange in self.exchanges.values() if not exchange.cached]

    def totals(self) -> dict[str, Any]:
        """Return the sums, for the record."""
        exchanges = list(self.exchanges.values())
        return {
            "requests": len(exchanges),
            "from_cache": sum(exchange.cached for exchange in exchanges),
            "retries": sum(exchange.retries for exchange in exchanges),
            "tokens_in": sum(exchange.tokens_in for exchange in exchanges),
            "tokens_out": sum(exchange.tokens_out for exchange in exchanges),
            "tokens_estimated": sum(exchange.estimated for exchange in exchanges),
            "cost": round(sum(exchange.cost for exchange in exchanges), 9),
            "answered_by": sorted({exchange.model for exchange in exchanges}),
        }

    def to_list(self) -> list[dict[str, Any]]:
        """Return the exchanges as plain data, in an order that does not depend on which answer came first."""
        return [
            asdict(exchange)
            for exchange in sorted(self.exchanges.values(), key=lambda exchange: (exchange.purpose, exchange.request))
        ]

    def take(self, exchanges: Iterable[Mapping[str, Any]]) -> None:
        """Restore exchanges of an earlier run."""
        self.exchanges.update({exchange["request"]: Exchange(**exchange) for exchange in exchanges})


# -- conversations -----------------------------------------------------------------------------------------------------


def one_line(text: str, most: int = 500) -> str:
    """Return a text that others wrote as one line that can be shown.

    >>> one_line("a\\n \\x1b[31m b")
    'a [31m b'
    """
    return "".join(character for character in " ".join(text.split()) if character.isprintable())[:most]


@dataclass(frozen=True)
class ReadFailure:
    """An answer that could not be read, however often it was asked for."""

    why: str
    answer: str


@dataclass(frozen=True)
class Conversation:
    """Conversations with one model."""

    client: Client
    cache: Cache
    ledger: Ledger
    body: Mapping[str, Any] = field(default_factory=dict)
    """What every request holds: the model's name, temperature, seed."""
    tries: int = 3
    parallel: int = 1

    def ask(self, messages: list[Message], purpose: str) -> Reply:
        """Return the model's answer, from the cache where it is there."""
        body = {**self.body, "messages": messages}
        request = request_hash(body)
        cached = self.cache.get(request)
        if cached is not None:
            self.ledger.enter(purpose, request, cached, cached=True)
            return cached
        tokens = tokens_in(messages)
        self.ledger.reserve(tokens)
        reply = self.client.ask(body, request, tokens)
        self.cache.put(request, reply)
        self.ledger.enter(purpose, request, reply, cached=False)
        return reply

    def read(
        self, messages: list[Message], purpose: str, reader: Callable[[Reply], T], complain: Callable[[str], str]
    ) -> T | ReadFailure:
        """Ask until an answer can be read, each time telling the model what was wrong; at last say that it failed."""
        failed = ReadFailure("", "")
        for _ in range(self.tries):
            reply = self.ask(messages, purpose)
            try:
                return reader(reply)
            except AssayError as error:
                failed = ReadFailure(one_line(str(error)), reply.text)
            messages = continue_conversation(messages, reply.text or "(no answer)", complain(failed.why))
        return failed

    def each(
        self, work: Callable[[T], R], items: Iterable[T], count: Callable[[int], None] = lambda more: None
    ) -> list[R]:
        """Return what `work` gives for each item, several at once where that is set; the first error ends all.

        `count` is told of each item that is done.
        """

        def counted(result: R) -> R:
            count(1)
            return result

        if self.parallel == 1:
            return [counted(work(item)) for item in items]
        with ThreadPoolExecutor(self.parallel) as pool:
            waiting = [pool.submit(work, item) for item in items]
            try:
                return [counted(future.result()) for future in waiting]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def open_conversation(config: EndpointConfig, seed: int, ledger: Ledger) -> Conversation:
    """Return a conversation with the endpoint of the environment."""
    endpoint = Endpoint.from_environment()
    cache = Cache(Path(config.cache) if config.cache else default_folder())
    cache.check()
    fields = {"model": config.model, "seed": seed, "temperature": config.temperature, "max_tokens": config.max_tokens}
    body = {name: value for name, value in {**fields, **config.extra}.items() if value is not None}
    client = Client(
        endpoint,
        RateLimit(config.requests_per_minute, config.tokens_per_minute),
        RetryPolicy(config.retries, config.first_wait, config.longest_wait, seed),
        config.timeout,
    )
    return Conversation(client, cache, ledger, body, config.tries, config.parallel)


def ledger_of(config: EndpointConfig) -> Ledger:
    """Return an empty ledger with the prices and the budget that are set."""
    return Ledger(Prices(config.price_in, config.price_out), config.most_tokens, config.most_cost)

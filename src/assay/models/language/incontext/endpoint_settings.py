"""The settings of an endpoint that is asked: the model there, rates, prices and budgets; and the way to it."""

import json
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from assay.base import Config
from assay.models.language.incontext.cache import Cache, default_folder
from assay.models.language.incontext.client import Client
from assay.models.language.incontext.conversation import Conversation
from assay.models.language.incontext.endpoint import Endpoint
from assay.models.language.incontext.ledger import Ledger, Prices
from assay.models.language.incontext.rate_limit import RateLimit, RetryPolicy

OWN = {"model", "messages", "stream", "n"}
"""What `extra` may not change."""
DAY = 86_400.0


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

"""The record of requests, their tokens and their cost; and the budget."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.base import AssayError
from assay.models.language.incontext.client import Reply

MILLION = 1_000_000


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

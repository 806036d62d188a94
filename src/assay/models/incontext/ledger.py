"""What was asked, what it took and what it cost; and the end of a budget."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.errors import AssayError
from assay.models.incontext.client import Reply

MILLION = 1_000_000


class BudgetSpent(AssayError):
    """No more may be asked for."""


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
                        f"{len(self.asked)} requests); answers so far are kept: raise it and start again"
                    )

    def enter(self, purpose: str, request: str, reply: Reply, cached: bool) -> None:
        """Record an exchange; asking the same again costs nothing and is one exchange."""
        cost = self.prices.of(reply.tokens_in, reply.tokens_out)
        made = Exchange(
            purpose, request, reply.model, reply.tokens_in, reply.tokens_out, cost, reply.retries, cached,
            reply.estimated,
        )  # fmt: skip
        with self._lock:
            self.exchanges.setdefault(request, made)
            if not cached:
                self.spent_tokens += reply.tokens_in + reply.tokens_out
                self.spent_cost += cost

    @property
    def asked(self) -> list[Exchange]:
        """The exchanges that the cache did not hold."""
        return [one for one in self.exchanges.values() if not one.cached]

    def totals(self) -> dict[str, Any]:
        """Return the sums, for the record."""
        every = list(self.exchanges.values())
        return {
            "requests": len(every),
            "from_cache": sum(one.cached for one in every),
            "retries": sum(one.retries for one in every),
            "tokens_in": sum(one.tokens_in for one in every),
            "tokens_out": sum(one.tokens_out for one in every),
            "tokens_estimated": sum(one.estimated for one in every),
            "cost": round(sum(one.cost for one in every), 9),
            "answered_by": sorted({one.model for one in every}),
        }

    def to_list(self) -> list[dict[str, Any]]:
        """Return the exchanges as plain data, in an order that does not depend on which answer came first."""
        return [asdict(one) for one in sorted(self.exchanges.values(), key=lambda one: (one.purpose, one.request))]

    def take(self, held: Iterable[Mapping[str, Any]]) -> None:
        """Take exchanges of before."""
        self.exchanges.update({one["request"]: Exchange(**one) for one in held})

"""The rate limit by the minute, and how long to wait before a retry."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from assay.base import rng_for

MINUTE = 60.0
LONGEST_PAUSE = 60.0


@dataclass(frozen=True)
class Timer:
    """The clock, real or a test's."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class RateLimit:
    """Holds requests back so that no minute has more of them, or of their tokens, than allowed."""

    def __init__(self, requests: int | None, tokens: int | None, clock: Timer | None = None) -> None:
        self.requests = requests
        self.tokens = tokens
        self.clock = clock or Timer()
        self._sent: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()

    def wait(self, tokens: int) -> None:
        """Return when a request of about so many tokens may be sent, and count it as sent."""
        while True:
            with self._lock:
                pause = self._pause(tokens)
                if pause <= 0:
                    self._sent.append((self.clock.now(), tokens))
                    return
            self.clock.sleep(pause)

    def count_extra(self, tokens: int) -> None:
        """Count tokens that a request used beyond what was expected."""
        if tokens > 0:
            with self._lock:
                self._sent.append((self.clock.now(), tokens))

    def _pause(self, tokens: int) -> float:
        """Return how long to wait until there is room; a request larger than a whole minute goes alone."""
        now = self.clock.now()
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

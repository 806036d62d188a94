"""Keeps what was read, so that requests that come at the same time wait for one reading instead of each doing it."""

from collections.abc import Callable
from functools import lru_cache
from threading import RLock
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def keep(read: Callable[Given, Result], most: int | None = None) -> Callable[Given, Result]:
    """Return a function that reads each thing once, and keeps the last few that were asked for."""
    kept, lock = lru_cache(maxsize=most)(read), RLock()

    def answer(*args: Given.args, **settings: Given.kwargs) -> Result:
        with lock:
            return kept(*args, **settings)  # type: ignore[arg-type]  # lru_cache takes what can be hashed

    return answer

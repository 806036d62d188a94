"""CPU seconds of two ways of doing the same thing, and their ratio."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What was done, how many of it per CPU second in our way and in the other, and the ratio."""

    what: str
    unit: str
    ours: float
    theirs: float
    alternative: str


def rate(work: Callable[[], int], least: float = 0.5) -> float:
    """Return how many units of work are done per CPU second, repeating until the clock can tell."""
    work()
    done, start = 0, time.process_time()
    while time.process_time() - start < least:
        done += work()
    return done / (time.process_time() - start)


def table(results: list[Result]) -> str:
    lines = [
        "| what | unit per CPU second | ours | alternative | theirs | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for r in results:
        lines.append(
            f"| {r.what} | {r.unit} | {_short(r.ours)} | {r.alternative} | {_short(r.theirs)} "
            f"| {r.ours / r.theirs:,.1f} x |"
        )
    return "\n".join(lines)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 20 else f"{number:.2g}"

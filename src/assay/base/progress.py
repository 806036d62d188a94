"""Progress on standard error: a live bar on a terminal, plain lines now and then where there is none."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # rich is imported when something is shown
    from rich.progress import Progress, TaskID

ProgressCallback = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""
FIRST_LINE, BETWEEN_LINES = 10.0, 20.0
"""After how many seconds the first line is written where there is no terminal, and how many lie between lines."""


class Display(Protocol):
    """Shows how much of something is done."""

    def show(self, what: str, done: float, whole: float, note: str) -> None:
        """Show it; a `whole` of 0 is not known."""


class Bar:
    """Progress that follows one thing after another."""

    def __init__(self, display: Display | None) -> None:
        self.display = display

    def __call__(self, what: str, done: float, whole: float, note: str | None = None) -> None:
        """Show that so much of the whole is done; the note says it in words, by default both numbers."""
        counts = f"{done:,.0f} of {whole:,.0f}" if whole else ""
        if self.display is not None:
            self.display.show(what, done, whole, counts if note is None else note)

    def counter(self, what: str, whole: int | None = None) -> Callable[[int], None]:
        """Return a function that is told how many more are done; without a `whole`, what is done counts as it."""
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            self(what, done, done if whole is None else whole)

        return count


class LiveBar:
    """A bar that is redrawn in its place, with the time that is left."""

    def __init__(self, progress: "Progress") -> None:
        self.progress = progress
        self.tasks: dict[str, TaskID] = {}

    def show(self, what: str, done: float, whole: float, note: str) -> None:
        """Show the newest thing, and hide what came before it."""
        if what not in self.tasks:
            for old in self.tasks.values():
                self.progress.update(old, visible=False)
            self.tasks[what] = self.progress.add_task(what, total=whole or None, note=note)
        self.progress.update(self.tasks[what], completed=done, total=whole or None, note=note)


class PlainLines:
    """Lines without control characters, for logs: the first after some seconds, then one now and then."""

    def __init__(self) -> None:
        self.what, self.began, self.first_done, self.next_line = "", 0.0, 0.0, 0.0

    def show(self, what: str, done: float, whole: float, note: str) -> None:
        """Write a line if the last one is long enough ago."""
        now = time.monotonic()
        if what != self.what:
            self.what, self.began, self.first_done, self.next_line = what, now, done, now + FIRST_LINE
        if now < self.next_line:
            return
        self.next_line = now + BETWEEN_LINES
        parts = [f"{100 * done / whole:.0f} %"] if whole else []
        parts += [note] if note else []
        if whole and done > self.first_done:
            seconds = (now - self.began) / (done - self.first_done) * max(0.0, whole - done)
            parts.append(f"about {duration(seconds)} left")
        sys.stderr.write(f"{what}: {', '.join(parts)}\n" if parts else f"{what}\n")
        sys.stderr.flush()


@contextmanager
def progress_bar(shown: bool | None = None) -> Iterator[Bar]:
    """Show progress on standard error while something runs; by default live on a terminal and in lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, emoji=False)
    if shown is False:
        yield Bar(None)
    elif shown is None and not console.is_terminal:
        yield Bar(PlainLines())
    else:
        texts = TextColumn("{task.description}"), TextColumn("{task.fields[note]}", style="dim")
        columns = (texts[0], BarColumn(bar_width=24), TaskProgressColumn(), TimeRemainingColumn(compact=True), texts[1])
        with Progress(*columns, console=console, transient=True) as progress:
            yield Bar(LiveBar(progress))


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(42), duration(400), duration(9000), duration(400_000)
    ('42 s', '7 min', '2.5 h', '4.6 days')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"

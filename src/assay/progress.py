"""Progress on standard error, for the command line and for notebooks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich is imported when something is shown
    from rich.progress import Progress, TaskID


class Bar:
    """A progress bar that follows one thing after another."""

    def __init__(self, progress: "Progress") -> None:
        self.progress = progress
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, whole: int) -> None:
        """Show that so much of the whole is done."""
        if what not in self.tasks:
            for old in self.tasks.values():
                self.progress.update(old, visible=False)
            self.tasks[what] = self.progress.add_task(what, total=whole)
        self.progress.update(self.tasks[what], completed=done)

    def counter(self, what: str, whole: int | None = None) -> Callable[[int], None]:
        """Return a function that is told how many more are done; without a `whole`, what is done counts as it."""
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            self(what, done, done if whole is None else whole)

        return count


@contextmanager
def progress_bar(shown: bool | None = None) -> Iterator[Bar]:
    """Show progress on standard error while something runs; by default only where there is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, emoji=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = not console.is_terminal if shown is None else not shown
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        yield Bar(progress)

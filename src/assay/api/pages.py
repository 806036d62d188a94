"""Pages about runs and datasets: a report, and the viewer in the browser."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, overload

from assay.api.arguments import Data, Say, ignore, open_dataset
from assay.api.diagnosis import thresholds_of
from assay.api.runs import Run
from assay.base import DataError, import_extra, is_remote, permit_remote, progress_bar
from assay.dataset import Dataset, check_code
from assay.diagnosis import DEFAULTS, Thresholds
from assay.lab import RunModels
from assay.reporting import cases_of, write_pages

if TYPE_CHECKING:
    from assay.viewer import Viewer


def report(
    runs: Run | Path | str | Sequence[Run | Path | str],
    output: Path | str,
    *,
    title: str = "Assay report",
    dataset: Data | None = None,
    thresholds: Thresholds | Mapping[str, float] = DEFAULTS,
    allow_remote: bool = False,
    progress: bool | None = None,
) -> Path:
    """Write a report about runs or predictions files into a folder and return its page.

    Parameters
    ----------
    runs
        Runs, their folders, or predictions files.
    output
        The folder, which gets report.html, report.md, report.json and tables.tex.
    title
        The title of the page.
    dataset
        The dataset that predictions files are about.
    thresholds
        Those of the diagnosis that differ from the defaults.
    allow_remote
        Whether addresses that the records of folders name are opened.
    progress
        Whether to show progress on standard error.
    """
    several = [runs] if isinstance(runs, (Run, str, Path)) else list(runs)
    by, data = thresholds_of(thresholds), None if dataset is None else open_dataset(dataset)
    opened = all(isinstance(one, Run) for one in several)
    with _permission(allow_remote or opened), progress_bar(progress) as bar:
        folders = [one.folder if isinstance(one, Run) else Path(one) for one in several]
        cases = cases_of(folders, data, lambda done, whole: bar("judging runs", done, whole), by)
    return write_pages(cases, Path(output), title)


@overload
def view(
    *sources: Dataset | Run | Path | str, port: int = 0, allow_remote: bool = False, tasks: Sequence[str] = ()
) -> "Viewer": ...
@overload
def view(
    *sources: Dataset | Run | Path | str,
    port: int = 0,
    allow_remote: bool = False,
    tasks: Sequence[str] = (),
    bundle: Path | str | None = None,
    samples: int = 60,
    wait: bool = False,
    browse: bool = True,
    say: Say = ignore,
) -> "Viewer | Path | None": ...
def view(
    *sources: Dataset | Run | Path | str,
    port: int = 0,
    allow_remote: bool = False,
    tasks: Sequence[str] = (),
    bundle: Path | str | None = None,
    samples: int = 60,
    wait: bool = False,
    browse: bool = True,
    say: Say = ignore,
) -> "Viewer | Path | None":
    """Serve the viewer on the loopback address, in the background; `.url` is its address, `.stop()` ends it.

    Parameters
    ----------
    *sources
        Datasets, runs, predictions files, or folders that contain some.
    port
        The port; 0 takes a free one.
    allow_remote
        Whether addresses that the records of folders name are opened.
    tasks
        The names of tasks of your own; data of one of them must have been made by it.
    bundle
        Write static files into this folder instead, for any web server, and return their first page.
    samples
        With `bundle`: samples of each split.
    wait
        Whether to serve until Ctrl-C instead of in the background.
    browse
        With `wait`: whether to open a browser.
    say
        Is told what is left out, and with `wait` the address, such as `print`.
    """
    for package in ("fastapi", "uvicorn"):
        import_extra(package, "the viewer")
    from assay.viewer import State, serve, serve_in_background, write_bundle

    if not sources:
        raise DataError("nothing to look at; name datasets or runs")
    with _permission(allow_remote or all(isinstance(one, (Dataset, Run)) for one in sources)):
        state = State.open([_here(source) for source in sources], RunModels())
        for held in state.shelf.datasets.values():
            check_code(held.dataset, tasks)
        for broken in state.shelf.broken:
            say(f"left out: {broken.why}")
        if bundle is not None:
            return write_bundle(state, Path(bundle), samples)
        if not wait:
            return serve_in_background(state, port)
        serve(state, port, say, browse=browse)
    return None


def _here(source: Dataset | Run | Path | str) -> Path:
    """Return a folder of this machine; a remote dataset is fetched whole."""
    if isinstance(source, (Dataset, Run)):
        return source.folder
    return Dataset.open(source).fetch_all().folder if is_remote(source) else Path(source)


def _permission(allowed: bool) -> AbstractContextManager[None]:
    """Return the permission to open addresses that records name; one that was given before stays."""
    return permit_remote() if allowed else nullcontext()

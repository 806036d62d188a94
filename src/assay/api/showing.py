"""Show what was found: a report about runs, the viewer in the browser."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from assay.api.arguments import Data, open_dataset
from assay.api.judging import thresholds_of
from assay.api.running import Run
from assay.base import DataError, import_extra, is_remote, permit_remote, progress_bar
from assay.dataset import Dataset, check_code
from assay.diagnosis import DEFAULTS, Thresholds
from assay.lab import RunModels
from assay.reporting import cases_of, write_pages

if TYPE_CHECKING:
    from assay.viewer import State, Viewer


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
        folders = [_folder(one) for one in several]
        cases = cases_of(folders, data, lambda done, whole: bar("judging runs", done, whole), by)
    return write_pages(cases, Path(output), title)


def view(*sources: Dataset | Run | Path | str, port: int = 0, allow_remote: bool = False) -> "Viewer":
    """Serve the viewer on the loopback address, in the background; `.url` is its address, `.stop()` ends it.

    Parameters
    ----------
    *sources
        Datasets, runs, or folders that contain some.
    port
        The port; 0 takes a free one.
    allow_remote
        Whether addresses that the records of folders name are opened.
    """
    _require_viewer()
    from assay.viewer import serve_in_background

    if not sources:
        raise DataError("nothing to look at; name datasets or runs")
    with _permission(allow_remote or all(isinstance(one, (Dataset, Run)) for one in sources)):
        return serve_in_background([_folder(source) for source in sources], RunModels(), port)


def serve_viewer(
    folders: Sequence[Path],
    say: Callable[[str], None],
    *,
    port: int = 0,
    bundle: Path | None = None,
    samples: int = 60,
    browse: bool = True,
    tasks: Sequence[str] = (),
) -> None:
    """Serve the viewer until it is stopped, or write it as static files.

    Parameters
    ----------
    folders
        Datasets, runs, predictions files, or folders that contain some.
    say
        Is told what is left out, and the address or the files.
    port
        The port; 0 takes a free one.
    bundle
        Write static files into this folder instead.
    samples
        With `bundle`: samples of each split.
    browse
        Whether to open a browser.
    tasks
        The names of the user's own tasks; data of one of them must have been made by it.
    """
    _require_viewer()
    from assay.viewer import serve, write_bundle

    state = _opened([_here(folder) for folder in folders], tasks)
    for broken in state.shelf.broken:
        say(f"left out: {broken.why}")
    if bundle is not None:
        say(f"{write_bundle(state, bundle, samples)}  next: python -m http.server --directory {bundle}")
        return
    serve(state, port, say, browse=browse)


def _opened(folders: Sequence[Path], tasks: Sequence[str]) -> "State":
    """Return what the viewer shows."""
    from assay.viewer import State

    state = State.open(folders, RunModels())
    for held in state.shelf.datasets.values():
        check_code(held.dataset, tasks)
    return state


def _here(folder: Path) -> Path:
    """Return a folder of this machine; a remote dataset is fetched whole."""
    return Dataset.open(folder).fetch_all().folder if is_remote(folder) else folder


def _require_viewer() -> None:
    for package in ("fastapi", "uvicorn"):
        import_extra(package, "the viewer")


def _permission(allowed: bool) -> AbstractContextManager[None]:
    """Return the permission to open addresses that records name; one that was given before stays."""
    return permit_remote() if allowed else nullcontext()


def _folder(source: Dataset | Run | Path | str) -> Path:
    """Return where something lies."""
    return source.folder if isinstance(source, (Dataset, Run)) else Path(source)

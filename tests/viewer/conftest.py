"""Three pixels with two runs on them, the viewer that serves them, and a browser to look at it."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from assay.data.dataset import Dataset
from assay.studies.run_models import ask_run as ask
from assay.viewer.app import create_app
from assay.viewer.state import State
from tests.pixels import pixels, trained

TOKEN = "a-token-that-nobody-knows"
VISIT = f"?token={TOKEN}"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a study leaves it: a dataset, a run that has learned, and one that has hardly begun."""
    folder = tmp_path_factory.mktemp("viewer")
    data = pixels(folder / "data" / "pixels")
    trained("dpl", data, folder / "runs" / "good", {"epochs": 6})
    trained("cbm", data, folder / "runs" / "poor", {"epochs": 1, "learning_rate": 0.001}, seed=3)
    return folder


@pytest.fixture(scope="package")
def data(folder: Path) -> Dataset:
    return Dataset.open(folder / "data" / "pixels")


@pytest.fixture(scope="package")
def state(folder: Path) -> State:
    return State.open([folder], ask)


@pytest.fixture(scope="package")
def serving() -> Iterator[Any]:
    """Return a function that serves an application and returns its address with the token; all are stopped in the end."""
    servers = []

    def start(app: Any, query: str = VISIT) -> str:
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/{query}"

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="package")
def address(serving: Any, state: State) -> str:
    return serving(create_app(state, TOKEN))


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A headless Chromium, where there is one."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()

"""Three pixels with two runs on them, the viewer that serves them, and a browser to look at it."""

import functools
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from assay.data import Dataset
from assay.studies import RunModels
from assay.viewer import State, write_bundle
from assay.viewer.app import create_app
from tests.browser import started_browser
from tests.pixels import pixels, trained

TOKEN = "a-token-that-nobody-knows"
VISIT = f"?token={TOKEN}"
LONG = 20_000


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
    return State.open([folder], RunModels())


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
    with started_browser() as chromium:
        yield chromium


@pytest.fixture
def page(browser):
    """A page whose console and requests are listened to; any complaint fails the test."""
    made = browser.new_page(viewport={"width": 1280, "height": 900})
    made.set_default_timeout(LONG)
    complaints, hosts = [], set()
    made.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("request", lambda request: hosts.add(request.url.split("/")[2]) if request.url.startswith("http") else None)
    yield made
    made.close()
    assert complaints == [] and len(hosts) == 1


@pytest.fixture(scope="package")
def static():
    """Return a function that serves a folder as any web server does."""
    servers = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    def start(folder):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="package")
def bundled(static, state, tmp_path_factory):
    """The address of a bundle that holds every sample."""
    out = tmp_path_factory.mktemp("bundled") / "out"
    write_bundle(state, out, samples=64)
    return static(out)


def go(page, address, hash=""):
    page.goto(address + hash)
    settled(page)


def settled(page):
    """Wait until the page shows what its address names."""
    page.wait_for_function("() => document.getElementById('main').dataset.shown === location.hash")


def choose(page, name, value):
    """Choose in a box whose choice leads to another address."""
    before = page.evaluate("location.hash")
    page.select_option(f"#{name}", value)
    page.wait_for_function("before => location.hash !== before", arg=before)
    settled(page)

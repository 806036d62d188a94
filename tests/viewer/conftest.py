"""Three pixels with two runs on them, the viewer that serves them, and a browser to look at it."""

import functools
import http.client
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.dataset import Dataset
from assay.lab import RunModels
from assay.viewer import State, write_bundle
from tests.asking import Asking
from tests.browser import started_browser
from tests.pixels import pixels, trained

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
def opened() -> Iterator[Any]:
    """Return a function that serves folders and asks them; all are stopped in the end."""
    viewers = []

    def start(*folders: Path) -> Asking:
        viewers.append(assay.view(*folders))
        return Asking(viewers[-1].url)

    yield start
    for viewer in viewers:
        viewer.stop()


@pytest.fixture(scope="package")
def viewer(opened: Any, folder: Path) -> Asking:
    return opened(folder)


@pytest.fixture(scope="package")
def address(viewer: Asking) -> str:
    return viewer.address


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
def bundled(static, folder, tmp_path_factory):
    """The address of a bundle that holds every sample."""
    out = tmp_path_factory.mktemp("bundled") / "out"
    write_bundle(State.open([folder], RunModels()), out, samples=64)
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

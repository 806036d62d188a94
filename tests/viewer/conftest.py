"""Three pixels with two runs on them, the viewer that serves them, and a browser to look at it."""

import functools
import http.client
import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

import assay
from assay.dataset import Dataset
from assay.lab import RunModels
from assay.viewer import State, write_bundle
from tests.browser import started_browser
from tests.pixels import pixels, trained

LONG = 20_000


class Asking:
    """Asks a viewer as its page does: with the cookie that the first visit leaves."""

    def __init__(self, address: str) -> None:
        self.address, self.parts, self.cookie = address, urlsplit(address), ""
        self.cookie = self.ask(f"/?{self.parts.query}")[1]["set-cookie"].partition(";")[0]

    def ask(self, path, method="GET", headers=None, body=None):
        """Return the status, the headers and the content of an answer; a header of None is not sent."""
        connection = http.client.HTTPConnection(self.parts.hostname, self.parts.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        sized = {} if body is None else {"Content-Length": str(len(body))}
        for name, value in {"Host": self.parts.netloc, "Cookie": self.cookie, **sized, **(headers or {})}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        found = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        connection.close()
        return found

    def told(self, path, query=(), **body):
        """Return the status and the plain data of an answer, asked for until it is there; what is given is posted."""
        path = f"/api/{path}" + (f"?{urlencode(list(query), quote_via=quote)}" if query else "")
        sent = ("POST", {"Content-Type": "application/json"}, json.dumps(body).encode()) if body else ()
        deadline, status, content = time.monotonic() + 60, 202, b""
        while status == 202 and time.monotonic() < deadline:
            status, _, content = self.ask(path, *sent)
            time.sleep(0.01 if status == 202 else 0)
        return status, json.loads(content)

    def get(self, path, query=(), **body):
        """Return the plain data of an answer that must be there."""
        status, found = self.told(path, query, **body)
        assert status == 200, found
        return found

    def why_not(self, path, query=(), **body):
        """Return the one line in which something is refused."""
        status, found = self.told(path, query, **body)
        assert "error" in found and (status >= 400 or body), found
        assert "\n" not in found["error"]
        return found["error"]

    def rows(self, split, query=(), key="pixels"):
        """Return the numbers of the rows that a query asks for, over all pages."""
        first = self.get(f"data/{key}/{split}.json", query)
        pages = [self.get(f"data/{key}/{split}.json", [*query, ("page", n)]) for n in range(1, first["pages"])]
        return [row["row"] for page in (first, *pages) for row in page["rows"]]


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

"""The server answers this machine only, reads only, and guards every answer."""

import json
import re
import shutil
import threading
import time

import pytest

from assay.base import Settings, load_file
from assay.dataset import make, recipe_from

JSON = {"Content-Type": "application/json"}
EDIT = "/api/data/pixels/test/0/edit"


@pytest.fixture
def request_of(viewer):
    return viewer.ask


@pytest.fixture(scope="module")
def visit(viewer):
    return f"?{viewer.parts.query}"


def test_every_answer_is_guarded(request_of):
    for path in (
        "/",
        "/main.js",
        "/api/shelf.json",
        "/api/data/pixels/test/0/image.png",
        "/nothing",
        "/api/data/none/test.json",
    ):
        _, headers, _ = request_of(path)
        policy = headers["content-security-policy"]
        assert (
            policy.startswith("default-src 'none'; script-src 'self';")
            and "unsafe" not in policy
            and "http" not in policy
        )
        assert (
            headers["x-content-type-options"] == "nosniff" and headers["cross-origin-resource-policy"] == "same-origin"
        )
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:80@evil.example", "", "0.0.0.0", None],
)
def test_another_host_name_is_refused(request_of, host):
    status, _, body = request_of("/api/shelf.json", headers={"Host": host})
    assert status in (400, 403) and b"pixels" not in body


def test_localhost_is_this_machine(request_of):
    assert request_of("/", headers={"Host": "localhost:8000"})[0] == 200


@pytest.mark.parametrize("cookie", [None, "", "other=1", "NAME=wrong", "assay-000000000000=TOKEN", "NAME="])
@pytest.mark.parametrize("path", ["/", "/main.js", "/api/shelf.json", "/api/data/pixels/test/0/image.png", "VISIT"])
def test_nothing_is_answered_without_the_token(viewer, request_of, visit, path, cookie):
    path = "/api/shelf.json" + visit if path == "VISIT" else path  # it opens the page, and nothing else
    name, _, token = viewer.cookie.partition("=")
    given = cookie and cookie.replace("NAME", name).replace("TOKEN", token)
    status, headers, body = request_of(path, headers={"Cookie": given})
    assert status == 403 and b"pixels" not in body and "set-cookie" not in headers
    assert json.loads(body)["error"] == "open the address that the viewer printed, with its token"


def test_the_first_visit_leaves_a_cookie_and_hides_the_token(request_of, visit):
    status, headers, body = request_of("/" + visit, headers={"Cookie": None})
    assert (status, headers["location"], body) == (303, "/", b"")
    cookie = headers["set-cookie"]
    assert visit.partition("=")[2] in cookie and "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert request_of("/" + visit, "POST", headers={"Cookie": None})[0] == 403
    assert request_of("/?token=wrong", headers={"Cookie": None})[0] == 403
    assert request_of("/" + visit, headers={"Cookie": None, "Host": "evil.example"})[0] == 403


def test_a_page_of_another_port_is_refused(viewer, request_of):
    for origin, status in (("http://127.0.0.1:3000", 403), ("null", 403), (viewer.address.partition("/?")[0], 200)):
        assert request_of("/api/shelf.json", headers={"Origin": origin})[0] == status


def test_requests_have_sizes(request_of):
    assert request_of(EDIT, "POST", JSON, b" " * 100_001)[0] == 413
    assert request_of(EDIT, "POST", {**JSON, "Transfer-Encoding": "chunked"}, b"")[0] in (400, 413)
    assert request_of("/api/data/pixels/test.json?tag=" + "x" * 5_000)[0] == 414
    for page in ("99999999999", "9" * 3_000, "-1", "%C2%B2", ""):
        status, _, body = request_of(f"/api/data/pixels/test.json?page={page}")
        assert status == 200 and len(json.loads(body)["rows"]) <= 48


SLOW = """
import time
from pathlib import Path

from tests.toys import Coin


class Slow(Coin):
    \"\"\"Coins that are drawn again only when a file says so.\"\"\"

    name = "slow"
    gate = Path({gate!r})

    def render(self, world):
        while not self.gate.exists():
            time.sleep(0.01)
        return super().render(world)
"""


def test_few_are_drawn_at_once_and_others_told_that_it_is_busy(opened, tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(SLOW.format(gate=str(tmp_path / "gate")))
    (tmp_path / "gate").touch()
    load_file(tmp_path / "slow.py")
    small = Settings({"splits": {"train": 4, "valid": 2, "test": 4}})
    make(recipe_from(f"{tmp_path / 'slow.py'}", small), tmp_path / "data")
    (tmp_path / "gate").unlink()
    monkeypatch.setattr("assay.viewer.access.PATIENCE", 0.3)  # a limit: how long one waits for a place
    viewer, found = opened(tmp_path / "data"), []
    path, change = "/api/data/data/test/0/edit", b'{"changes": {"a": 1}}'
    drawing = [
        threading.Thread(target=lambda: found.append(viewer.ask(path, "POST", JSON, change)[0])) for _ in range(2)
    ]
    for one in drawing:
        one.start()
    time.sleep(0.1)
    status, _, body = viewer.ask(path, "POST", JSON, change)
    assert status == 503 and "busy" in json.loads(body)["error"]
    (tmp_path / "gate").touch()
    for one in drawing:
        one.join()
    assert found == [200, 200] and viewer.ask(path, "POST", JSON, change)[0] == 200


def test_no_answer_tells_a_folder(folder, opened, tmp_path):
    shutil.copytree(folder, tmp_path / "my place")
    place = tmp_path / "my place"
    (place / "broken").mkdir()
    (place / "broken" / "manifest.json").write_text("{")
    viewer = opened(place)
    shard = next((place / "data" / "pixels" / "valid").glob("*.parquet"))
    shard.write_bytes(b"x" * shard.stat().st_size)
    (place / "runs" / "poor" / "predictions" / "test.parquet").write_bytes(b"damaged")
    told = []
    for path in ("shelf", "data/pixels/valid", "data/pixels/test", "runs/pixels/good/verdict",
                 "runs/pixels/poor/verdict", "runs/pixels/good", "runs/pixels/poor/test/reading", "datasets/pixels",
                 "data/pixels/test/0", "tasks/mnlogic"):  # fmt: skip
        status, body = viewer.told(f"{path}.json", [("run", "poor")])
        told.append(status)
        assert str(tmp_path) not in str(body) and "my place" not in str(body), path
    status, _, body = viewer.ask("/api/data/pixels/valid/0/image.png")
    assert status == 400 and b"my place" not in body and 400 in told and 200 in told


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/static/../app.py",
        "/app.py",
        "/api/data/..%2f..%2f/test.json",
        "/api/data/%2fetc/test.json",
        "/api/data/pixels/..%2ftest.json",
        "/api/data/pixels/%2fetc%2fpasswd.json",
        "/api/data/pixels/test/0/..%2f..%2fmanifest.png",
        "/api/data/pixels/test/0/style.png",
        "/api/data/pixels/test/-1.json",
        "/api/data/pixels/test/99999/image.png",
        "/api/data/pixels/test/1e9.json",
        "/api/tasks/..%2fsecret.json",
        "/api/runs/pixels/..%2fgood.json",
        "/api/runs/pixels/good/..%2f..%2fdata/reading.json",
        "/api/runs/pixels/good/pairs.json?kind=..%2fmodel",
        "/api/datasets/..%2fpixels.json",
        "/api/datasets/pixels/..%2ftest/distribution.json",
        "/docs",
        "/openapi.json",
    ],
)
def test_nothing_else_can_be_reached(request_of, path):
    status, _, body = request_of(path)
    assert status in (400, 404, 422) and b"root:" not in body and b"[project]" not in body


def test_errors_are_json_in_one_line(request_of):
    status, _, body = request_of("/api/data/pixels/tset.json")
    assert (status, json.loads(body)) == (404, {"error": "no split named 'tset'; did you mean 'test'?"})


def test_only_json_of_the_right_form_is_taken(request_of):
    status, _, body = request_of(EDIT, "POST", JSON, b'{"changes": {"a": 1}}')
    assert status == 200 and json.loads(body)["concepts"][0] == 1
    for bad in (b"", b"[]", b"{", b'{"changes": {"a": true}}', b'{"changes": {"a": "1"}}', b'{"change": {}}'):
        assert request_of(EDIT, "POST", JSON, bad)[0] == 422, bad
    simple = request_of(EDIT, "POST", {"Content-Type": "text/plain"}, b'{"changes": {"a": 1}}')
    assert simple[0] == 422  # what a form on another site can send


def test_a_change_that_cannot_be_is_an_answer(request_of):
    status, _, body = request_of(EDIT, "POST", JSON, b'{"changes": {"a": 9}}')
    assert status == 200 and "codes from 0 to 1" in json.loads(body)["error"]


def test_nothing_can_be_written(request_of):
    for method in ("PUT", "DELETE", "PATCH"):
        assert request_of("/api/data/pixels/test/0.json", method)[0] == 405


def test_what_takes_long_is_asked_for_until_it_is_there(viewer):
    for path in ("runs/pixels/good/verdict", "datasets/pixels/shortcuts", "datasets/pixels/audit",
                 "runs/pixels/good/test/map", "runs/pixels/good/test/interventions"):  # fmt: skip
        deadline, status = time.monotonic() + 60, 202
        while status == 202 and time.monotonic() < deadline:
            status, _, body = viewer.ask(f"/api/{path}.json")
            assert status != 202 or set(json.loads(body)) == {"pending"}
        assert status == 200 and "error" not in json.loads(body), path
    for path in ("runs/pixels/nobody/verdict", "runs/pixels/nobody/test/map", "datasets/none/audit"):
        assert viewer.told(f"{path}.json")[0] == 404


def test_the_page_is_whole_and_its_own(viewer):
    index = viewer.ask("/")[2].decode()
    held, left = {"index.html": index}, set(re.findall(r'(?:src|href)="([a-z]+\.[a-z]+)"', index))
    while left:
        name = left.pop()
        status, headers, text = viewer.ask(f"/{name}")
        kind = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}[name.rpartition(".")[2]]
        assert status == 200 and headers["content-type"].startswith(kind)
        held[name] = text.decode()
        left |= set(re.findall(r'from "\./([^"]+)"', held[name])) - set(held)
    for name, text in held.items():
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text, name
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "DOMParser",
        ):
            assert word not in text, (name, word)
    loaded = set(re.findall(r'rel="modulepreload" href="([a-z]+\.js)"', index))
    assert loaded | {"main.js"} == {name for name in held if name.endswith(".js")}  # all at once, not one after another
    assert viewer.ask("/index.htm")[0] == 404

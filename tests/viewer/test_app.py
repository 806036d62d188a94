"""The server answers this machine only, reads only, and guards every answer."""

import http.client
import json
import re
import shutil
import threading
import time
from urllib.parse import urlsplit

import pytest

from assay.errors import RunFailed
from assay.viewer import State
from assay.viewer.access import DRAWN_AT_ONCE, Access, hide_paths
from assay.viewer.app import create_app, static_files
from tests.viewer.conftest import TOKEN, VISIT

COOKIE = f"{Access(TOKEN).cookie}={TOKEN}"


def request(address, path, method="GET", headers=None, body=None):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    given = {
        "Host": parts.netloc,
        "Cookie": COOKIE,
        **({} if body is None else {"Content-Length": str(len(body))}),
        **(headers or {}),
    }
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    found = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return found


def test_every_answer_is_guarded(address):
    for path in (
        "/",
        "/main.js",
        "/api/shelf.json",
        "/api/data/pixels/test/0/image.png",
        "/nothing",
        "/api/data/none/test.json",
    ):
        _, headers, _ = request(address, path)
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
def test_another_host_name_is_refused(address, host):
    status, _, body = request(address, "/api/shelf.json", headers={"Host": host})
    assert status in (400, 403) and b"pixels" not in body


def test_localhost_is_this_machine(address):
    assert request(address, "/", headers={"Host": "localhost:8000"})[0] == 200


@pytest.mark.parametrize(
    "cookie",
    [
        None,
        "",
        "other=1",
        f"{Access(TOKEN).cookie}=wrong",
        f"{Access('other').cookie}={TOKEN}",
        f"{Access(TOKEN).cookie}=",
    ],
)
@pytest.mark.parametrize("path", ["/", "/main.js", "/api/shelf.json", "/api/data/pixels/test/0/image.png", VISIT])
def test_nothing_is_answered_without_the_token(address, path, cookie):
    path = "/api/shelf.json" + VISIT if path == VISIT else path  # it opens the page, and nothing else
    status, headers, body = request(address, path, headers={"Cookie": cookie})
    assert status == 403 and b"pixels" not in body and "set-cookie" not in headers
    assert json.loads(body)["error"] == "open the address that the viewer printed, with its token"


def test_the_first_visit_leaves_a_cookie_and_hides_the_token(address):
    status, headers, body = request(address, "/" + VISIT, headers={"Cookie": None})
    assert (status, headers["location"], body) == (303, "/", b"")
    cookie = headers["set-cookie"]
    assert cookie.startswith(COOKIE + ";") and "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert request(address, "/?token=wrong", headers={"Cookie": None})[0] == 403
    assert request(address, "/" + VISIT, headers={"Cookie": None, "Host": "evil.example"})[0] == 403


def test_a_page_of_another_port_is_refused(address):
    for origin, status in (("http://127.0.0.1:3000", 403), ("null", 403), (address.partition("/?")[0], 200)):
        assert request(address, "/api/shelf.json", headers={"Origin": origin})[0] == status


def test_requests_have_sizes(address):
    path, kind = "/api/data/pixels/test/0/edit", {"Content-Type": "application/json"}
    assert request(address, path, "POST", kind, b" " * 100_001)[0] == 413
    assert request(address, "/api/data/pixels/test.json?tag=" + "x" * 5_000)[0] == 414
    for page in ("99999999999", "9" * 3_000, "-1", "%C2%B2"):
        status, _, body = request(address, f"/api/data/pixels/test.json?page={page}")
        assert status == 200 and len(json.loads(body)["rows"]) <= 48


def test_few_are_drawn_at_once(monkeypatch):
    monkeypatch.setattr("assay.viewer.access.PATIENCE", 0.05)
    access, inside = Access("token"), threading.Barrier(DRAWN_AT_ONCE + 1)

    def draw():
        with access.one_place():
            inside.wait()
            inside.wait()

    threads = [threading.Thread(target=draw) for _ in range(DRAWN_AT_ONCE)]
    for thread in threads:
        thread.start()
    inside.wait()
    with pytest.raises(RunFailed, match="busy"), access.one_place():
        pass
    inside.wait()
    for thread in threads:
        thread.join()
    with access.one_place():
        pass


def test_no_answer_tells_a_folder(folder, serving, tmp_path):
    shutil.copytree(folder, tmp_path / "my place")
    place = tmp_path / "my place"
    (place / "broken").mkdir()
    (place / "broken" / "manifest.json").write_text("{")
    state = State.open([place])
    shard = next((place / "data" / "pixels" / "valid").glob("*.parquet"))
    shard.write_bytes(b"x" * shard.stat().st_size)
    (place / "runs" / "poor" / "predictions" / "test.parquet").write_bytes(b"damaged")
    address = serving(create_app(state, TOKEN))
    told = []
    for path in ("/api/shelf.json", "/api/data/pixels/valid.json", "/api/data/pixels/test.json?run=poor",
                 "/api/runs/pixels/good/verdict.json", "/api/runs/pixels/poor/verdict.json",
                 "/api/runs/pixels/good.json", "/api/runs/pixels/poor/test/reading.json", "/api/datasets/pixels.json", "/api/data/pixels/test/0.json",
                 "/api/data/pixels/valid/0/image.png", "/api/tasks/mnlogic.json"):  # fmt: skip
        status, _, body = request(address, path)
        told.append(status)
        assert str(tmp_path).encode() not in body and b"my place" not in body, path
    assert 400 in told and 200 in told


def test_pictures_and_formulas_are_told_whole():
    for text in ("data:image/png;base64,ab+/cd/ef/gh", "a / b", "x/y/z", "https://example.org/a/b", "and/or"):
        assert hide_paths(text) == text


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
def test_nothing_else_can_be_reached(address, path):
    status, _, body = request(address, path)
    assert status in (400, 404, 422) and b"root:" not in body and b"[project]" not in body


def test_errors_are_json_in_one_line(address):
    status, _, body = request(address, "/api/data/pixels/tset.json")
    assert (status, json.loads(body)) == (404, {"error": "no split named 'tset'; did you mean 'test'?"})


def test_only_json_of_the_right_form_is_taken(address):
    path, kind = "/api/data/pixels/test/0/edit", {"Content-Type": "application/json"}
    status, _, body = request(address, path, "POST", kind, b'{"changes": {"a": 1}}')
    assert status == 200 and json.loads(body)["concepts"][0] == 1
    for bad in (b"", b"[]", b"{", b'{"changes": {"a": true}}', b'{"changes": {"a": "1"}}', b'{"change": {}}'):
        assert request(address, path, "POST", kind, bad)[0] == 422, bad
    simple = request(address, path, "POST", {"Content-Type": "text/plain"}, b'{"changes": {"a": 1}}')
    assert simple[0] == 422  # what a form on another site can send


def test_a_change_that_cannot_be_is_an_answer(address):
    kind = {"Content-Type": "application/json"}
    status, _, body = request(address, "/api/data/pixels/test/0/edit", "POST", kind, b'{"changes": {"a": 9}}')
    assert status == 200 and "codes from 0 to 1" in json.loads(body)["error"]


def test_nothing_can_be_written(address):
    for method in ("PUT", "DELETE", "PATCH"):
        assert request(address, "/api/data/pixels/test/0.json", method)[0] == 405


def test_task_pages_show_pictures(address):
    names = [task["name"] for task in json.loads(request(address, "/api/tasks.json")[2])]
    assert "mnlogic" in names
    page = json.loads(request(address, "/api/tasks/mnlogic.json")[2])
    assert len(page["examples"]) == 8 and page["examples"][0]["image"].startswith("data:image/png")
    assert request(address, "/api/tasks/nothing.json")[0] == 404


def test_what_takes_long_is_asked_for_until_it_is_there(address):
    for path in ("/api/runs/pixels/good/verdict.json", "/api/datasets/pixels/shortcuts.json", "/api/datasets/pixels/audit.json",
                 "/api/runs/pixels/good/test/map.json", "/api/runs/pixels/good/test/interventions.json"):  # fmt: skip
        deadline, status = time.monotonic() + 30, 202
        while status == 202 and time.monotonic() < deadline:
            status, _, body = request(address, path)
            assert status != 202 or set(json.loads(body)) == {"pending"}
        assert status == 200 and "error" not in json.loads(body), path
    assert request(address, "/api/runs/pixels/nobody/verdict.json")[0] == 404
    assert request(address, "/api/datasets/none/audit.json")[0] == 404


def test_the_page_is_whole_and_its_own():
    held = {name: data.decode() for name, data in static_files().items()}
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
        for other in re.findall(r'from "\./([^"]+)"', text) + re.findall(r'(?:src|href)="([a-z]+\.[a-z]+)"', text):
            assert other in held, (name, other)
    assert max(text.count("\n") for text in held.values()) <= 200
    loaded = set(re.findall(r'rel="modulepreload" href="([a-z]+\.js)"', held["index.html"]))
    assert loaded | {"main.js"} == {name for name in held if name.endswith(".js")}  # all at once, not one after another

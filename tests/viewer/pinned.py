"""Every answer of the viewer about canned runs but verdicts and audits, and the files of its bundle."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from assay.logic import Knowledge
from assay.viewer import State, write_bundle
from assay.viewer.access import Access, hide_paths
from assay.viewer.app import create_app
from assay.viewer.datasets import rule_table, small_diagram
from assay.viewer.edit import ask_model, edit_sample, or_why
from assay.viewer.embedding import layers_of, map_of, principal_plane
from assay.viewer.folders import open_shelf
from assay.viewer.gallery import list_tasks, task_page
from assay.viewer.interventions import POLICY_NAMES
from assay.viewer.pairs import KINDS
from assay.viewer.pictures import film, nearness
from assay.viewer.query import OUTCOMES, Query
from tests.browser import run_coroutine
from tests.canned import Models, answers, bits, run_of, sums
from tests.pins import Cases, digest, digests, plain, without

TOKEN = "a-token-that-nobody-knows"
JUDGED = ("verdict.json", "shortcuts.json")
"""What the diagnosis finds, which has its own tests."""
CHANGING = ("versions", "fingerprint", "sha256", "content", "bytes", "folder", "from_run", "files", "task_version")


def shelf_of(folder: Path) -> State:
    """Return a viewer of two datasets: one with three runs and a file of predictions, one with a single run."""
    data, other = bits(folder / "data" / "bits"), sums(folder / "data" / "sums")
    for place, fault in enumerate(("good", "noisy", "swapped")):
        run_of(data, folder / "runs" / fault, fault, place)
    run_of(other, folder / "runs" / "sums", "noisy")
    answers(data.symbols("test"), "silent").write(folder / "runs" / "silent.parquet", data.knowledge)
    (folder / "runs" / "bad").mkdir()
    (folder / "runs" / "bad" / "run.json").write_text("{", encoding="utf-8")
    return State.open([folder / "data", folder / "runs", folder / "runs" / "silent.parquet"], Models())


def request(app: Any, address: str, body: Any = None, method: str = "") -> tuple[int, dict[str, str], bytes]:
    """Return what an application answers."""
    parts, sent = urlsplit(address), b"" if body is None else json.dumps(body).encode()
    headers = {"host": "127.0.0.1:80", "cookie": f"{Access(TOKEN).cookie}={TOKEN}", "content-length": str(len(sent))}
    headers |= {} if body is None else {"content-type": "application/json"}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": method or ("GET" if body is None else "POST"), "path": parts.path, "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(), "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent_back: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent_back.append(message)

    run_coroutine(app(scope, receive, send))
    start = next(one for one in sent_back if one["type"] == "http.response.start")
    kept = {key.decode(): value.decode() for key, value in start["headers"]}
    return start["status"], kept, b"".join(one.get("body", b"") for one in sent_back)


def told(app: Any, address: str, body: Any = None) -> Any:
    """Return the digest of an answer, asked for until it is there; pictures by their size."""
    status, _, content = request(app, address, body)
    while status == 202:
        time.sleep(0.01)
        status, _, content = request(app, address, body)
    if address.partition("?")[0].endswith(".png"):
        return [status, len(content) > 0]
    try:
        data = json.loads(content)
    except ValueError:
        return [status, content.decode()[:80]]
    return [status, *digest(rounded(scrubbed(data)) if "/map.json" in address else scrubbed(data))]


def scrubbed(data: Any) -> Any:
    """Return plain data without versions and hashes; pictures are pictures."""
    text = json.dumps(without(plain(data), *CHANGING))
    text = re.sub(r"data:image/png;base64,[\w+/=]+", "PICTURE", text)
    return json.loads(re.sub(r"\b[0-9a-f]{12,}\b", "HASH", text))


def served(folder: Path) -> dict[str, Any]:
    """Ask the server for everything."""
    state = shelf_of(folder)
    app = create_app(state, TOKEN)
    asked = ["/api/shelf.json"]
    for key, found in state.shelf.datasets.items():
        asked += [f"/api/datasets/{key}.json"]
        for split in [one["name"] for one in found.splits]:
            asked += [f"/api/datasets/{key}/{split}/distribution.json", f"/api/data/{key}/{split}.json"]
            asked += [f"/api/data/{key}/{split}.json?page=1", f"/api/data/{key}/{split}/3.json"]
        for run in found.runs:
            asked += [f"/api/runs/{key}/{run}.json"]
            asked += [f"/api/runs/{key}/{run}/pairs.json?kind={kind}" for kind in KINDS]
            asked += [f"/api/runs/{key}/{run}/{split}/reading.json" for split in ("test", "hard", "valid")]
            asked += [f"/api/runs/{key}/{run}/test/interventions.json?policy={name}" for name in POLICY_NAMES]
            asked += [f"/api/runs/{key}/{run}/test/layers.json", f"/api/runs/{key}/{run}/test/map.json"]
            asked += [f"/api/runs/{key}/{run}/test/map.json?layer=last"]
    asked += ["/api/data/bits/test/0/image.png", "/api/data/bits/test/0/mask.png", "/api/data/none/test.json"]
    return {address: told(app, address) for address in asked}


def queried(folder: Path) -> dict[str, Any]:
    """Ask for samples by what is true of them and by what runs say of them."""
    state = shelf_of(folder)
    app = create_app(state, TOKEN)
    queries = [f"outcome={name}&run=noisy&versus=swapped" for name in OUTCOMES]
    queries += ["label=y:1", "concept=a:0&concept=b:1", "label=y:0&concept=c:0", "run=noisy&predicts=y:1&label=y:0",
                "run=noisy&reads=a:0:1", "run=swapped&reads=b:1:0", "run=silent&reads=a:0:none", "tag=y:far",
                "outcome=none", "outcome=right", "run=noisy&outcome=differ", "label=q:1", "concept=a:7"]  # fmt: skip
    found = {query: told(app, f"/api/data/bits/test.json?{query}") for query in queries}
    found["sample"] = told(app, "/api/data/bits/test/5.json?run=noisy&versus=good")
    for runs in ("run=good&versus=noisy", "run=good&versus=noisy&versus=swapped", "run=silent&versus=noisy", ""):
        found[f"compare {runs}"] = told(app, f"/api/data/bits/test/compare.json?{runs}")
    for changes in ({}, {"a": 1}, {"a": 0, "c": 1}, {"q": 1}, {"a": 9}):
        found[f"edit {changes}"] = told(app, "/api/data/bits/test/2/edit", {"changes": changes})
        for run in ("noisy", "silent"):
            found[f"ask {run} {changes}"] = told(app, f"/api/data/bits/test/2/ask/{run}", {"changes": changes})
    found["queries"] = [Query.of({"run": ["x"], "versus": ["x", "y"], "reads": ["a:b:1:0"], "tag": ["y:a:b"]})]
    return found


def parts(folder: Path) -> dict[str, Any]:
    """Look at the parts behind the answers."""
    state = shelf_of(folder)
    shelf = open_shelf([folder / "runs", folder / "data"])
    rng = np.random.default_rng(0)
    plane = principal_plane(rng.normal(size=(20, 4)) * [3, 1, 0.5, 0.1])
    depth = (1000 + 50 * np.arange(48).reshape(6, 8)).astype(np.uint16)
    tall = Knowledge.from_dict(state.shelf["bits"].dataset.knowledge.to_dict())
    table = state.table("bits", "test")
    return {
        "shelf": [list(shelf.datasets), [[one.folder.rpartition("/")[2], one.why] for one in hide(shelf.broken, folder)]],
        "runs": [[run.key, run.name, run.model, run.live, run.title, run.label, run.seed, sorted(run.answers)]
                 for run in state.shelf["bits"].runs.values()],
        "names": state.shelf["bits"].short_names(), "splits": scrubbed(state.shelf["bits"].splits),
        "plane": [np.abs(plane.points), plane.explained],
        "pictures": [len(film(np.arange(48).reshape(6, 8) % 5)) > 0, len(nearness(depth)) > 0],
        "rule": rule_table(tall), "diagram": digest(small_diagram(tall)),
        "layers": layers_of(state, "bits", "test", "noisy"),
        "map": digest(rounded(map_of(state, "bits", "test", "noisy", "first"))),
        "edit": digest(scrubbed(edit_sample(state, "bits", "test", 1, {"b": 1}))),
        "ask": scrubbed(or_why(lambda: ask_model(state, "bits", "test", 1, "noisy", {"b": 1}))),
        "tags": {name: [[tags.tags(row) for row in range(6)], tags.counts(np.arange(20))] for name, tags in table.sides.items()},
        "tasks": [one["name"] for one in list_tasks() if one["name"].startswith("mn")],
        "task": digests(scrubbed(task_page("mnlogic"))),
    }  # fmt: skip


def hide(broken: Any, folder: Path) -> Any:
    """Return what is broken, without folders."""
    return [type(one)(hide_paths(one.folder, [folder]), hide_paths(one.why, [folder])) for one in broken]


def rounded(data: Any) -> Any:
    """Return numbers without their signs, which a plane does not fix."""
    if isinstance(data, dict):
        return {key: rounded(part) for key, part in data.items()}
    if isinstance(data, (list, tuple)):
        return [rounded(part) for part in data]
    return abs(data) if isinstance(data, float) else data


def bundled(folder: Path) -> dict[str, Any]:
    """Write a bundle of few samples."""
    state = shelf_of(folder)
    write_bundle(state, folder / "out", 9)
    found: dict[str, Any] = {}
    for path in sorted((folder / "out").rglob("*.json")):
        name = str(path.relative_to(folder / "out"))
        if not name.startswith("tasks/") and path.name not in JUDGED:
            found[name] = digest(scrubbed(json.loads(path.read_text(encoding="utf-8"))))
    counts: dict[str, int] = {}
    for path in (folder / "out").rglob("*.*"):
        counts[path.suffix] = counts.get(path.suffix, 0) + 1
    return {"by folder": folded(found), "shelf": found["shelf.json"], "counts": dict(sorted(counts.items()))}


def folded(found: dict[str, Any]) -> dict[str, Any]:
    """Return digests of files by their folder."""
    places = sorted({name.rpartition("/")[0] for name in found})
    return {
        place: digest({name: found[name] for name in found if name.rpartition("/")[0] == place}) for place in places
    }


LISTED: dict[str, Callable[[Path], Any]] = {"served": served, "queried": queried, "parts": parts, "bundled": bundled}
CASES: Cases = LISTED

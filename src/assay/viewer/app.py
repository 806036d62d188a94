"""The web application: from addresses to responses. It only reads, and only the datasets and runs of the shelf.

A page of another site cannot use it: requests must name this machine as host, and answers allow no one else to read,
frame or embed them.
"""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from assay.errors import AssayError, UnknownName
from assay.viewer.edit import ask_model, edit_sample, or_why
from assay.viewer.gallery import list_tasks, task_page
from assay.viewer.pictures import to_displayable
from assay.viewer.runs import compare_runs, verdict_of
from assay.viewer.samples import Query, page_of, sample_of
from assay.viewer.state import State, overview

ADDRESS = "127.0.0.1"
HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
VERDICTS = 256
"""How many verdicts are kept."""
PICTURES = ("image", "instances", "parts", "depth")


class Edit(BaseModel):
    """Concepts and the codes they are set to."""

    model_config = ConfigDict(extra="forbid", strict=True)
    changes: dict[str, int] = {}


def static_files() -> dict[str, bytes]:
    """Return the files of the page, by name."""
    folder = files("assay.viewer").joinpath("static")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.rpartition(".")[2] in KINDS}


def create_app(state: State) -> FastAPI:
    """Return the application that serves a shelf."""
    app = FastAPI(title="Assay", docs_url=None, redoc_url=None, openapi_url=None)
    app.middleware("http")(_guarded)
    app.add_exception_handler(AssayError, _refuse)
    app.add_exception_handler(RequestValidationError, _reject_malformed)
    _serve_samples(app, state)
    _serve_tasks(app)
    _serve_page(app)
    return app


def _serve_samples(app: FastAPI, state: State) -> None:
    verdicts = lru_cache(maxsize=VERDICTS)(lambda key, run: verdict_of(state, key, run))

    @app.get("/api/shelf.json")
    def shelf() -> Response:
        return _json({**overview(state.shelf), "live": True})

    @app.get("/api/data/{key}/{split}.json")
    def samples(key: str, split: str, request: Request) -> Response:
        return _json(page_of(state, key, split, _query(request), _page(request)))

    @app.get("/api/data/{key}/{split}/compare.json")
    def compare(key: str, split: str, run: str, versus: str) -> Response:
        return _json(compare_runs(state, key, split, run, versus))

    @app.get("/api/data/{key}/{split}/{row}.json")
    def sample(key: str, split: str, row: int, request: Request) -> Response:
        return _json(sample_of(state, key, split, row, _query(request)))

    @app.get("/api/data/{key}/{split}/{row}/{column}.png")
    def picture(key: str, split: str, row: int, column: str) -> Response:
        if column not in PICTURES:
            raise UnknownName(f"no picture {column!r}")
        return Response(to_displayable(column, state.table(key, split).file(column, row)), media_type="image/png")

    @app.get("/api/verdicts/{key}/{run}.json")
    def verdict(key: str, run: str) -> Response:
        return _json(verdicts(key, run))

    @app.post("/api/data/{key}/{split}/{row}/edit")
    def edit(key: str, split: str, row: int, wanted: Edit) -> Response:
        return _json(or_why(lambda: edit_sample(state, key, split, row, wanted.changes)))

    @app.post("/api/data/{key}/{split}/{row}/ask/{run}")
    def ask(key: str, split: str, row: int, run: str, wanted: Edit) -> Response:
        return _json(or_why(lambda: ask_model(state, key, split, row, run, wanted.changes)))


def _serve_tasks(app: FastAPI) -> None:
    @app.get("/api/tasks.json")
    def tasks() -> Response:
        return _json(list_tasks())

    @app.get("/api/tasks/{name}.json")
    def task(name: str) -> Response:
        return _json(task_page(name))


def _serve_page(app: FastAPI) -> None:
    pages = static_files()

    @app.get("/")
    def index() -> Response:
        return Response(pages["index.html"], media_type=KINDS["html"])

    @app.get("/{name}")
    def file(name: str) -> Response:
        if name not in pages:
            raise UnknownName(f"no file {name!r}")
        return Response(pages[name], media_type=KINDS[name.rpartition(".")[2]])


def _json(data: Any, status: int = 200) -> Response:
    return Response(json.dumps(data, ensure_ascii=False), status, media_type="application/json")


def _query(request: Request) -> Query:
    names = ("label", "concept", "tag", "run", "versus", "outcome")
    values: dict[str, Sequence[str]] = {name: request.query_params.getlist(name) for name in names}
    return Query.of(values)


def _page(request: Request) -> int:
    text = request.query_params.get("page", "0")
    return int(text) if text.isdecimal() else 0


async def _guarded(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse requests with another host name, as of a site whose name points here, and add headers to each response."""
    hosts = request.headers.getlist("host")
    if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
        response = _json({"error": "this page is served to this machine only"}, 403)
    else:
        response = await answer(request)
    response.headers.update(HEADERS)
    return response


def _refuse(request: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 404 if isinstance(error, UnknownName) else 400)


def _reject_malformed(request: Request, error: Exception) -> Response:
    return _json({"error": "this request is not one that the page makes"}, 422)

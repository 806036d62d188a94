"""The web application: from addresses to responses. It only reads, and only the datasets and runs of the shelf."""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from assay.errors import AssayError, RunFailed, UnknownName
from assay.viewer.access import HEADERS, Access, hide_paths
from assay.viewer.edit import ask_model, edit_sample, or_why
from assay.viewer.gallery import list_tasks, task_page
from assay.viewer.pictures import to_displayable
from assay.viewer.runs import compare_runs, verdict_of
from assay.viewer.samples import Query, page_of, sample_of
from assay.viewer.state import State, overview

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


def create_app(state: State, token: str) -> FastAPI:
    """Return the application that serves a shelf to whoever has the token."""
    app = FastAPI(title="Assay", docs_url=None, redoc_url=None, openapi_url=None)
    access = Access(token)
    app.middleware("http")(lambda request, answer: _guarded(access, request, answer))
    folders = state.shelf.places()

    def refuse(request: Request, error: Exception) -> Response:
        status = 404 if isinstance(error, UnknownName) else 503 if isinstance(error, RunFailed) else 400
        return _json(hide_paths({"error": str(error)}, folders), status)

    app.add_exception_handler(AssayError, refuse)
    app.add_exception_handler(RequestValidationError, _reject_malformed)
    _serve_samples(app, state, access, folders)
    _serve_tasks(app, access)
    _serve_page(app)
    return app


def _serve_samples(app: FastAPI, state: State, access: Access, folders: Sequence[Path]) -> None:
    verdicts = lru_cache(maxsize=VERDICTS)(lambda key, run: verdict_of(state, key, run))

    def answer(data: Any) -> Response:
        return _json(hide_paths(data, folders))

    @app.get("/api/shelf.json")
    def shelf() -> Response:
        return answer({**overview(state.shelf), "live": True})

    @app.get("/api/data/{key}/{split}.json")
    def samples(key: str, split: str, request: Request) -> Response:
        return answer(page_of(state, key, split, _query(request), _page(request)))

    @app.get("/api/data/{key}/{split}/compare.json")
    def compare(key: str, split: str, run: str, versus: str) -> Response:
        return answer(compare_runs(state, key, split, run, versus))

    @app.get("/api/data/{key}/{split}/{row}.json")
    def sample(key: str, split: str, row: int, request: Request) -> Response:
        return answer(sample_of(state, key, split, row, _query(request)))

    @app.get("/api/data/{key}/{split}/{row}/{column}.png")
    def picture(key: str, split: str, row: int, column: str) -> Response:
        if column not in PICTURES:
            raise UnknownName(f"no picture {column!r}")
        return Response(to_displayable(column, state.table(key, split).file(column, row)), media_type="image/png")

    @app.get("/api/verdicts/{key}/{run}.json")
    def verdict(key: str, run: str) -> Response:
        with access.one_place():
            return answer(verdicts(key, run))

    @app.post("/api/data/{key}/{split}/{row}/edit")
    def edit(key: str, split: str, row: int, wanted: Edit) -> Response:
        with access.one_place():
            return answer(or_why(lambda: edit_sample(state, key, split, row, wanted.changes)))

    @app.post("/api/data/{key}/{split}/{row}/ask/{run}")
    def ask(key: str, split: str, row: int, run: str, wanted: Edit) -> Response:
        with access.one_place():
            return answer(or_why(lambda: ask_model(state, key, split, row, run, wanted.changes)))


def _serve_tasks(app: FastAPI, access: Access) -> None:
    @app.get("/api/tasks.json")
    def tasks() -> Response:
        return _json(list_tasks())

    @app.get("/api/tasks/{name}.json")
    def task(name: str) -> Response:
        with access.one_place():
            return _json(hide_paths(task_page(name)))


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
    return int(text) if text.isdecimal() and len(text) < 10 else 0


async def _guarded(access: Access, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    """Let in who has the token, refuse all others, and add headers to each response."""
    response = access.welcome(request)
    if response is None:
        refusal = access.refusal(request)
        response = await answer(request) if refusal is None else _json({"error": refusal[1]}, refusal[0])
    response.headers.update(HEADERS)
    return response


def _reject_malformed(request: Request, error: Exception) -> Response:
    return _json({"error": "this request is not one that the page makes"}, 422)

"""The web application: from addresses to responses. It only reads, and only the datasets and runs of the shelf.

The addresses of the data come by noun: samples, runs, datasets, tasks.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from assay.base import AssayError, RunFailed, UnknownName
from assay.viewer.access import HEADERS, Access, hide_paths
from assay.viewer.counts import compare_runs, reading_of
from assay.viewer.datasets import audit_now, dataset_page, distribution_of, overview, shortcuts_of
from assay.viewer.edit import ask_model, edit_sample, or_why
from assay.viewer.embedding import layers_of, map_of
from assay.viewer.pictures import list_tasks, task_page, task_picture, to_displayable
from assay.viewer.query import PARAMETERS, Query
from assay.viewer.runs import intervention_curve, run_page, verdict_of
from assay.viewer.samples import page_of, pairs_of, sample_of
from assay.viewer.state import Jobs, State, Work

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PICTURES = ("image", "instances", "parts", "depth")


@dataclass(frozen=True)
class Service:
    """The state behind the pages, and who may ask."""

    state: State
    access: Access

    @cached_property
    def folders(self) -> Sequence[Path]:
        """The folders that no response may name."""
        return self.state.shelf.places()

    def respond(self, data: Any, status: int = 200) -> Response:
        """Return plain data as JSON, without paths of this machine."""
        return to_json(hide_paths(data, self.folders), status)

    def respond_later(self, name: tuple[str, ...], work: Work, jobs: Jobs | None = None) -> Response:
        """Return the result of work in the background, or status 202 and how far it is."""
        job = (jobs or self.state.jobs).ask(name, work)
        if job.finished.is_set():
            return self.respond(job.result)
        return self.respond({"pending": job.step}, 202)

    def respond_in_place(self, work: Callable[[], Any]) -> Response:
        """Return the result of work that only few requests may do at once."""
        with self.access.one_place():
            return self.respond(work())


def static_files() -> dict[str, bytes]:
    """Return the files of the page, by name."""
    folder = files("assay.viewer").joinpath("static")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.rpartition(".")[2] in KINDS}


def create_app(state: State, token: str) -> FastAPI:
    """Return the application that serves a shelf to whoever has the token."""
    app = FastAPI(title="Assay", docs_url=None, redoc_url=None, openapi_url=None)
    service = Service(state, Access(token))
    app.middleware("http")(lambda request, answer: _guarded(service.access, request, answer))

    def refuse(request: Request, error: Exception) -> Response:
        status = 404 if isinstance(error, UnknownName) else 503 if isinstance(error, RunFailed) else 400
        return service.respond({"error": str(error)}, status)

    app.add_exception_handler(AssayError, refuse)
    app.add_exception_handler(RequestValidationError, _reject_malformed)
    for serve in (serve_samples, serve_runs, serve_datasets, serve_tasks):
        serve(app, service)
    _serve_page(app)
    return app


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


async def _guarded(access: Access, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    """Let in who has the token, refuse all others, and add headers to each response."""
    response = access.welcome(request)
    if response is None:
        refusal = access.refusal(request)
        response = await answer(request) if refusal is None else to_json({"error": refusal[1]}, refusal[0])
    response.headers.update(HEADERS)
    return response


def _reject_malformed(request: Request, error: Exception) -> Response:
    return to_json({"error": "this request is not one that the page makes"}, 422)


class Edit(BaseModel):
    """Concepts and the codes they are set to."""

    model_config = ConfigDict(extra="forbid", strict=True)
    changes: dict[str, int] = {}


def serve_samples(app: FastAPI, service: Service) -> None:
    """Serve pages of samples, single ones, their pictures, and what becomes of them when concepts are changed."""
    state = service.state

    @app.get("/api/data/{key}/{split}.json")
    def samples(key: str, split: str, request: Request) -> Response:
        return service.respond(page_of(state, key, split, query_of(request), page_number(request)))

    @app.get("/api/data/{key}/{split}/compare.json")
    def compare(key: str, split: str, request: Request) -> Response:
        return service.respond(compare_runs(state, key, split, query_of(request).runs))

    @app.get("/api/data/{key}/{split}/{row}.json")
    def sample(key: str, split: str, row: int, request: Request) -> Response:
        return service.respond(sample_of(state, key, split, row, query_of(request)))

    @app.get("/api/data/{key}/{split}/{row}/{column}.png")
    def picture(key: str, split: str, row: int, column: str) -> Response:
        if column not in PICTURES:
            raise UnknownName(f"no picture {column!r}")
        return Response(to_displayable(column, state.table(key, split).file(column, row)), media_type="image/png")

    @app.post("/api/data/{key}/{split}/{row}/edit")
    def edit(key: str, split: str, row: int, wanted: Edit) -> Response:
        return service.respond_in_place(lambda: or_why(lambda: edit_sample(state, key, split, row, wanted.changes)))

    @app.post("/api/data/{key}/{split}/{row}/ask/{run}")
    def ask(key: str, split: str, row: int, run: str, wanted: Edit) -> Response:
        return service.respond_in_place(lambda: or_why(lambda: ask_model(state, key, split, row, run, wanted.changes)))


def serve_runs(app: FastAPI, service: Service) -> None:
    """Serve what is known of a run; what takes long is done in the background, and asked for until it is there."""
    state = service.state

    @app.get("/api/runs/{key}/{run}.json")
    def run_facts(key: str, run: str) -> Response:
        return service.respond(run_page(state, key, run))

    @app.get("/api/runs/{key}/{run}/verdict.json")
    def verdict(key: str, run: str) -> Response:
        state.shelf[key].run(run)
        return service.respond_later(("verdict", key, run), lambda tell: verdict_of(state, key, run))

    @app.get("/api/runs/{key}/{run}/pairs.json")
    def pairs(key: str, run: str, request: Request, kind: str = "all") -> Response:
        return service.respond(pairs_of(state, key, run, kind, page_number(request)))

    @app.get("/api/runs/{key}/{run}/{split}/reading.json")
    def reading(key: str, run: str, split: str) -> Response:
        return service.respond(reading_of(state, key, split, run))

    @app.get("/api/runs/{key}/{run}/{split}/interventions.json")
    def interventions(key: str, run: str, split: str, policy: str = "uncertainty") -> Response:
        state.shelf[key].run(run)
        name = ("interventions", key, split, run, policy)
        return service.respond_later(name, lambda tell: intervention_curve(state, key, split, run, policy))

    @app.get("/api/runs/{key}/{run}/{split}/layers.json")
    def layers(key: str, run: str, split: str) -> Response:
        state.shelf[key].run(run)
        return service.respond_later(("layers", key, split, run), lambda tell: layers_of(state, key, split, run))

    @app.get("/api/runs/{key}/{run}/{split}/map.json")
    def embedding(key: str, run: str, split: str, layer: str = "") -> Response:
        state.shelf[key].run(run)
        return service.respond_later(
            ("map", key, split, run, layer), lambda tell: map_of(state, key, split, run, layer)
        )


def serve_datasets(app: FastAPI, service: Service) -> None:
    """Serve the list of all that is there, and the page of each dataset."""
    state = service.state

    @app.get("/api/shelf.json")
    def shelf() -> Response:
        return service.respond({**overview(state.shelf), "live": True})

    @app.get("/api/datasets/{key}.json")
    def dataset(key: str) -> Response:
        return service.respond(dataset_page(state, key))

    @app.get("/api/datasets/{key}/audit.json")
    def audit(key: str) -> Response:
        _ = state.shelf[key]
        return service.respond_later(("audit", key), lambda tell: audit_now(state, key, tell))

    @app.get("/api/datasets/{key}/shortcuts.json")
    def shortcuts(key: str) -> Response:
        _ = state.shelf[key]
        return service.respond_later(("shortcuts", key), lambda tell: shortcuts_of(state, key))

    @app.get("/api/datasets/{key}/{split}/distribution.json")
    def distribution(key: str, split: str) -> Response:
        return service.respond(distribution_of(state, key, split))


def serve_tasks(app: FastAPI, service: Service) -> None:
    """Serve the registered tasks, drawn when they are asked for."""

    @app.get("/api/tasks.json")
    def tasks() -> Response:
        return service.respond(list_tasks())

    @app.get("/api/tasks/{name}.json")
    def task(name: str) -> Response:
        return service.respond_in_place(lambda: task_page(name))

    @app.get("/api/tasks/{name}/picture.json")
    def picture(name: str) -> Response:
        work = lambda tell: or_why(lambda: task_picture(name))  # noqa: E731
        return service.respond_later(("task", name), work, service.state.drawing)


def to_json(data: Any, status: int = 200) -> Response:
    """Return plain data as a JSON response."""
    return Response(json.dumps(data, ensure_ascii=False), status, media_type="application/json")


def query_of(request: Request) -> Query:
    """Return the query of an address."""
    values: dict[str, Sequence[str]] = {name: request.query_params.getlist(name) for name in PARAMETERS}
    return Query.of(values)


def page_number(request: Request) -> int:
    """Return the page that an address asks for, 0 where it is no number."""
    text = request.query_params.get("page", "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0

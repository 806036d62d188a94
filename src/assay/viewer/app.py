"""The web application: from addresses to responses. It only reads, and only the datasets and runs of the shelf."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from assay.base import AssayError, RunFailed, UnknownName
from assay.viewer.access import HEADERS, Access
from assay.viewer.routes import serve_datasets, serve_runs, serve_samples, serve_tasks
from assay.viewer.service import Service, to_json
from assay.viewer.state import State

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


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

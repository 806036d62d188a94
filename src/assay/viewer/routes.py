"""The addresses of the data, by noun: samples, runs, datasets, tasks."""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from assay.base import UnknownName
from assay.viewer.compare import compare_runs
from assay.viewer.datasets import audit_now, dataset_page, distribution_of, overview, shortcuts_of
from assay.viewer.edit import ask_model, edit_sample, or_why
from assay.viewer.embedding import layers_of, map_of
from assay.viewer.gallery import list_tasks, task_page, task_picture
from assay.viewer.interventions import intervention_curve
from assay.viewer.pairs import pairs_of
from assay.viewer.pictures import to_displayable
from assay.viewer.reading import reading_of
from assay.viewer.runs import run_page
from assay.viewer.samples import page_of, sample_of
from assay.viewer.service import Service, page_number, query_of
from assay.viewer.verdicts import verdict_of

PICTURES = ("image", "instances", "parts", "depth")


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

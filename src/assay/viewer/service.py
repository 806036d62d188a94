"""What all addresses share: the shelf, the guard, and how data and errors become responses."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from assay.viewer.access import Access, hide_paths
from assay.viewer.jobs import Jobs, Work
from assay.viewer.query import PARAMETERS, Query
from assay.viewer.state import State


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

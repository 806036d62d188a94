"""Who may ask the viewer, how much at once, and what no answer may tell.

The address that is printed holds a token; the first visit leaves it in a cookie, without which nothing is answered. So
neither another user of this machine nor a page of another site can look at the data.
"""

import hashlib
import re
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from assay.base import RunFailed

HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d{1,5})?")
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
LARGEST_BODY = 100_000
"""Bytes that a request may send."""
LONGEST_QUERY = 4_000
DRAWN_AT_ONCE = 2
PATIENCE = 20.0
"""Seconds that a request waits for others that draw or ask a model."""
ABSOLUTE = re.compile(r"(?<![\w.:/~*<-])/(?:[^/\s'\"<>|,;]+/)+(?=[^/\s])")


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(18)


@dataclass(frozen=True)
class Access:
    """Guards an application: the token, and places for work that is dear."""

    token: str
    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(DRAWN_AT_ONCE))

    @property
    def cookie(self) -> str:
        """The name of the cookie: another for each viewer, since a browser keeps those of all ports together."""
        return "assay-" + hashlib.sha256(self.token.encode()).hexdigest()[:12]

    def refusal(self, request: Request) -> tuple[int, str] | None:
        """Return the status and the reason why a request is refused, or None."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
            return 403, "this page is served to this machine only"
        if request.headers.get("origin", f"http://{hosts[0]}") != f"http://{hosts[0]}":
            return 403, "this page is served to its own pages only"
        if not self._same(request.cookies.get(self.cookie, "")):
            return 403, "open the address that the viewer printed, with its token"
        length = request.headers.get("content-length", "0")
        if "transfer-encoding" in request.headers or not length.isdecimal() or int(length[:9]) > LARGEST_BODY:
            return 413, f"a request has at most {LARGEST_BODY:,} bytes"
        if len(request.url.query) > LONGEST_QUERY:
            return 414, f"a query has at most {LONGEST_QUERY:,} letters"
        return None

    def welcome(self, request: Request) -> Response | None:
        """Return the answer to a first visit, whose address has the token: the cookie, and the page without it."""
        host = request.headers.get("host", "")
        if request.method != "GET" or request.url.path != "/" or not HOST.fullmatch(host):
            return None
        if not self._same(request.query_params.get("token", "")):
            return None
        response = Response(status_code=303, headers={"Location": "/"})
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="lax", path="/")
        return response

    def _same(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    @contextmanager
    def one_place(self) -> Iterator[None]:
        """Wait for a place to draw or to ask a model; refuse where others take too long."""
        if not self.places.acquire(timeout=PATIENCE):
            raise RunFailed("the viewer is busy with other requests; try again")
        try:
            yield
        finally:
            self.places.release()


def hide_paths(data: Any, known: Sequence[Path] = ()) -> Any:
    """Return plain data without the folders of absolute paths: only their last part is told.

    >>> hide_paths({"why": "shard '/home/me/my data/test/part-0.parquet' is missing"}, [Path("/home/me/my data")])
    {'why': "shard 'test/part-0.parquet' is missing"}
    >>> hide_paths(["/home/me/photos/1.jpg", "a / b", "https://example.org/x/y"])
    ['1.jpg', 'a / b', 'https://example.org/x/y']
    """
    if isinstance(data, dict):
        return {hide_paths(key, known): hide_paths(value, known) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [hide_paths(value, known) for value in data]
    if not isinstance(data, str) or "/" not in data or data.startswith("data:"):  # a picture as an address
        return data
    for folder in known:  # those whose names have spaces too, which no pattern can tell from text
        data = data.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return ABSOLUTE.sub("", data)

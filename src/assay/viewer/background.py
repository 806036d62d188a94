"""The viewer beside other work: in a thread of its own, for notebooks."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from assay.errors import RunFailed
from assay.html import html_text
from assay.viewer.serve import listen, server_of
from assay.viewer.state import Ask, State

START = 10.0
"""Seconds that the server may take to begin."""


@dataclass(frozen=True, repr=False)
class Viewer:
    """A viewer that is being served."""

    url: str
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        """Stop serving."""
        self.server.should_exit = True
        self.thread.join(START)

    def __repr__(self) -> str:
        return f"Viewer({self.url})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">{self.url}</a>' + html_text("viewer.stop() ends it")


def serve_in_background(folders: Sequence[Path], ask: Ask, port: int = 0) -> Viewer:
    """Serve datasets and runs until the viewer is stopped or the process ends."""
    state = State.open(list(folders), ask)
    listening, url = listen(port)
    server = server_of(state)
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    thread.start()
    deadline = time.monotonic() + START
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RunFailed("the viewer did not start")
        time.sleep(0.02)
    return Viewer(url, server, thread)

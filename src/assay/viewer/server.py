"""Serves the viewer on the loopback address: until Ctrl-C, or beside other work for notebooks."""

import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import uvicorn

from assay.base import ConfigError, RunFailed, html_link
from assay.viewer.access import new_token
from assay.viewer.app import create_app
from assay.viewer.state import State

ADDRESS = "127.0.0.1"
PATIENCE = 10.0
"""Seconds that the server may take to start, and to stop."""


@dataclass(frozen=True, repr=False)
class Viewer:
    """A viewer that is being served in the background."""

    url: str
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        """Stop serving."""
        self.server.should_exit = True
        self.thread.join(PATIENCE)

    def __repr__(self) -> str:
        return f"Viewer({self.url})"

    def _repr_html_(self) -> str:
        return html_link(self.url, "(stop() ends it)")


def serve(state: State, port: int, say: Callable[[str], None], browse: bool) -> None:
    """Serve until Ctrl-C; port 0 takes any that is free.

    Parameters
    ----------
    state
        What is served.
    port
        The port on the loopback address.
    say
        Told the address.
    browse
        Whether a browser is opened.
    """
    token = new_token()
    server_socket, address = _listen(port, token)
    server = _server(state, token)
    say(f"{address}  (Ctrl-C to stop)")
    if browse and _has_screen():
        webbrowser.open(address)
    with suppress(KeyboardInterrupt), server_socket:
        server.run(sockets=[server_socket])
    say("stopped")


def serve_in_background(state: State, port: int) -> Viewer:
    """Serve until the viewer is stopped or the process ends; port 0 takes any that is free."""
    token = new_token()
    server_socket, address = _listen(port, token)
    server = _server(state, token)
    thread = threading.Thread(target=lambda: server.run(sockets=[server_socket]), daemon=True)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RunFailed("the viewer did not start")
        time.sleep(0.02)
    return Viewer(address, server, thread)


def _listen(port: int, token: str) -> tuple[socket.socket, str]:
    try:
        server_socket = socket.create_server((ADDRESS, port))
    except OSError as error:
        raise ConfigError(
            f"port {port} cannot be used: {error.strerror}; leave --port out to take a free one"
        ) from None
    return server_socket, f"http://{ADDRESS}:{server_socket.getsockname()[1]}/?token={token}"


def _server(state: State, token: str) -> uvicorn.Server:
    app = create_app(state, token)
    return uvicorn.Server(
        uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", server_header=False, access_log=False)
    )


def _has_screen() -> bool:
    """Return whether a browser would open a window; without one it might take over the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

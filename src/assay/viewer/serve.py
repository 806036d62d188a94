"""Serves the viewer on the loopback address, until it is told to stop."""

import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from assay.errors import ConfigError
from assay.viewer.app import create_app
from assay.viewer.state import State

HOST = "127.0.0.1"


def listen(port: int) -> tuple[socket.socket, str]:
    """Take a port of the loopback address, any free one for 0; return the socket and the address for a browser."""
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(
            f"port {port} cannot be used: {error.strerror}; leave --port out to take a free one"
        ) from None
    return listening, f"http://{HOST}:{listening.getsockname()[1]}/"


def server_of(state: State) -> uvicorn.Server:
    """Return a server that is not yet running."""
    return uvicorn.Server(
        uvicorn.Config(create_app(state), log_level="warning", lifespan="off", ws="none", server_header=False)
    )


def serve(state: State, port: int, tell: Callable[[str], None], browse: bool) -> None:
    """Serve until Ctrl-C; port 0 takes any that is free."""
    listening, address = listen(port)
    server = server_of(state)
    tell(f"{address}  (Ctrl-C to stop)")
    if browse and _has_screen():
        webbrowser.open(address)
    with suppress(KeyboardInterrupt), listening:
        server.run(sockets=[listening])
    tell("stopped")


def _has_screen() -> bool:
    """Return whether a browser would open a window; without one it might take over the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

"""The command `assay`, and `python -m assay`. Ctrl-C while everything is imported is one line, not a traceback."""

import os
import signal
from typing import NoReturn


def main() -> None:
    """Import the command line and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # a shell may have told a command in the background to ignore Ctrl-C
        signal.signal(signal.SIGINT, _leave)
    from assay.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


def _leave(number: int, frame: object) -> NoReturn:
    os.write(2, b"error: interrupted before anything was done\n")
    os._exit(130)


if __name__ == "__main__":
    main()

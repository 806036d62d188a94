"""Record `assay demo` on a terminal: `python docs/record.py FOLDER` writes docs/images/demo.cast and demo.svg.

The cast is in asciinema's format, version 2: a line of facts, then a line for each output with its time. The picture is
of what stays on the screen at the end. The demo writes to `demo` in that folder; one that is finished takes seconds.
"""

import io
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

from rich.console import Console
from rich.text import Text

IMAGES = Path(__file__).resolve().parent / "images"
COLUMNS, ROWS = 124, 32
PAUSE = 2.0
CONTROL = re.compile(r"\x1b\[(?:\?\d+[hl]|\d*[AKJ])|\r")
"""What moves the cursor or clears lines; colours stay."""
FONT = re.compile(r"@font-face \{.*?\}", re.S)
"""Fonts that a picture would fetch from elsewhere; the reader's own will do."""


def record(command: list[str]) -> list[tuple[float, str]]:
    """Run a command on a terminal of its own and return what it wrote, each piece with its time."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        os.execvp(command[0], command)
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began, pieces = time.monotonic(), list[tuple[float, str]]()
    while True:
        select.select([terminal], [], [])
        try:
            output = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        if not output:
            break
        pieces.append((time.monotonic() - began, output.decode(errors="replace")))
    os.waitpid(process, 0)
    return pieces


def thin(pieces: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Leave out progress bars that are drawn anew within two seconds; each begins its line again."""
    kept, last = list[tuple[float, str]](), -PAUSE
    for when, text in pieces:
        bar = text.startswith("\r") and "\n" not in text
        if not bar or when - last >= PAUSE:
            kept.append((when, text))
            last = when if bar else last
    return kept


def last_screen(pieces: list[tuple[float, str]]) -> Text:
    """Return what is left at the end: from the question on, which the demo prints after its progress."""
    whole = CONTROL.sub("", "".join(text for _, text in pieces))
    return Text.from_ansi(whole[whole.index("Has each model") :])


def main() -> None:
    """Record the demo."""
    os.chdir(sys.argv[1])
    pieces = record(["assay", "demo"])
    facts = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "assay demo", "env": {"TERM": "xterm-256color"}}
    lines = [facts, *([round(when, 3), "o", text] for when, text in thin(pieces))]
    (IMAGES / "demo.cast").write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    screen = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    screen.print(Text("$ assay demo\n"), last_screen(pieces))
    picture = FONT.sub("", screen.export_svg(title="assay demo", unique_id="demo"))
    (IMAGES / "demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()

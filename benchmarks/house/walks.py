"""`python -m benchmarks.house walks`: the modules that calls pass through in three commands, in order of first touch.

Each command runs in a process of its own on tiny data, with a profiler that notes each function called. What runs while
a module is imported does not count: a reader who follows the calls does not pass there. The modules of one registry
(metrics, checks, readers of a table's columns) count once, as a reader looks at one of them. `--write` puts the three
walks as diagrams into `docs/architecture.md`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PICTURES = ROOT / "docs" / "images" / "walks"
WIDTH, ROW, TOP, NAMES, BARS, UNIT, ARCS = 560, 22, 36, 90, 98, 7, 345
INK, BAR, DOWN, BACK = "#767676", "#7aa6d8", "#2f7d4f", "#b5651d"
"""Colours that can be read on a light and on a dark page; a call back to a room that was met before is brown."""
REGISTRIES = {
    "checks of a diagnosis": r"diagnosis/checks/",
    "metrics": r"metrics/(boundary|calibration|concept_collapse|consistency|quality|transposed)\.py",
}
"""The modules whose functions register under names, as `assay list` shows them; those of one registry count once."""
WALKS = {
    "make": "make mnadd-evenodd -n 60 --workers 1 -o data",
    "train": "train dpl data --set epochs=1 -o run",
    "diagnose": "diagnose run",
}
"""The words of each command; each runs where those before it left their folders."""
MOST = {"make": 42, "train": 50, "diagnose": 52}
"""More would be a house in which a newcomer is lost."""
TRACE = r"""
import inspect, json, os, sys
from pathlib import Path
import assay
from assay.__main__ import main
HOME = str(Path(assay.__file__).parent) + os.sep
steps, inside = [], [0]
def watch(frame, event, what):
    code = frame.f_code
    if code.co_name == "<module>":
        inside[0] += (event == "call") - (event == "return")
    elif event == "call" and not inside[0] and code.co_filename.startswith(HOME):
        if not code.co_flags & inspect.CO_OPTIMIZED:
            return  # the body of a class
        file = code.co_filename[len(HOME):]
        back = frame.f_back
        while back is not None and not back.f_code.co_filename.startswith(HOME):
            back = back.f_back
        caller = back.f_code.co_filename[len(HOME):] if back is not None else ""
        steps.append((caller, file, code.co_firstlineno))
sys.argv = ["assay", *sys.argv[2:]]
sys.setprofile(watch)
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
seen = dict.fromkeys(steps)
Path(os.environ["WALK"]).write_text(json.dumps(list(seen)))
"""


@dataclass(frozen=True)
class Walk:
    """The calls of a command: who called which function of which file, each once, in order of first touch."""

    name: str
    words: str
    calls: list[tuple[str, str, int]]

    @property
    def modules(self) -> list[str]:
        """The modules in order of first touch, those of a registry as one."""
        return list(dict.fromkeys(counted_as(file) for _, file, _ in self.calls))

    @property
    def rooms(self) -> list[tuple[str, str]]:
        """Which room calls which other, in order of first touch."""
        pairs = ((room_of(caller), room_of(file)) for caller, file, _ in self.calls if caller)
        return list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))

    def diagram(self) -> str:
        """Return the walk as an SVG: rooms in order of first touch with a bar of their modules, and arcs of calls."""
        count = Counter(room_of(module) for module in self.modules)
        rows = {room: TOP + ROW * number for number, room in enumerate(count)}
        height = TOP + ROW * len(rows)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'font-family="sans-serif" font-size="13" role="img" aria-label="{self.words}">',
            f'<text x="4" y="16" fill="{INK}">assay {self.words}: {len(self.modules)} modules</text>',
        ]
        for room, y in rows.items():
            parts.append(f'<text x="{NAMES}" y="{y + 4}" text-anchor="end" fill="{INK}">{room}</text>')
            parts.append(f'<rect x="{BARS}" y="{y - 7}" width="{UNIT * count[room]}" height="14" fill="{BAR}"/>')
            parts.append(f'<text x="{BARS + UNIT * count[room] + 4}" y="{y + 4}" fill="{INK}">{count[room]}</text>')
        for caller, room in self.rooms:
            start, end = rows[caller], rows[room]
            bend = ARCS + 10 + abs(end - start) * 0.45
            colour = DOWN if end > start else BACK
            parts.append(
                f'<path d="M {ARCS} {start} C {bend:.0f} {start}, {bend:.0f} {end}, {ARCS} {end}" fill="none" '
                f'stroke="{colour}"/><circle cx="{ARCS}" cy="{end}" r="3" fill="{colour}"/>'
            )
        return "\n".join([*parts, "</svg>"]) + "\n"

    def text(self) -> str:
        """Return what the page says of the walk."""
        functions = len({(file, line) for _, file, line in self.calls})
        rooms = len({room_of(module) for module in self.modules})
        return (
            f"`assay {self.words}`: {len(self.modules)} modules in {rooms} rooms, {functions} functions.\n\n"
            f"![Rooms in order of first touch, their modules, and who calls whom](images/walks/{self.name}.svg)"
        )


def counted_as(file: str) -> str:
    """Return the module, or what the modules of its registry are called.

    >>> counted_as("diagnosis/checks/sound.py"), counted_as("diagnosis/verdict.py")
    ('diagnosis/checks of a diagnosis', 'diagnosis/verdict.py')
    """
    kind = next((kind for kind, pattern in REGISTRIES.items() if re.match(pattern, file)), None)
    return file if kind is None else f"{file.split('/')[0]}/{kind}"


def room_of(file: str) -> str:
    """Return the room that a file lies in; a file that is in none is the entrance.

    >>> room_of("logic/formula.py"), room_of("doors.py")
    ('logic', 'assay')
    """
    return file.split("/")[0] if "/" in file else "assay"


def walk_all() -> list[Walk]:
    """Run the three commands, one after the other, in a folder that is deleted again."""
    with tempfile.TemporaryDirectory(prefix="walk-") as place:
        return [walk(name, words, Path(place)) for name, words in WALKS.items()]


def walk(name: str, words: str, place: Path) -> Walk:
    """Run a command with a profiler."""
    path = place / f"{name}.json"
    environment = {**os.environ, "WALK": str(path), "CUDA_VISIBLE_DEVICES": "", "XDG_CACHE_HOME": str(place / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", TRACE, name, *words.split()], cwd=place, env=environment, capture_output=True, text=True
    )
    if done.returncode or not path.exists():
        raise RuntimeError(done.stderr[-1000:])
    return Walk(name, words, [(str(a), str(b), int(c)) for a, b, c in json.loads(path.read_text(encoding="utf-8"))])


def page_with(walks: list[Walk], page: str) -> str:
    """Return the page of the architecture with these walks between its markers."""
    begin, end = "<!-- walks: begin -->", "<!-- walks: end -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n\n" + "\n\n".join(walk.text() for walk in walks) + f"\n\n{end}{rest.partition(end)[2]}"


def main(write: bool) -> int:
    """Print the walks, or write them into the page; fail where one is too long."""
    walks = walk_all()
    for each in walks:
        print(f"{each.name}: {len(each.modules)} modules (at most {MOST[each.name]})")
        print("  " + " ".join(each.modules))
    if write:
        PICTURES.mkdir(parents=True, exist_ok=True)
        for each in walks:
            (PICTURES / f"{each.name}.svg").write_text(each.diagram(), encoding="utf-8")
        PAGE.write_text(page_with(walks, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return int(any(len(each.modules) > MOST[each.name] for each in walks))

"""`python -m benchmarks.house.old FOLDER`: files of every kind as commands write them, and what they show.

They are made once for each release that changes a format, and must open with the same output for as long as 0.x
lasts: `tests/test_old_files.py` asks again. They are made in `/old-files`,
since records name the folders that they were written in.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from benchmarks.house.seen import call
from benchmarks.house.stage import PIXELS, STUDY, SUITE, WRITTEN, draw_pictures, filled

PLACE = Path("/old-files")
SHOWN = "shown.json"
SIZES = "--split valid=6 --split test=12 --split hard=6 --workers 1"
CPU = "--epochs 2 --set device=cpu"
COMMANDS = WRITTEN["old_files"]
FILL = {"PIXELS": PIXELS, "SIZES": SIZES, "CPU": CPU}
WRITE, READ = ([filled(words, FILL) for words in COMMANDS[what]] for what in ("write", "read"))
"""What writes the files, and what shows them."""


def write(folder: Path) -> None:
    """Write the files, and what is shown of them, into a folder."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    os.chdir(PLACE)
    os.environ |= {"ASSAY_CACHE": str(PLACE / ".cache"), "COLUMNS": "100", "NO_COLOR": "1"}
    draw_pictures(Path("mine"), 24)
    Path("study.yaml").write_text(STUDY.replace("[0, 1]", "[0]"), encoding="utf-8")
    Path("suite.yaml").write_text(SUITE, encoding="utf-8")
    for words in WRITE:
        if words.startswith("suite score"):
            enter()
        print(call(words), flush=True)
    for rest in ("entered", "mine", ".cache", "study/report", "intervened/interventions.html"):
        remove(Path(rest))
    shutil.copytree(PLACE, folder, dirs_exist_ok=True)
    shown = {words: call(words) for words in READ}
    (folder / SHOWN).write_text(json.dumps(shown, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(*shown.values(), sep="\n")
    shutil.rmtree(PLACE)


def remove(path: Path) -> None:
    """Take away what nobody opens again, or what is only needed here."""
    if path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def enter() -> None:
    """Write an entry of a model that another framework might have trained."""
    Path("entry/plain/seed0").mkdir(parents=True)
    Path("entry/entry.yaml").write_text(
        "suite: suite.yaml\nname: theirs\nlevel: concepts\nseeds: [0]\n", encoding="utf-8"
    )
    for split in ("test", "hard", "pairs"):
        shutil.copy(f"entered/predictions/{split}.parquet", "entry/plain/seed0")


if __name__ == "__main__":
    write(Path(sys.argv[1]).absolute())

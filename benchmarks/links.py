"""Links that a stranger's folder comes with, in every place that a command writes or reads: does any lead out of it?

Each command is done once as it is, to see what it writes. Then, in a fresh copy, a link to a file or folder elsewhere
stands where it writes, where older versions kept what was not whole yet, in place of a folder on the way, or in place
of a file that it reads. What lies elsewhere must stay as it was, and what is read must not come from there.
"""

import contextlib
import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from assay.base import DataError
from assay.cli import main
from benchmarks.attempts import attempt
from benchmarks.fuzz import Work

COMMANDS = {
    "audit": "audit data",
    "pairs": "pairs data -n 8",
    "report": "report mine.parquet --data data -o OUT",
    "push": "push data OUT",
    "annotate": "annotate data -o OUT --set missing=0.3",
    "export": "export data -o OUT --to prolog",
    "import": "import table -o OUT",
    "make": "make mnlogic -n 40 --workers 1 -o OUT --set k=3",
    "view --bundle": "view data mine.parquet --bundle OUT --samples 2",
    "train": "train tree data -o OUT",
    "predict": "predict run --split test",
}
READ = {"show": "show data", "diagnose": "diagnose run", "score": "score mine.parquet data"}
"""Commands that only read: a file that they read lies elsewhere."""
PRECIOUS = "precious"
"""The folder that lies elsewhere."""


def run(words: str | Sequence[str]) -> str:
    """Do a command; return what it printed, and raise where it refuses."""
    sys.argv = ["assay", *(words.split() if isinstance(words, str) else words)]
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    said = err.getvalue()
    if status in (0, 1) and "Traceback" not in said:  # 1 says that a check failed
        return out.getvalue()
    if status == 2 and "Traceback" not in said:
        raise DataError(said.strip().splitlines()[-1])
    raise RuntimeError(f"status {status}: {said[-300:]}")


def planted_links(
    inputs: Path, names: tuple[str, ...], commands: dict[str, str] = COMMANDS, most: int = 6
) -> Iterator[tuple[str, Work]]:
    """Give an attempt for each command and each place where it writes, with a link there."""
    for verb, words in commands.items():
        place = _fresh(inputs, names, verb)
        before = _files(place)
        attempt(partial(_in, place, words))  # in a fork, so that this process stays as it is
        after = _files(place)
        written = sorted(name for name, data in after.items() if before.get(name) != data)
        for name in _few(written)[:most]:
            for kind in ("target", "temporary", "half", "folder"):
                yield f"{verb}: {kind} of {name}", partial(_write, inputs, names, words, name, kind)


def links_to_read(inputs: Path, names: tuple[str, ...], commands: dict[str, str] = READ) -> Iterator[tuple[str, Work]]:
    """Give an attempt for each file of a dataset or run, which lies elsewhere and is a link here."""
    for verb, words in commands.items():
        for folder in (name for name in ("data", "run") if name in words.split() and (inputs / name).is_dir()):
            for name in sorted(_files(inputs / folder)):
                yield f"{verb}: {folder}/{name}", partial(_read, inputs, names, words, f"{folder}/{name}")


def _in(place: Path, words: str) -> None:
    with contextlib.chdir(place):
        run(words)


def _few(written: list[str]) -> list[str]:
    """Return one of the files with each ending in each folder."""
    return list({(Path(name).parent, Path(name).suffix): name for name in written}.values())


def _fresh(inputs: Path, names: tuple[str, ...], what: str) -> Path:
    place = inputs / "links" / "".join(sign if sign.isalnum() else "-" for sign in what)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in names:
        copy = shutil.copytree if (inputs / name).is_dir() else shutil.copy
        copy(inputs / name, place / name)
    return place


def _write(inputs: Path, names: tuple[str, ...], words: str, name: str, kind: str) -> bool:
    """Return whether what lies elsewhere is as it was after a command that met a link."""
    place = _fresh(inputs, names, "attempt")
    outside = _outside(place)
    target = place / name
    link = {
        "target": target,
        "temporary": target.with_name(f".{target.name}.tmp"),
        "half": (place / Path(name).parts[0]).with_name(f".{Path(name).parts[0]}.half"),
        "folder": target.parent,
    }[kind]
    if place in (link, link.parent) and kind == "folder":  # which the user names
        return True
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        shutil.copytree(link, outside / "folder", dirs_exist_ok=True)
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.symlink_to(outside / ("folder" if kind in ("half", "folder") else "file"))
    return _is_untouched(place, outside, words)


def _read(inputs: Path, names: tuple[str, ...], words: str, name: str) -> bool:
    """Return whether a command whose file lies elsewhere is refused; that it reads it is damage."""
    place = _fresh(inputs, names, "attempt")
    outside = _outside(place)
    shutil.move(place / name, outside / "secret")
    (place / name).symlink_to(outside / "secret")
    _in(place, words)
    return False


def _outside(place: Path) -> Path:
    outside = place.with_name(PRECIOUS)
    shutil.rmtree(outside, ignore_errors=True)
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("precious")
    (outside / "folder" / "kept").write_text("precious")
    return outside


def _is_untouched(place: Path, outside: Path, words: str) -> bool:
    before = _files(outside)
    refusal = None
    try:
        _in(place, words)
    except DataError as error:
        refusal = error
    if _files(outside) != before:
        return False
    if refusal is not None:
        raise refusal
    return True


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

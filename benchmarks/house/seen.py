"""Makes what a user sees comparable: calls a command, reads what it wrote, leaves out what differs by machine."""

import hashlib
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

CHANGING = re.compile(
    r"seconds|^versions?$|^assay$|created|^date$|memory|^time$|duration|python|platform|^sha256$|^md5$|bytes"
)
"""Keys of JSON whose values differ by run, machine or release."""
STAGE = re.compile(r"/[^\s\"',]*/house-\w+/stage")
"""Where the runs that probes begin from were trained."""
SCRUBBED = (
    (re.compile(r"^[^\n:]{1,80}: \d+ %, [\d,]+ of [\d,]+[^\n]*\n?", re.MULTILINE), ""),  # the bar of progress
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?)?"), "DATE"),
    (re.compile(r"\b[\d,.]+ (CPU )?(s|ms|seconds?|minutes?|h)\b"), "TIME"),
    (re.compile(r"[\d,]+ per (CPU )?second"), "SPEED"),
    (re.compile(r"\b0\.\d+\.\d+(\.dev\d+)?(\+\w+)?\b"), "VERSION"),
    (re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE), ""),
)  # fmt: skip
WORDS = {
    ".md",
    ".html",
    ".tex",
    ".csv",
    ".yaml",
    ".yml",
    ".txt",
    ".pl",
    ".svg",
    ".cnf",
    ".js",
    ".css",
    ".fen",
    ".b",
    ".py",
}
OPAQUE = {".safetensors", ".zip", ".gz", ".bz2", ".lock"}
"""Files of which only the name counts: weights, whose predictions are compared, and archives, which hold times."""


def scrub(text: str) -> str:
    """Return a text without times, paths and versions."""
    text = STAGE.sub("FOLDER", text.replace(str(Path.cwd()), "FOLDER"))
    for pattern, word in SCRUBBED:
        text = pattern.sub(word, text)
    return text


def flat(data: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each value of plain data, with its path; fractions with six digits."""
    if isinstance(data, Mapping):
        for key, part in data.items():
            yield from [f"{path}/{key}: ..."] if CHANGING.search(str(key)) else flat(part, f"{path}/{key}")
    elif isinstance(data, (list, tuple)) and any(isinstance(part, (Mapping, list, tuple)) for part in data):
        for number, part in enumerate(data):
            yield from flat(part, f"{path}/{number}")
    elif isinstance(data, (list, tuple)):
        yield scrub(f"{path}: [{', '.join(map(short, data))}]")
    else:
        yield scrub(f"{path}: {short(data)}")


def short(value: Any) -> str:
    """Return a value as text, fractions with six digits."""
    return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)


def text_of(written: str) -> str:
    """Return JSON as sorted lines, which new keys only add to, and any other text scrubbed."""
    with suppress(ValueError):
        if written.lstrip()[:1] in ("{", "["):
            return "\n".join(sorted(flat(json.loads(written))))
    return scrub(written)


def sha(data: str | bytes) -> str:
    """Return a digest of 16 letters."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]


def call(words: str) -> str:
    """Run `assay WORDS` in this process; return what it printed, and how it ended."""
    from assay.cli import main

    out, err, status = StringIO(), StringIO(), 0
    sys.argv = ["assay", *shlex.split(words)]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
    parts = [f"$ assay {words}", text_of(out.getvalue()), text_of(err.getvalue())]
    return "\n".join(part for part in [*parts, f"status {status}" if status else ""] if part)


def content(path: Path) -> str:
    """Return what a file holds: as text where it is one, of a table all values, of a picture a digest."""
    if path.suffix in OPAQUE:
        return "there"
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.ParquetFile(path).read()
        return "\n".join(
            f"{name} {column.type}: {column_digest(column)}"
            for name, column in zip(table.column_names, table.columns, strict=True)
            if not CHANGING.search(name)
        )
    if path.suffix == ".json" or path.suffix in WORDS:
        return text_of(path.read_text(encoding="utf-8"))
    return sha(path.read_bytes())


def column_digest(column: Any) -> str:
    """Return a digest of a column's values; few short ones as they are."""
    text = "\n".join(sha(value) if isinstance(value, bytes) else "\n".join(flat(value)) for value in column.to_pylist())
    return scrub(text.replace("\n: ", ", ")) if len(text) < 100 else sha(scrub(text))


def tree(folder: Path) -> str:
    """Return a line for every file of a folder, with a digest of what it holds."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "\n".join(f"{path.relative_to(folder)} {sha(content(path))}" for path in files)

"""Python files of a user's own, run only where the user named them: on the command line, or in a call.

A file is read once, and the bytes that were hashed are those that are run. What it defines is found by the registries
under its own name, as if it were installed. No name out of a dataset, a run or a study is ever handed to `load_file`:
what they record of a file (its name and its hash) is only compared with the file that the user gave.
"""

import hashlib
import importlib.abc
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.base.errors import ConfigError

REFERENCE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>[\w. -]+))?")
RECORD = "code_file"
"""The attribute of a module, or of a class, that says which file it came from."""

IMPORTING = ("importlib", "_frozen_importlib")
"""The modules that import others."""


@dataclass(frozen=True)
class CodeFile:
    """A Python file as it was when it was run."""

    path: Path
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "CodeFile":
        """Return a file with its hash; nothing is run."""
        return cls(path.resolve(), hashlib.sha256(_read(path)).hexdigest())

    def to_dict(self) -> dict[str, str]:
        """Return the name and the hash, for the manifest of a dataset or the record of a run."""
        return {"name": self.path.name, "sha256": self.sha256}

    def __str__(self) -> str:
        return f"{self.path.name} (sha256 {self.sha256[:12]})"


@dataclass
class LoadedFile:
    """A file that was run: its module, and what it registered itself, by kind and name."""

    file: CodeFile
    module: ModuleType
    registered: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Source(importlib.abc.SourceLoader):
    """Runs the bytes that were hashed, and keeps no compiled copy that could be out of date."""

    path: Path
    text: bytes

    def get_filename(self, fullname: str) -> str:
        return str(self.path)

    def get_data(self, path: Any) -> bytes:
        return self.text


_loaded: dict[Path, LoadedFile] = {}
_running: list[LoadedFile] = []


def split_reference(reference: str) -> tuple[Path, str | None] | None:
    """Return the file and the name in `FILE.py` or `FILE.py:Name`; None for a registered name.

    >>> split_reference("lab/mine.py:Lamps")
    (PosixPath('lab/mine.py'), 'Lamps')
    >>> split_reference("mnadd") is None
    True
    """
    found = REFERENCE.fullmatch(reference)
    return None if found is None else (Path(found["file"]), found["name"])


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise ConfigError(f"no file {str(path)!r}")
    return path.read_bytes()


def load_file(path: Path, sha256: str | None = None) -> LoadedFile:
    """Run a Python file, unless that is done, and return what came of it; refuse one that has another hash."""
    text = _read(path)
    file = CodeFile(path.resolve(), hashlib.sha256(text).hexdigest())
    if sha256 not in (None, file.sha256):
        raise ConfigError(f"{path.name} has changed since it was read; run the command again")
    known = _loaded.get(file.path)
    if known is None or known.file != file:
        known = _run(file, text)
        _loaded[file.path] = known
    return known


def _run(file: CodeFile, text: bytes) -> LoadedFile:
    name = f"assay_file_{hashlib.sha256(str(file.path).encode()).hexdigest()[:8]}_{file.sha256[:16]}"
    spec = importlib.util.spec_from_loader(name, _Source(file.path, text), origin=str(file.path))
    if spec is None or spec.loader is None:
        raise ConfigError(f"{file.path.name} is no Python file")
    loaded = LoadedFile(file, importlib.util.module_from_spec(spec))
    setattr(loaded.module, RECORD, file)
    sys.modules[name] = loaded.module
    _running.append(loaded)
    try:
        spec.loader.exec_module(loaded.module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ConfigError(f"{file.path.name} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        _running.pop()
    return loaded


def running_file() -> LoadedFile | None:
    """Return the file that is being run and has called, directly: what it imports registers for itself."""
    frame = sys._getframe(1) if _running else None
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(IMPORTING):
            return None
        if frame.f_globals.get(RECORD) == _running[-1].file:
            return _running[-1]
        frame = frame.f_back
    return None


def loaded_files() -> tuple[LoadedFile, ...]:
    """Return the files that were run."""
    return tuple(_loaded.values())


def load_files(files: Iterable[CodeFile]) -> None:
    """Run files in a worker process, each as it was in the process that asked for the work."""
    for file in files:
        load_file(file.path, file.sha256)


def forget_files() -> None:
    """Let no registry find what files define: every command begins with none."""
    _loaded.clear()


def code_of(thing: Any) -> CodeFile | None:
    """Return the file that defines a class, None if it was installed."""
    found = getattr(thing, RECORD, None) or getattr(sys.modules.get(thing.__module__), RECORD, None)
    return found if isinstance(found, CodeFile) else None


def _in_words(record: object) -> str | None:
    """Return the file that a manifest or a run names in words; it may be anyone's, so it is only shown, shortened."""
    if not isinstance(record, Mapping):
        return None
    name = "".join(sign for sign in str(record.get("name", "")).rpartition("/")[2] if sign.isprintable())
    return f"{name[:80] or 'FILE.py'} (sha256 {str(record.get('sha256', ''))[:12]})"


def require_same(given: CodeFile | None, record: object, what: str) -> None:
    """Refuse a file that is not the recorded one; what is installed, or was then, has a version instead.

    Parameters
    ----------
    given
        The file that is at hand, None for what is installed.
    record
        The name and hash that a manifest or a run keeps.
    what
        What the record is about, as the refusal says it.
    """
    if given is None or not isinstance(record, Mapping):
        return
    if record.get("sha256") != given.sha256:
        raise ConfigError(f"{what} is of {_in_words(record)}, the file given is {given}; give the file as it was then")


def explain_missing(kind: str, name: str, record: object, what: str) -> str:
    """Return one line for a task or model that is not at hand: no code runs because a folder names it.

    Parameters
    ----------
    kind
        `task` or `model`, which is also the option that gives the file.
    name
        What was asked for.
    record
        The name and hash of the file as a manifest or a run keeps them; None for what a package brought.
    what
        Whose it is, as the line says it: a dataset or a run.
    """
    file = _in_words(record)
    if file is None:
        return (
            f"the {kind} {name!r} of {what} is not installed; install its package, or give its file: --{kind} FILE.py"
        )
    short = file.partition(" (")[0]
    return f"the {kind} {name!r} of {what} is in {file}, which is not run unasked; give it: --{kind} {short}"

"""Replies on disk, by the hash of the request: a restarted run requests only what is missing."""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay.base import ConfigError, write_atomically
from assay.contracts import to_json
from assay.dataset import cache_folder
from assay.models.language.incontext.client import Reply

FORMAT = 1


def default_folder() -> Path:
    """Return where answers are kept: in `$ASSAY_CACHE`, or in `assay` in the user's cache folder."""
    return cache_folder() / "answers"


def request_hash(body: Mapping[str, Any]) -> str:
    """Return the hash of a request: of the model's name, the settings and every message, pictures included.

    >>> request_hash({"a": 1, "b": 2}) == request_hash({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Cache:
    """A folder of answers, a file each, written whole or not at all."""

    folder: Path
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def check(self) -> None:
        """Raise unless the folder can be written: replies cost too much to be lost."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cache: answers cannot be kept in {str(self.folder)!r}: {error.strerror}") from None

    def path(self, request: str) -> Path:
        """Return where the answer to a request is."""
        return self.folder / request[:2] / f"{request}.json"

    def get(self, request: str) -> Reply | None:
        """Return the answer to a request; None where there is none, or a damaged one, which is asked for again."""
        try:
            entry = json.loads(self.path(request).read_bytes())
            body = entry["reply"]
            if entry["format"] != FORMAT or entry["request"] != request or entry["sha256"] != _seal(request, body):
                return None
            return Reply(**body)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, request: str, reply: Reply) -> None:
        """Keep an answer."""
        body = asdict(reply)
        entry = {"format": FORMAT, "request": request, "reply": body, "sha256": _seal(request, body)}
        with self._lock:
            write_atomically(self.path(request), to_json(entry))


def _seal(request: str, body: Mapping[str, Any]) -> str:
    return request_hash({"request": request, "reply": body})

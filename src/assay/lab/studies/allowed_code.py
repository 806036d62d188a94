"""Python files that a study names: run only if the user allowed each of them on the command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.base import ConfigError, Registry, Settings, hash_file, load_file, split_reference
from assay.diagnosis import FINDINGS
from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS

LISTS: dict[str, tuple[str, Registry]] = {
    "tasks": ("task", TASKS),
    "models": ("model", MODELS),
    "metrics": ("metric", METRICS),
    "findings": ("finding", FINDINGS),
}
"""The lists of a study whose entries may be files: the key of an entry's name, and where it registers."""


def allow_code(settings: Settings, study: Path, code: Sequence[Path]) -> Settings:
    """Return the settings of a study with each `FILE.py:Name` as a registered name; files not in `code` are refused.

    A file is named by its path from where the command is run, or from the study's folder.
    """
    allowed = {path.resolve(): path for path in code}
    values = dict(settings.values)
    for key, (kind, registry) in LISTS.items():
        listed = values.get(key)
        if isinstance(listed, list):
            places = [
                settings.places.get(f"{key}.{number}", settings.places.get(key, "")) for number in range(len(listed))
            ]
            pairs = zip(listed, places, strict=True)
            values[key] = [_allowed(entry, kind, registry, (study, allowed, place)) for entry, place in pairs]
    for path in code:
        load_file(path)
    return Settings(values, settings.places)


def _allowed(entry: Any, kind: str, registry: Registry, where: tuple[Path, dict[Path, Path], str]) -> Any:
    """Return an entry of a list, the file in it replaced by the name of what it defines."""
    study, allowed, place = where
    reference = entry.get(kind) if isinstance(entry, dict) else entry
    parts = split_reference(reference) if isinstance(reference, str) else None
    if parts is None:
        return entry
    candidates = [path for path in (parts[0], study.parent / parts[0]) if path.resolve() in allowed]
    if not candidates:
        file = next((path for path in (parts[0], study.parent / parts[0]) if path.is_file()), None)
        shown = f" ({hash_file(file)})" if file is not None else ""
        raise ConfigError(
            f"{f'{place}: ' if place else ''}{reference!r} is code, and no code is run because a study names it; "
            f"to run it: --allow-code {parts[0]}{shown}"
        )
    path = allowed[candidates[0].resolve()]
    name = registry.resolve(f"{path}:{parts[1]}" if parts[1] else str(path))
    return {**entry, kind: name} if isinstance(entry, dict) else name

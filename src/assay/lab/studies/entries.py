"""The entries of a study's lists: tasks, models, challenges; `each` makes several of one.

An entry may be a Python file, which is run only if the user allowed it on the command line.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.base import CodeFile, ConfigError, Registry, Settings, load_file, split_reference, suggestion
from assay.diagnosis import FINDINGS
from assay.lab.steps import short_hash
from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS

EACH = "each"
"""The key of lists in an entry; the entry stands for every combination of their values."""
LISTS: dict[str, tuple[str, Registry]] = {
    "tasks": ("task", TASKS),
    "models": ("model", MODELS),
    "metrics": ("metric", METRICS),
    "findings": ("finding", FINDINGS),
}
"""The lists of a study whose entries may be files: the key of an entry's name, and where it registers."""


@dataclass(frozen=True)
class StudyEntry:
    """One configuration of a task, a model or a challenge: its registered name, what it is called, its settings."""

    name: str
    label: str
    settings: Settings
    place: str = ""
    """Where it is written."""
    on: tuple[str, ...] = ()


def entries(
    kind: str,
    listed: Iterable[str | dict[str, Any]],
    settings: Settings,
    known: Iterable[str] | None,
    absent: list[str] | None,
) -> list[StudyEntry]:
    """Return the entries of a list, one for each combination of `each`; names that are not known go to `absent`."""
    expanded: list[StudyEntry] = []
    for number, entry in enumerate(listed):
        own = _entry(kind, number, entry, settings)
        name = str(own.values[kind])
        if known is not None and name not in known and not is_dataset(name):
            if absent is None:
                raise ConfigError(f"{own.place(kind)}no {kind} named {name!r}{suggestion(name, known)}")
            absent.append(f"{kind} {name!r}, which is not there")
            continue
        expanded += _combinations(kind, name, own)
    return _name_uniquely(kind, expanded, settings)


def is_dataset(name: str) -> bool:
    """Return whether a name is the folder of a dataset that is there."""
    return (Path(name) / "manifest.json").is_file()


def _name_uniquely(kind: str, expanded: list[StudyEntry], settings: Settings) -> list[StudyEntry]:
    """Return the entries with distinct labels: a second `mnlogic` with other settings is `mnlogic-2`."""
    named: dict[str, StudyEntry] = {}
    for entry in expanded:
        if any((entry.name, entry.settings.values) == (old.name, old.settings.values) for old in named.values()):
            raise ConfigError(
                f"{settings.place(f'{kind}s')}{kind} {entry.label!r} is listed twice with the same settings"
            )
        number = 2
        label = entry.label
        while label in named:
            label, number = f"{entry.label}-{number}", number + 1
        named[label] = replace(entry, label=label)
    return list(named.values())


def _entry(kind: str, place: int, entry: str | dict[str, Any], settings: Settings) -> Settings:
    """Return an entry of a list as settings, with the line of each key."""
    values: dict[str, Any] = {kind: entry} if isinstance(entry, str) else dict(entry)
    here = f"{kind}s.{place}"
    start = settings.places.get(here, f"{kind}s")
    if kind not in values:
        raise ConfigError(f"{start}: an entry without {kind!r}: {entry!r}")
    return Settings(values, {key: settings.places.get(f"{here}.{key}", start) for key in values})


def _combinations(kind: str, name: str, entry: Settings) -> list[StudyEntry]:
    each = entry.values.get(EACH, {})
    if not isinstance(each, dict) or not all(isinstance(values, list) and values for values in each.values()):
        raise ConfigError(f"{entry.place(EACH)}each: expected 'key: [value, ...]'")
    label = str(entry.values.get("name", Path(name).resolve().name if is_dataset(name) else name))
    if not f"_{label}".replace("-", "_").replace(".", "_").isidentifier():
        raise ConfigError(f"{entry.place('name')}name: {label!r} must be letters, digits, '_', '-' and '.'")
    on = entry.values.get("on", [])
    own = entry.without({kind, "name", EACH, "on"})
    combinations = []
    for values in itertools.product(*each.values()):
        chosen = dict(zip(each, values, strict=True))
        full_label = "-".join([label, *(_word(key, value) for key, value in chosen.items())])
        place = dict.fromkeys(chosen, entry.places.get(EACH, EACH))
        combinations.append(
            StudyEntry(name, full_label, own.merge(Settings(chosen, place)), entry.places[kind], tuple(map(str, on)))
        )
    return combinations


def _word(key: str, value: Any) -> str:
    """Return a setting as part of a name.

    >>> _word("rule", "theory_x"), _word("n", 100), _word("deep", True)
    ('theory_x', 'n100', 'deep-yes')
    """
    if isinstance(value, str):
        return "".join(sign if sign.isalnum() or sign in "._" else "-" for sign in value)
    if isinstance(value, bool):
        return f"{key}-{'yes' if value else 'no'}"
    return f"{key}{value}" if isinstance(value, (int, float)) else f"{key}-{short_hash(value)}"


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
        shown = f" ({CodeFile.of(file)})" if file is not None else ""
        raise ConfigError(
            f"{f'{place}: ' if place else ''}{reference!r} is code, and no code is run because a study names it; "
            f"to run it: --allow-code {parts[0]}{shown}"
        )
    path = allowed[candidates[0].resolve()]
    name = registry.resolve(f"{path}:{parts[1]}" if parts[1] else str(path))
    return {**entry, kind: name} if isinstance(entry, dict) else name

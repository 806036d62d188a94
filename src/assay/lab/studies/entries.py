"""The entries of a study's lists: tasks, models, challenges; `each` makes several of one."""

import hashlib
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.base import ConfigError, Settings, suggestion

EACH = "each"
"""The key of lists in an entry; the entry stands for every combination of their values."""


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


def short_hash(data: Any) -> str:
    """Return a few letters that stand for plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()[:8]

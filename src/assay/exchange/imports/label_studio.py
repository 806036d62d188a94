"""Label Studio, exported as JSON: a list of tasks, each with a picture and the annotations of one or more people.

Choices, ratings and numbers are concepts, or labels where they are named as such; a question with several choices at
once gives a concept for each choice, and a labelled box whether there is one. The majority of annotators counts.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from assay.base import DataError
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import (
    SourceTable,
    choose,
    files_in,
    majority,
    need_label,
    plain_name,
    read_text,
    split_name,
    to_value,
)
from assay.logic import Value

PICTURE_KEYS = ("image", "img", "picture", "photo", "file")


def is_label_studio(folder: Path) -> bool:
    """Return whether a folder has this layout."""
    return _label_studio_file(folder) is not None


def _label_studio_file(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.glob("*.json")) if _tasks(path)), None)


def _tasks(path: Path) -> list[Any]:
    try:
        data = json.loads(read_text(path))
    except ValueError:
        return []
    whole = isinstance(data, list) and all(isinstance(task, Mapping) and "annotations" in task for task in data)
    return data if whole else []


def read_label_studio(folder: Path, settings: ImportSettings) -> SourceTable:
    """Read the folder."""
    path = _label_studio_file(folder)
    if path is None:
        raise DataError(f"{str(folder)!r} has no JSON file with a list of tasks and their annotations")
    tasks = _tasks(path)
    try:
        answers = [[_answers(annotation) for annotation in task["annotations"]] for task in tasks]
        files = files_in(folder, [_task_picture(folder, task["data"], settings.picture) for task in tasks])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path.name}: a task lacks {error}") from None
    several = {name for people in answers for one in people for name, values in one.items() if len(values) > 1}
    votes = [[dict(_votes(one, several)) for one in people] for people in answers]
    names = list(dict.fromkeys(name for people in votes for one in people for name in one))
    absent = {name for name in names if name.partition("__")[0] in several}
    cells: dict[str, list[Value | None]] = {}
    agreement: dict[str, list[float | None]] = {}
    for name in names:
        both = [
            majority([v for one in people if (v := one.get(name, _none(name, absent))) is not None]) for people in votes
        ]
        cells[name], agreement[name] = [value for value, _ in both], [share for _, share in both]
    concepts, labels = choose(cells, settings, "question")
    need_label(labels, cells, "question")
    marked = [task["data"].get(settings.split or "split") for task in tasks]
    splits = [split_name(str(mark)) for mark in marked] if all(marked) else None
    shares = {name: column for name, column in agreement.items() if name in concepts and any(len(p) > 1 for p in votes)}
    return SourceTable(files, list(files.names), concepts, labels, splits, shares)


def _none(name: str, absent: set[str]) -> Value | None:
    """Return what it means that somebody did not choose: false for one of several choices, else not known."""
    return False if name in absent else None


def _answers(annotation: Mapping[str, Any]) -> dict[str, list[Value]]:
    """Return the values that one person gave to each question; a question may have several."""
    given: dict[str, list[Value]] = {}
    if annotation.get("was_cancelled"):
        return given
    for result in annotation["result"]:
        name, kind, value = plain_name(str(result["from_name"])), result["type"], result["value"]
        if kind in ("choices", "rectanglelabels", "polygonlabels", "brushlabels", "keypointlabels"):
            cells = value[kind]
        elif kind in ("rating", "number"):
            cells = [value[kind]]
        else:
            continue
        given.setdefault(name, []).extend(v for cell in cells if (v := to_value(cell)) is not None)
    return given


def _votes(answers: Mapping[str, list[Value]], several: set[str]) -> Iterator[tuple[str, Value]]:
    for name, values in answers.items():
        if name in several:
            yield from ((f"{name}__{plain_name(str(value))}", True) for value in values)
        elif values:
            yield name, values[0]


def _task_picture(folder: Path, data: Mapping[str, Any], asked: str) -> str:
    """Return the path of a task's picture: as exported, without the server's address, or by its name alone."""
    key = next((key for key in (asked, *PICTURE_KEYS) if key in data), None)
    if key is None:
        raise DataError(f"a task has no picture under {', '.join(PICTURE_KEYS)}; name its key: --set picture=KEY")
    address = urlparse(str(data[key]))
    text = parse_qs(address.query).get("d", [unquote(address.path)])[0]
    path = PurePosixPath(text.lstrip("/"))
    tails = ["/".join(path.parts[start:]) for start in range(len(path.parts))]
    inside = [f"{home}{tail}" for tail in tails for home in ("", "images/")]
    return next((place for place in inside if (folder / place).is_file()), str(path))

"""Which attributes of a layout are labels and which are concepts, as asked for."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from assay.base import ConfigError, UnknownName, suggestion
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import plain_name
from assay.logic import Value

T = TypeVar("T")
Cells = dict[str, list[Value | None]]


def choose(columns: Cells, settings: ImportSettings, kind: str) -> tuple[Cells, Cells]:
    """Return the columns that are concepts and those that are labels: as asked for, else all are concepts."""
    labels = _find(settings.labels, columns, kind)
    concepts = _find(settings.concepts, columns, kind) if settings.concepts else [n for n in columns if n not in labels]
    if set(concepts) & set(labels):
        raise ConfigError(f"{sorted(set(concepts) & set(labels))[0]!r} cannot be both a concept and a label")
    return {name: columns[name] for name in concepts}, {name: columns[name] for name in labels}


def _find(asked: Sequence[str], columns: Mapping[str, object], kind: str) -> list[str]:
    names = [name if name in columns else plain_name(name) for name in asked]
    for name, text in zip(names, asked, strict=True):
        if name not in columns:
            raise UnknownName(f"there is no {kind} {text!r}{suggestion(text, list(columns))}")
    return names


def need_label(labels: Mapping[str, T], columns: Mapping[str, object], what: str) -> Mapping[str, T]:
    """Return labels, refusing none: which column is to be predicted must be said."""
    if not labels:
        some = ", ".join(list(columns)[:8])
        raise ConfigError(f"say which {what} is the label: --label NAME, one or more of: {some}")
    return labels

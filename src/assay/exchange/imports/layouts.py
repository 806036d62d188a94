"""The layouts that are known, and which of them a source has."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.base import DataError, UnknownName, suggestion
from assay.exchange.imports import awa2, celeba, coco, cub, cvat, derm7pt, hub, label_studio, plain_table
from assay.exchange.imports.settings import ImportSettings
from assay.exchange.imports.source_table import SourceTable


@dataclass(frozen=True)
class SourceLayout:
    """How a source lies on disk: its name in words, whether a folder has it, and how it is read."""

    words: str
    recognise: Callable[[Path], bool]
    read: Callable[[Path, ImportSettings], SourceTable]


LAYOUTS: dict[str, SourceLayout] = {
    "table": SourceLayout(
        "a table of concepts", lambda folder: plain_table.find_table(folder) is not None, plain_table.read_folder
    ),
    "cub": SourceLayout("CUB-200-2011", cub.recognise, cub.read),
    "celeba": SourceLayout("CelebA", celeba.recognise, celeba.read),
    "awa2": SourceLayout("Animals with Attributes 2", awa2.recognise, awa2.read),
    "derm7pt": SourceLayout("Derm7pt", derm7pt.recognise, derm7pt.read),
    "cvat": SourceLayout("a CVAT export", cvat.recognise, cvat.read),
    "label_studio": SourceLayout("a Label Studio export", label_studio.recognise, label_studio.read),
    "coco": SourceLayout("COCO JSON", coco.recognise, coco.read),
    "hf": SourceLayout("a Hugging Face dataset", hub.recognise, hub.read),
}
"""By name, in the order in which they are tried."""


def layout_of(folder: Path, settings: ImportSettings) -> str:
    """Return the name of a folder's layout: as asked for, or the first that it has."""
    if not folder.is_dir():
        raise DataError(f"no folder {str(folder)!r} to import")
    if settings.layout is not None:
        if settings.layout not in LAYOUTS:
            raise UnknownName(f"no layout named {settings.layout!r}{suggestion(settings.layout, LAYOUTS)}")
        return settings.layout
    if settings.table is not None:
        return "table"
    found = next((name for name, layout in LAYOUTS.items() if layout.recognise(folder)), None)
    if found is None:
        raise DataError(
            f"{str(folder)!r} has no layout that is known ({', '.join(LAYOUTS)}); write a table concepts.csv with the "
            "columns file, concept_NAME and label_NAME, or name one: --set table=FILE"
        )
    return found

"""Import data of any origin: a folder in a known layout, a table in memory, or an image dataset of Hugging Face."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import DataError, Settings, UnknownName, suggestion, validate
from assay.contracts import CONCEPT, LABEL
from assay.dataset import Dataset
from assay.exchange.imports.attribute_files import is_awa2, is_celeba, is_cub, read_awa2, read_celeba, read_cub
from assay.exchange.imports.hub import is_hub, read_hub, table_of_parts
from assay.exchange.imports.object_files import (
    is_coco,
    is_cvat,
    is_label_studio,
    read_coco,
    read_cvat,
    read_label_studio,
)
from assay.exchange.imports.plain_table import (
    NUISANCE,
    Columns,
    columns_of_rows,
    find_table,
    is_derm7pt,
    read_columns,
    read_derm7pt,
    read_folder,
    source_names,
    table_from,
)
from assay.exchange.imports.source import (
    RULE,
    ImportSettings,
    RuleFile,
    SourceTable,
    files_in,
    plain_name,
    read_rule,
    rule_settings,
    split_name,
    to_values,
    values_in,
)
from assay.exchange.imports.write import ImportedSplit, class_indices, write_dataset
from assay.logic import Concept, ConceptSpace, Value
from assay.render import encode_png

Rule = str | Path | Mapping[str, Any] | None
"""A rule file, or what it would say; or only the formula of each label by name."""
RULE_KEYS = ("labels", "constraints", "splits", "disjoint")


def import_folder(
    source: Path | str, output: Path | str, rule: Rule = None, settings: Settings | None = None
) -> Dataset:
    """Write a folder in a known layout as a dataset and open it.

    Parameters
    ----------
    source
        The folder, in a known layout.
    output
        The folder of the dataset.
    rule
        A rule file, what it would say, or the formula of each label; by default `rule.yaml` of the source.
    settings
        Settings of `assay import`.
    """
    folder = Path(source)
    config = validate(ImportSettings, settings or Settings())
    name = layout_of(folder, config)
    table = LAYOUTS[name].read(folder, config)
    beside = folder / RULE if (folder / RULE).is_file() else None
    return _write(
        table, output, config, rule if rule is not None else beside, LAYOUTS[name].words, folder.resolve().name
    )


def from_table(
    table: Any,
    output: Path | str,
    *,
    images: Path | str | Sequence[Any] | None = None,
    rule: Rule = None,
    **settings: Any,
) -> Dataset:
    """Write a table of concepts and labels with its pictures as a dataset, and open it.

    >>> import tempfile
    >>> grey = [np.full((8, 8), value, dtype=np.uint8) for value in range(0, 200, 10)]
    >>> rows = {"bright": [value >= 10 for value in range(20)], "warn": [value >= 10 for value in range(20)]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = from_table(rows, folder, images=grey, concepts=["bright"], labels=["warn"], rule={"warn": "bright"})
    ...     print(data.split_names, data.knowledge.label("warn").formula)
    ('train', 'valid', 'test') bright

    Parameters
    ----------
    table
        A file (CSV, Parquet, JSON), a DataFrame, an Arrow table, a mapping of columns, or a list of rows. Columns
        begin with `concept_` and `label_`, or are named by the settings `concepts` and `labels`.
    output
        The folder of the dataset.
    images
        The folder that the column `file` is about, or the pictures themselves: arrays, or PIL images.
    rule
        A rule file, what it would say, or the formula of each label.
    **settings
        Settings of `assay import`.
    """
    config = validate(ImportSettings, Settings(settings))
    folder, pictures = None, None
    if isinstance(images, (str, Path)):
        folder = Path(images)
    elif images is not None:
        pictures = [_png(image, row) for row, image in enumerate(images)]
    elif isinstance(table, (str, Path)):
        folder = Path(table).parent
    columns = _columns(table)
    rows = len(next(iter(columns.values()), []))
    if pictures is not None and len(pictures) != rows:
        raise DataError(f"{len(pictures)} pictures for {rows} rows of the table; give one for each row")
    source = table_from(columns, folder, config, pictures)
    return _write(source, output, config, rule, "a table", Path(output).resolve().name)


def from_hf(dataset: Any, output: Path | str, *, rule: Rule = None, **settings: Any) -> Dataset:
    """Write an image dataset of Hugging Face as a dataset of assay, and open it; nothing is downloaded.

    Parameters
    ----------
    dataset
        A `datasets.Dataset`, a `DatasetDict`, or a folder with its Parquet or Arrow files.
    output
        The folder of the dataset.
    rule
        A rule file, what it would say, or the formula of each label.
    **settings
        Settings of `assay import`, such as `concepts` and `labels`, and `picture` if it is not the column `image`.
    """
    if isinstance(dataset, (str, Path)):
        return import_folder(dataset, output, rule, Settings({"layout": "hf", **settings}))
    config = validate(ImportSettings, Settings(settings))
    named = dict(dataset) if isinstance(dataset, Mapping) else {"": dataset}
    try:
        parts = [(split_name(str(name)), part.with_format("arrow")[:]) for name, part in named.items()]
        classes = {name: f.names for part in named.values() for name, f in part.features.items() if hasattr(f, "names")}
    except (AttributeError, TypeError):
        raise DataError(
            f"expected a datasets.Dataset, a DatasetDict or a folder, not {type(dataset).__name__}"
        ) from None
    source = table_of_parts([(name, _with_names(part, classes)) for name, part in parts], None, config)
    return _write(source, output, config, rule, LAYOUTS["hf"].words, Path(output).resolve().name)


def _with_names(table: Any, classes: Mapping[str, Sequence[str]]) -> Any:
    """Return an Arrow table with the names of classes in place of their numbers, and no description of its own."""
    import pyarrow as pa

    for name, names in classes.items():
        cells = [None if code is None or code < 0 else names[code] for code in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), name, pa.array(cells, pa.string()))
    return table.replace_schema_metadata(None)


def _write(
    table: SourceTable, output: Path | str, config: ImportSettings, rule: Rule, layout: str, name: str
) -> Dataset:
    used = config if config.name is not None else config.model_copy(update={"name": plain_name(name)})
    folder = Path(output)
    if table.splits is not None and "unused" in table.splits:
        table = table.take([row for row, split in enumerate(table.splits) if split != "unused"])
    write_dataset(table, folder, used, _rule(rule), layout)
    return Dataset.open(folder)


def _rule(rule: Rule) -> Settings:
    if isinstance(rule, Mapping):
        return rule_settings(rule if set(rule) <= set(RULE_KEYS) else {"labels": dict(rule)})
    return rule_settings(None if rule is None else Path(rule))


def _columns(table: Any) -> dict[str, list[Any]]:
    """Return the columns of a table of any kind."""
    if isinstance(table, (str, Path)):
        return read_columns(Path(table))
    if hasattr(table, "to_pydict"):  # Arrow
        return dict(table.to_pydict())
    if hasattr(table, "to_dict") and hasattr(table, "columns"):  # pandas
        return {str(name): list(table[name]) for name in table.columns}
    if isinstance(table, Mapping):
        return {str(name): list(column) for name, column in table.items()}
    return columns_of_rows(table)


def _png(image: Any, row: int) -> bytes:
    """Return a picture in memory as a PNG file."""
    if isinstance(image, bytes):
        return image
    pixels = np.asarray(image.convert("RGB") if hasattr(image, "convert") else image)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if np.issubdtype(pixels.dtype, np.floating) and pixels.size and pixels.min() >= 0 and pixels.max() <= 1:
        pixels = np.rint(255 * pixels).astype(np.uint8)
    try:
        return encode_png(pixels)
    except ValueError as error:
        raise DataError(
            f"picture {row}: {error}; give height x width (x 3) of bytes, or of numbers from 0 to 1"
        ) from None


@dataclass(frozen=True)
class SourceLayout:
    """How a source lies on disk: its name in words, whether a folder has it, and how it is read."""

    words: str
    recognise: Callable[[Path], bool]
    read: Callable[[Path, ImportSettings], SourceTable]


LAYOUTS: dict[str, SourceLayout] = {
    "table": SourceLayout("a table of concepts", lambda folder: find_table(folder) is not None, read_folder),
    "cub": SourceLayout("CUB-200-2011", is_cub, read_cub),
    "celeba": SourceLayout("CelebA", is_celeba, read_celeba),
    "awa2": SourceLayout("Animals with Attributes 2", is_awa2, read_awa2),
    "derm7pt": SourceLayout("Derm7pt", is_derm7pt, read_derm7pt),
    "cvat": SourceLayout("a CVAT export", is_cvat, read_cvat),
    "label_studio": SourceLayout("a Label Studio export", is_label_studio, read_label_studio),
    "coco": SourceLayout("COCO JSON", is_coco, read_coco),
    "hf": SourceLayout("a Hugging Face dataset", is_hub, read_hub),
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


@dataclass(frozen=True)
class LabelledFolder:
    """A folder with a table of concepts in which every cell is known, as it is before it is imported."""

    space: ConceptSpace
    labels: Mapping[str, tuple[Value, ...]]
    rule: RuleFile
    parts: tuple[ImportedSplit, ...]


def read_labelled(folder: Path) -> LabelledFolder:
    """Read a folder with a table of concepts that is whole: every concept and label known, every example in a split."""
    path = find_table(folder)
    if path is None:
        raise DataError(f"{str(folder)!r} has no table of concepts")
    columns = read_columns(path)
    names, label_names = (
        [column.removeprefix(kind) for column in columns if column.startswith(kind)] for kind in (CONCEPT, LABEL)
    )
    if "split" not in columns:
        raise DataError(f"{str(folder)!r}: the table has no column 'split'")
    if not names or not label_names:
        raise DataError(f"{str(folder)!r}: the table needs columns 'concept_NAME' and 'label_NAME'")
    _refuse_gaps(folder, columns)
    cells = {
        name: to_values(column, f"column {name!r}") if name.startswith((CONCEPT, LABEL)) else column
        for name, column in columns.items()
    }
    splits = list(dict.fromkeys(map(str, columns["split"])))
    space = ConceptSpace(tuple(Concept(name, values_in(cells[CONCEPT + name], name)) for name in names))
    rule = read_rule(rule_settings(folder / RULE if (folder / RULE).is_file() else None), space, label_names, splits)
    labels = {name: values_in(cells[LABEL + name], name) for name in label_names}
    if rule.knowledge is not None:
        labels = {label.name: label.values for label in rule.knowledge.labels}
    return LabelledFolder(
        space, labels, rule, tuple(_labelled_part(name, folder, cells, space, labels) for name in splits)
    )


def _refuse_gaps(folder: Path, columns: Columns) -> None:
    for name, column in columns.items():
        if name in ("split", "file") or name.startswith((CONCEPT, LABEL)):
            gap = next((row for row, value in enumerate(column) if value is None or value == ""), None)
            if gap is not None:
                raise DataError(
                    f"{str(folder)!r}: column {name!r} is empty in row {gap}; 'assay import' takes concepts with gaps"
                )


def _labelled_part(
    name: str, folder: Path, columns: Columns, space: ConceptSpace, labels: Mapping[str, tuple[Value, ...]]
) -> ImportedSplit:
    rows = [row for row, split in enumerate(columns["split"]) if str(split) == name]
    part = {key: [column[row] for row in rows] for key, column in columns.items()}
    concepts = [
        class_indices(part[CONCEPT + c.name], c.values, f"concept {c.name!r}", gaps=False) for c in space.concepts
    ]
    codes = [class_indices(part[LABEL + key], values, f"label {key!r}", gaps=False) for key, values in labels.items()]
    table = SourceTable(
        files_in(folder, part["file"]) if "file" in part else (),
        part.get("file", ()),
        {},
        {},
        nuisances={key.removeprefix(NUISANCE): part[key] for key in part if key.startswith(NUISANCE)},
        sources=[source_names(text) for text in part.get("source", ())],
        texts=["" if text is None else str(text) for text in part.get("text", ())],
    )
    return ImportedSplit(name, table, np.stack(concepts, axis=1), np.stack(codes, axis=1))

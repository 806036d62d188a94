"""What an import is told and reads: its settings, `rule.yaml`, and the table that every layout becomes."""

import keyword
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, overload

from pydantic import Field, field_validator

from assay.base import Config, ConfigError, DataError, Settings, UnknownName, load_yaml, suggestion, validate
from assay.logic import ConceptSpace, Constraint, Formula, Knowledge, Value, parse, shape_of

Resize = Literal["letterbox", "crop", "stretch"]
RULE = "rule.yaml"
MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""Texts that stand for no value, in any case of letters."""
WORDS: dict[str, Value] = {"true": True, "false": False, "yes": True, "no": False}
SPLITS = {"training": "train", "val": "valid", "validation": "valid", "dev": "valid", "testing": "test"}
"""Other names of the usual splits."""
LARGEST_FILE = 200_000_000
Cells = dict[str, list[Value | None]]


class ImportSettings(Config):
    """The settings of an import, the same for all layouts."""

    layout: str | None = None
    """The layout of the source; by default found by its files."""
    name: str | None = None
    """The name of the dataset; by default that of the source folder."""
    table: str | None = None
    """The table of concepts inside the folder, for the layout `table`; by default concepts.csv, .parquet or .json."""
    picture: str = "file"
    """The column that has the path of the picture, or the picture itself."""
    labels: list[str] = []
    """Columns, attributes or categories that are labels; by default columns `label_...`, or as the layout says."""
    concepts: list[str] = []
    """Those that are concepts; by default columns `concept_...`, or all that are no labels."""
    split: str | None = None
    """The column that has the split; by default `split`, or the files of the layout."""
    shares: dict[str, float] = {"train": 0.7, "valid": 0.15, "test": 0.15}
    """How large splits are made that the source does not have."""
    size: int | tuple[int, int] | None = None
    """Width and height of pictures; by default their own if all are alike and small, else 128."""
    resize: Resize = "letterbox"
    """How pictures of other shapes fit: `letterbox` (grey bars), `crop` (the middle), or `stretch`."""
    counts: bool = False
    """Of objects (COCO, CVAT): how many there are, instead of whether there is any."""
    seed: int = Field(0, ge=0)
    """The seed of splits that are made."""

    @field_validator("shares")
    @classmethod
    def _shares(cls, shares: dict[str, float]) -> dict[str, float]:
        if "train" not in shares or any(not 0 < share < 1 for share in shares.values()):
            raise ValueError("expected shares between 0 and 1, one of them of 'train'")
        if abs(sum(shares.values()) - 1) > 1e-6:
            raise ValueError("the shares must add up to 1")
        return shares

    @field_validator("size")
    @classmethod
    def _size(cls, size: int | tuple[int, int] | None) -> int | tuple[int, int] | None:
        sides = size if isinstance(size, tuple) else (size or 8,)
        if not all(8 <= side <= 2048 for side in sides):
            raise ValueError("expected 8 to 2048 pixels")
        return size


class RuleConfig(Config):
    """What `rule.yaml` may say."""

    labels: dict[str, str] = {}
    """The formula of each label."""
    constraints: dict[str, str] = {}
    """What must hold of every world, by name."""
    splits: dict[str, str] = {}
    """What holds of every world of a split."""
    disjoint: list[list[str]] = []
    """Lists of splits that share no world."""


@dataclass(frozen=True)
class RuleFile:
    """What a folder claims: the knowledge if its labels have formulas, where splits lie, and which share no world."""

    knowledge: Knowledge | None
    where: Mapping[str, Formula]
    disjoint: tuple[frozenset[str], ...]
    constraints: tuple[Constraint, ...] = ()

    def apart_from(self, split: str) -> tuple[str, ...]:
        """Return the splits that share no world with one."""
        return tuple(sorted({other for group in self.disjoint if split in group for other in group} - {split}))


def rule_settings(rule: Path | Mapping[str, object] | None) -> Settings:
    """Return what a rule file says, or a mapping in its place; nothing where there is neither."""
    if rule is None:
        return Settings()
    return load_yaml(rule) if isinstance(rule, Path) else Settings(rule)


def read_rule(settings: Settings, space: ConceptSpace, labels: Sequence[str], splits: Sequence[str]) -> RuleFile:
    """Return the rule for these concepts, labels and splits; refuse one that does not fit."""
    config = validate(RuleConfig, settings)
    if config.labels and set(config.labels) != set(labels):
        raise ConfigError(f"{settings.place('labels')}labels: expected a formula for each of {', '.join(labels)}")
    for key, named in (
        ("splits", list(config.splits)),
        ("disjoint", [split for group in config.disjoint for split in group]),
    ):
        for name in named:
            if name not in splits:
                raise ConfigError(f"{settings.place(key)}{key}: no split named {name!r}{suggestion(name, splits)}")
    where = {name: parse(text, space.names) for name, text in config.splits.items()}
    for name, formula in where.items():
        if shape_of(formula, space).kind != "bool":
            raise ConfigError(f"{settings.place('splits')}splits: {formula} of {name!r} must be true or false")
    limits = tuple(Constraint(name, parse(text, space.names)) for name, text in config.constraints.items())
    formulas = {name: parse(config.labels[name], space.names) for name in labels if config.labels}
    knowledge = Knowledge.of(space, formulas, limits) if formulas else None
    return RuleFile(knowledge, where, tuple(frozenset(group) for group in config.disjoint), limits)


def read_other_rule(path: Path, knowledge: Knowledge) -> Knowledge:
    """Return the rule of a file over the concepts of a dataset; its labels may be others."""
    settings = rule_settings(path)
    labels = settings.values.get("labels")
    if not isinstance(labels, dict) or not labels:
        raise ConfigError(f"{str(path)!r} gives no formula for a label; write labels: {{name: formula}}")
    other = read_rule(settings, knowledge.space, [str(name) for name in labels], []).knowledge
    if other is None or other.stochastic:
        raise ConfigError(f"{str(path)!r}: labels under another rule must follow from the concepts")
    return other


@dataclass(frozen=True)
class Files(Sequence[bytes]):
    """Pictures in a folder, read when asked for."""

    folder: Path
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> "Files": ...
    def __getitem__(self, place: int | slice) -> "bytes | Files":
        if isinstance(place, slice):
            return Files(self.folder, self.names[place])
        try:
            return (self.folder / self.names[place]).read_bytes()
        except OSError as error:
            raise DataError(f"picture {self.names[place]!r} cannot be read: {error.strerror}") from None


@dataclass(frozen=True)
class SourceTable:
    """A row an example: the picture files, and a column of cells for each concept and label; None is not known."""

    pictures: Sequence[bytes]
    names: Sequence[str]
    """The file name of each picture."""
    concepts: Mapping[str, Sequence[Value | None]]
    labels: Mapping[str, Sequence[Value | None]]
    splits: Sequence[str] | None = None
    agreement: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    """For concepts of several annotators or of probabilities: the share that agrees with the value, or its chance."""
    nuisances: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    sources: Sequence[tuple[str, ...]] = ()
    """The names of the source images that each picture shows, if known."""
    texts: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.pictures)

    def take(self, rows: Sequence[int]) -> "SourceTable":
        """Return some rows."""

        def columns(named: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
            return {name: [column[row] for row in rows] for name, column in named.items()}

        return SourceTable(
            [self.pictures[row] for row in rows],
            [self.names[row] for row in rows],
            columns(self.concepts),
            columns(self.labels),
            None if self.splits is None else [self.splits[row] for row in rows],
            columns(self.agreement),
            columns(self.nuisances),
            [self.sources[row] for row in rows] if self.sources else (),
            [self.texts[row] for row in rows] if self.texts else (),
        )


def files_in(folder: Path, names: Iterable[Any]) -> Files:
    """Return pictures of a folder, refusing those that are missing or lie elsewhere."""
    home = folder.resolve()
    listed = tuple(map(str, names))
    for name in listed:
        try:
            path = (home / name).resolve()
        except (OSError, RuntimeError, ValueError):
            raise DataError(f"picture {name!r} in {str(folder)!r} is no name of a file") from None
        if not path.is_relative_to(home):
            raise DataError(f"picture {name!r} lies outside the folder {str(folder)!r}; copy it inside")
        if not path.is_file():
            raise DataError(f"picture {name!r} is missing in {str(folder)!r}")
    return Files(folder, listed)


def read_text(path: Path) -> str:
    """Return a text file, in one line of error where that fails."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DataError(f"{str(path)!r} is larger than {LARGEST_FILE:,} bytes; divide it")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{str(path)!r} is not UTF-8 text") from None


def to_value(cell: Any, what: str = "a cell") -> Value | None:
    """Return what a cell means: a truth value, a whole number, a text, or None where it is empty.

    >>> [to_value(cell) for cell in ("yes", "3", 2.0, " red ", "NA", None)]
    [True, 3, 2, 'red', None, None]
    """
    if isinstance(cell, str):
        text = cell.strip()
        if text.lower() in MISSING:
            return None
        if text.lower() in WORDS:
            return WORDS[text.lower()]
        try:
            return int(text)
        except ValueError:
            return text
    if hasattr(cell, "item") and not isinstance(cell, (bytes, list)):
        cell = cell.item()  # a number of numpy
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, (bool, int)):
        return cell
    raise DataError(f"{what}: {cell!r} is no truth value, whole number or text; divide measurements into a few ranges")


def to_values(column: Iterable[Any], what: str) -> list[Value | None]:
    """Return what the cells of a column mean; among texts, numbers and "yes" and "no" are texts as well.

    >>> to_values(["yes", "no", "maybe"], "a"), to_values(["1", "2", "3+"], "b")
    (['yes', 'no', 'maybe'], ['1', '2', '3+'])
    """
    cells = list(column)
    values = [to_value(cell, what) for cell in cells]
    if not any(isinstance(value, str) for value in values):
        return values
    return [_as_text(value, cell) for value, cell in zip(values, cells, strict=True)]


def _as_text(value: Value | None, cell: Any) -> Value | None:
    """Return a cell of a column of texts; a truth value among them stays one, so that the mixture is refused."""
    if value is None or isinstance(value, str):
        return value
    truth = isinstance(value, bool) and not (isinstance(cell, str) and cell.strip().lower() in ("yes", "no"))
    return value if truth else str(cell).strip() if isinstance(cell, str) else str(value)


def values_in(column: Iterable[Value | None], what: str) -> tuple[Value, ...]:
    """Return the values of a column in order; 0 and 1 alone are truth values.

    >>> values_in([1, None, 0], "a"), values_in(["b", "a", None], "c")
    ((False, True), ('a', 'b'))
    """
    distinct = {value for value in column if value is not None}
    if not distinct:
        raise DataError(f"{what} has no value in any row; leave the column out")
    if distinct <= {0, 1}:
        return (False, True)
    return tuple(sorted(distinct, key=lambda value: (isinstance(value, str), value)))


def plain_name(text: str) -> str:
    """Return a text as a name that formulas can hold.

    >>> plain_name("has_bill_shape::curved (up or down)"), plain_name("5 o'clock"), plain_name("class")
    ('has_bill_shape__curved_up_or_down', 'n5_o_clock', 'class_')
    """
    name = re.sub(r"\W+", "_", text.replace("::", "__"), flags=re.ASCII).strip("_") or "unnamed"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in ("true", "false") else name


def plain_names(texts: Iterable[str]) -> dict[str, str]:
    """Return a different plain name for each text.

    >>> plain_names(["a b", "a-b"])
    {'a b': 'a_b', 'a-b': 'a_b_2'}
    """
    names: dict[str, str] = {}
    for text in texts:
        name, number = plain_name(text), 2
        while name in names.values():
            name, number = f"{plain_name(text)}_{number}", number + 1
        names[text] = name
    return names


def majority(votes: Sequence[Value]) -> tuple[Value | None, float | None]:
    """Return the value that most annotators gave, the least of several, and the share that agrees.

    >>> majority([True, True, False])[0], majority([])
    (True, (None, None))
    """
    if not votes:
        return None, None
    counts = Counter(votes)
    best = min(counts, key=lambda value: (-counts[value], isinstance(value, str), value))
    return best, counts[best] / len(votes)


def split_name(text: str) -> str:
    """Return the usual name of a split."""
    return SPLITS.get(text.strip().lower(), text.strip())


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


def need_label(labels: Mapping[str, object], columns: Mapping[str, object], what: str) -> None:
    """Refuse to go on without labels: which column is to be predicted must be said."""
    if not labels:
        some = ", ".join(list(columns)[:8])
        raise ConfigError(f"say which {what} is the label: --label NAME, one or more of: {some}")

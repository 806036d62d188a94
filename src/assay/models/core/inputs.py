"""What a network reads of an example: its picture, its text, its table, or features that were computed before.

Whatever it is, the network gets numbers of one shape, examples x channels x height x width, so that one feed, one
training loop and one encoder serve all of them:

    picture    bytes, as they are decoded; seen from 0 to 1
    text       numbers of words: 1 row, as wide as the longest training text, a channel for each word there is
    table      numbers from 0 to 1 for each value of each column, and standardised ones for columns of numbers: 1 row
    features   numbers as they are: 1 row

What an input has to know (words, columns, widths) it learns from the training split, and keeps with the run.
"""

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from assay.base import Array, ConfigError, DataError
from assay.dataset import SplitData
from assay.logic import listing
from assay.models.core.settings import NeuralConfig
from assay.render import Box, Layout

InputKind = Literal["image", "text", "table", "features"]
COLUMNS: dict[InputKind, str] = {"image": "image", "text": "text", "table": "text", "features": "features"}
"""The column of a dataset that each kind is read from."""
WORD = re.compile(r"[^\W\d]+|\d|[^\w\s]")
MOST_WORDS = 30_000
FEW_VALUES = 12
"""Columns of numbers with more distinct values are read as numbers, others as categories."""
PADDING, UNKNOWN = 0, 1


class ModelInput(ABC):
    """What a network reads of each example."""

    kind: ClassVar[InputKind]
    usual_backbone: ClassVar[str]

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The shape of what the network gets."""

    @abstractmethod
    def array(self, data: SplitData) -> Array:
        """Return what is read of each example of a split: examples x height x width x channels."""

    def to_dict(self) -> dict[str, Any]:
        """Return what was learned as plain data."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class TextInput(ModelInput):
    """The numbers of a text's words, cut or padded to one length; words that training never had are one number."""

    words: tuple[str, ...]
    length: int
    kind = "text"
    usual_backbone = "bag-of-ngrams"

    @classmethod
    def learn(cls, data: SplitData, most: int) -> "TextInput":
        """Return the words of a split, the most frequent first, and the length of its longest text up to `most`."""
        texts = [words_of(text) for text in data.texts]
        counts = Counter(word for words in texts for word in words)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:MOST_WORDS]
        return cls(tuple(frequent), min(most, max(1, *map(len, texts))))

    @property
    def layout(self) -> Layout:
        """As wide as a text is long, and a channel for each word."""
        return Layout(self.length, 1, len(self.words) + 2)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words, UNKNOWN + 1)}

    def array(self, data: SplitData) -> Array:
        """Return the numbers of words."""
        rows = np.full((len(data), self.length), PADDING, dtype=np.int64)
        for row, text in zip(rows, data.texts, strict=True):
            found = [self.numbers.get(word, UNKNOWN) for word in words_of(text)[: self.length]]
            row[: len(found)] = found
        return rows[:, None, :, None]


def words_of(text: str) -> list[str]:
    """Return the words, digits and signs of a text, in small letters.

    >>> words_of("Its body is round: 12.")
    ['its', 'body', 'is', 'round', ':', '1', '2', '.']
    """
    return WORD.findall(text.lower())


@dataclass(frozen=True)
class TableInput(ModelInput):
    """The cells of a table that is a text in one line: a place for each value of a column, one for a column of numbers.

    What training never had is left out, as an empty cell is.
    """

    values: tuple[str, ...]
    """Cells, `column=value`."""
    columns: tuple[str, ...]
    """Columns of numbers."""
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    kind = "table"
    usual_backbone = "mlp"

    @classmethod
    def learn(cls, data: SplitData) -> "TableInput":
        """Return the columns of a split and what they hold."""
        found: dict[str, list[str]] = {}
        for text in data.texts:
            for column, value in cells_of(text):
                found.setdefault(column, []).append(value)
        if not found:
            raise DataError(f"split {data.name!r}: its texts are no tables; read them as texts: input=text")
        numbers = {column: [float(v) for v in values] for column, values in found.items() if _are_numbers(values)}
        cells = [f"{c}={v}" for c, values in found.items() if c not in numbers for v in sorted(set(values))]
        means = tuple(float(np.mean(values)) for values in numbers.values())
        deviations = tuple(float(np.std(values)) or 1.0 for values in numbers.values())
        return cls(tuple(cells), tuple(numbers), means, deviations)

    @property
    def layout(self) -> Layout:
        """One row; a concept that has the name of a column is read off that column."""
        boxes = dict[str, Box]()
        for place, cell in enumerate(self.values):
            column = cell.partition("=")[0]
            boxes[column] = Box(boxes[column].left if column in boxes else place, 0, place + 1, 1)
        return Layout(len(self.values) + len(self.columns), 1, 1, boxes)

    def array(self, data: SplitData) -> Array:
        """Return the cells as numbers."""
        rows = np.zeros((len(data), self.layout.width), dtype=np.float32)
        places = {cell: place for place, cell in enumerate(self.values)}
        scaled = {c: (len(places) + i, self.means[i], self.deviations[i]) for i, c in enumerate(self.columns)}
        for row, text in zip(rows, data.texts, strict=True):
            for column, value in cells_of(text):
                if column in scaled and _is_number(value):
                    place, mean, deviation = scaled[column]
                    row[place] = (float(value) - mean) / deviation
                elif f"{column}={value}" in places:
                    row[places[f"{column}={value}"]] = 1
        return rows[:, None, :, None]


def cells_of(text: str) -> list[tuple[str, str]]:
    """Return the columns and values of a table in one line, or of a grid: rows by spaces, a cell a sign.

    >>> cells_of("head=round, knees=no"), cells_of("14 32")[2:]
    ([('head', 'round'), ('knees', 'no')], [('r2c1', '3'), ('r2c2', '2')])
    """
    if "=" in text:
        return [(name, value) for name, equals, value in (cell.partition("=") for cell in text.split(", ")) if equals]
    rows = text.split()
    if len({len(row) for row in rows}) > 1:
        return []
    return [(f"r{i}c{j}", sign) for i, row in enumerate(rows, 1) for j, sign in enumerate(row, 1)]


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _are_numbers(values: Iterable[str]) -> bool:
    distinct = set(values)
    return len(distinct) > FEW_VALUES and all(map(_is_number, distinct))


@dataclass(frozen=True)
class FeatureInput(ModelInput):
    """Numbers that were computed before: the column `features` of a dataset, or an .npy file for each split."""

    width: int
    folder: str | None = None
    kind = "features"
    usual_backbone = "mlp"

    @classmethod
    def learn(cls, data: SplitData, folder: str | None) -> "FeatureInput":
        """Return how many numbers each example of a split has."""
        return cls(_features(data, folder).shape[1], folder)

    @property
    def layout(self) -> Layout:
        """One row."""
        return Layout(self.width, 1)

    def array(self, data: SplitData) -> Array:
        """Return the features."""
        rows = _features(data, self.folder)
        if rows.shape[1] != self.width:
            raise DataError(f"split {data.name!r} has {rows.shape[1]} features, the model was trained on {self.width}")
        return rows[:, None, :, None]


def _features(data: SplitData, folder: str | None) -> Array:
    """Return the features of a split, a row an example."""
    if folder is not None:
        return _from_file(Path(folder) / f"{data.name}.npy", data)
    rows = data.features
    if not np.isfinite(rows).all():
        raise DataError(f"split {data.name!r}: some features are no finite numbers")
    return rows


def _from_file(path: Path, data: SplitData) -> Array:
    """Return the rows of an .npy file that belong to a split's examples, by their numbers."""
    try:
        rows = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"features of split {data.name!r}: {str(path)!r} cannot be read: {error}") from None
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.number) or len(rows) <= data.index.max(initial=-1):
        raise DataError(f"{str(path)!r} is of shape {rows.shape}; needed: {data.index.max() + 1} rows of numbers")
    return np.asarray(rows[data.index], dtype=np.float32)


@dataclass(frozen=True)
class SentenceInput(ModelInput):
    """Texts as features of a text model in a local folder, which is not trained."""

    folder: str
    width: int
    digest: str
    """The hash of its weights."""
    kind = "text"
    usual_backbone = "mlp"

    @classmethod
    def learn(cls, folder: str) -> "SentenceInput":
        """Return how many features the model in a folder gives."""
        from assay.models.backbones.texts import SentenceModel

        model = SentenceModel.open(folder)
        return cls(folder, model.width, model.digest)

    @property
    def layout(self) -> Layout:
        """One row."""
        return Layout(self.width, 1)

    def array(self, data: SplitData) -> Array:
        """Return the features of each text."""
        from assay.models.backbones.texts import SentenceModel

        model = SentenceModel.open(self.folder)
        if model.digest != self.digest:
            raise DataError(f"the weights in {self.folder!r} are not those that the model was trained with")
        return model.features(data.texts)[:, None, :, None]


def _kind_of_input(asked: str, columns: Sequence[str]) -> InputKind:
    """Return what is to be read of a split with these columns: what is asked for, or the first that is there."""
    kinds: list[InputKind] = ["image", "features", "text"] if asked == "auto" else [asked]  # type: ignore[list-item]
    kind = next((kind for kind in kinds if COLUMNS[kind] in columns), None)
    if kind is None:
        wanted = " or ".join(repr(COLUMNS[kind]) for kind in kinds)
        raise DataError(f"input={asked} needs a column {wanted}; there is: {listing(columns)}")
    return kind


def read_input(path: Path) -> ModelInput:
    """Return the input whose `to_dict` is in a run's file."""
    try:
        data: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None
    texts = SentenceInput if "folder" in data else TextInput
    kinds: dict[str, Callable[..., ModelInput]] = {"text": texts, "table": TableInput, "features": FeatureInput}
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key != "kind"}
    try:
        return kinds[data["kind"]](**values)
    except (KeyError, TypeError) as error:
        raise DataError(f"what the run reads is not in the form that assay writes: {error!r}") from None


def learn_input(config: NeuralConfig, data: SplitData) -> ModelInput | None:
    """Return what a network reads, learned from the training split; None for pictures, of which nothing is learned."""
    if config.feature_files is not None and config.input in ("auto", "features"):
        return FeatureInput.learn(data, config.feature_files)
    if config.sentences is not None and config.input not in ("auto", "text"):
        raise ConfigError(f"sentences={config.sentences} reads texts, not input={config.input}")
    if config.sentences is not None:
        return SentenceInput.learn(config.sentences)
    kind = _kind_of_input(config.input, data.columns)
    if kind == "image":
        return None
    if kind == "text":
        return TextInput.learn(data, config.tokens)
    return TableInput.learn(data) if kind == "table" else FeatureInput.learn(data, None)

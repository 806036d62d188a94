"""One split of a dataset, read: concepts, labels, styles and pictures, its doors to other libraries, and its parts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.base import (
    Array,
    Codes,
    ConfigError,
    DataError,
    Figure,
    HtmlPicture,
    SeededPermutation,
    UnknownName,
    html_table,
    html_text,
    import_extra,
    picture_sheet,
    shorten,
)
from assay.contracts import (
    AT_ONCE,
    CONCEPT,
    GIVEN,
    LABEL,
    PAIR_ROW,
    SUBCONCEPT,
    Predictions,
    answers_from,
    from_column,
    plain_numbers,
)
from assay.dataset.folder import cache_folder
from assay.dataset.pictures import SplitPictures
from assay.dataset.stored import PICTURES, StoredRows
from assay.logic import Concept, ConceptSpace, Formula, Knowledge, Label
from assay.render import Box, Layout, ObjectBox
from assay.worlds import LUCK, World

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    from PIL import Image

    import assay


HUGGING_FACE = "hugging_face"
"""Where `datasets` keeps its copy of a large split, in the cache folder."""


@dataclass(frozen=True, repr=False)
class SplitData(SplitPictures):
    """One split: its table in memory, its pictures on disk until they are asked for.

    `split[0]` is an example, `split[:10]` a part of the split; `labels` and `concepts` are arrays of codes, the places
    of values in the lists of `knowledge`. `pictures(rows)` decodes some pictures, `batches(size)` all of them, so many
    at a time; `images` and what else gives all pictures at once holds them in memory.
    """

    name: str
    fingerprint: str
    knowledge: Knowledge
    layout: Layout
    table: pa.Table
    """All columns but those that hold pictures; of worlds that were just drawn, those too."""
    where: Formula
    stored: StoredRows | None = None
    """Where the pictures are, if not in the table."""

    @cached_property
    def index(self) -> Array:
        """The number of each example inside the split."""
        return np.concatenate([plain_numbers(chunk) for chunk in self.table["index"].chunks])

    @cached_property
    def pair_rows(self) -> Array:
        """Of counterfactual worlds: the number of the example that each was changed from."""
        return np.concatenate([plain_numbers(chunk) for chunk in self._column(PAIR_ROW).chunks])

    @cached_property
    def concepts(self) -> Codes:
        """The true concepts, as codes: a row an example, a column a concept; -1 where imported data does not know."""
        return self._codes(CONCEPT, self.knowledge.space.concepts)

    @cached_property
    def labels(self) -> Codes:
        """The true labels, as codes: a row an example, a column a label."""
        return self._codes(LABEL, self.knowledge.labels)

    @cached_property
    def subconcepts(self) -> Codes | None:
        """The finer concepts, as codes, where the task has some and they are annotated."""
        finer = self.knowledge.subconcepts
        if finer is None or SUBCONCEPT + finer.space.names[0] not in self.table.column_names:
            return None
        return self._codes(SUBCONCEPT, finer.space.concepts)

    def _codes(self, kind: str, named: Sequence[Concept | Label], true: Codes | None = None) -> Codes:
        """Return columns as codes; those that there are not are the true ones."""
        columns = []
        for place, one in enumerate(named):
            key = kind + one.name
            if true is None:
                columns.append(from_column(self.table[key], one.values, one.name))
            else:
                given = key in self.table.column_names
                columns.append(from_column(self.table[key], one.values, key) if given else true[:, place])
        return np.stack(columns, axis=1)

    @cached_property
    def annotated_concepts(self) -> Codes:
        """The concepts that models learn from: as an annotator gave them, -1 where missing, or else the true ones."""
        return self._codes(GIVEN + CONCEPT, self.knowledge.space.concepts, self.concepts)

    @cached_property
    def given_labels(self) -> Codes:
        """The labels that models learn from: as an annotator gave them, or else the true ones."""
        return self._codes(GIVEN + LABEL, self.knowledge.labels, self.labels)

    @cached_property
    def things(self) -> list[tuple[ObjectBox, ...]]:
        """The objects in each picture, with their boxes."""
        rows = self._column("things").to_pylist()
        return [tuple(ObjectBox(one.pop("name"), Box(**one)) for one in row) for row in rows]

    @cached_property
    def texts(self) -> list[str]:
        """The worlds in words, or as tables in one line."""
        found: list[str] = self._column("text").to_pylist()
        return found

    @cached_property
    def features(self) -> Array:
        """Numbers that were computed before, a row an example: the column `features`, a list of floats."""
        column = self._column("features").combine_chunks()
        lists = pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)
        lengths = set(pc.list_value_length(column).to_pylist()) if lists else set()
        if len(lengths) != 1 or lengths == {None} or column.flatten().null_count:
            raise DataError(f"split {self.name!r}: features must be lists of numbers of one length, without gaps")
        return np.array(column.flatten().to_numpy(zero_copy_only=False), dtype=np.float32).reshape(len(self), -1)

    @cached_property
    def lawful(self) -> Array:
        """Whether each label is one that the rule can give, a column a label; what cannot be told counts as lawful."""
        unknown = np.asarray((self.concepts < 0).any(axis=1))[:, None]
        if not self.knowledge.has_rule:
            return np.ones(self.labels.shape, dtype=bool)
        if not self.knowledge.stochastic:
            return np.asarray((self.labels == self.knowledge.labels_of(np.maximum(self.concepts, 0))) | unknown)
        luck = np.concatenate([piece._luck for piece in self.pieces(AT_ONCE)])
        return np.asarray(self.labels == self.knowledge.drawn_labels(self.concepts, luck))

    @property
    def _luck(self) -> Array:
        """The random numbers that labels were drawn by, a row an example."""
        return np.array([json.loads(style)[LUCK] for style in self.table["style"].to_pylist()])

    def world(self, row: int) -> World:
        """Return the world of a row."""
        style = json.loads(self.table["style"][row].as_py())
        return World(self.knowledge.space, tuple(int(code) for code in self.concepts[row]), style)

    def with_known_concepts(self, what: str) -> "SplitData":
        """Return the rows whose concepts are all known; refuse where there is none, saying what needs them."""
        known = (self.concepts >= 0).all(axis=1)
        if not known.any():
            raise DataError(f"{what} needs examples whose concepts are all known; split {self.name!r} has none")
        return self if known.all() else self.take(np.flatnonzero(known))

    def take(self, rows: Array) -> "SplitData":
        """Return some of the rows."""
        table, stored = self.table.take(pa.array(rows)), self.stored and self.stored.take(np.asarray(rows))
        return SplitData(self.name, self.fingerprint, self.knowledge, self.layout, table, self.where, stored)

    def pieces(self, size: int) -> Iterator["SplitData"]:
        """Give the split as parts of so many rows, one after another."""
        return (self[start : start + size] for start in range(0, len(self), size))

    def full_table(self) -> pa.Table:
        """Return the table with the columns of pictures, all in memory."""
        return self.add_pictures(self.table)

    def add_pictures(self, table: pa.Table) -> pa.Table:
        """Return a table of the same rows with the columns of pictures, which are then in memory."""
        return table if self.stored is None else self.stored.add_pictures(table)

    # -- for notebooks and other libraries -----------------------------------------------------------------------------

    @overload
    def __getitem__(self, row: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, row: slice) -> "SplitData": ...
    def __getitem__(self, row: Any) -> "dict[str, Any] | SplitData":
        if isinstance(row, slice):
            return self.take(np.arange(len(self))[row])
        if isinstance(row, str):
            raise UnknownName(f"an example is found by its number, not by {row!r}; to_pandas() has all columns by name")
        if not -len(self) <= row < len(self):
            raise IndexError(f"split {self.name!r} has {len(self)} examples, so no example {row}")
        place = row % len(self)
        return {
            **({"image": self._picture(place)} if "image" in self.columns else {}),
            "concepts": self.knowledge.space.decode(self.concepts[place]),
            "labels": {
                label.name: label.values[code]
                for label, code in zip(self.knowledge.labels, self.labels[place].tolist(), strict=True)
            },
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(len(self)))

    def _picture(self, row: int) -> "Image.Image":
        from assay.render import open_image

        return open_image(self.files([row])[0], f"{self.name} {row}")

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame: concepts and labels by name, and the rest of the columns but for pictures."""
        import_extra("pandas", "to_pandas")
        seen = [name for name in self.table.column_names if name not in PICTURES]
        frame: pd.DataFrame = self.table.select(seen).to_pandas()
        return frame

    def to_hf(self) -> "datasets.Dataset":
        """Return a Hugging Face `datasets.Dataset` with the pictures; large ones are copied into the cache folder."""
        library = import_extra("datasets", "to_hf")
        if self.stored is None or not self.stored.large:
            small: datasets.Dataset = library.Dataset(self.full_table())
            return small
        files, copy = [str(shard.path) for shard in self.stored.split.shards], cache_folder() / HUGGING_FACE
        whole: datasets.Dataset = library.Dataset.from_parquet(files, cache_dir=str(copy))
        return whole.select(self.stored.rows)

    def torch(self) -> "assay.TorchSplit":
        """Return a torch dataset of (picture from 0 to 1, label codes, concept codes), for a DataLoader."""
        import assay  # the door to torch, which only models import

        return assay.TorchSplit(self)

    def __getitems__(self, rows: Sequence[int]) -> list[Any]:
        """Return examples as a DataLoader collates them: (picture, label codes, concept codes) as tensors."""
        return self._tensors.__getitems__(rows)

    @cached_property
    def _tensors(self) -> "assay.TorchSplit":
        return self.torch()

    def predictions(self, labels: Any, concepts: Any = None, **about: Any) -> Predictions:
        """Return what a model says of every example, in order, as predictions: arrays, tensors or a data frame.

        An array has a code for each example, or a row of probabilities. Where there are several labels or concepts,
        give a mapping from names to arrays. A data frame has columns `label_NAME` and `concept_NAME` with values.
        """
        said = answers_from(self.knowledge, labels, concepts, len(self), f"split {self.name!r}")
        return Predictions(self.fingerprint, self.name, self.index, *said, about)

    def plot(self, count: int = 12) -> "Figure":
        """Draw the first pictures with their labels."""
        rows = range(min(count, len(self)))
        captions = [", ".join(f"{k} = {v}" for k, v in self[row]["labels"].items()) for row in rows]
        return picture_sheet(list(self.pictures(rows)), [shorten(text, 40) for text in captions])

    def __repr__(self) -> str:
        names = shorten(", ".join(self.knowledge.space.names), 120)
        labels = shorten(", ".join(self.knowledge.label_names), 80)
        return f"Split({self.name}: {len(self):,} examples; concepts {names}; labels {labels})"

    def _repr_html_(self) -> str:
        return html_text(repr(self)) + example_table(self, range(min(6, len(self))))


def example_table(data: SplitData, rows: Iterable[int]) -> str:
    """Return examples as an HTML table: the picture, its concepts, its labels."""
    cells = []
    for row in rows:
        example = data[row]
        shown = [HtmlPicture(data.files([row])[0])] if "image" in example else []
        facts = [", ".join(f"{k} = {v}" for k, v in example[part].items()) for part in ("concepts", "labels")]
        cells.append([*shown, *(shorten(fact, 200) for fact in facts)])
    head = ["concepts", "labels"]
    return html_table(head if not cells or len(cells[0]) == 2 else ["picture", *head], cells)


@dataclass(frozen=True)
class ShownValues:
    """Which values of each concept training shows: of others a model cannot know."""

    tables: tuple[Array, ...]
    """For each concept, whether each of its values is shown, by code."""

    @classmethod
    def of(cls, space: ConceptSpace, codes: Codes) -> "ShownValues":
        """Return the values that occur in worlds; a code of -1 is none."""
        return cls(tuple(np.isin(np.arange(size), codes[:, place]) for place, size in enumerate(space.sizes)))

    def holds(self, codes: Codes) -> Array:
        """Return for each cell whether its value is shown; one that is not known is no other value."""
        columns = [table[codes[:, place]] | (codes[:, place] < 0) for place, table in enumerate(self.tables)]
        return np.stack(columns, axis=1)

    def __or__(self, other: "ShownValues") -> "ShownValues":
        return ShownValues(tuple(a | b for a, b in zip(self.tables, other.tables, strict=True)))


@dataclass(frozen=True)
class Fold:
    """One of several parts of a split, to be held out; each has every combination of labels in equal shares."""

    number: int
    of: int

    def divide(self, data: SplitData) -> tuple[SplitData, SplitData]:
        """Return the examples outside of the fold and those inside."""
        if not 0 <= self.number < self.of or not 2 <= self.of <= len(data):
            raise ConfigError(f"fold {self.number} of {self.of} of {len(data)} examples cannot be")
        inside = folds_of(data.labels, self.of, data.fingerprint) == self.number
        return data.take(np.flatnonzero(~inside)), data.take(np.flatnonzero(inside))


def folds_of(labels: Codes, folds: int, key: str) -> Array:
    """Return the fold of each example: the examples of each combination of labels go to the folds in turn.

    >>> labels = np.array([[0], [0], [0], [0], [1], [1]])
    >>> sorted(np.bincount(folds_of(labels, 2, "key")[labels[:, 0] == 0]).tolist())
    [2, 2]
    """
    shuffled = np.argsort(SeededPermutation(len(labels), 0, "folds", key).deal(np.arange(len(labels))))
    order = shuffled[np.lexsort(labels[shuffled].T)]
    numbers = np.empty(len(labels), dtype=np.int64)
    numbers[order] = np.arange(len(labels)) % folds
    return numbers


class ConceptReader(Protocol):
    """A machine that says which values the concepts of a picture have: what annotation and interventions ask of it.

    The machines themselves are in `assay.models.language`; who calls, the command line or a study, hands one over.
    """

    @property
    def words(self) -> tuple[str, ...]:
        """The true-or-false concepts of its own that it is to look for instead of the dataset's; mostly none."""

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the probabilities of the values of each concept (examples x values); NaN where it says nothing."""

    def scores(self, data: SplitData) -> Array:
        """Return a score for each of its own words (examples x words); the higher, the more the picture shows it."""

    def metadata(self) -> dict[str, Any]:
        """Return who it is, for the record: the same for the same answers, without addresses, keys and paths."""

    def usage(self) -> dict[str, Any]:
        """Return what asking it took; nothing where that costs nothing."""

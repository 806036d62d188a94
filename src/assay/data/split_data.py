"""One split of a dataset, read: concepts, labels, styles and pictures, and its doors to other libraries."""

import io
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Codes
from assay.concepts import Value, listing
from assay.data.columns import CONCEPT, GIVEN, LABEL, PAIR_ROW, from_column, plain_numbers
from assay.data.decoding import Lookahead, decode, decode_ahead
from assay.data.picture_store import StoredRows
from assay.data.shard_files import PICTURES
from assay.distribution import import_extra
from assay.errors import ConfigError, DataError, UnknownName
from assay.html import html_picture, html_table, html_text, shorten
from assay.logic.formula import Formula
from assay.logic.knowledge import Knowledge
from assay.plots import Figure, picture_sheet
from assay.render.picture import Box, Layout, ObjectBox
from assay.worlds.world import LUCK, World

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    from PIL import Image

    import assay


@dataclass(frozen=True, repr=False)
class SplitData:
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

    def __len__(self) -> int:
        return int(self.table.num_rows)

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
        space = self.knowledge.space
        columns = [from_column(self.table[CONCEPT + c.name], c.values, c.name) for c in space.concepts]
        return np.stack(columns, axis=1)

    @cached_property
    def labels(self) -> Codes:
        """The true labels, as codes: a row an example, a column a label."""
        columns = [from_column(self.table[LABEL + x.name], x.values, x.name) for x in self.knowledge.labels]
        return np.stack(columns, axis=1)

    @cached_property
    def given_concepts(self) -> Codes:
        """The concepts that models learn from: as an annotator gave them, -1 where missing, or else the true ones."""
        space = self.knowledge.space
        return self._given(CONCEPT, [(c.name, c.values) for c in space.concepts], self.concepts)

    @cached_property
    def given_labels(self) -> Codes:
        """The labels that models learn from: as an annotator gave them, or else the true ones."""
        return self._given(LABEL, [(x.name, x.values) for x in self.knowledge.labels], self.labels)

    def _given(self, kind: str, named: Sequence[tuple[str, Sequence[Value]]], true: Codes) -> Codes:
        columns = []
        for place, (name, values) in enumerate(named):
            key = GIVEN + kind + name
            there = key in self.table.column_names
            columns.append(from_column(self.table[key], values, key) if there else true[:, place])
        return np.stack(columns, axis=1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, those of pictures included."""
        return tuple(self.table.column_names) if self.stored is None else self.stored.split.columns

    def pictures(self, rows: "Iterable[int] | Array") -> Array:
        """Decode the pictures of some rows: examples x height x width x channels, as bytes.

        Nothing is kept: memory grows with the number of rows asked for, not with the split.
        """
        places = self._places(rows)
        images = np.empty((len(places), *self.picture_shape), dtype=np.uint8)
        self.decode_into(images, places)
        return images

    def batches(
        self,
        size: int,
        order: "Iterable[int] | Array | None" = None,
        workers: int | None = None,
        ahead: int | None = None,
    ) -> Generator[tuple[Array, Array], None, None]:
        """Iterate over batches: their rows and their decoded pictures; the last batch may be shorter.

        `order` says which rows and in which order, by default all of them as they are; a row may come twice. `workers`
        threads decode, by default one for each processor, at most `ahead` batches beyond the one that you have. The
        batches are the same for any number of threads. Close the iterator to stop early.
        """
        if size < 1 or (workers is not None and workers < 1) or (ahead is not None and ahead < 0):
            raise ConfigError(f"batches need size and workers of at least 1, not {size} and {workers}; ahead: {ahead}")
        places = self._places(range(len(self)) if order is None else order)
        self._files("image", places[:1])  # a split without pictures is refused here
        return decode_ahead(self.decode_into, self.picture_shape, places, size, Lookahead.of(size, workers, ahead))

    @property
    def picture_shape(self) -> tuple[int, int, int]:
        """The height, width and channels of a picture."""
        return self.layout.height, self.layout.width, self.layout.channels

    def _places(self, rows: "Iterable[int] | Array") -> Array:
        """Return rows as an array; refuse those that there are not."""
        given = np.asarray(rows if isinstance(rows, (np.ndarray, Sequence)) else list(rows))
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise DataError(f"rows are whole numbers in one dimension, not {given.dtype} of shape {given.shape}")
        outside = given[(given < 0) | (given >= len(self))]
        if len(outside):
            raise DataError(f"split {self.name!r} has {len(self)} examples, so no row {outside[0]}")
        return given.astype(np.int64)

    def decode_into(self, images: Array, rows: Array) -> None:
        """Decode the pictures of rows into an array."""
        for place, (row, data) in enumerate(zip(rows.tolist(), self._files("image", rows), strict=True)):
            try:
                image = decode(data)
            except (OSError, SyntaxError, ValueError) as error:  # what Pillow raises for a damaged file
                raise DataError(f"split {self.name!r}: the picture of row {row} cannot be read: {error}") from None
            if image.shape != self.picture_shape:
                shapes = f"{image.shape}, not {self.picture_shape}"
                raise DataError(f"split {self.name!r}: the picture of row {row} is of shape {shapes}")
            images[place] = image

    @cached_property
    def images(self) -> Array:
        """All pictures, held in memory: examples x height x width x channels, as bytes."""
        return self.pictures(range(len(self)))

    @cached_property
    def pngs(self) -> list[bytes]:
        """All pictures as PNG files, held in memory."""
        return self.files()

    @cached_property
    def instances(self) -> Array:
        """For each pixel of each picture which object it shows: 1 for the first of `things`, 0 for none; in memory."""
        return self._maps("instances")

    @cached_property
    def parts(self) -> Array:
        """For each pixel of each picture which part it shows, numbered as `things`, 0 for none; in memory."""
        return self._maps("parts")

    @cached_property
    def depths(self) -> Array:
        """For each pixel of each picture how far away it is, in 65,535ths of the task's farthest; in memory."""
        return self._maps("depth")

    def _maps(self, column: str) -> Array:
        return np.stack([decode(data)[:, :, 0] for data in self.files(column=column)])

    def files(self, rows: "Iterable[int] | Array | None" = None, column: str = "image") -> list[bytes]:
        """Return the pictures of some rows, by default all, as PNG files; of any column that holds pictures."""
        return self._files(column, self._places(range(len(self)) if rows is None else rows))

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

    def _files(self, column: str, rows: Array) -> list[bytes]:
        if self.stored is not None and column in self.stored.split.stores:
            return self.stored.files(column, rows)
        found: list[bytes] = self._column(column).take(pa.array(rows)).combine_chunks().field("bytes").to_pylist()
        return found

    def _column(self, name: str) -> pa.ChunkedArray:
        if name not in self.table.column_names:
            raise DataError(f"split {self.name!r} has no column {name!r}; there is: {listing(self.columns)}")
        return self.table[name]

    @cached_property
    def lawful(self) -> Array:
        """Whether each label is one that the rule can give, a column a label; what cannot be told counts as lawful."""
        unknown = np.asarray((self.concepts < 0).any(axis=1))[:, None]
        if not self.knowledge.has_rule:
            return np.ones(self.labels.shape, dtype=bool)
        if not self.knowledge.stochastic:
            return np.asarray((self.labels == self.knowledge.labels_of(np.maximum(self.concepts, 0))) | unknown)
        luck = np.array([self.world(row).style[LUCK] for row in range(len(self))])
        return np.asarray(self.labels == self.knowledge.drawn_labels(self.concepts, luck))

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
        from PIL import Image

        return Image.open(io.BytesIO(self.files([row])[0]))

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame: concepts and labels by name, and the rest of the columns but for pictures."""
        import_extra("pandas", "to_pandas")
        seen = [name for name in self.table.column_names if name not in PICTURES]
        frame: pd.DataFrame = self.table.select(seen).to_pandas()
        return frame

    def to_hf(self) -> "datasets.Dataset":
        """Return a Hugging Face `datasets.Dataset` with the pictures; large ones stay on disk, in its own cache."""
        library = import_extra("datasets", "to_hf")
        if self.stored is None or not self.stored.large:
            small: datasets.Dataset = library.Dataset(self.full_table())
            return small
        files = [str(shard.path) for shard in self.stored.split.shards]
        whole: datasets.Dataset = library.Dataset.from_parquet(files).select(self.stored.rows)
        return whole

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

    def predictions(self, labels: Any, concepts: Any = None, **about: Any) -> "assay.Predictions":
        """Return what a model says of every example, in order, as predictions: arrays, tensors or a data frame.

        An array has a code for each example, or a row of probabilities. Where there are several labels or concepts,
        give a mapping from names to arrays. A data frame has columns `label_NAME` and `concept_NAME` with values.
        """
        import assay

        return assay.predictions_for(self, labels, concepts, about)

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
        shown = [html_picture(data.files([row])[0])] if "image" in example else []
        facts = [", ".join(f"{k} = {v}" for k, v in example[part].items()) for part in ("concepts", "labels")]
        cells.append([*shown, *(shorten(fact, 200) for fact in facts)])
    head = ["concepts", "labels"]
    return html_table(head if not cells or len(cells[0]) == 2 else ["picture", *head], cells)

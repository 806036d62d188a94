"""One split of a dataset, read: concepts, labels, styles and pictures, and its doors to other libraries."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Codes
from assay.concepts import Value, listing
from assay.data.columns import CONCEPT, GIVEN, LABEL, from_column, plain_numbers
from assay.distribution import import_extra
from assay.errors import DataError, UnknownName
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

PICTURES = ("image", "instances", "parts", "depth")


@dataclass(frozen=True, repr=False)
class SplitData:
    """One split in memory; pictures are decoded when first asked for.

    `split[0]` is an example, `split[:10]` a part of the split; `labels` and `concepts` are arrays of codes, the places
    of values in the lists of `knowledge`.
    """

    name: str
    fingerprint: str
    knowledge: Knowledge
    layout: Layout
    table: pa.Table
    where: Formula

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def index(self) -> Array:
        """The number of each example inside the split."""
        return np.concatenate([plain_numbers(chunk) for chunk in self.table["index"].chunks])

    @cached_property
    def concepts(self) -> Codes:
        """The true concepts, as codes: a row an example, a column a concept."""
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

    @cached_property
    def images(self) -> Array:
        """The pictures: examples x height x width x channels, as bytes."""
        return np.stack([decode(data) for data in self.pngs])

    @cached_property
    def pngs(self) -> list[bytes]:
        """The pictures as PNG files."""
        return self._files("image")

    @cached_property
    def instances(self) -> Array:
        """For each pixel of each picture which object it shows: 1 for the first of `things`, 0 for none."""
        return np.stack([decode(data)[:, :, 0] for data in self._files("instances")])

    @cached_property
    def parts(self) -> Array:
        """For each pixel of each picture which part of an object it shows, numbered as `things`, 0 for none."""
        return np.stack([decode(data)[:, :, 0] for data in self._files("parts")])

    @cached_property
    def depths(self) -> Array:
        """For each pixel of each picture how far away it is, in 65,535ths of the task's farthest."""
        return np.stack([decode(data)[:, :, 0] for data in self._files("depth")])

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

    def _files(self, name: str) -> list[bytes]:
        found: list[bytes] = self._column(name).combine_chunks().field("bytes").to_pylist()
        return found

    def _column(self, name: str) -> pa.ChunkedArray:
        if name not in self.table.column_names:
            raise DataError(f"split {self.name!r} has no column {name!r}; there is: {listing(self.table.column_names)}")
        return self.table[name]

    @cached_property
    def lawful(self) -> Array:
        """Whether each label is one that the rule can give, a column a label."""
        if not self.knowledge.stochastic:
            return np.asarray(self.labels == self.knowledge.labels_of(self.concepts))
        luck = np.array([self.world(row).style[LUCK] for row in range(len(self))])
        return np.asarray(self.labels == self.knowledge.drawn_labels(self.concepts, luck))

    def world(self, row: int) -> World:
        """Return the world of a row."""
        style = json.loads(self.table["style"][row].as_py())
        return World(self.knowledge.space, tuple(int(code) for code in self.concepts[row]), style)

    def take(self, rows: Array) -> "SplitData":
        """Return some of the rows."""
        table = self.table.take(pa.array(rows))
        return SplitData(self.name, self.fingerprint, self.knowledge, self.layout, table, self.where)

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
            **({"image": self._picture(place)} if "image" in self.table.column_names else {}),
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

        return Image.open(io.BytesIO(self.table["image"][row].as_py()["bytes"]))

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame: concepts and labels by name, and the rest of the columns but for pictures."""
        import_extra("pandas", "to_pandas")
        seen = [name for name in self.table.column_names if name not in PICTURES]
        frame: pd.DataFrame = self.table.select(seen).to_pandas()
        return frame

    def to_hf(self) -> "datasets.Dataset":
        """Return a Hugging Face `datasets.Dataset` with the pictures."""
        whole: datasets.Dataset = import_extra("datasets", "to_hf").Dataset(self.table)
        return whole

    def torch(self) -> "assay.TorchSplit":
        """Return a torch dataset of (picture from 0 to 1, label codes, concept codes), for a DataLoader."""
        import assay  # the door to torch, which only models import

        return assay.TorchSplit(self)

    def __getitems__(self, rows: Sequence[int]) -> list[Any]:
        """Return examples as a DataLoader collates them: (picture, label codes, concept codes) as tensors."""
        return [self._tensors[row] for row in rows]

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
        return picture_sheet([self.images[row] for row in rows], [shorten(text, 40) for text in captions])

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
        shown = [html_picture(data.pngs[row])] if "image" in example else []
        facts = [", ".join(f"{k} = {v}" for k, v in example[part].items()) for part in ("concepts", "labels")]
        cells.append([*shown, *(shorten(fact, 200) for fact in facts)])
    head = ["concepts", "labels"]
    return html_table(head if not cells or len(cells[0]) == 2 else ["picture", *head], cells)


def decode(data: bytes) -> Array:
    """Return a PNG as bytes in height x width x channels."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        pixels = np.asarray(image)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]

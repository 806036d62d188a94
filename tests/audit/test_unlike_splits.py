"""Checks on splits that differ in size, with gaps, several labels, pictures that are not square: each number by hand."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import ExtraTreesClassifier

from assay.auditing import audit as auditing
from assay.auditing import audited, colours, noise, nuisance, pictures, reading, regions, symbols
from assay.auditing.audited import (
    AuditedDataset,
    AuditedSplit,
    FirstPictures,
    PixelRegion,
    SplitTexts,
    _ingredients,
    as_number,
    means_of_parts,
    nuisances_of,
    picture_stats,
)
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, fail_if, first_few
from assay.auditing.copies import PictureRow, Window, _alike, _fitted, _resized, _shifted, near_copies
from assay.auditing.reading import PixelReading
from assay.auditing.regions import LabelEffects, effects_in_equal_worlds, leaking_regions, separable_effects
from assay.concepts import Concept, ConceptSpace
from assay.errors import AssayError
from assay.logic import Constraint, Knowledge, parse
from assay.render import encode_png
from assay.seeds import rng_for
from tests.toys import Shelf, written

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 2)), Concept("one", ("only",))))
RULE = Knowledge.of(SPACE, {"y": "a", "s": "(n + a) % 3"})
VALUES = {"y": (False, True), "s": (0, 1, 2)}


def codes_of(name, rows):
    return np.stack([rng_for(0, name, size).integers(0, size, rows) for size in SPACE.sizes], axis=1)


def part(name, rows, **more):
    codes = codes_of(name, rows)
    return AuditedSplit(name, **{"concepts": codes, "labels": RULE.labels_of(codes), **more})


def data(*parts, knowledge=RULE, **more):
    return AuditedDataset("toys", SPACE, VALUES, {one.name: one for one in parts}, knowledge, **more)


# regions of the pictures


def by_least_squares(values, labels, concepts):
    """The F-test of a label beside concepts, with plain least squares."""
    rows = len(values)

    def dummies(column):
        return [(column == value).astype(float) for value in np.unique(column)[1:]]

    base = np.stack([np.ones(rows), *(d for column in concepts.T for d in dummies(column))], axis=1)
    whole = np.concatenate([base, np.stack(dummies(labels), axis=1)], axis=1)
    left = [((values - x @ np.linalg.lstsq(x, values, rcond=None)[0]) ** 2).sum(axis=0) for x in (base, whole)]
    ranks = [int(np.linalg.matrix_rank(x)) for x in (base, whole)]
    more, free = ranks[1] - ranks[0], rows - ranks[1]
    chance = stats.f.sf((left[0] - left[1]) / more / (left[1] / free), more, free)
    weights = np.linalg.lstsq(whole, values, rcond=None)[0]
    by_label = whole[:, base.shape[1] :] @ weights[base.shape[1] :]
    return chance, (by_label - by_label.mean(axis=0)).var(axis=0), left[1] / free


def test_effects_beside_concepts_are_those_of_plain_least_squares():
    rng = rng_for(0, "effects")
    concepts = rng.integers(0, [2, 3, 2, 1], (150, 4))
    concepts[:, 2] = 1 - concepts[:, 0]  # says the same again, and the last says nothing
    labels = (concepts[:, 1] + rng.integers(0, 3, 150) * (rng.random(150) < 0.7)) % 3
    values = rng.normal(size=(150, 3)) + 40.0
    values[:, 1] += 0.6 * (labels == 2) + 0.8 * concepts[:, 0]
    values[:, 2] += 3.0 * labels
    found = separable_effects(values, labels, concepts)
    chance, by_label, noise_left = by_least_squares(values, labels, concepts)
    np.testing.assert_allclose(found.chance, chance, rtol=1e-6)
    np.testing.assert_allclose(found.label, by_label, rtol=1e-6)
    assert found.chance[0] > 0.01 > found.chance[1] > found.chance[2]
    # what concepts explain beside the label, less what noise alone would: the sizes of three independent columns
    known = np.stack([concepts[:, 0] == 1, concepts[:, 1] == 1, concepts[:, 1] == 2], axis=1).astype(float)
    known -= known.mean(axis=0)
    told = np.stack([labels == 1, labels == 2], axis=1).astype(float)
    told -= told.mean(axis=0)
    centred = values - values.mean(axis=0)
    onto = known @ np.linalg.pinv(known)
    fitted = np.linalg.lstsq(told - onto @ told, centred - onto @ centred, rcond=None)[0]
    mapping = onto @ (np.eye(150) - told @ np.linalg.pinv(told - onto @ told) @ (np.eye(150) - onto))
    luck = np.sum(mapping**2)
    expected = np.maximum(0, ((onto @ (centred - told @ fitted)) ** 2).sum(axis=0) - noise_left * luck) / 150
    np.testing.assert_allclose(found.concepts, expected, rtol=1e-6, atol=1e-12)
    assert expected[1] > 0.05


def test_labels_that_concepts_nearly_give_away_are_not_tested():
    rng = rng_for(0, "given away")
    concepts = rng.integers(0, 2, (400, 2))
    for wrong, told in ((3, False), (40, True)):
        labels = concepts[:, 0].copy()
        labels[:wrong] = 1 - labels[:wrong]
        assert (separable_effects(rng.normal(size=(400, 2)), labels, concepts) is not None) == told


def test_effects_among_equal_worlds_of_unequal_number():
    rng = rng_for(0, "equal worlds")
    worlds = np.repeat(np.arange(5), [3, 40, 7, 21, 60])
    concepts = np.stack([worlds // 3, worlds % 3], axis=1)
    labels = rng.integers(0, 3, len(worlds))
    values = rng.normal(size=(len(worlds), 2)) + 10 * worlds[:, None]
    values[:, 1] += labels == 1
    found = effects_in_equal_worlds(values, labels, concepts)
    chance, _, _ = by_least_squares(values, labels, worlds[:, None])
    np.testing.assert_allclose(found.chance, chance, rtol=1e-6)
    assert found.concepts.tolist() == [0.0, 0.0] and found.label[1] > found.label[0]
    assert effects_in_equal_worlds(values, worlds % 2, concepts) is None
    hardly = worlds % 2
    hardly[10] = 1 - hardly[10]  # one of 131 labels differs from those of its world: too few to test by
    hardly_all = (np.bincount(worlds)[1] - 1) / np.bincount(worlds)[1] / (131 * np.var(hardly))
    assert (effects_in_equal_worlds(values, hardly, concepts) is None) == (hardly_all <= 0.005)
    many = np.repeat([0, 1], 500)
    same = many.copy()
    same[0] = 1  # 0.4 % of the variance is among equal worlds
    assert effects_in_equal_worlds(rng.normal(size=(1000, 1)), same, many[:, None]) is None
    same[1] = 1
    assert effects_in_equal_worlds(rng.normal(size=(1000, 1)), same, many[:, None]) is not None


def test_suspects_by_the_best_statistic_and_the_strongest_concept():
    effects = LabelEffects(
        np.array([0.5, 0.009, 0.0001, 0.2, 0.002, 0.011, 0.0]),
        np.array([9.0, 0.8, 4.0, 9.0, 0.79, 9.0, 0.0]),
        np.array([0.0, 0.2, 0.2, 1.1, 0.2, 0.0, 0.0]),
    )
    # regions of 1, 1, 2, 1, 1 and 1 statistics; in the third the label has 4 and a concept 1.1 beside it
    found = regions._suspects(effects, [1, 1, 2, 1, 1, 1])
    assert [(suspect.place, suspect.chance) for suspect in found] == [(1, 0.009)]
    weaker = replace(effects, concepts=np.array([0.0, 0.2, 0.2, 0.9, 0.1, 0.0, 0.0]))
    found = regions._suspects(weaker, [1, 1, 2, 1, 1, 1])
    assert [(suspect.place, suspect.chance) for suspect in found] == [(2, 0.0001), (3, 0.002), (1, 0.009)]


def test_a_region_leaks_the_label_that_it_is_asked_about():
    """Pictures are fewer than examples; one region follows the second label, whatever the concepts are."""
    learn, ask = part("train", 300), part("test", 260)
    luck = {one.name: rng_for(1, one.name).integers(0, 3, len(one)) for one in (learn, ask)}
    sides = []
    for one, count in ((learn, 250), (ask, 240)):
        labels = np.stack([one.labels[:, 0], luck[one.name]], axis=1)
        rng = rng_for(2, one.name)
        told = rng.normal(size=(count, 2)) + labels[:count, [1]]
        found = [
            PixelRegion("noise", rng.normal(size=(count, 1))),
            PixelRegion("told", told),
            PixelRegion("whole", told[:, :1] + rng.normal(size=(count, 1)), local=False),
        ]
        side = replace(one, labels=labels, pictures=[b""] * count)
        side.__dict__["regions"] = found
        sides.append(side)
    both = data(*sides, knowledge=None)
    for label, names in ((0, []), (1, ["told", "whole"])):
        found = list(leaking_regions(both, *sides, label))
        assert sorted(first.name for first, _ in found) == names
        assert all(first.name == second.name and len(second.values) == 240 for first, second in found)
    leaks = nuisance.picture_leaks(both, *sides)
    assert [(leak.label, leak.by, leak.local) for leak in leaks] == [("s", ("told",), True), ("s", ("whole",), False)]
    assert leaks[0].accuracy > leaks[1].accuracy > 0.4 and leaks[0].chance == pytest.approx(1 / 3)
    assert list(leaking_regions(both, replace(sides[0], pictures=()), sides[1], 1)) == []


# pictures


def test_a_picture_of_any_shape_in_a_few_numbers():
    image = rng_for(0, "image").integers(0, 256, (20, 37, 3)).astype(np.float64)
    found = picture_stats(image)
    grey = image.mean(axis=2)

    def cut(length, parts):
        return pairwise([*(place * length // parts for place in range(parts)), length])

    tall, wide = list(cut(20, 8)), list(cut(37, 8))
    for row, (top, bottom) in enumerate(tall):
        for column, (left, right) in enumerate(wide):
            inside = grey[top:bottom, left:right]
            expected = [inside.min(), inside.max(), *image[top:bottom, left:right].mean(axis=(0, 1))]
            assert found.patches[row, column] == pytest.approx(expected, rel=1e-5)
    small = [[grey[t:b, x:r].mean() for x, r in cut(37, 16)] for t, b in cut(20, 16)]
    np.testing.assert_allclose(found.small, np.ravel(small), rtol=1e-5)
    assert found.medium.shape == (32, 32) and found.medium.dtype == np.float32
    np.testing.assert_allclose(found.means, image.mean(axis=(0, 1)))
    assert means_of_parts(grey, 3)[2, 1] == pytest.approx(grey[13:, 12:24].mean())


def test_regions_are_named_by_row_and_column_and_have_the_channels_of_all():
    rng = rng_for(0, "regions")
    images = [rng.integers(0, 256, (8, 16, channels), dtype=np.uint8) for channels in (3, 1, 3)]
    files = [encode_png(image) for image in images]
    one = AuditedSplit("test", np.zeros((3, 1), int), np.zeros((3, 1), int), pictures=files)
    size, colour, *local = one.regions
    assert (size.name, size.local, size.values[:, 0].tolist()) == ("file size", False, [len(file) for file in files])
    assert (colour.name, colour.local) == ("mean colour", False)
    np.testing.assert_allclose(colour.values[:, 0], [image[:, :, 0].mean() for image in images])
    assert colour.values.shape == (3, 1) and len(local) == 64 and all(region.local for region in local)
    named = {region.name: region.values for region in local}
    found = named["the region in row 2 and column 7 of 8 x 8"]
    cells = [image[1:2, 12:14].astype(float) for image in images]
    expected = [[c.mean(axis=2).min(), c.mean(axis=2).max(), c[:, :, 0].mean()] for c in cells]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_pictures_and_texts_of_a_split_are_read_when_asked_for(tmp_path):
    split = written(Shelf(), tmp_path / "data", train=12, test=4)["train"]
    files, texts = FirstPictures(split, 7), SplitTexts(split)
    whole = split.files(range(12))
    assert len(files) == 7 and list(files) == whole[:7] and files[-1] == whole[6] and files[2:5] == whole[2:5]
    assert files[-3:] == whole[4:7]
    with pytest.raises(IndexError):
        files[7]
    assert (
        len(texts) == 12
        and list(texts) == split.texts
        and texts[5] == split.texts[5]
        and texts[3:6] == split.texts[3:6]
    )
    assert len(set(split.texts)) > 1


def turned(image, how):
    return {"mirrored": image[:, ::-1], "upside down": image[::-1], "turned by 180 degrees": image[::-1, ::-1]}.get(
        how, image
    )


def test_copies_are_named_by_how_they_were_changed_in_the_order_of_rows():
    rng = rng_for(0, "copies")
    shown = [(np.kron(rng.random((4, 6)), np.ones((8, 8))) * 200 + 20)[:, :, None].astype(np.uint8) for _ in range(6)]
    hows = ["turned by 180 degrees", "as it is", None, "mirrored", "upside down"]
    asked = [np.ascontiguousarray(turned(shown[place], how)) for place, how in enumerate(hows)]
    asked[2] = (np.kron(rng.random((4, 6)), np.ones((8, 8))) * 200 + 20)[:, :, None].astype(np.uint8)
    splits = [
        AuditedSplit(name, np.zeros((len(images), 1), int), np.zeros((len(images), 1), int),
                     pictures=[encode_png(image) for image in images])
        for name, images in (("train", shown), ("test", asked))
    ]  # fmt: skip
    rows = [[PictureRow(split, row) for row in range(len(split.pictures))] for split in splits]
    found = [(copy.row, copy.how) for copy in near_copies(*rows)]
    assert found == [(row, how) for row, how in enumerate(hows) if how is not None]


def test_pictures_are_alike_by_both_gaps_in_either_order():
    rng = rng_for(0, "alike")
    first = np.kron(rng.random((6, 9)), np.ones((2, 2))) * 100 + 60
    assert _alike(first, first * 1.4 + 10) and _alike(first, first * 0.6 + 30)
    spot = first.copy()
    spot[0, 0] += 40  # the mean gap is small, the largest is not
    assert not _alike(first, spot) and not _alike(spot, first)
    noisy = first + rng.normal(size=first.shape) * 4
    assert np.abs(noisy - first).max() < 24 and not _alike(first, noisy)
    assert not _alike(first, 255 - first) and not _alike(first, first.T)
    fitted = _fitted(first, first * 0.5 + 90)
    np.testing.assert_allclose(fitted, first * 0.5 + 90)
    flat = np.full_like(first, 100.0)
    assert _fitted(first, flat) is None and _fitted(flat, first) is None and _alike(flat, flat.copy())
    assert _fitted(first, first * 3 - 100) is None and _fitted(first, first * 0.3 + 100) is None


def test_parts_near_a_window_are_tried_at_all_sizes_and_places():
    whole = _resized(rng_for(3, "whole").random((9, 9)) * 255, 32)
    for size, top, left in ((24, 3, 6), (20, 5, 2), (22, 2, 2), (23, 5, 4), (21, 1, 5)):
        cut = _resized(whole[top : top + size, left : left + size], 32)
        tried = list(_shifted(cut, whole, Window(22, 4, 4) if top > 2 else Window(22, 3, 3)))
        assert max(tried) > 0.98
    assert len(list(_shifted(whole, whole, Window(22, 5, 5)))) == 5 * 25
    assert len(list(_shifted(whole, whole, Window(29, 0, 0)))) == 9 + 9 + 9 + 9 + 4  # 27 to 31, those inside


def test_sources_in_some_splits_only():
    def with_sources(name, rows, *names):
        return part(name, rows, ingredients=[(), *[(one,) for one in names]])

    one = with_sources("train", 3, "d1", "d2"), with_sources("train_2", 3, "d3", "d4")
    found = pictures.sources(data(*one, with_sources("test", 2, "d9"), part("valid", 2)))
    assert (found.status, found.text) == ("pass", "4 source images of training occur nowhere else")
    found = pictures.sources(data(*one, with_sources("test", 3, "d4", "d3"), with_sources("ood", 2, "d1")))
    assert found.status == "fail" and found.text.endswith(
        "test shows 2 of them, such as d3; ood shows 1 of them, such as d1"
    )
    assert pictures.sources(data(with_sources("test", 2, "d1"))).status == NOT_CHECKED
    assert pictures.sources(data(part("train", 2))).status == NOT_CHECKED
    assert pictures.sources(data(part("train", 2), task="a task")).status == NOTHING


def test_changes_show_in_what_a_model_may_see():
    def drawn(columns, **shown):
        return SimpleNamespace(columns=columns), SimpleNamespace(**{name: np.array(x) for name, x in shown.items()})

    task, before = drawn(("image", "depth", "text", "things"), image=[1, 2], depth=[3], text="a", things=[7])
    for change, differ in (({}, False), ({"depth": [4]}, True), ({"text": "b"}, True), ({"things": [8]}, False)):
        after = SimpleNamespace(**{**vars(before), **{name: np.array(x) for name, x in change.items()}})
        assert pictures._differ(before, after, task) == differ
    blind = SimpleNamespace(columns=("image", "text"))
    assert not pictures._differ(before, SimpleNamespace(**{**vars(before), "depth": np.array([4])}), blind)


def test_a_concept_shows_where_some_change_of_it_can_be_drawn_and_seen():
    class Drawing:
        """Draws n, and a where n is 2; a cannot be changed where n is 0, and one has no other value."""

        columns = ("image",)
        space = SPACE

        def change_world(self, world, change):
            if "a" in change and world["n"] == 0:
                raise AssayError("not so")
            if "n" in change and change["n"] == 1:
                return None
            return {**world, **change}

        def render(self, world):
            return SimpleNamespace(image=np.array([world["n"], world["a"] if world["n"] == 2 else 0]))

    worlds = [{"a": False, "n": n, "one": "only"} for n in (0, 1, 2)]
    assert pictures._shows(Drawing(), worlds, "a") is True and pictures._shows(Drawing(), worlds[:2], "a") is False
    assert pictures._shows(Drawing(), worlds[:1], "a") is None and pictures._shows(Drawing(), worlds[:1], "n") is True
    assert pictures._shows(Drawing(), worlds, "one") is None
    made = {"train": worlds[:1], "test": worlds[:2], "hard": worlds}
    splits = {
        name: type("Rows", (list,), {"world": lambda self, row: self[row]})(found) for name, found in made.items()
    }
    both = data(*(part(name, len(found)) for name, found in made.items()), task=Drawing(), splits=splits)
    assert pictures.invisible_concepts(both) == ["a"] and both.memo["untried"] == []  # by the first held-out split
    found = pictures.visible(both)
    assert (found.status, found.numbers) == ("fail", {"hidden": ["a"]}) and found.text.startswith("changing a alters")
    only = data(part("train", 1), task=Drawing(), splits={"train": splits["train"]})
    assert pictures.invisible_concepts(only) == [] and only.memo["untried"] == ["a"]
    found = pictures.visible(only)
    assert found.status == "note" and "but for a, which no world could be drawn again with" in found.text
    for worlds_of, status in ((worlds, "pass"), ([], NOT_CHECKED)):
        rows = type("Rows", (list,), {"world": lambda self, row: self[row]})(worlds_of)
        assert pictures.visible(data(part("test", 3), task=Drawing(), splits={"test": rows})).status == status


def read(concept, low, high, chance=0.5):
    return PixelReading(concept, 0.7, 0.5, low, high, chance)


def test_what_no_model_reads_is_hidden_or_not_known():
    def check(*readings):
        one = data(part("train", 3))
        one.memo["readings"] = list(readings)
        return pictures.visible(one), pictures.invisible_concepts(one)

    seen, weak, hidden, unknown = read("a", 0.3, 0.5), read("b", 0.1, 0.9), read("c", -0.1, 0.01), read("d", -0.2, 0.3)
    found, invisible = check(seen, weak)
    assert (found.status, invisible) == ("pass", []) and f"least of all {weak.text}" in found.text
    assert found.numbers == {"hidden": [], "gain": {"a": [0.3, 0.5], "b": [0.1, 0.9]}}
    found, invisible = check(seen, hidden)
    assert (found.status, invisible) == ("fail", ["c"]) and found.text.endswith(hidden.text)
    assert found.numbers["hidden"] == ["c"]
    found, invisible = check(seen, unknown)
    assert (found.status, invisible) == (NOT_CHECKED, None) and found.text.endswith(unknown.text)
    assert check(seen, unknown, hidden)[0].status == "fail" and check(seen, unknown, hidden)[1] is None
    found, invisible = check()
    assert (found.status, invisible) == (NOT_CHECKED, None) and "fewer than 200 pictures" in found.text


def test_texts_are_counted_in_every_split():
    bad = ["fine", "a [COLOUR] box", "  ", "", "TODO", "mastodon {x}"]
    found = pictures.texts(data(part("train", 2, texts=["a", "b"]), part("test", 6, texts=bad), part("hard", 3)))
    assert found.status == "fail" and found.text == (
        "unfinished texts: test: 3 of 6 hold an unfilled place such as [COLOUR]; test: 2 are empty"
    )
    found = pictures.texts(data(part("train", 2, texts=["a", "b"]), part("test", 3, texts=["c", "d", "TODOS"])))
    assert (found.status, found.text) == ("pass", "5 texts without an unfilled place")
    assert pictures.texts(data(part("train", 2))).status == NOTHING


# symbols and noise


def test_gaps_in_worlds_are_no_worlds():
    first, second = codes_of("x", 6), codes_of("y", 6)
    first[:, 0], second[:, 0] = 0, 1
    first[2] = second[4] = [-1, 1, 0]
    second[1] = first[3] = [0, 2, 0]
    one, other = part("train", 6, concepts=first), part("test", 6, concepts=second, disjoint_from=("train", "gone"))
    found = symbols.disjoint(data(one, other))
    assert found.status == "fail" and found.text.endswith("test and train share 1 worlds, such as a=False n=2 one=only")
    second[1] = [1, 2, 0]
    third = part("hard", 6, concepts=second, disjoint_from=("train",))
    found = symbols.disjoint(data(one, other, third))
    assert (found.status, found.text) == ("pass", "2 claims to share no world hold")
    assert symbols.disjoint(data(one, part("test", 2, disjoint_from=("gone",)))).status == NOTHING


def test_worlds_outside_their_split_are_those_wholly_known():
    codes = np.array([[0, 1, 0], [1, -1, 0], [0, -1, 0], [1, 2, 0], [0, 2, 0]])
    inside = part("test", 5, concepts=codes, where=parse("a and n > 0"))
    found = symbols.splits(data(part("train", 4), inside))
    assert found.status == "fail" and found.text.endswith("test: 2 of 5 worlds, such as a=False n=1 one=only")
    inside = part("test", 1, concepts=codes[3:4], where=parse("a and n > 0"))
    assert symbols.splits(data(part("train", 4), inside)).status == "pass"
    assert symbols.splits(data(part("train", 4))).status == NOTHING


def test_constants_and_ties_among_values_that_are_known():
    codes = codes_of("ties", 120)
    codes[:, 1] = codes[:, 0] * 2  # a determines n, which never is 1
    codes[::10, 0] = -1
    tied = symbols.free(data(part("train", 120, concepts=codes), part("test", 4)))
    assert tied.status == "fail" and tied.text.endswith("train: a determines n")
    codes = codes_of("ties", 120)
    codes[:, 0] = 1
    codes[::7, 0] = -1
    found = symbols.free(data(part("train", 120, concepts=codes), part("train_2", 100)))
    assert found.text.endswith("train: a is always True") and found.status == "fail"
    assert symbols.free(data(part("train", 120), part("train_2", 100))).status == "pass"
    assert symbols.free(data(part("train", 100))).status == "pass"
    assert symbols.free(data(part("train", 99))).status == NOT_CHECKED
    must = Knowledge.of(SPACE, {"y": "a", "s": "(n + a) % 3"}, [Constraint("a", parse("a"))])
    assert symbols.free(data(part("train", 120, concepts=codes), knowledge=must)).status == "pass"
    within = part("train", 120, concepts=codes, where=parse("a"))
    assert symbols.free(data(within)).status == "pass"


def test_rare_values_of_labels_of_two_values_only():
    labels = np.zeros((1000, 2), dtype=int)
    labels[:19, 0], labels[:5, 1], labels[5:400, 1] = 1, 1, 2
    found = symbols.classes(data(part("train", 1000, labels=labels)))
    assert found.status == "fail" and found.text.endswith("train: 'y' is True in 1.9 %")
    labels[19, 0] = 1  # two per cent are few, and no fault
    found = symbols.classes(data(part("train", 1000, labels=labels)))
    assert found.status == "note" and found.text == "unbalanced: train: 'y' is True in 2.0 %"
    labels[:100, 0] = 1
    assert symbols.classes(data(part("train", 1000, labels=labels))).status == "pass"
    labels[:, 0], labels[0, 0] = 1, 0
    found = symbols.classes(data(part("train", 1000, labels=labels, by_quota=True)))
    assert found.status == "note" and found.text.endswith("'y' is False in 0.1 %")
    labels[:, 1] = 2
    both = symbols.classes(data(part("train", 1000, labels=labels), part("test", 9)))
    assert both.status == "fail" and "train: 's' is always 2" in both.text
    quota = symbols.classes(
        data(part("train", 1000, labels=labels, by_quota=True))
    )  # unbalanced by design, and one class
    assert quota.status == "fail" and quota.text.endswith(": train: 's' is always 2")


def test_equal_worlds_are_judged_by_label_and_split():
    codes = np.repeat([[0, 0, 0], [1, 2, 0], [0, 1, 0]], [60, 50, 2], axis=0)
    labels = np.stack([codes[:, 0], codes[:, 1]], axis=1)
    first, second = (
        part("train", 40, concepts=codes[:40], labels=labels[:40].copy()),
        part("test", 72, concepts=codes[40:].copy(), labels=labels[40:].copy()),
    )
    second.labels[25, 1], second.labels[71, 0] = 0, 1  # a world met twice tells nothing
    found = noise.labels_without_rule(data(first, second, knowledge=None))
    assert found.status == "fail" and found.text == (
        "1 of 110 labels 's' differ from those of equal worlds, first at row 25 of test"
    )
    assert found.numbers == {"doubted": {"y": 0.0, "s": 1 / 110}}
    second.concepts[:5, 1] = -1  # worlds with gaps are equal to none, and rows keep their numbers
    found = noise.labels_without_rule(data(first, second, knowledge=None))
    assert "1 of 105 labels 's'" in found.text and found.text.endswith("first at row 25 of test")
    second.labels[5:16, 0] = 1  # eleven of 105: the concepts do not decide
    found = noise.labels_without_rule(data(first, second, knowledge=None))
    assert found.status == "fail" and found.numbers["doubted"]["y"] == pytest.approx(11 / 105)
    fine = noise._judged("y", second.labels[:, 0], second.concepts, np.arange(72), data(first))
    assert fine.status == NOT_CHECKED and "no model learns 'y'" in fine.text


@pytest.mark.parametrize(("wrong", "status"), [(0, "pass"), (10, "fail"), (11, NOT_CHECKED)])
def test_a_tenth_of_the_labels_may_differ_before_concepts_do_not_decide(wrong, status):
    labels = np.zeros(100, dtype=int)
    labels[:wrong] = 1
    found = noise._judged("y", labels, np.zeros((100, 1), int), np.arange(100), data(part("train", 100)))
    assert (found.status, found.numbers["share"]) == (status, wrong / 100)


def test_rows_are_those_of_the_split_that_holds_them():
    both = data(part("train", 3), part("test", 2))
    assert [noise._place(np.array([row]), both) for row in range(6)] == [
        "row 0 of train", "row 1 of train", "row 2 of train", "row 0 of test", "row 1 of test", "row 0",
    ]  # fmt: skip


# nuisances, readings and colours


def test_nuisances_that_both_splits_have_in_any_order():
    learn, ask = part("train", 400), part("test", 300)
    rng = rng_for(0, "both")
    tells = {one.name: one.labels[:, 1] * 2.0 + rng.random(len(one)) for one in (learn, ask)}
    first = replace(learn, nuisances={"mine": rng.random(400), "x": rng.random(400), "size": tells["train"]})
    gaps = rng.random(300)
    gaps[::3] = np.nan
    second = replace(ask, nuisances={"size": tells["test"], "x": gaps, "other": rng.random(300)})
    y, s = nuisance.sampled_leaks(data(first, second), first, second)
    assert (y.label, s.label) == ("y", "s") and s.by == ("size", "x") and set(y.by) == {"size", "x"}
    assert s.accuracy > 0.95 and s.chance == pytest.approx(1 / 3) and y.chance == 0.5
    counts = np.bincount(second.labels[:, 1])
    assert s.error == pytest.approx(np.sqrt((0.25 / counts).sum()) / 3)
    assert nuisance.sampled_nuisances(second).values[0].tolist() == [
        tells["test"][0],
        -1.0,
        second.nuisances["other"][0],
    ]
    columns = nuisance.sampled_nuisances(second)
    assert columns.only(["other", "size"]).tolist() == columns.values[:, [2, 0]].tolist()
    assert nuisance.sampled_leaks(data(learn, ask), learn, ask) == []
    fixed = replace(second, labels=second.labels * [1, 0])
    assert [leak.label for leak in nuisance.sampled_leaks(data(first, fixed), first, fixed)] == ["y"]


def test_the_split_that_is_asked_is_the_largest_test_split():
    parts = [
        part("train", 99),
        part("train_b", 100),
        part("train_c", 400),
        part("ood", 900),
        part("Test", 100),
        part("val", 150),
    ]
    learn, ask = nuisance._learn_and_ask(data(*parts))
    assert (learn.name, ask.name) == ("train_b", "val")
    assert nuisance._learn_and_ask(data(*parts[:4]))[1].name == "ood"
    assert nuisance._learn_and_ask(data(part("train", 99), part("test", 99))) == (None, None)


def test_ceilings_of_gaps_and_several_labels(monkeypatch):
    monkeypatch.setattr(nuisance, "invisible_concepts", lambda data: None)
    first, second = part("test", 200), part("hard", 60)
    second.labels[:30, 0] ^= 1
    second.concepts[:10, 1] = -1
    both = data(part("train", 50), first, second)
    both.memo["nuisances"] = CheckResult("nuisances", "pass", "", {"balanced_accuracy": {"y": 0.5, "s": 0.75}})
    found = nuisance.ceilings(both)
    codes, labels = (np.concatenate([getattr(one, key) for one in (first, second)]) for key in ("concepts", "labels"))
    known = (codes >= 0).all(axis=1)
    by_rule = (RULE.labels_of(codes[known]) == labels[known]).mean()
    assert nuisance._by_rule(both, codes, labels) == pytest.approx(by_rule) and by_rule < 1
    majority = np.mean([np.bincount(column).max() / 260 for column in labels.T])
    best = max(nuisance.reachable(codes, labels), by_rule)
    assert found.numbers == pytest.approx({"concepts": best, "nuisances": 0.625, "majority": majority})
    assert found.status == "pass"
    monkeypatch.setattr(nuisance, "invisible_concepts", lambda data: ["n"])
    found = nuisance.ceilings(both)
    assert found.status == "note" and list(found.numbers) == ["concepts", "visible concepts", "nuisances", "majority"]
    assert found.numbers["visible concepts"] == pytest.approx(nuisance.reachable(codes[:, [0, 2]], labels))
    monkeypatch.setattr(nuisance, "invisible_concepts", lambda data: [])
    assert nuisance.ceilings(both).numbers["visible concepts"] == pytest.approx(best)
    assert nuisance.ceilings(data(part("train", 50))).status == NOT_CHECKED


def test_guesses_of_groups_that_were_met():
    groups, labels = np.array([0, 0, 0, 1, 1, 2, 2, 0]), np.array([1, 1, 0, 2, 0, 1, 1, 0])
    learned = np.array([True, True, True, True, False, False, False, False])
    assert nuisance._guess_accuracy(groups, labels, learned) == 0.0  # 1 for 0, 2 for 1, and of 2 nothing is known
    labels[4] = 2
    assert nuisance._guess_accuracy(groups, labels, learned) == 0.5
    assert np.isnan(nuisance._guess_accuracy(np.array([0, 1]), np.array([0, 1]), np.array([True, False])))


def test_leaks_of_each_kind_decide_in_turn(monkeypatch):
    def leak(label, accuracy, local=False, error=0.001):
        return nuisance.Leak(label, accuracy, 0.5, error, ("x",), local)

    def probe(drawn, seen):
        monkeypatch.setattr(nuisance, "sampled_leaks", lambda *given: drawn)
        monkeypatch.setattr(nuisance, "picture_leaks", lambda *given: seen)
        return nuisance._probe(data(part("train", 100), part("test", 100)))

    found = probe([leak("y", 0.51), leak("s", 0.54)], [leak("y", 0.53, local=True)])
    assert found.status == "pass" and "at most 0.54 balanced accuracy, 's'" in found.text
    assert found.numbers == {"balanced_accuracy": {"y": 0.53, "s": 0.54}}
    found = probe([leak("y", 0.51)], [leak("s", 0.58, True), leak("s", 0.9, True), leak("y", 0.56, True)])
    assert found.status == "fail" and [f"accuracy {x}" in found.text for x in ("0.90", "0.58", "0.56")] == [
        True,
        False,
        True,
    ]
    assert found.numbers["balanced_accuracy"] == {"y": 0.56, "s": 0.9} and found.text.count(" is predicted with ") == 2
    assert probe([leak("y", 0.51)], [leak("s", 0.7)]).status == "note"
    assert probe([leak("y", 0.51)], [leak("s", 0.79)]).status == "note"
    assert probe([leak("y", 0.51)], [leak("s", 0.81)]).status == "fail"
    assert probe([leak("y", 0.56)], []).status == "fail" and probe([leak("y", 0.56, error=0.02)], []).status == "pass"


def test_columns_of_the_other_concepts():
    concepts = np.array([[0, 2], [1, 0], [1, 1], [0, 1]])
    expected = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    pairs = np.stack([expected[:, i] * expected[:, j] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    assert reading._others(concepts).tolist() == np.concatenate([expected, pairs], axis=1).tolist()
    assert reading._others(np.zeros((3, 2), int)).tolist() == [[0.0]] * 3
    many = np.stack([np.arange(50)] * 1, axis=1)
    assert reading._others(many).shape == (50, 49)  # more than forty columns: no pairs


def test_values_that_are_rare_or_unknown_are_not_read(monkeypatch):
    asked = []

    def compared(name, reader, pixels, others, codes):
        asked.append((name, reader.__name__, pixels[:, 0].tolist(), others.shape, codes.tolist()))
        low = {"_ridge": -0.3, "_forest": -0.1}[reader.__name__]
        return PixelReading(name, 0.5, 0.5, low, 0.2, 0.5)

    monkeypatch.setattr(reading, "_compared", compared)
    codes = np.array([0] * 20 + [1] * 21 + [2] * 19 + [-1] * 30)
    concepts = np.stack([np.arange(90) % 2, codes], axis=1)
    found = reading._reading("n", 1, np.arange(90.0)[:, None], concepts)
    assert [one[1] for one in asked] == ["_ridge", "_forest"] and found.low == -0.1
    assert asked[0][2] == list(range(41)) and asked[0][3] == (41, 1) and asked[0][4] == codes[:41].tolist()
    assert reading._reading("n", 1, np.arange(90.0)[:, None], np.stack([codes, np.minimum(codes, 0)], axis=1)) is None


def test_shares_of_hues_around_the_circle():
    image = np.array(
        [[[255, 0, 30], [255, 30, 0], [60, 20, 25], [250, 240, 5], [0, 10, 250], [120, 118, 90]]], dtype=np.uint8
    )
    assert colours.hue_shares(image, [0, 240, 60]).tolist() == [0.6, 0.2, 0.2]
    assert colours.hue_shares(image, [120]).tolist() == [0.0]
    assert colours.hue_shares(image[:, :, :1], [0, 240]).tolist() == [0.0, 0.0]
    with_alpha = np.concatenate([image, np.full((1, 6, 1), 9, np.uint8)], axis=2)
    assert colours.hue_shares(with_alpha, [0, 240, 60]).tolist() == [0.6, 0.2, 0.2]


def test_scores_of_values_of_unequal_number():
    codes = np.array([0, 0, 0, 1, 2, 2, 1, 1, 1, -1])
    shares = rng_for(0, "shares").random((10, 2))
    found = colours._scores(codes, shares, 4)
    for value in range(4):
        inside = codes == value
        if inside.sum() < 2:
            assert found[value].tolist() == [0.0, 0.0]
            continue
        first, second = shares[inside], shares[~inside]
        error = np.sqrt(first.var(axis=0) / inside.sum() + second.var(axis=0) / (~inside).sum())
        np.testing.assert_allclose(found[value], (first.mean(axis=0) - second.mean(axis=0)) / error)
    assert colours._follows(np.array([[5.0, 1.0], [0.0, 4.0]])) and not colours._follows(
        np.array([[5.0, 1.0], [0.0, 3.9]])
    )
    assert not colours._follows(np.array([[5.0, 1.0], [4.5, 4.0]]))


# what is said, and what is written


def test_faults_in_a_line():
    assert first_few(["a", "b", "c"]) == "a; b; c" and first_few(["a", "b", "c", "d"]) == "a; b; c and 1 more"
    assert first_few(["a", "b"], 1) == "a and 1 more"
    found = fail_if(["a", "b", "c", "d", "e"], "x", "bad", "good")
    assert (found.check, found.status, found.text) == ("x", "fail", "bad: a; b; c and 2 more")
    assert fail_if([], "x", "bad", "good").to_dict() == {"check": "x", "status": "pass", "text": "good", "numbers": {}}


def test_checks_by_name_are_watched_in_their_order(monkeypatch):
    monkeypatch.setattr(auditing, "CHECKS", {name: lambda data, name=name: f"{name} of {data.name}" for name in "abc"})
    seen = []
    watched = auditing.audit(data(), ["c", "a"], lambda name, share: seen.append((name, share)))
    assert watched.results == ("c of toys", "a of toys") and seen == [("c", 0.0), ("a", 0.5)]
    assert auditing.audit(data()).results == ("a of toys", "b of toys", "c of toys")


def test_a_card_keeps_what_stands_around_the_section(tmp_path):
    (tmp_path / "README.md").write_text("# Data\n\ntext\n", encoding="utf-8")
    results = tuple(CheckResult(f"c{place}", "pass", f"a | b {place}") for place in range(12))
    auditing.write_audit(tmp_path, auditing.Audit("toys", results))
    first = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert first.startswith("# Data\n\ntext\n\n<!-- audit -->\n## Audit") and first.count("| passed |") == 12
    (tmp_path / "README.md").write_text(first + "\nafter\n", encoding="utf-8")
    auditing.write_audit(tmp_path, auditing.Audit("toys", results[:2]))
    again = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert again.startswith("# Data\n\ntext\n\n<!-- audit -->") and again.endswith("<!-- end of audit -->\nafter\n")
    assert again.count("| passed |") == 2 and again.count("<!-- audit -->") == 1


def test_nuisances_of_styles_that_differ():
    styles = [
        {"x": 1.5, "list": [3, [4, 5]]},
        {"y": {"z": True}, "list": [], "word": "red", "sources": ["d1"]},
        {"x": ""},
    ]
    found = nuisances_of(styles, 30)
    assert found["index"].tolist() == [0, 1 / 30, 2 / 30]
    assert list(found) == [
        "index",
        "x",
        "list.length",
        "list.0",
        "list.1.length",
        "list.1.0",
        "list.1.1",
        "y.z",
        "word",
    ]
    expected = {"x": [1.5, None, None], "list.length": [2, 0, None], "list.1.length": [2, None, None], "list.1.1": [5, None, None],
                "y.z": [None, 1, None], "word": [None, as_number("red"), None]}  # fmt: skip
    for name, column in expected.items():
        assert found[name].tolist() == pytest.approx([np.nan if x is None else x for x in column], nan_ok=True), name
    worlds = [SimpleNamespace(style={"sources": ["d1", "d2"]}), SimpleNamespace(style={})]
    assert _ingredients(worlds, None) == [("d1", "d2"), ()]
    task = SimpleNamespace(ingredients=lambda world: tuple(world.style))
    assert _ingredients(worlds, task) == [("sources",), ()]


def test_a_dataset_of_ours_is_audited_as_its_manifest_says(tmp_path, monkeypatch):
    dataset = written(Shelf(), tmp_path / "data", train=12, test=6, hard=4)
    monkeypatch.setattr(audited, "MOST_PICTURES", 5)
    about = {
        split["name"]: {**split, "disjoint_from": ["train"], "quota": None} for split in dataset.manifest["splits"]
    }
    about["test"]["quota"] = {"near": 0.5}
    task = SimpleNamespace(ingredients=lambda world: (str(world.codes[0]),))
    train, test, hard = (audited._part(dataset[name], task, about[name]) for name in ("train", "test", "hard"))
    split = dataset["train"]
    assert (train.name, len(train), len(train.pictures), len(train.texts)) == ("train", 12, 5, 12)
    assert train.concepts.tolist() == split.concepts.tolist() and train.labels.tolist() == split.labels.tolist()
    assert train.nuisances["index"].tolist() == pytest.approx([row / 12 for row in range(5)])
    assert train.nuisances["distance"].tolist() == [split.world(row).style["distance"] for row in range(5)]
    assert list(train.ingredients) == [(str(code),) for code in split.concepts[:5, 0].tolist()]
    assert train.disjoint_from == ("train",) and train.where == split.where
    assert (train.by_quota, test.by_quota, hard.by_quota) == (False, True, True)  # the hard split is one of quotas
    found = audited.audited_dataset(dataset)
    assert found.name == "shelf" and list(found.parts) == list(found.splits) == ["train", "valid", "test", "hard"]
    assert found.labels == {"same": (False, True), "pile": (False, True)} and found.knowledge == dataset.knowledge
    assert found.task is None and "shelf" in found.no_task  # no registry knows it


def test_labels_are_denied_where_another_value_is_as_sure_as_usual(monkeypatch):
    """Of 120 labels 2 and 5: what a model says of each is written down, and its usual confidence follows from that."""
    labels = np.where(np.arange(120) < 70, 5, 2)
    chances = np.tile([0.2, 0.8], (120, 1))
    chances[70:] = [0.9, 0.1]
    chances[0], chances[1], chances[2] = [0.95, 0.05], [0.6, 0.4], [0.45, 0.55]  # the last two are sure of nothing
    chances[80] = [0.05, 0.95]
    asked = []

    def predicted(forest, inputs, known, cv, method):
        asked.append((inputs.shape, known.tolist(), cv, method))
        return chances

    fake = SimpleNamespace(RandomForestClassifier=lambda *given, **more: None, cross_val_predict=predicted)
    monkeypatch.setattr(noise, "import_extra", lambda name, purpose: fake)
    concepts = np.stack([np.arange(120) % 2, np.arange(120) % 3, np.zeros(120, int)], axis=1)
    found = noise.denied(labels, concepts)
    usual = [chances[70:, 0].mean(), chances[:70, 1].mean()]
    assert usual[0] > 0.6 and usual[1] > 0.55 and found.rows.tolist() == [0, 80] and found.judged == 120
    assert asked == [((120, 1 + 2 + 0), [1] * 70 + [0] * 50, 5, "predict_proba")]
    chances[:, :] = [0.5, 0.5]
    chances[:12] = [0.9, 0.1]  # right in 108 of 120 at most where ties go to the first
    assert noise.denied(labels, concepts).judged == 0
    few = labels.copy()
    few[few == 2] = 5
    few[:4] = 2
    assert noise.denied(few, concepts).judged == 0 and noise.denied(labels[:99], concepts[:99]).judged == 0
    assert len(asked) == 2  # neither is asked about


@pytest.mark.parametrize(("rows", "status"), [(1, "note"), (0, "pass")])
def test_one_denied_label_of_two_hundred_is_noted(rows, status, monkeypatch):
    monkeypatch.setattr(noise, "unequal", lambda labels, concepts: noise.Doubt(np.array([0]), 99))
    monkeypatch.setattr(noise, "denied", lambda labels, concepts: noise.Doubt(np.arange(rows) + 6, 200))
    whole = np.arange(3, 203)
    found = noise._judged(
        "y", np.zeros(203, int), np.zeros((203, 1), int), whole, data(part("train", 5), part("test", 198))
    )
    assert (found.status, found.numbers["share"]) == (status, rows / 200)
    assert ("first at row 4 of test" in found.text) == bool(rows)
    monkeypatch.setattr(noise, "denied", lambda labels, concepts: noise.Doubt(np.arange(1), 201))
    assert (
        noise._judged("y", np.zeros(203, int), np.zeros((203, 1), int), whole, data(part("test", 203))).status == "pass"
    )


def test_pictures_that_are_read_are_the_first_of_each_split(monkeypatch):
    seen = []
    monkeypatch.setattr(
        reading, "_reading", lambda name, place, pixels, concepts: seen.append((name, pixels, concepts))
    )
    rng = rng_for(0, "read")

    def shown(name, rows, count):
        one = part(
            name, rows, pictures=[encode_png(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)) for _ in range(count)]
        )
        return one, one.stats

    (first, stats_of), (second, others) = shown("train", 150, 120), shown("test", 90, 80)
    assert reading.readings(data(first, second, part("hard", 30))) == []
    order = rng_for(0, "audit", "reading").permutation(200)
    concepts = np.concatenate([first.concepts[:120], second.concepts[:80]])[order]
    assert [name for name, _, _ in seen] == ["a", "n", "one"]
    for _, _, told in seen:
        assert told.tolist() == concepts.tolist()
    every = [*stats_of, *others]
    raw = np.stack([np.concatenate([s.small, s.means, s.patches[:, :, :3].ravel()]) for s in every])[order]
    expected = (raw - raw.mean(axis=0)) / np.maximum(raw.std(axis=0), 1e-6)
    np.testing.assert_allclose(seen[0][1], expected, rtol=1e-4, atol=1e-4)
    assert reading.readings(data(replace(first, pictures=first.pictures[:119]), second)) == [] and len(seen) == 3


def test_parts_of_pictures_are_found_in_either_split():
    from PIL import Image

    rng = rng_for(0, "parts")

    def scene():
        coarse = Image.fromarray((rng.random((7, 7)) * 220 + 20).astype(np.uint8))
        return np.asarray(coarse.resize((96, 96), Image.Resampling.BILINEAR), dtype=np.float64)

    def cut(image, top, left, size):
        inside = Image.fromarray(image[top : top + size, left : left + size].astype(np.uint8))
        return np.asarray(inside.resize((96, 96), Image.Resampling.BILINEAR), dtype=np.float64)

    shown, own = [scene() for _ in range(4)], scene()
    asked = [own, cut(shown[2], 0, 19, 77), scene()]
    taught = [*shown, cut(own, 14, 14, 67)]
    splits = [
        part(name, len(images), pictures=[encode_png(image[:, :, None].astype(np.uint8)) for image in images])
        for name, images in (("train", taught), ("test", asked))
    ]
    rows = [[PictureRow(split, row) for row in range(len(split.pictures))] for split in splits]
    assert [(copy.row, copy.how) for copy in near_copies(*rows)] == [(0, "cropped"), (1, "cropped")]
    assert near_copies(rows[0][:2], rows[1][2:]) == []


def test_a_picture_that_is_its_own_mirror_image_is_shown_as_it_is():
    half = np.kron(rng_for(0, "half").random((6, 4)), np.ones((8, 8))) * 200 + 20
    image = np.concatenate([half, half[:, ::-1]], axis=1)[:, :, None].astype(np.uint8)
    splits = [part(name, 1, pictures=[encode_png(image)]) for name in ("train", "test")]
    rows = [[PictureRow(split, 0)] for split in splits]
    assert [(copy.row, copy.how) for copy in near_copies(*rows)] == [(0, "as it is")]


def test_models_learn_from_the_first_rows_and_are_asked_about_all(monkeypatch):
    monkeypatch.setattr(nuisance, "MOST_ROWS", 150)
    seen = []

    def forest(inputs, labels, queries):
        seen.append((inputs.tolist(), labels.tolist(), queries.tolist()))
        return nuisance.Guess(np.zeros(len(queries), int), np.array([1.0, 3.0, 2.0, 2.0]))

    monkeypatch.setattr(nuisance, "forest", forest)
    drawn = [
        replace(part(name, rows), nuisances={key: rng_for(0, name, key).random(rows) for key in "wxyz"})
        for name, rows in (("train", 200), ("test", 180))
    ]
    found = nuisance.sampled_leaks(data(*drawn), *drawn)
    columns = [np.stack(list(one.nuisances.values()), axis=1) for one in drawn]
    for place in (0, 1):
        assert seen[place] == (columns[0][:150].tolist(), drawn[0].labels[:150, place].tolist(), columns[1].tolist())
    assert [leak.by for leak in found] == [("x", "y", "z")] * 2  # the three that do most, the first of equals first
    assert [leak.accuracy for leak in found] == pytest.approx([1 / 2, 1 / 3])


def test_values_that_are_rare_count_as_much_as_others():
    rng = rng_for(0, "rare")
    codes = (np.arange(300) % 15 == 0).astype(int)
    inputs = rng.normal(size=(300, 6)) + 1.2 * codes[:, None]
    rare = codes[1::2] == 1
    assert (reading._ridge(inputs[::2], codes[::2], inputs[1::2]) == codes[1::2])[rare].mean() >= 0.6
    trees = ExtraTreesClassifier(60, min_samples_leaf=2, max_features=0.1, random_state=0).fit(inputs[::2], codes[::2])
    assert reading._forest(inputs[::2], codes[::2], inputs[1::2])[rare].sum() > trees.predict(inputs[1::2])[rare].sum()
    learned = nuisance.forest(inputs[::2], codes[::2], inputs[1::2])
    small = ExtraTreesClassifier(60, max_depth=6, min_samples_leaf=5, random_state=0).fit(inputs[::2], codes[::2])
    assert learned.labels[rare].sum() > small.predict(inputs[1::2])[rare].sum() and learned.importance.shape == (6,)
    lined = nuisance.line(inputs[::2], codes[::2], inputs[1::2])
    assert (lined.labels == codes[1::2])[rare].mean() >= 0.6 and lined.importance.shape == (6,)


def test_what_is_measured_counts_up_to_four_deviations_and_by_its_square():
    numbers = np.concatenate([np.linspace(-1, 1, 200), [40.0]])[:, None]
    codes = (np.abs(numbers[:, 0]) > 0.5).astype(int)
    codes[-1] = 0  # far away, and no more than four deviations from the middle
    near = np.array([[-0.9], [-0.1], [0.0], [0.2], [0.95]])
    spread = np.linspace(-1, 1, 201)[:, None]
    shape = (np.abs(spread[:, 0]) > 0.5).astype(int)
    assert nuisance.line(spread, shape, near).labels.tolist() == [1, 0, 0, 0, 1]
    far = nuisance.line(numbers, codes, np.array([[40.0], [400.0]])).labels
    assert far[0] == far[1]


COLOURED = ConceptSpace((Concept("kind", ("x", "y")), Concept("paint", ("red", "blue")), Concept("size", (1, 2, 3))))


def coloured(rows, follows, count=None):
    """Pictures of one red or blue pixel, as the concept in this column says."""
    codes = np.stack([np.arange(rows) % 2, np.arange(rows) // 2 % 2, np.arange(rows) // 4 % 3], axis=1)
    paints = np.array([[[[250, 5, 5]]], [[[5, 5, 250]]]], dtype=np.uint8)
    files = [encode_png(paint) for paint in paints]
    pictures_of = [files[code] for code in (codes[:, follows] % 2)[:count].tolist()]
    one = AuditedSplit("train", codes, codes[:, :1], pictures=pictures_of)
    return AuditedDataset("toys", COLOURED, {"y": (0, 1)}, {"train": one})


def test_colours_are_judged_from_a_hundred_pictures_on():
    found = colours.colours(coloured(100, 1))
    assert (found.status, found.text) == ("pass", "pictures show the colours that concepts name")
    assert colours.colours(coloured(120, 1, 99)).status == NOT_CHECKED
    found = colours.colours(coloured(100, 0))
    assert (found.status, found.text) == ("fail", "concepts were exchanged: kind follows the colours that paint names")
    found = colours.colours(coloured(132, 2))
    assert found.status == "note" and found.text.endswith("do not clearly follow the colours that paint name")
    assert colours._hues_of(("red", "x", 3)) == [] and colours._hues_of(("red", "x", "cyan")) == ["red", "cyan"]


def test_colours_of_six_hundred_pictures_are_looked_at(monkeypatch):
    seen = []
    monkeypatch.setattr(colours, "hue_shares", lambda image, hues: seen.append(hues) or np.array([0.5, 0.5]))
    assert colours.colours(coloured(650, 1)).status == "note" and len(seen) == 600 and seen[0] == [240, 0]

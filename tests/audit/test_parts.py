"""The parts of the checks one by one: what counts as above chance, as the same picture, as a suspect; what is written."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from assay.auditing import Audit, colours, copies, noise, nuisance, pictures, reading, regions, symbols, write_audit
from assay.auditing.audited import (
    AuditedDataset,
    AuditedSplit,
    FirstPictures,
    as_number,
    nuisances_of,
    picture_stats,
    place_in_split,
)
from assay.auditing.auditor import card_section
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, fail_if
from assay.auditing.copies import Window, _alike, _fitted, _likeness, _normal, _resized, _shifted
from assay.auditing.noise import Doubt, _place
from assay.auditing.nuisance import (
    Guess,
    Leak,
    _guess_accuracy,
    _leak,
    _learn_and_ask,
    _one_each,
    _several,
    ceilings,
    reachable,
)
from assay.auditing.pictures import texts
from assay.auditing.reading import PixelReading, _compared, _cross_read, _others, _standard
from assay.auditing.regions import LabelEffects, Suspect, _basis, _indicators, _suspects
from assay.concepts import bits, digits
from assay.logic import Constraint, Knowledge, parse
from assay.seeds import rng_for


def test_thresholds_of_the_checks():
    assert (colours.WIDTH, colours.LEAST_CHROMA, colours.FEWEST, colours.CLEAR) == (20, 40, 100, 4.0)
    assert (copies.MEAN_GAP, copies.LARGEST_GAP, copies.FLAT, copies.CLEARLY, copies.SHIFT) == (1.5, 24, 4.0, 0.1, 2)
    assert (copies.SMALL_LIKENESS, copies.CROP_LIKENESS, copies.CROP_CANDIDATE) == (0.98, 0.98, 0.93)
    assert copies.SCALES == (0.9, 0.8, 0.7) and len(copies.WINDOWS) == 27
    assert (noise.FEWEST_EQUAL, noise.FEWEST_ROWS, noise.MOST_NOISE, noise.LEARNED, noise.SUSPECT) == (
        3,
        100,
        0.1,
        0.9,
        0.005,
    )
    assert (nuisance.MARGIN, nuisance.CLEAR, nuisance.ERRORS, nuisance.FEWEST_ROWS, nuisance.FARTHEST) == (
        0.05,
        0.6,
        4.0,
        100,
        4.0,
    )
    assert (regions.PURE, regions.FIRST_LEVEL, regions.LEVEL, regions.CANDIDATES) == (0.8, 0.01, 0.005, 5)
    assert (regions.SEPARABLE, regions.VARIED) == (0.05, 0.005)
    assert (reading.FEWEST_READ, reading.FEWEST_OF_VALUE, reading.MOST_COLUMNS, reading.FAINT) == (200, 20, 40, 0.1)
    assert (symbols.RARE, symbols.LEAST, symbols.FEWEST_ROWS, pictures.TOO_MANY) == (0.1, 0.02, 100, 0.01)
    assert pytest.approx(2.5758, abs=3e-4) == reading.DEVIATIONS
    assert noise.WORST_FIRST == ("fail", "note", NOT_CHECKED, "pass")
    assert colours.HUES == {
        "red": 0, "orange": 30, "yellow": 60, "green": 120, "cyan": 180, "blue": 240, "purple": 280, "magenta": 300,
    }  # fmt: skip


RESULTS = (
    CheckResult("labels", "pass", "fine"), CheckResult("classes", "note", "so | so", {"n": 1}), CheckResult("free", "fail", "tied"),
    CheckResult("visible", NOT_CHECKED, "no pictures"), CheckResult("texts", NOTHING, "none"), CheckResult("splits", "fail", "out"),
)  # fmt: skip


def test_an_audit_in_a_line_and_as_plain_data():
    audit = Audit("toys", RESULTS)
    assert audit.text == "failed: free, splits; passed 2 checks; not checked: visible"
    assert (
        Audit("toys", RESULTS[:1]).text == "passed 1 check"
        and Audit("toys", RESULTS[3:4]).text == "not checked: visible"
    )
    plain = audit.to_dict()
    assert plain["counts"] == {"pass": 1, "note": 1, "fail": 2, NOT_CHECKED: 1, NOTHING: 1}
    assert plain["not_checked"] == ["visible"] and plain["findings"][1]["numbers"] == {"n": 1}
    passed = [Audit("toys", part).to_dict()["passed"] for part in (RESULTS, RESULTS[:2], RESULTS[3:4], RESULTS[4:5])]
    assert passed == [False, True, True, True]  # as the exit status says
    assert repr(audit) == "Audit(toys: 1 pass, 1 note, 2 fail, 1 not checked, 1 nothing to check; failed: free, splits)"
    assert repr(Audit("toys", RESULTS[:1])) == "Audit(toys: 1 pass)" and ">tied</td>" in audit._repr_html_()


def test_the_card_gets_one_section_in_place_of_an_earlier_one(tmp_path):
    section = card_section(Audit("toys", RESULTS[:3]))
    assert section.splitlines() == [
        "<!-- audit -->", "## Audit", "", "What `assay audit` found.", "", "| check | outcome |  |", "| --- | --- | --- |",
        "| labels | passed | fine |", "| classes | noted | so \\| so |", "| free | **failed** | tied |", "<!-- end of audit -->",
    ]  # fmt: skip
    (tmp_path / "README.md").write_text("# Card\n\n", encoding="utf-8")
    write_audit(tmp_path, Audit("toys", RESULTS))
    write_audit(tmp_path, Audit("toys", RESULTS[:1]))
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Card\n\n<!-- audit -->\n") and text.count("## Audit") == 1 and "tied" not in text
    (tmp_path / "README.md").write_text(text + "\n## After\n", encoding="utf-8")
    write_audit(tmp_path, Audit("toys", RESULTS[:2]))
    again = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert again.index("noted") < again.index("## After") and again.startswith("# Card\n\n<!-- audit -->")
    assert json.loads((tmp_path / "audit.json").read_text())["dataset"] == "toys"
    (tmp_path / "new").mkdir()
    write_audit(tmp_path / "new", Audit("toys", RESULTS[:1]))
    assert "## Audit" in (tmp_path / "new" / "README.md").read_text(encoding="utf-8")


def test_faults_fail_and_none_pass():
    assert fail_if([], "a", "bad", "good") == CheckResult("a", "pass", "good")
    assert fail_if(["1", "2", "3", "4"], "a", "bad", "good") == CheckResult("a", "fail", "bad: 1; 2; 3 and 1 more")


def test_a_leak_is_above_chance_by_a_margin_and_more_than_luck():
    assert Leak("y", 0.56, 0.5, 0.01, ()).above(0.05) and not Leak("y", 0.55, 0.5, 0.01, ()).above(0.05)
    assert not Leak("y", 0.6, 0.5, 0.03, ()).above(0.05) and Leak("y", 0.63, 0.5, 0.03, ()).above(0.05)
    assert Leak("y", 0.81, 0.5, 0.01, ()).clear and not Leak("y", 0.79, 0.5, 0.01, ()).clear
    assert not Leak("y", 0.81, 0.25, 0.2, ()).clear
    leak = Leak("y", 0.8149, 0.5, 0.01, ("size", "hue"))
    assert leak.text == "'y' is predicted with balanced accuracy 0.81 (chance 0.50) by size, hue" and not leak.local


def test_how_well_labels_are_predicted_and_by_what():
    truth = np.array([0] * 4 + [1] * 16 + [2] * 100)
    guessed = truth.copy()
    guessed[:2], guessed[4:8] = 1, 0
    leak = _leak("y", truth, Guess(guessed, np.array([0.1, 0.5, 0.2, 0.5])), ["a", "b", "c", "d"])
    assert leak.accuracy == pytest.approx((0.5 + 0.75 + 1) / 3) and leak.chance == pytest.approx(1 / 3)
    assert leak.error == pytest.approx(np.sqrt(0.25 / 4 + 0.25 / 16 + 0.25 / 100) / 3) and leak.by == ("b", "d", "c")
    assert _several(np.array([[0, 1], [0, 2]])).tolist() == [False, True]
    strong = [Leak("y", 0.6, 0.5, 0, ()), Leak("z", 0.7, 0.5, 0, ()), Leak("y", 0.9, 0.5, 0, ())]
    assert [(leak.label, leak.accuracy) for leak in _one_each(strong)] == [("y", 0.9), ("z", 0.7)]


def split(name, rows, **more):
    codes = np.stack([np.arange(rows) % 2, np.arange(rows) // 2 % 2], axis=1)
    return AuditedSplit(name, codes, codes[:, :1], **more)


def dataset(*parts, knowledge=None, values=(False, True)):
    return AuditedDataset("toys", bits(["a", "b"]), {"y": values}, {part.name: part for part in parts}, knowledge)


def test_models_learn_on_training_and_are_asked_on_the_largest_test_split():
    parts = (
        split("train_a", 99),
        split("train_b", 100),
        split("other", 900),
        split("test", 150),
        split("Valid", 160),
        split("testy", 99),
    )
    learn, ask = _learn_and_ask(dataset(*parts))
    assert (learn.name, ask.name) == ("train_b", "Valid")
    assert (
        _learn_and_ask(dataset(*parts[:1], parts[2]))[0] is None
        and _learn_and_ask(dataset(*parts[:3]))[1].name == "other"
    )
    assert _learn_and_ask(dataset(parts[1], parts[5]))[1] is None
    assert [part.name for part in dataset(*parts).training] == ["train_a", "train_b"] and len(
        dataset(*parts).held_out
    ) == 4


def test_what_can_be_reached_is_held_out():
    groups, labels = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0, 1])
    learned = np.array([True, True, False, True, False, False])
    assert _guess_accuracy(groups, labels, learned) == 0.5  # of groups met: 0 is guessed 1, 1 is guessed 0
    assert np.isnan(_guess_accuracy(np.array([0, 1]), np.array([0, 1]), np.array([True, False])))
    codes = np.repeat(np.arange(4), 100)[:, None]
    rng = rng_for(0, "labels")
    noisy = np.where(rng.random(400) < 0.8, codes[:, 0] % 2, 1 - codes[:, 0] % 2)
    assert reachable(codes, np.stack([codes[:, 0] % 2, noisy], axis=1)) == pytest.approx((1 + 0.8) / 2, abs=0.03)
    assert reachable(np.zeros((400, 1), dtype=int), noisy[:, None]) < 0.6


def test_ceilings_say_what_concepts_allow():
    rule = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    part = split("test", 200)
    both = AuditedSplit("test", part.concepts, rule.labels_of(part.concepts))
    found = ceilings(dataset(both, knowledge=rule))
    assert found.numbers["concepts"] == 1.0 and found.numbers["majority"] == 0.75 and "nuisances" not in found.numbers
    assert found.text == "best label accuracy from concepts 1.000, majority 0.750" and found.status == "pass"
    assert ceilings(dataset(split("train", 200))).status == NOT_CHECKED


def test_pictures_at_one_contrast():
    rows = np.array([[10.0, 20.0, 30.0], [5.0, 5.0, 5.0], [1.0, 2.0, 3.0]])
    found = _normal(rows)
    assert found[0] == pytest.approx(np.array([-1, 0, 1]) / np.sqrt(2)) and (found[1:] == 0).all()


def test_pictures_are_alike_but_for_noise_brightness_and_contrast():
    rng = rng_for(0, "picture")
    first = rng.integers(60, 180, (12, 12, 3)).astype(float)
    assert _alike(first, first) and not _alike(first, first[:, :8])
    assert _alike(first, first * 0.6 + 20) and _alike(first, np.clip(first * 1.3, 0, 255))
    assert (
        not _alike(first, first * 0.3 + 50)
        and _fitted(first, first * 2.6 - 200) is None
        and _fitted(first, 255 - first) is None
    )
    noisy = first + rng.choice([-1, 1], first.shape)
    assert _alike(first, noisy) and not _alike(first, first + rng.choice([-3, 3], first.shape))
    spot = first.copy()
    spot[3, 3] += 20
    assert _alike(first, spot)
    spot[3, 3] += 15
    assert not _alike(first, spot)
    flat = np.full((12, 12, 3), 100.0)
    assert (
        _alike(flat, flat)
        and not _alike(flat, flat + 1)
        and _fitted(first, flat) is None
        and _fitted(flat, first) is None
    )


def test_windows_of_small_copies():
    assert (
        Window(20, 0, 12).inside
        and not Window(20, 0, 13).inside
        and not Window(20, -1, 0).inside
        and Window(20, 12, 0).inside
    )
    image = np.arange(32 * 32).reshape(32, 32)
    assert Window(3, 2, 5).of(image).tolist() == [[69, 70, 71], [101, 102, 103], [133, 134, 135]]
    assert {window.size for window in copies.WINDOWS} == {29, 26, 22}
    assert {(w.top, w.left) for w in copies.WINDOWS if w.size == 22} == {(a, b) for a in (0, 5, 10) for b in (0, 5, 10)}


def test_pictures_are_resized_between_their_pixels():
    image = np.outer(np.arange(4.0), np.ones(4)) * 10 + np.arange(4.0)
    assert _resized(image, 4) == pytest.approx(image)
    half = _resized(image, 2)
    assert half == pytest.approx(np.array([[5.5, 7.5], [25.5, 27.5]]))
    assert _resized(image, 8)[0, :3] == pytest.approx([0.0, 0.25, 0.75]) and _resized(image, 8)[
        -1, -1
    ] == pytest.approx(33.0)
    assert _likeness(image, 3 * image + 7) == pytest.approx(1) and _likeness(image, -image) == pytest.approx(-1)
    assert _likeness(image, np.ones((4, 4))) == 0.0
    rng = rng_for(1, "picture")
    whole = _resized(rng.random((8, 8)) * 255, 32)
    part = _resized(whole[3:27, 5:29], 32)
    assert max(_shifted(part, whole, Window(26, 4, 4))) > 0.99 > max(_shifted(part, whole, Window(22, 10, 0)))


def test_a_picture_in_a_few_numbers():
    image = np.zeros((16, 24, 3))
    image[:2, :3] = [30, 60, 90]
    image[0, 0] = [0, 0, 30]
    stats = picture_stats(image)
    assert stats.shape == (16, 24, 3) and stats.small.shape == (256,) and stats.medium.shape == (32, 32)
    assert stats.patches.shape == (8, 8, 5) and stats.patches[0, 0].tolist() == pytest.approx([10, 60, 25, 50, 80])
    assert (stats.patches[1:] == 0).all() and stats.means == pytest.approx(np.array([150, 300, 480]) / (16 * 24))


def test_styles_are_columns_of_numbers():
    styles = [{"x": 1, "deep": {"y": [2, 5]}, "word": "red"}, {"x": 3.5, "deep": {"y": []}, "word": "", "extra": None}]
    columns = nuisances_of(styles, 4)
    assert list(columns) == ["index", "x", "deep.y.length", "deep.y.0", "deep.y.1", "word", "extra"]
    assert (
        columns["index"].tolist() == [0, 0.25]
        and columns["x"].tolist() == [1, 3.5]
        and columns["deep.y.length"].tolist() == [2, 0]
    )
    assert columns["deep.y.1"][0] == 5 and np.isnan(columns["deep.y.1"][1]) and np.isnan(columns["word"][1])
    assert (
        as_number("red") == columns["word"][0] != as_number("blue") and as_number("2.5") == 2.5 and as_number(True) == 1
    )
    assert place_in_split(3, 0).tolist() == [0, 1, 2]


def test_a_reading_adds_something_nothing_or_is_not_known():
    def read(low, high, chance=0.5):
        return PixelReading("a", 0.7, 0.5, low, high, chance)

    assert read(0.01, 0.2).visible and not read(0.01, 0.2).hidden and not read(0.0, 0.2).visible
    assert read(-0.1, 0.04).hidden and not read(-0.1, 0.05).hidden and read(-0.1, 0.07, 0.25).hidden
    assert read(0.1, 0.3).text == "a (balanced accuracy 0.70, 0.50 without pixels, gain 0.10 to 0.30)"


def test_what_pixels_add_is_averaged_over_values():
    codes = np.array([0] * 8 + [1] * 4)
    using = codes.copy()
    using[0] = 1
    without = np.zeros(12, dtype=int)
    said = iter([without[1::2], without[::2], using[1::2], using[::2]])
    found = _compared("a", lambda inputs, labels, queries: next(said), np.zeros((12, 1)), np.zeros((12, 1)), codes)
    gains = [np.array([-1.0] + [0.0] * 7), np.ones(4)]
    gain = (gains[0].mean() + 1) / 2
    error = np.sqrt(sum((each.var() + 1 / len(each)) / len(each) for each in gains)) / 2
    assert (found.accuracy, found.without, found.chance) == (pytest.approx((7 / 8 + 1) / 2), 0.5, 0.5)
    assert (found.low, found.high) == pytest.approx((gain - 2.576 * error, gain + 2.576 * error))


def test_each_half_is_read_by_a_model_of_the_other():
    codes = np.arange(6)
    seen = []

    def reader(inputs, labels, queries):
        seen.append((labels.tolist(), queries[:, 0].tolist()))
        return queries[:, 0].astype(int) + 10

    assert _cross_read(reader, codes[:, None] * 1.0, codes).tolist() == [10, 11, 12, 13, 14, 15]
    assert seen == [([0, 2, 4], [1.0, 3.0, 5.0]), ([1, 3, 5], [0.0, 2.0, 4.0])]


def test_other_concepts_and_pairs_of_them_are_columns():
    concepts = np.array([[0, 0], [1, 2], [1, 1], [0, 2]])
    assert _others(concepts).tolist() == [
        [0, 0, 0, 0, 0, 0],
        [1, 0, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 0],
        [0, 0, 1, 0, 0, 0],
    ]
    assert _others(np.zeros((3, 2), dtype=int)).tolist() == [[0.0]] * 3
    many = np.tile(np.arange(42)[:, None], (1, 1))
    assert _others(many).shape == (42, 41) and _others(many[:41]).shape == (41, 40 + 40 * 39 // 2)
    standard = _standard(np.array([[1.0, 5.0], [3.0, 5.0]]))
    assert standard.tolist() == [[-1, 0], [1, 0]]


def test_regions_that_follow_the_label_alone_are_suspects():
    effects = LabelEffects(
        np.array([0.5, 0.009, 0.001, 0.02, 0.0001, 0.3]),
        np.array([9.0, 8.0, 4.0, 9.0, 8.0, 1.0]),
        np.array([0.0, 2.0, 0.9, 0, 1.0, 3.0]),
    )
    assert _suspects(effects, [2, 1, 1, 1, 1]) == [Suspect(3, 0.0001), Suspect(1, 0.001), Suspect(0, 0.009)]
    assert _suspects(effects, [2, 1, 1, 2]) == [
        Suspect(1, 0.001),
        Suspect(0, 0.009),
    ]  # another statistic shows a concept


def test_indicators_and_their_basis():
    found = _indicators(np.array([3, 1, 3, 7]))
    assert found.tolist() == [[0.5, -0.25], [-0.5, -0.25], [0.5, -0.25], [-0.5, 0.75]]
    basis = _basis(np.stack([found[:, 0], 2 * found[:, 0], found[:, 1]], axis=1))
    assert basis.shape == (4, 2) and basis.T @ basis == pytest.approx(np.eye(2))


def test_rows_are_named_by_their_split():
    data = dataset(split("train", 5), split("test", 4))
    assert [_place(np.array([row]), data) for row in (0, 4, 5, 8)] == [
        "row 0 of train",
        "row 4 of train",
        "row 0 of test",
        "row 3 of test",
    ]
    assert _place(np.array([], dtype=int), data) == "row 0 of train"
    assert Doubt(np.arange(3), 12).share == 0.25 and Doubt(np.arange(0), 0).share == 0.0


def test_texts_that_are_not_finished():
    part = split("test", 3, texts=["a {name} b", " ", "all [SLOT_A] well"])
    found = texts(dataset(part))
    assert found.status == "fail" and found.text == (
        "unfinished texts: test: 2 of 3 hold an unfilled place such as {name}; test: 1 are empty"
    )
    good = texts(dataset(split("test", 2, texts=["fine", "[ab] <b> TODOS"])))
    assert good.status == "pass" and good.text == "2 texts without an unfilled place"
    assert texts(dataset(split("test", 2))).status == NOTHING


def test_source_images_are_shared_or_not():
    parts = (
        split("train", 2, ingredients=[("d1",), ("d2", "d3")]),
        split("test", 2, ingredients=[("d3",), ("d2",)]),
        split("new", 1, ingredients=[("d9",)]),
    )
    found = pictures.sources(dataset(*parts))
    assert (
        found.status == "fail"
        and found.text == "source images of training occur elsewhere: test shows 2 of them, such as d2"
    )
    assert pictures.sources(dataset(parts[0], parts[2])).text == "3 source images of training occur nowhere else"
    assert pictures.sources(dataset(parts[1])).status == NOT_CHECKED
    empty = dataset(split("train", 2))
    assert pictures.sources(empty).status == NOT_CHECKED


@pytest.mark.parametrize(("word", "named"), [(("red", "blue"), ["red", "blue"]), (("red", "big"), []), ((1, 2), [])])
def test_colour_words_are_named_if_there_are_two(word, named):
    assert colours._hues_of(word) == named


def test_hues_are_near_on_both_sides_of_the_circle():
    red = np.array([[[255, 0, 0]]])
    assert [colours.hue_shares(red, [hue])[0] for hue in (0, 20, 21, 340, 339, 180)] == [1, 1, 0, 1, 0, 0]
    blue = np.array([[[0, 0, 255]]])
    assert [colours.hue_shares(blue, [hue])[0] for hue in (240, 220, 219, 260, 261, 60)] == [1, 1, 0, 1, 0, 0]
    dull = [np.array([[[100 + chroma, 100, 100]]]) for chroma in (40, 39)]
    assert [colours.hue_shares(image, [0])[0] for image in dull] == [1, 0]


@pytest.mark.parametrize(("rows", "status"), [(108, "pass"), (120, "fail")])
def test_a_tie_is_seen_where_each_combination_is_met_ten_times(rows, status):
    space = digits(["a", "b"], tuple(range(12)))
    codes = np.stack([np.arange(rows) % 12] * 2, axis=1)
    part = AuditedSplit("train", codes, codes[:, :1])
    found = symbols.free(AuditedDataset("toys", space, {"y": tuple(range(12))}, {"train": part}))
    assert found.status == status
    if status == "fail":
        assert found.text == "concepts are tied although the rule leaves them free: train: a determines b"


def test_a_concept_that_is_constant_is_no_tie():
    codes = np.stack([np.arange(120) % 2, np.ones(120, dtype=int)], axis=1)
    found = symbols.free(dataset(AuditedSplit("train", codes, codes[:, :1])))
    assert found.text == "concepts are tied although the rule leaves them free: train: b is always True"
    limited = Knowledge.of(bits(["a", "b"]), {"y": "a"}, [Constraint("b", parse("b"))])
    assert symbols.free(dataset(AuditedSplit("train", codes, codes[:, :1]), knowledge=limited)).status == "pass"


def test_concepts_of_two_frequent_values_are_read():
    rng = rng_for(2, "reading")
    codes = np.array([0] * 20 + [1] * 20 + [2] * 19 + [-1] * 30)
    pixels = np.stack([codes * 5.0, rng.random(len(codes))], axis=1)
    concepts = np.stack([codes, rng.integers(0, 2, len(codes))], axis=1)
    found = reading._reading("a", 0, pixels, concepts)
    assert found.concept == "a" and found.chance == 0.5 and found.visible and found.accuracy > 0.9
    assert reading._reading("a", 0, pixels[1:], concepts[1:]) is None  # 19 of one value are too few


def test_pictures_are_read_when_asked_for():
    data = SimpleNamespace(files=lambda rows: [f"file {row}".encode() for row in rows])
    first = FirstPictures(data, 3)
    assert len(first) == 3 and first[0] == b"file 0" and first[2] == b"file 2" and first[-1] == b"file 2"
    assert first[1:] == [b"file 1", b"file 2"]
    with pytest.raises(IndexError):
        first[3]


def test_effects_of_a_label_are_those_of_least_squares():
    rng = rng_for(4, "effects")
    concepts = rng.integers(0, 2, (400, 2))
    labels = (concepts[:, 0] ^ concepts[:, 1]).astype(int)
    labels = np.where(rng.random(400) < 0.1, 1 - labels, labels)
    noise = rng.normal(size=400)
    values = np.stack([3 * labels + noise, 2 * concepts[:, 0] + noise, noise], axis=1)
    found = regions.separable_effects(values, labels, concepts)
    assert found.chance[0] < 1e-12 and found.chance[1:].min() > 1e-4
    assert found.label[0] == pytest.approx(9 * labels.var(), rel=0.2) and found.label[1:].max() < 0.05
    assert found.concepts[1] == pytest.approx(4 * concepts[:, 0].var(), rel=0.2) and found.concepts[[0, 2]].max() < 0.05
    noises = [rng.normal(size=(400, 200)) for _ in range(2)]
    both = [regions.separable_effects(one, labels, concepts).concepts.mean() for one in noises]
    unlike = [(np.linalg.norm(one, axis=0) ** 2 / 400**2).mean() for one in noises]
    assert np.mean(both) < 1.5 * np.mean(unlike)  # what noise alone would give is taken off


def test_nuisances_are_judged_by_a_line_through_them_and_their_squares():
    rng = rng_for(5, "line")
    inputs, queries = rng.normal(size=(300, 2)), rng.normal(size=(200, 2))
    found = nuisance.line(inputs, (np.abs(inputs[:, 1]) > 0.7).astype(int), queries)
    assert (found.labels == (np.abs(queries[:, 1]) > 0.7)).mean() > 0.9 and found.importance[1] > 5 * found.importance[
        0
    ]
    assert found.importance.shape == (2,)
    far = nuisance.line(np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20), np.array([[1e9], [-1e9], [1.0]]))
    assert far.labels.tolist()[2] == 1


def test_folds_are_the_same_everywhere():
    numbers = np.arange(40)
    assert reachable(numbers[:, None] % 7, (numbers[:, None] * 7 % 5 > 2).astype(int)) == pytest.approx(0.275)

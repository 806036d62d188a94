"""Checks with several splits and labels, just at their limits, and each way in which they can end."""

import numpy as np
import pytest

from assay.auditing import audited, colours, copies, is_imported, nuisance, pictures, reading, regions
from assay.auditing.audited import AuditedDataset, AuditedSplit, PixelRegion, nuisances_of
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, first_few
from assay.auditing.copies import AS_IT_IS, PictureCopy, Window
from assay.auditing.imported import _codes
from assay.auditing.noise import labels_without_rule
from assay.auditing.nuisance import Leak, ceilings, nuisances, sampled_nuisances
from assay.auditing.pictures import duplicates, sources
from assay.auditing.regions import LabelEffects, _as_wide, _suspects, leaking_regions
from assay.auditing.symbols import classes, disjoint, free, labels, splits
from assay.concepts import bits, digits
from assay.errors import DataError
from assay.logic import Knowledge, parse

RULE = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})


def part(name, concepts, said=None, **more):
    codes = np.array(concepts)
    return AuditedSplit(name, codes, RULE.labels_of(codes) if said is None else np.array(said), **more)


def data(*parts, knowledge=RULE, values=None, space=RULE.space):
    given = values or {"y": (False, True), "z": (False, True)}
    return AuditedDataset("toys", space, given, {one.name: one for one in parts}, knowledge)


def test_sizes_that_checks_go_by():
    assert (audited.MOST_PICTURES, audited.MOST_NUISANCES, audited.THUMB, audited.MEDIUM, audited.PATCHES) == (
        3000,
        400,
        16,
        32,
        8,
    )
    assert (nuisance.TREES, nuisance.DEPTH, nuisance.MOST_ROWS, nuisance.FOLDS) == (60, 6, 4000, 5)
    assert (pictures.WORLDS, pictures.COMPARED, copies.CROPPED, colours.MOST, reading.MOST_READ) == (
        24,
        2000,
        500,
        600,
        2000,
    )


def test_models_learn_from_splits_whose_name_begins_so():
    one = data(*(part(name, [[0, 1]]) for name in ("Train", "test", "training-2", "pretrain")))
    assert [split.name for split in one.training] == ["Train", "training-2"]
    assert [split.name for split in one.held_out] == ["test", "pretrain"]


def test_wrong_labels_are_counted_for_each_split_and_label():
    codes = [[0, 0], [1, 0], [1, 1], [0, 1]]
    said = RULE.labels_of(np.array(codes))
    first, second = said.copy(), said.copy()
    first[[1, 2], 0] ^= 1
    second[3, 1] ^= 1
    found = labels(data(part("train", codes, first), part("test", codes, second), part("valid", codes)))
    assert found.status == "fail" and found.text == (
        "labels that the rule does not give: train: 2 of 4 labels 'y', first at row 1; "
        "test: 1 of 4 labels 'z', first at row 3"
    )
    told = part("train", codes, first, lawful=np.array([[True, True], [True, False], [True, True], [True, False]]))
    assert labels(data(told)).text.endswith("train: 2 of 4 labels 'z', first at row 1")  # the data itself says so
    assert labels(data(part("train", codes))).status == "pass"


def test_rare_and_single_labels_by_split():
    def split(name, often, of=200, **more):
        said = np.zeros((of, 2), dtype=int)
        said[:often, 0] = 1
        said[: of // 2, 1] = 1
        return part(name, np.zeros((of, 2), dtype=int), said, **more)

    assert classes(data(split("train", 100))).status == "pass"
    assert classes(data(split("train", 20))).status == "pass"  # a tenth is not rare
    noted = classes(data(split("train", 19), split("test", 4)))
    assert (
        noted.status == "note" and noted.text == "unbalanced: train: 'y' is True in 9.5 %; test: 'y' is True in 2.0 %"
    )
    failed = classes(data(split("train", 3), split("test", 0), split("valid", 19)))
    assert failed.status == "fail"
    assert failed.text == "one-class or badly unbalanced: test: 'y' is always False; train: 'y' is True in 1.5 %"
    assert classes(data(split("hard", 3, by_quota=True))).status == "note"
    assert classes(data(split("hard", 0, by_quota=True))).status == "fail"
    assert classes(data(split("train", 197))).text.endswith("'y' is False in 1.5 %")
    three = data(split("train", 3), values={"y": (0, 1, 2), "z": (False, True)})
    assert classes(three).status == "pass"  # a number may be rare


def test_worlds_outside_and_shared_by_splits():
    where = parse("a or b")
    found = splits(data(part("train", [[0, 0], [1, 0], [0, 0]], where=where), part("test", [[0, 0]])))
    assert found.status == "fail" and found.text.endswith("train: 2 of 3 worlds, such as a=False b=False")
    gaps = AuditedSplit("train", np.array([[-1, 0], [1, 0]]), np.zeros((2, 2), dtype=int), where=where)
    assert splits(data(gaps)).status == "pass" and splits(data(part("train", [[0, 0]]))).status == NOTHING
    three = [part("train", [[0, 0], [1, 1], [1, 0]]), part("test", [[1, 1], [1, 0], [1, 1]], disjoint_from=("train", "gone")),
             part("valid", [[0, 1]], disjoint_from=("train", "test"))]  # fmt: skip
    found = disjoint(data(*three))
    assert found.text == (
        "splits that say they share no world do: test and train share 2 worlds, such as a=True b=False"
    )
    assert disjoint(data(three[0], three[2])).text == "1 claims to share no world hold"
    assert disjoint(data(three[0])).status == NOTHING


def test_ties_are_looked_for_in_training_splits_of_a_hundred():
    tied = [[0, 0], [1, 1]] * 50
    found = free(data(part("train", tied), part("test", [[0, 0]] * 100)))
    assert found.status == "fail" and found.text.endswith("train: a determines b")
    assert free(data(part("train", tied[:99]))).status == NOT_CHECKED
    constant = free(data(part("train", [[0, 1]] * 100)))
    assert constant.text.endswith("train: a is always False; train: b is always True")
    loose = [[0, 0], [1, 1], [0, 1], [1, 0]] * 25
    assert free(data(part("train", loose))).status == "pass"


def test_some_texts_of_many():
    assert first_few(["a", "b", "c"]) == "a; b; c" and first_few([*"abcde"]) == "a; b; c and 2 more"
    assert first_few([*"ab"], 1) == "a and 1 more" and first_few([]) == ""
    assert CheckResult("x", "pass", "t").to_dict() == {"check": "x", "status": "pass", "text": "t", "numbers": {}}


def with_pictures(name, count):
    return part(name, [[0, 1]] * count, pictures=[b""] * count)


def test_copies_are_shares_of_each_held_out_split(monkeypatch):
    asked = []

    def found(training, held_out):
        asked.append((len(training), held_out[0].part.name, len(held_out)))
        rows = {"test": [7, 9], "valid": [3], "hard": []}[held_out[0].part.name]
        return [PictureCopy(row, "mirrored" if row == 7 else AS_IT_IS) for row in rows]

    monkeypatch.setattr(pictures, "near_copies", found)
    train = with_pictures("train", 30)
    result = duplicates(data(train, with_pictures("test", 100), with_pictures("valid", 100), with_pictures("hard", 5)))
    assert asked == [(30, "test", 100), (30, "valid", 100), (30, "hard", 5)]
    assert result.status == "fail" and result.numbers == {"share": 0.02}
    assert result.text == "pictures that training shows: test: 2 pictures (2 %), such as row 7, mirrored"
    fine = duplicates(data(train, with_pictures("valid", 100), part("test", [[0, 1]])))  # one in a hundred
    assert fine.status == "pass" and fine.text == "at most 1.0 % of a held-out split is nearly in training"
    many = duplicates(data(train, with_pictures("valid", 99)))
    assert many.text.endswith("valid: 1 pictures (1 %), such as row 3")
    monkeypatch.setattr(pictures, "COMPARED", 20)
    asked.clear()
    assert duplicates(data(train, with_pictures("valid", 99))).numbers == {"share": 0.05} and asked == [
        (20, "valid", 20)
    ]
    assert duplicates(data(train)).status == duplicates(data(with_pictures("test", 3))).status == NOT_CHECKED


def test_sources_of_several_splits():
    train = part("train", [[0, 1]] * 2, ingredients=[("s1", "s2"), ("s3",)])
    test, valid = (
        part("test", [[0, 1]], ingredients=[("s9", "s3", "s2")]),
        part("valid", [[0, 1]], ingredients=[("s8",)]),
    )
    found = sources(data(train, test, valid))
    assert found.text == "source images of training occur elsewhere: test shows 2 of them, such as s2"
    assert sources(data(train, valid)).text == "3 source images of training occur nowhere else"
    assert (
        sources(data(test)).text == "no training split" and sources(data(part("train", [[0, 1]]))).status == NOT_CHECKED
    )


# -- nuisances ---------------------------------------------------------------------------------------------------------


def leak(label, accuracy, local=False, by=("font",), error=0.001):
    return Leak(label, accuracy, 0.5, error, by, local)


@pytest.mark.parametrize(
    ("drawn", "seen", "status", "text"),
    [
        ([], [], NOT_CHECKED, "no label takes two values where it is learned and asked for"),
        ([leak("y", 0.55)], [], "pass", "nuisances predict no label (at most 0.55 balanced accuracy, 'y')"),
        ([leak("y", 0.52), leak("z", 0.54)], [], "pass", "nuisances predict no label (at most 0.54 balanced accuracy, 'z')"),
        ([leak("y", 0.56)], [], "fail", "'y' is predicted with balanced accuracy 0.56 (chance 0.50) by font"),
        ([leak("y", 0.56, error=0.02)], [], "pass", "nuisances predict no label (at most 0.56 balanced accuracy, 'y')"),
        ([], [leak("y", 0.79)], "note", "'y' is predicted with balanced accuracy 0.79 (chance 0.50) by font; the concepts may bring that along"),
        ([], [leak("y", 0.81)], "fail", "'y' is predicted with balanced accuracy 0.81 (chance 0.50) by font"),
        ([], [leak("y", 0.55)], "pass", "nuisances predict no label (at most 0.55 balanced accuracy, 'y')"),
        ([], [leak("y", 0.56, True, error=1.0)], "fail", "'y' is predicted with balanced accuracy 0.56 (chance 0.50) by font"),
        ([], [leak("y", 0.6, True), leak("y", 0.7, True, ("corner",))], "fail",
         "'y' is predicted with balanced accuracy 0.70 (chance 0.50) by corner"),
        ([], [leak("y", 0.54, True)], "pass", "nuisances predict no label (at most 0.54 balanced accuracy, 'y')"),
    ],
)  # fmt: skip
def test_what_leaks_fails_is_noted_or_passes(drawn, seen, status, text, monkeypatch):
    monkeypatch.setattr(nuisance, "sampled_leaks", lambda *_: drawn)
    monkeypatch.setattr(nuisance, "picture_leaks", lambda *_: seen)
    one = data(part("train", [[0, 1]] * 100), part("test", [[0, 1]] * 100))
    found = nuisances(one)
    assert (found.status, found.text) == (status, text)
    if drawn + seen:
        best = {name: max(t.accuracy for t in drawn + seen if t.label == name) for name in ("y", "z") if name in {t.label for t in drawn + seen}}  # fmt: skip
        assert found.numbers == {"balanced_accuracy": best}
    assert one.memo["nuisances"] is found


def test_nuisances_need_a_hundred_examples_on_both_sides():
    one = data(part("train", [[0, 1]] * 100), part("test", [[0, 1]] * 99))
    assert nuisances(one).text == "no training and other split of 100 examples or more"
    drawn = part("train", [[0, 1]] * 2, nuisances={"x": np.array([2.0, np.nan]), "w": np.array([0.5, 1.5])})
    columns = sampled_nuisances(drawn)
    assert columns.names == ("x", "w") and columns.values.tolist() == [[2.0, 0.5], [-1.0, 1.5]]
    assert columns.only(["w"]).tolist() == [[0.5], [1.5]] and sampled_nuisances(part("a", [[0, 1]])).values.shape == (
        1,
        0,
    )


@pytest.mark.parametrize(("hidden", "status"), [(None, "pass"), ([], "pass"), (["b"], "note")])
def test_ceilings_of_what_shows(hidden, status, monkeypatch):
    monkeypatch.setattr(nuisance, "invisible_concepts", lambda one: hidden)
    codes = [[0, 0], [1, 0], [1, 1], [0, 1]] * 50
    train, test = part("train", codes), part("test", codes)
    found = ceilings(data(train, test))
    assert found.status == status and found.numbers["concepts"] == 1.0
    assert found.numbers["majority"] == pytest.approx((0.75 + 0.5) / 2) and ("visible concepts" in found.numbers) == (
        hidden is not None
    )
    if hidden is not None:
        seen = found.numbers["visible concepts"]
        assert seen == 1.0 if not hidden else 0.8 > (seen - 1) * 2 + 1 > 0.4  # from a alone: z always, y by half
    assert ceilings(data(train)).status == NOT_CHECKED


def test_the_first_nuisances_of_very_many(monkeypatch):
    monkeypatch.setattr(audited, "MOST_NUISANCES", 2)
    found = nuisances_of([{"a": 1, "b": 2, "c": 3}, {"d": 4, "a": 5}], 4)
    assert list(found) == ["index", "a", "b"] and found["index"].tolist() == [0, 0.25]
    assert found["a"].tolist() == [1, 5] and found["b"][0] == 2 and np.isnan(found["b"][1])


# -- labels without a rule, regions, tables ----------------------------------------------------------------------------


def test_doubted_labels_are_named_by_the_row_of_their_split():
    codes = [[0, 0], [1, 1]] * 60
    said = np.array(codes)
    said[7, 1] ^= 1
    gaps = np.array(codes)
    gaps[:30, 0] = -1
    found = labels_without_rule(data(part("train", gaps, codes), part("test", codes, said), knowledge=None))
    assert found.status == "fail" and found.numbers == {"doubted": {"y": 0.0, "z": 1 / 210}}
    assert found.text == "1 of 210 labels 'z' differ from those of equal worlds, first at row 7 of test"


def test_suspects_are_pure_and_come_by_their_chance():
    chance = np.array([0.5, 0.001, 0.2, 0.009, 0.011, 0.0001])
    label = np.array([9.0, 4.0, 1.0, 1.0, 1.0, 0.0])
    concepts = np.array([1.0, 0.5, 0.2, 0.25, 0.0, 0.0])
    found = _suspects(LabelEffects(chance, label, concepts), [2, 2, 1, 1])
    assert [(one.place, one.chance) for one in found] == [(0, 0.001), (1, 0.009)]
    assert [one.place for one in _suspects(LabelEffects(chance[3:4], label[3:4], concepts[3:4] + 0.01), [1])] == []


def test_regions_have_the_statistics_that_both_splits_have(monkeypatch):
    wide, narrow = (
        PixelRegion("r", np.arange(12.0).reshape(2, 6)),
        PixelRegion("r", np.arange(6.0).reshape(2, 3), False),
    )
    first, second = _as_wide(wide, narrow)
    assert first.values.tolist() == [[0, 1, 2], [6, 7, 8]] and second.values.tolist() == narrow.values.tolist()
    assert first.local and not second.local
    bare = part("train", [[0, 1]] * 3)
    assert list(leaking_regions(data(bare), bare, bare, 0)) == []


def test_a_region_leaks_where_it_shows_again_beyond_the_level(monkeypatch):
    train, test = part("train", [[0, 1]] * 3), part("test", [[1, 1]] * 3)
    for one in (train, test):
        one.__dict__["regions"] = [PixelRegion(f"r{n}", np.full((3, 1), n)) for n in range(8)]

    def effects(values, said, concepts):
        learns = concepts[0, 0] == 0
        chance = np.array([0.002, 0.001, 0.003, 0.004, 0.02, 0.005, 0.006, 0.5]) if learns else np.array(
            [1e-4, 1e-4, 3e-4, 0.2, 1e-5, 1e-4, 1e-9, 1e-9]
        )  # fmt: skip
        return LabelEffects(chance, np.ones(8), np.zeros(8))

    monkeypatch.setattr(regions, "separable_effects", effects)
    monkeypatch.setattr(regions, "effects_in_equal_worlds", lambda *_: None)
    found = [first.name for first, _ in leaking_regions(data(train, test), train, test, 1)]
    assert found == ["r1", "r0", "r5"]  # 0.005 / (2 * 5 * 2) is the level; five are tried
    monkeypatch.setattr(regions, "effects_in_equal_worlds", effects)
    assert len(list(leaking_regions(data(train, test), train, test, 1))) == 3  # none twice


def test_values_that_a_rule_never_gives_are_refused(tmp_path):
    assert _codes([2, 5, 2], (5, 2), "label 'y'").tolist() == [1, 0, 1]
    with pytest.raises(DataError, match="label 'y': the rule never gives the value 7"):
        _codes([2, 7, 8], (5, 2), "label 'y'")
    assert not is_imported(tmp_path)
    (tmp_path / "concepts.csv").write_text("a\n1\n", encoding="utf-8")
    assert is_imported(tmp_path)


def test_windows_lie_inside_up_to_the_edge():
    assert Window(8, 24, 24).inside and not Window(8, 25, 0).inside and not Window(8, 0, 25).inside
    assert Window(32, 0, 0).inside and not Window(8, -1, 3).inside and not Window(8, 3, -1).inside
    assert Window(2, 1, 3).of(np.arange(36).reshape(6, 6)).tolist() == [[9, 10], [15, 16]]


def test_a_picture_that_cannot_be_read_is_named():
    with pytest.raises(DataError, match="split 'train': the picture of row 1 cannot be read"):
        with_pictures("train", 3).image(1)
    assert with_pictures("train", 0).regions == []


def test_numbers_need_no_truths():
    space = digits(["a"], range(3))
    rule = Knowledge.of(space, {"n": "a + 1"})
    one = AuditedSplit("train", np.array([[0], [1], [2]] * 40), np.array([[0], [1], [2]] * 40))
    made = AuditedDataset("n", space, {"n": (1, 2, 3)}, {"train": one}, rule)
    assert labels(made).status == classes(made).status == free(made).status == "pass"

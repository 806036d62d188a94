"""Checks of symbols at their edges: how rare is rare, what is tied though free, and what is said of few and many."""

import numpy as np
import pytest

from assay.auditing.audited import AuditedDataset, AuditedSplit, as_number, nuisances_of
from assay.auditing.check_result import CheckResult, fail_if, first_few
from assay.auditing.colours import hue_shares
from assay.auditing.noise import unequal
from assay.auditing.symbols import classes, disjoint, free, labels, splits
from assay.concepts import bits, digits
from assay.logic import Constraint, Knowledge, parse

SPACE = bits(["a", "b", "c"])
RULE = Knowledge.of(SPACE, {"y": "a and b"})


def part(name, concepts, y=None, **more):
    concepts = np.asarray(concepts)
    given = RULE.labels_of(concepts) if y is None else np.asarray(y)[:, None]
    return AuditedSplit(name, concepts, given, **more)


def data(*parts, knowledge=RULE, space=SPACE):
    return AuditedDataset("mine", space, {"y": (False, True)}, {one.name: one for one in parts}, knowledge)


def with_share(share, rows=1000, **more):
    return part("test", np.zeros((rows, 3), dtype=int), np.arange(rows) < share * rows, **more)


@pytest.mark.parametrize(
    ("share", "status"),
    [(0.5, "pass"), (0.1, "pass"), (0.099, "note"), (0.02, "note"), (0.019, "fail"), (0.981, "fail"), (0.0, "fail")],
)
def test_how_rare_a_label_may_be(share, status):
    found = classes(data(with_share(share)))
    assert found.status == status
    if status == "note":
        assert f"test: 'y' is True in {100 * share:.1f} %" in found.text
    if share == 0:
        assert "test: 'y' is always False" in found.text


def test_a_split_chosen_by_quota_may_have_rare_labels():
    assert classes(data(with_share(0.01, by_quota=True))).status == "note"
    assert classes(data(with_share(0.0, by_quota=True))).status == "fail"


def test_labels_that_the_rule_does_not_give():
    worlds = SPACE.all_codes()
    assert labels(data(part("train", worlds))).status == "pass"
    wrong = RULE.labels_of(worlds)[:, 0].copy()
    wrong[[3, 6]] ^= 1
    found = labels(data(part("train", worlds, wrong)))
    assert found.status == "fail" and "train: 2 of 8 labels 'y', first at row 3" in found.text
    lawful = np.ones((8, 1), dtype=bool)
    lawful[5] = False  # drawn labels have their own law
    assert "1 of 8 labels 'y', first at row 5" in labels(data(part("train", worlds, wrong, lawful=lawful))).text


def test_worlds_outside_of_their_split():
    worlds = SPACE.all_codes()
    inside = data(part("train", worlds[worlds[:, 0] == 1], where=parse("a")))
    assert splits(inside).status == "pass" and splits(data(part("train", worlds))).status == "nothing to check"
    found = splits(data(part("train", worlds, where=parse("a"))))
    assert found.status == "fail" and "train: 4 of 8 worlds, such as a=False b=False c=False" in found.text
    gaps = np.where(np.arange(8)[:, None] < 4, -1, worlds)  # what is not known is not outside
    assert splits(data(part("train", gaps, np.zeros(8, int), where=parse("a")))).status == "pass"


def test_splits_that_share_worlds():
    worlds = SPACE.all_codes()
    apart = data(part("train", worlds[:4]), part("ood", worlds[4:], disjoint_from=("train", "gone")))
    assert disjoint(apart).text == "1 claims to share no world hold"
    found = disjoint(data(part("train", worlds[:5]), part("ood", worlds[4:], disjoint_from=("train",))))
    assert found.status == "fail" and "ood and train share 1 worlds, such as a=True b=False c=False" in found.text
    assert disjoint(data(part("train", worlds))).status == "nothing to check"


def many(rows=400, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (rows, 3))


def test_concepts_that_are_tied_though_free():
    assert free(data(part("train", many()))).status == "pass"
    assert free(data(part("train", many(99)))).status == "not checked"
    assert free(data(part("test", many()))).status == "not checked"
    tied = many()
    tied[:, 2] = 1 - tied[:, 0]
    found = free(data(part("train", tied)))
    assert found.status == "fail" and "train: a determines c" in found.text and "c determines a" not in found.text
    constant = many()
    constant[:, 1] = 1
    assert "train: b is always True" in free(data(part("train", constant))).text


def test_ties_that_the_rule_or_the_split_makes_are_no_fault():
    tied = many()
    tied[:, 2] = 1 - tied[:, 0]
    known = Knowledge.of(SPACE, {"y": "a and b"}, [Constraint("other", parse("a != c"))])
    assert free(data(part("train", tied), knowledge=known)).status == "pass"
    assert free(data(part("train", tied, where=parse("a != c")))).status == "pass"
    always = many()
    always[:, 1] = 1
    assert free(data(part("train", always, where=parse("b")))).status == "pass"


def test_the_first_few_and_how_many_more():
    assert first_few(["a", "b", "c"]) == "a; b; c" and first_few(["a", "b", "c", "d"]) == "a; b; c and 1 more"
    assert first_few(["a", "b"], 1) == "a and 1 more"
    assert fail_if(["x"], "labels", "wrong", "fine") == CheckResult("labels", "fail", "wrong: x")
    assert fail_if([], "labels", "wrong", "fine").to_dict() == {
        "check": "labels", "status": "pass", "text": "fine", "numbers": {},
    }  # fmt: skip


def test_doubted_labels_are_those_of_worlds_met_three_times():
    worlds = np.array([[0], [0], [0], [1], [1], [2], [2], [2], [2]])
    found = unequal(np.array([1, 1, 0, 0, 1, 0, 0, 1, 0]), worlds)
    assert found.rows.tolist() == [2, 7] and found.judged == 7 and found.share == 2 / 7


def test_hues_are_shares_of_coloured_pixels():
    image = np.array([[[255, 0, 0], [250, 10, 10], [0, 0, 255], [128, 128, 128], [60, 40, 40], [0, 255, 0]]])
    assert hue_shares(image, [0, 240]).tolist() == [2 / 3, 1 / 3]  # grey and green are neither
    assert hue_shares(np.array([[[255, 0, 40]]]), [0]).tolist() == [1.0]  # a hue of 351 is near 0
    assert hue_shares(np.zeros((2, 2, 1)), [0, 240]).tolist() == [0, 0]


def test_nuisances_are_numbers_in_columns():
    styles = [{"camera": [1, 2.5], "name": "red", "light": {"x": True}}, {"camera": [4], "light": {"x": None}}]
    found = nuisances_of(styles, 4)
    assert found["index"].tolist() == [0, 0.25] and found["camera.length"].tolist() == [2, 1]
    assert found["camera.0"].tolist() == [1, 4] and np.isnan(found["camera.1"][1]) and found["light.x"][0] == 1
    assert found["name"][0] == as_number("red") != as_number("blue") and np.isnan(found["name"][1])


def test_digits_need_no_constraint_to_be_free():
    space = digits(["a", "b"])
    known = Knowledge.of(space, {"y": "a > b"})
    codes = np.random.default_rng(0).integers(0, 10, (3000, 2))
    held = AuditedSplit("train", codes, known.labels_of(codes))
    assert free(AuditedDataset("d", space, {"y": (False, True)}, {"train": held}, known)).status == "pass"

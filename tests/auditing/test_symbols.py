"""Checks of tables alone: rare labels, labels against the rule, worlds of splits, ties, sources, texts, what is said."""

import numpy as np
import pytest

from assay.auditing import AuditedDataset, AuditedSplit, audit
from assay.base import rng_for
from assay.logic import Constraint, Knowledge, bits, digits, parse

SPACE = bits(["a", "b", "c"])
RULE = Knowledge.of(SPACE, {"y": "a and b"})
WORLDS = SPACE.all_codes()


def part(name, concepts, y=None, **more):
    concepts = np.asarray(concepts)
    given = RULE.labels_of(np.maximum(concepts, 0)) if y is None else np.asarray(y).reshape(len(concepts), -1)
    return AuditedSplit(name, concepts, given, **more)


def found(check, *parts, knowledge=RULE, space=SPACE, labels=None):
    values = labels or {"y": (False, True)}
    data = AuditedDataset("mine", space, values, {one.name: one for one in parts}, knowledge)
    (result,) = audit(data, [check]).results
    return result


def many(rows=400):
    return rng_for(0, "worlds", rows).integers(0, 2, (rows, 3))


# -- labels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "status"),
    [(0.5, "pass"), (0.1, "pass"), (0.099, "note"), (0.02, "note"), (0.019, "fail"), (0.981, "fail"), (0.0, "fail")],
)
def test_a_label_may_be_rare_to_a_tenth_and_not_below_a_fiftieth(share, status):
    rare = part("test", np.zeros((1000, 3), dtype=int), np.arange(1000) < share * 1000)
    assert found("classes", rare).status == status
    if status == "note":
        assert f"test: 'y' is True in {100 * share:.1f} %" in found("classes", rare).text
    if share == 0:
        assert "test: 'y' is always False" in found("classes", rare).text


def test_a_split_chosen_by_quota_may_have_rare_labels_but_not_one_class():
    for true, status in ((10, "note"), (0, "fail")):
        rare = part("hard", np.zeros((1000, 3), dtype=int), np.arange(1000) < true, by_quota=True)
        assert found("classes", rare).status == status


def test_a_value_of_several_may_be_rare():
    three = part("train", np.zeros((200, 3), dtype=int), (np.arange(200) < 3) + (np.arange(200) < 90))
    assert found("classes", three, labels={"y": (0, 1, 2)}, knowledge=None).status == "pass"


def test_labels_that_the_rule_does_not_give_are_counted_by_split_and_label():
    rule = Knowledge.of(SPACE, {"y": "a and b", "z": "c"})
    right = rule.labels_of(WORLDS)
    first, second = right.copy(), right.copy()
    first[[3, 6], 0] ^= 1
    second[5, 1] ^= 1
    values = {"y": (False, True), "z": (False, True)}
    told = found("labels", part("train", WORLDS, first), part("test", WORLDS, second), knowledge=rule, labels=values)
    assert told.status == "fail"
    assert "train: 2 of 8 labels 'y', first at row 3; test: 1 of 8 labels 'z', first at row 5" in told.text
    assert found("labels", part("train", WORLDS, right), knowledge=rule, labels=values).status == "pass"


def test_labels_that_are_drawn_have_their_own_law():
    lawful = np.ones((8, 1), dtype=bool)
    lawful[5] = False
    told = found("labels", part("train", WORLDS, np.zeros(8, int), lawful=lawful))
    assert "1 of 8 labels 'y', first at row 5" in told.text


@pytest.mark.parametrize(("turned", "status"), [(0, "pass"), (20, "fail"), (21, "not checked")])
def test_without_a_rule_up_to_a_tenth_of_labels_may_differ_from_those_of_equal_worlds(turned, status):
    worlds = rng_for(0, "noise").integers(2, size=(200, 3))
    labels = worlds[:, 0].copy()
    labels[70 : 70 + turned] ^= 1
    told = found("labels", part("train", worlds[:60], labels[:60]), part("test", worlds[60:], labels[60:]), knowledge=None)  # fmt: skip
    assert told.status == status and told.numbers["doubted"]["y"] == pytest.approx(turned / 200)
    if status == "fail":
        assert "20 of 200 labels 'y' differ from those of equal worlds, first at row 10 of test" in told.text


def test_a_world_met_twice_or_not_wholly_known_says_nothing_of_its_labels():
    worlds = np.array([[0, 0, 0]] * 60 + [[1, 1, 0]] * 40 + [[1, 0, 0]] * 2 + [[-1, 0, 0]] * 9)
    labels = (worlds[:, 0] == 1).astype(int)
    labels[[100, 105]] ^= 1
    told = found("labels", part("train", worlds, labels), knowledge=None)
    assert told.status == "pass" and "100 examples" in told.text


# -- worlds ------------------------------------------------------------------------------------------------------------


def test_worlds_outside_of_what_their_split_says():
    assert found("splits", part("train", WORLDS[4:], where=parse("a"))).status == "pass"
    assert found("splits", part("train", WORLDS)).status == "nothing to check"
    told = found("splits", part("train", WORLDS, where=parse("a")))
    assert told.status == "fail" and "train: 4 of 8 worlds, such as a=False b=False c=False" in told.text
    gaps = np.where(np.arange(8)[:, None] < 4, -1, WORLDS)  # what is not known is not outside
    assert found("splits", part("train", gaps, where=parse("a"))).status == "pass"


def test_splits_that_share_worlds():
    apart = part("train", WORLDS[:4]), part("ood", WORLDS[4:], disjoint_from=("train", "gone"))
    assert found("disjoint", *apart).status == "pass"
    told = found("disjoint", part("train", WORLDS[:5]), part("ood", WORLDS[4:], disjoint_from=("train",)))
    assert told.status == "fail" and "ood and train share 1 worlds, such as a=True b=False c=False" in told.text
    gaps = part("train", [[-1, 0, 0]]), part("ood", [[-1, 0, 0]], disjoint_from=("train",))
    assert found("disjoint", *gaps).status == "pass"
    assert found("disjoint", part("train", WORLDS)).status == "nothing to check"


def test_concepts_that_are_tied_though_free():
    assert found("free", part("train", many())).status == "pass"
    assert found("free", part("train", many(99))).status == "not checked"
    assert found("free", part("test", many())).status == "not checked"
    tied, constant = many(), many()
    tied[:, 2], constant[:, 1] = 1 - tied[:, 0], 1
    tied[::10, 0] = -1  # among the values that are known
    told = found("free", part("train", tied), part("train_2", many(100)))
    assert told.status == "fail" and "train: a determines c" in told.text and "c determines a" not in told.text
    assert "train: b is always True" in found("free", part("train", constant)).text


@pytest.mark.parametrize(("rows", "status"), [(108, "pass"), (120, "fail")])
def test_a_tie_of_many_values_is_seen_where_each_is_met_ten_times(rows, status):
    codes = np.stack([np.arange(rows) % 12] * 2, axis=1)
    told = found("free", part("train", codes, codes[:, 0]), knowledge=None, space=digits(["a", "b"], range(12)))
    assert told.status == status


def test_ties_that_the_rule_or_the_split_makes_are_no_fault():
    tied = many()
    tied[:, 2] = 1 - tied[:, 0]
    known = Knowledge.of(SPACE, {"y": "a and b"}, [Constraint("other", parse("a != c"))])
    assert found("free", part("train", tied), knowledge=known).status == "pass"
    assert found("free", part("train", tied, where=parse("a != c"))).status == "pass"


# -- sources and texts -------------------------------------------------------------------------------------------------


def test_source_images_of_training_occur_nowhere_else():
    train = part("train", WORLDS[:3], ingredients=[("d1",), (), ("d2", "d3")])
    told = found("sources", train, part("test", WORLDS[:2], ingredients=[("d9", "d3"), ("d2",)]), part("valid", WORLDS[:1]))  # fmt: skip
    assert told.status == "fail" and "test shows 2 of them, such as d2" in told.text
    assert found("sources", train, part("test", WORLDS[:1], ingredients=[("d9",)])).status == "pass"
    for alone in (part("test", WORLDS[:1], ingredients=[("d1",)]), part("train", WORLDS[:1])):
        assert found("sources", alone).status == "not checked"


def test_texts_without_an_unfilled_place():
    bad = ["fine", "a [COLOUR] box", "  ", "", "TODO", "mastodon {x}"]
    told = found("texts", part("train", WORLDS[:2], texts=["a", "b"]), part("test", WORLDS[:6], texts=bad))
    assert "test: 3 of 6 hold an unfilled place such as [COLOUR]; test: 2 are empty" in told.text
    assert found("texts", part("test", WORLDS[:2], texts=["[ab] <b>", "TODOS"])).status == "pass"
    assert found("texts", part("test", WORLDS[:2])).status == "nothing to check"

"""The demo's nine verdicts are true: each is checked by a query over kept predictions (`python -m benchmarks.demo`)."""

from functools import cache

import numpy as np
import pytest
from benchmarks.demo import demo_cases, diagnosed

CASES = {case.name: case for case in demo_cases()}


@cache
def verdict_of(name):
    return diagnosed(CASES[name])


class Seen:
    """What a model of the demo predicted on one split, beside what is true."""

    def __init__(self, name, split="test"):
        case = CASES[name]
        rows = case.evidence[split]
        self.true, self.said = rows.concepts, rows.predicted_concepts
        self.right = (rows.labels == rows.predicted_labels).all(axis=1)
        self.implied = (case.knowledge.labels_of(np.maximum(self.said, 0)) == rows.labels).all(axis=1)
        self.read = (self.true == self.said).all(axis=1)
        shown = {tuple(world) for world in case.training.tolist()}
        self.new = np.array([tuple(world) not in shown for world in self.true.tolist()])
        self.names = case.knowledge.space.names
        self.worlds = np.array(sorted(shown))

    def value(self, concept, worlds=None):
        """Return a concept's values, of some worlds or of the examples."""
        place = self.names.index(concept)
        return (self.true if worlds is None else worlds)[:, place]


def both(name):
    """Return test and ood side by side."""
    return [Seen(name, split) for split in ("test", "ood")]


def test_there_are_nine():
    assert sorted(CASES) == sorted(
        f"{model}-{task}" for model in ("blackbox", "cbm", "dpl") for task in ("mnadd-evenodd", "mnlogic", "robots")
    )


@pytest.mark.parametrize("name", ["blackbox-mnadd-evenodd", "cbm-mnadd-evenodd"])
def test_sums_are_memorised(name):
    """No test world is new, every ood world is, and equally large sums are lost there."""
    test, ood = both(name)
    assert not test.new.any() and ood.new.all()
    assert test.right.mean() > 0.9 and ood.right.mean() < 0.01
    numbers = verdict_of(name).findings[0].numbers
    assert verdict_of(name).verdict == "memorised"
    assert (numbers["seen_right"], numbers["new_right"]) == (test.right.sum(), ood.right.sum())
    if name.startswith("cbm"):  # the digits are read all the same: it is the sums that are memorised
        assert ood.read.mean() > 0.9 and "wrong rule" in verdict_of(name).kinds


def test_sums_are_right_by_wrong_digits():
    seen = Seen("dpl-mnadd-evenodd")
    assert verdict_of("dpl-mnadd-evenodd").verdict == "shortcut"
    misread = ~seen.read
    assert misread.mean() > 0.99 and seen.implied[misread].mean() > 0.9 and seen.right.mean() > 0.9
    numbers = verdict_of("dpl-mnadd-evenodd").findings[0].numbers
    assert (numbers["misread"], numbers["kept"]) == (misread.sum(), (misread & seen.implied).sum())


def test_new_bits_without_a_and_with_b_are_lost():
    """Of the four worlds of a region the two that training shows are right, and the two others wrong."""
    parts = both("blackbox-mnlogic")
    inside = np.concatenate([(seen.value("a") == 0) & (seen.value("b") == 1) for seen in parts])
    right, new = (np.concatenate([getattr(seen, name) for seen in parts]) for name in ("right", "new"))
    assert verdict_of("blackbox-mnlogic").verdict == "memorised"
    numbers = verdict_of("blackbox-mnlogic").findings[0].numbers
    assert (numbers["inside"], numbers["size"]) == ((inside & new & ~right).sum(), (inside & new).sum())
    assert (numbers["old_right"], numbers["old"]) == ((inside & ~new & right).sum(), (inside & ~new).sum())
    assert (numbers["right"], numbers["outside"]) == (right[~inside].sum(), (~inside).sum())
    assert right[inside & new].mean() < 0.05 and right[inside & ~new].mean() == 1 and right[~inside].mean() > 0.95
    worlds = np.unique(np.concatenate([seen.true for seen in parts])[inside & new], axis=0)
    assert numbers["worlds"] == len(worlds) == 2


def test_bits_are_right_and_labels_are_not():
    seen = Seen("cbm-mnlogic")
    assert verdict_of("cbm-mnlogic").verdict == "wrong rule"
    assert seen.read.mean() > 0.9 and seen.implied.mean() > 0.95
    assert (~seen.right & seen.read).mean() > 0.1 and (~seen.right & ~seen.read).sum() < 0.1 * (~seen.right).sum()


def test_bits_and_labels_are_right():
    found = verdict_of("dpl-mnlogic")
    assert found.verdict == "sound" and found.kinds == ("sound",)
    for seen in both("dpl-mnlogic"):
        assert seen.right.mean() > 0.95 and seen.read.mean() > 0.95


def test_robots_of_one_cell_are_missed():
    """All robots with closed mouth, knees and other feet than pointy ones are wrong, though training shows such."""
    seen, space = Seen("blackbox-robots"), CASES["blackbox-robots"].knowledge.space
    values = {concept.name: concept.values for concept in space.concepts}

    def lies(worlds):
        mouth, foot = values["mouth"].index("open"), values["foot_shape"].index("pointy")
        open_, knees = seen.value("mouth", worlds) == mouth, seen.value("knees", worlds) == values["knees"].index(True)
        return ~open_ & knees & (seen.value("foot_shape", worlds) != foot)

    assert verdict_of("blackbox-robots").verdict == "missed region"
    numbers = verdict_of("blackbox-robots").findings[0].numbers
    cell = lies(seen.true)
    assert (numbers["inside"], numbers["size"]) == ((cell & ~seen.right).sum(), cell.sum())
    assert seen.right[cell].mean() < 0.05 and seen.right[~cell].mean() > 0.99
    assert numbers["trained"] == lies(seen.worlds).sum() > 0


def test_the_mouth_of_robots_is_read_from_the_knees():
    """Where it says of the mouth something else than is true, it says what goes with the knees in training."""
    seen, place = Seen("cbm-robots"), CASES["cbm-robots"].knowledge.space.place("mouth")
    knees = seen.value("knees")
    by_knees = np.array([np.bincount(seen.said[knees == value, place]).argmax() for value in (0, 1)])[knees]
    right = seen.said[:, place] == seen.value("mouth")
    assert verdict_of("cbm-robots").verdict == "noisy" and "mouth" in verdict_of("cbm-robots").findings[0].concepts
    assert (seen.said[:, place] == by_knees).mean() > right.mean() + 0.1
    assert (seen.right | ~seen.implied).mean() < 0.99  # labels are wrong where concepts imply the right one, too


def test_robots_are_right_by_wrong_parts():
    seen, found = Seen("dpl-robots"), verdict_of("dpl-robots")
    assert found.verdict == "shortcut"
    places = [seen.names.index(name) for name in found.findings[0].concepts]
    misread = (seen.true[:, places] != seen.said[:, places]).any(axis=1)
    numbers = found.findings[0].numbers
    assert (numbers["misread"], numbers["kept"]) == (misread.sum(), (misread & seen.implied).sum())
    assert misread.mean() > 0.3 and seen.implied[misread].mean() > 0.8

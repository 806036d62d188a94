"""What each specimen of the zoo predicts, on small habitats where its fault can be counted."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from assay.base import Array, rng_for
from assay.diagnosis import kinds_in_order
from assay.logic import Concept, ConceptSpace, Knowledge
from assay.metrics import Evidence
from assay.testing import FAULTY_PREDICTORS, ZooTask

SPACE = ConceptSpace(
    (
        Concept("a", (0, 1, 2)),
        Concept("b", (0, 1, 2)),
        Concept("c", (0, 1)),
        Concept("d", (0, 1, 2, 3)),
        Concept("e", (5, 6)),
    )
)
USED, UNUSED = [0, 1, 2], [3, 4]


def home_of(rules: dict[str, str], training: int = 400) -> ZooTask:
    rng, sizes = rng_for(3, "habitat"), np.array(SPACE.sizes)
    test, ood, train = (rng.integers(sizes, size=(rows, 5)) for rows in (1000, 700, training))
    return ZooTask("toy", 0, Knowledge.of(SPACE, rules), {"test": test, "ood": ood}, train)


LOOSE = home_of({"y": "(a + b) % 2 == 0", "z": "c == 1"})
"""Labels stay when 0 and 2 are exchanged, or `a` and `b`; `d` and `e` are not used."""
STRICT = home_of({"y": "a + b >= 3", "z": "c == 1 or a == 0"}, 60)
"""No other mapping keeps the labels, and half of the worlds are new."""
SPARSE = home_of({"y": "(a + b) % 2 == 0", "z": "c == 1"}, 60)


@cache
def planted(name: str) -> Any:
    """Return a specimen in the first habitat that has room for it."""
    tries = (FAULTY_PREDICTORS[name][1](home, rng_for(1, name)) for home in (LOOSE, STRICT))
    return next(found for found in tries if found is not None)


def wrong(held: Evidence) -> tuple[Array, Array]:
    """Return the shares of wrong concepts and labels, a column each."""
    known = held.concepts >= 0
    concepts = ((held.predicted_concepts != held.concepts) & known).sum(axis=0) / known.sum(axis=0)
    return concepts, (held.predicted_labels != held.labels).mean(axis=0)


FACTS = {
    "oracle": (0, 0, 0), "honest": (0, 0, 0), "nearly right": (0, 0, 0.002), "drawn shortcut": (0.67, 0, 0),
    "calibrated shortcut": (0.67, 0, 0), "shortcut with noisy labels": (0.34, 0, 0.03), "exchanged concepts": (0.67, 0, 0),
    "one concept": (0.67, 0, 0), "mixture 50 %": (0.17, 0, 0), "mixture 30 %": (0.1, 0, 0), "noise 12 %": (0.12, 0.12, None),
    "noise 30 %": (0.3, 0.3, None), "one noisy concept": (0.2, 0, None), "one concept by chance": (0.45, 0, None),
    "one value missed": (0.13, 0, None), "unused noise": (0, 0.3, 0), "unused collapsed": (0, 0.5, 0),
    "collapsed concept": (0.67, 0, None), "random labels": (0, 0, 0.2), "wrong rule": (0, 0, 0.33),
    "shortcut elsewhere": (0, 0, 0), "fails on ood": (0, 0, 0), "soft leakage": (0, 0, 0), "bypass": (0.3, 0.3, 0),
    "random concepts": (0.67, 0.75, 0), "overconfident": (0.2, 0.2, None), "tiny split": (0, 0, 0),
    "forty examples, 82 %": (0, 0, 0.18), "compensated": (1, 0, 0), "read from another": (0.67, 0, None),
    "blind at the boundary": (0, 0, 0.33), "uncertain": (0, 0, 0.32), "wrong annotations": (0.12, 0, 0),
    "wrong label annotations": (0, 0, 0.1), "confidence by another concept": (0, 0, 0), "exact inference": (0.2, 0.2, None),
    "ten of a hundred labels wrong": (0, 0, 0.1), "one label value missed": (0, 0, None), "gaps": (0, 0, 0), "no rule": (0, 0, 0),
}  # fmt: skip
"""On test, of the concept that is worst read of those that the rule uses, of the others, and of labels: how often wrong."""


@pytest.mark.parametrize("name", FACTS)
def test_a_specimen_is_as_wrong_as_it_says(name: str) -> None:
    concepts, labels = wrong(planted(name).evidence["test"])
    used, unused, label = FACTS[name]
    assert concepts[USED].max() == pytest.approx(used, abs=0.04)
    assert concepts[UNUSED].max() == pytest.approx(unused, abs=0.04)
    assert label is None or labels.max() == pytest.approx(label, abs=0.04)


SILENT = {"black box": [0, 1, 2, 3, 4], "half silent": [0, 2], "sometimes silent": []}


@pytest.mark.parametrize(("name", "columns"), SILENT.items())
def test_the_silent_predict_right_labels(name: str, columns: list[int]) -> None:
    held = planted(name).evidence["test"]
    silent = held.predicted_concepts < 0
    assert [place for place in range(5) if silent[:, place].all()] == columns and not wrong(held)[1].any()
    if name == "sometimes silent":
        assert silent.mean(axis=0).max() == pytest.approx(0.3, abs=0.04)


@pytest.mark.parametrize("name", ["memorised head", "memorised black box"])
def test_the_memorised_are_right_on_worlds_of_training_only(name: str) -> None:
    found = FAULTY_PREDICTORS[name][1](SPARSE, rng_for(1, name))
    assert found is not None
    held, shown = found.evidence["test"], set(map(tuple, SPARSE.training.tolist()))
    old = np.array([tuple(world) in shown for world in held.concepts.tolist()])
    bad = (held.predicted_labels != held.labels).any(axis=1)
    assert not bad[old].any() and bad[~old].mean() > 0.4


@pytest.mark.parametrize("name", ["blind at the boundary", "black box, blind at the boundary"])
def test_the_blind_are_wrong_near_the_boundary_of_one_label(name: str) -> None:
    held = planted(name).evidence["test"]
    bad = held.predicted_labels != held.labels
    (label,) = np.flatnonzero(bad.any(axis=0))
    near = held.knowledge.boundaries[label].near(held.concepts)
    assert not bad[~near].any() and bad[near, label].mean() > 0.5


def test_constants_and_answers_of_other_examples() -> None:
    constant, shuffled = (planted(name).evidence["test"] for name in ("constant", "shuffled"))
    assert len(np.unique(constant.predicted_concepts, axis=0)) == 1
    for codes, said in ((shuffled.concepts, shuffled.predicted_concepts), (shuffled.labels, shuffled.predicted_labels)):
        assert sorted(map(tuple, codes.tolist())) == sorted(map(tuple, said.tolist()))


def test_other_pictures_are_of_the_same_worlds() -> None:
    splits = planted("other pictures").evidence
    first, other = list(splits.values())[:2]
    assert wrong(first)[1].max() == 0 and wrong(other)[1].max() == pytest.approx(0.25, abs=0.04)
    assert {tuple(row) for row in other.concepts.tolist()} <= {tuple(row) for row in first.concepts.tolist()}


def test_a_missed_region_is_one_value_of_one_concept() -> None:
    held = planted("missed region").evidence["test"]
    bad = (held.predicted_labels != held.labels).any(axis=1)
    inside = [held.concepts[:, c] == value for c in USED for value in range(SPACE.sizes[c])]
    assert any(not bad[~rows].any() and bad[rows].mean() > 0.4 for rows in inside)


@pytest.mark.parametrize("name", ["drawn shortcut", "exchanged concepts", "one concept", "shortcut elsewhere"])
def test_shortcuts_need_room(name: str) -> None:
    assert FAULTY_PREDICTORS[name][1](STRICT, rng_for(1, name)) is None


NO_ROOM = {"mixture 10 %"}
"""Specimens for which neither habitat has room."""


@pytest.mark.parametrize("name", sorted(set(FAULTY_PREDICTORS) - NO_ROOM))
def test_every_specimen_asks_for_words_that_there_are_and_is_the_same_each_time(name: str) -> None:
    about, plant = FAULTY_PREDICTORS[name]
    found, words = planted(name), set(kinds_in_order())
    assert about.endswith(".") and found.required and found.concepts <= set(SPACE.names)
    asked = set().union(*found.required, found.first)
    assert asked <= words and found.forbidden <= words and not asked & found.forbidden
    again = next(x for home in (LOOSE, STRICT) if (x := plant(home, rng_for(1, name))) is not None)
    for split, held in found.evidence.items():
        other = again.evidence[split]
        assert (held.predicted_concepts == other.predicted_concepts).all()
        assert (held.predicted_labels == other.predicted_labels).all() and held.split == split


def test_a_habitat_where_nothing_varies_has_no_room() -> None:
    """Whatever needs concepts that vary leaves such a habitat out, and does not fail."""
    rows = np.zeros((200, 5), dtype=np.int64)
    still = ZooTask("still", 0, LOOSE.knowledge, {"test": rows, "ood": rows}, rows[:50])
    left_out = [name for name, (_, plant) in FAULTY_PREDICTORS.items() if plant(still, rng_for(1, name)) is None]
    assert {"one noisy concept", "one value missed", "unused collapsed", "read from another"} <= set(left_out)

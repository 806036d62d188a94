"""Verdicts that were wrong once, in both directions: each must be right now, in kind and in words."""

import numpy as np
import pytest

from assay.base import Array, Codes, rng_for
from assay.diagnosis import Diagnosis, diagnose
from assay.logic import Knowledge, bits
from assay.metrics import Evidence
from assay.testing import FAULTY_PREDICTORS, ZooTask, zoo_task
from tests.diagnosis.models import evidence


def judged(home: ZooTask, said: Codes, labels: Codes | None = None, split: str = "test") -> Diagnosis:
    return diagnose({split: evidence(home.knowledge, home.splits[split], said, labels, split=split)}, home.training)


def exchanged(codes: Codes, i: int, j: int) -> Codes:
    """Return worlds with two concepts of equal values exchanged."""
    made = codes.copy()
    made[:, [i, j]] = codes[:, [j, i]]
    return made


def flipped(codes: Codes, column: int, rows: Array) -> Codes:
    """Return worlds with a true-or-false concept turned round in some rows."""
    made = codes.copy()
    made[rows, column] = 1 - made[rows, column]
    return made


@pytest.fixture(scope="module")
def driving() -> ZooTask:
    return zoo_task("sdd-oia")


@pytest.fixture(scope="module")
def robots() -> ZooTask:
    return zoo_task("robots")


@pytest.fixture(scope="module")
def sums() -> ZooTask:
    return zoo_task("mnadd-evenodd")


def test_persons_and_riders_exchanged(driving: ZooTask) -> None:
    person, rider = (driving.knowledge.space.place(name) for name in ("person", "rider"))
    found = judged(driving, exchanged(driving.splits["test"], person, rider))
    assert found.kinds == ("shortcut",) and set(found.findings[0].concepts) == {"person", "rider"}
    assert "It exchanges person and rider: each is said for the other (100 % of 900 answers)." in found.text


def test_one_concept_by_chance_is_not_sound(robots: ZooTask) -> None:
    codes = robots.splits["test"]
    place = robots.knowledge.space.place("mouth")
    found = judged(robots, flipped(codes, place, rng_for(0, "flip").random(len(codes)) < 0.45))
    assert "noisy" in found.kinds and "sound" not in found.kinds and "shortcut" not in found.kinds
    assert "mouth is hardly learned: right in" in found.text


def test_noise_on_what_the_rule_does_not_use_is_no_shortcut(robots: ZooTask) -> None:
    codes, rng = robots.splits["test"], rng_for(0, "flip")
    for place in robots.unused:
        codes = flipped(codes, place, rng.random(len(codes)) < 0.3)
    found = judged(robots, codes)
    assert found.kinds == ("unidentified",)
    assert set(found.findings[0].concepts) == {robots.knowledge.space.names[place] for place in robots.unused}


def test_unbiased_noise_is_noise(robots: ZooTask) -> None:
    codes, rng = robots.splits["test"], rng_for(0, "flip")
    for place in range(codes.shape[1]):
        codes = flipped(codes, place, rng.random(len(codes)) < 0.12)
    found = judged(robots, codes)
    assert found.verdict == "noisy" and "shortcut" not in found.kinds


def test_right_concepts_and_a_wrong_rule(robots: ZooTask) -> None:
    codes = robots.splits["test"]
    labels = robots.knowledge.labels_of(codes)
    labels[:52] = 1 - labels[:52]
    said = flipped(codes, robots.knowledge.space.place("knees"), np.arange(len(codes)) == 0)
    found = judged(robots, said, labels)
    assert found.verdict == "wrong rule" and "underfit" not in found.kinds
    errors = found.errors["test"]
    assert errors.wrong == 52 and errors.rule + errors.perception + errors.both == 52 and errors.rule >= 51
    assert found.findings[0].numbers["wrong"] == found.findings[0].wrong_labels == errors.rule


def test_forty_pictures_do_not_make_labels_right(robots: ZooTask) -> None:
    small = ZooTask("few", 0, robots.knowledge, {"test": robots.splits["test"][:40]}, robots.training)
    labels = robots.knowledge.labels_of(small.splits["test"])
    labels[:7] = 1 - labels[:7]
    found = judged(small, small.splits["test"], labels)
    assert any("82 % (68 to 91 %) of 40" in note for note in found.notes)
    assert found.verdict in ("too few", "wrong rule") and "sound" not in found.kinds


def test_one_example_tells_nothing(robots: ZooTask) -> None:
    small = ZooTask("one", 0, robots.knowledge, {"test": robots.splits["test"][:1]}, robots.training)
    found = judged(small, small.splits["test"])
    assert found.verdict == "too few" and any("Fewer than 30 examples: test (1)" in note for note in found.notes)
    accuracy = found.scores["test"]["label_accuracy"]
    assert accuracy.value == 1.0 and accuracy.low < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_drawn_readings_are_shortcuts(seed: int, sums: ZooTask) -> None:
    assert "drawn shortcut" in FAULTY_PREDICTORS
    drawn = FAULTY_PREDICTORS["drawn shortcut"][1](sums, rng_for(seed, "drawn"))
    assert drawn is not None
    found = diagnose(drawn.evidence, sums.training)
    assert found.verdict == "shortcut" and found.findings[0].numbers["agreement"] == 1.0


def test_one_wrong_bit_of_twelve() -> None:
    knowledge = Knowledge.of(bits([f"b{i}" for i in range(12)]), {"y": "b0 and b1 or b2 and b3 or xor(b4, b5)"})
    codes = rng_for(0, "bits").integers(0, 2, size=(450, 12))
    home = ZooTask("bits", 0, knowledge, {"test": codes}, codes[:10])
    found = judged(home, flipped(codes, 2, np.full(450, True)))
    assert (
        found.verdict != "sound" and "It reads b2 False as True and True as False (100 % of 450 answers)." in found.text
    )
    unused = judged(home, flipped(codes, 11, np.full(450, True)))
    assert unused.kinds == ("unidentified",) and unused.findings[0].concepts == ("b11",)
    both = judged(home, flipped(flipped(codes, 2, np.full(450, True)), 11, np.full(450, True)))
    assert "unidentified" not in both.kinds and both.kinds == found.kinds  # "only these are wrong" would be false


def test_a_frequent_label_does_not_make_a_model_underfit() -> None:
    knowledge = Knowledge.of(bits(list("abcde")), {"y": "a and b and c and d and e"})
    rng = rng_for(0, "rare")
    codes = rng.integers(0, 2, size=(450, 5))
    codes[:14] = 1
    labels = knowledge.labels_of(codes)
    wrong = labels.copy()
    wrong[-1] = 1 - wrong[-1]
    home = ZooTask("rare", 0, knowledge, {"test": codes}, codes)
    assert judged(home, codes, wrong).verdict == "sound"
    assert judged(home, codes, np.zeros_like(labels)).verdict == "wrong rule"
    assert judged(home, np.zeros_like(codes), np.zeros_like(labels)).kinds == ("underfit", "noisy")


def test_two_digits_exchanged(sums: ZooTask) -> None:
    splits = {
        name: evidence(sums.knowledge, codes, exchanged(codes, 0, 1), split=name) for name, codes in sums.splits.items()
    }
    found = diagnose(splits, sums.training)
    assert found.kinds == ("shortcut",) and "never says" not in found.text
    assert "It exchanges a and b: each is said for the other (100 % of 900 answers)." in found.text
    assert "With this concept mapping 100 % of the training worlds keep their labels." in found.details


def test_silence_about_half_of_the_concepts_is_opaque(driving: ZooTask) -> None:
    codes = driving.splits["test"].copy()
    codes[:, :11] = -1
    found = judged(driving, codes, driving.knowledge.labels_of(driving.splits["test"]))
    used = [state for state in found.concepts["test"] if state.used]
    silent = [state.concept for state in used if not state.answered]
    assert found.kinds == ("opaque",) and found.findings[0].concepts == tuple(silent) and len(silent) > 6
    assert f"of {len(used)} concepts that could decide labels it does not predict" in found.text
    assert f"and {len(silent) - 6} more" in found.text


def test_labels_are_judged_against_the_likelier_value_where_they_are_drawn() -> None:
    from assay.base import Settings
    from assay.dataset import recipe_from

    task = recipe_from("robots", Settings({"stochastic": True, "scale": 0.2})).task
    assert task.knowledge.stochastic
    split = next(split for split in task.splits() if split.name == "test")
    codes = task.source_for(split, 0).codes(np.arange(450))
    lawful = task.knowledge.labels_of(codes)
    drawn = task.knowledge.drawn_labels(codes, rng_for(0, "luck").random(lawful.shape))
    silent = (None,) * lawful.shape[1], (None,) * codes.shape[1]
    held = Evidence(task.knowledge, "test", drawn, codes, lawful, codes, *silent)
    assert (drawn != lawful).any() and diagnose({"test": held}).verdict == "sound"

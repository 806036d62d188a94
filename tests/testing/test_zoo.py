"""The zoo of known faults: what must be told is told, what must not is not. `make bench` tries it in full."""

from dataclasses import replace

import numpy as np
import pytest

from assay.base import rng_for
from assay.diagnosis import diagnose
from assay.logic import Concept, ConceptSpace, Knowledge
from assay.testing import FAULTY_PREDICTORS, Survey, ZooTask, survey, zoo_task
from tests.samples import needs_task

HOMES = ("mnadd-evenodd", "robots")
"""A few of the tasks; the benchmark takes eight and three seeds."""


@pytest.fixture(scope="module")
def homes() -> list[ZooTask]:
    return [zoo_task(task) for task in HOMES]


def test_known_faults_are_told_and_no_others(homes: list[ZooTask]) -> None:
    total, names = Survey(), 0
    for _, counts in survey(homes):
        names += 1
        total.required += counts.required
        total.reported += counts.reported
        total.forbidden += counts.forbidden
        total.falsely_reported += counts.falsely_reported
        total.misses += counts.misses
    assert names == len(FAULTY_PREDICTORS) >= 50
    assert total.reported >= 0.98 * total.required > 80, total.misses
    assert total.falsely_reported <= 0.01 * total.forbidden, total.misses


SPACE = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (7,)), Concept("d", (0, 1))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "(a + b) % 2 == 0"})
TEST = np.array([[0, 1, 0, 0], [2, 2, 0, 1], [1, 0, 0, 1], [2, 0, 0, 1]])
HOME = ZooTask(
    "toy", 0, KNOWLEDGE, {"test": TEST, "ood": TEST[:2]}, np.array([[0, 0, 0, 0], [2, 2, 0, 1], [1, 2, 0, 0]])
)


# -- what is counted ---------------------------------------------------------------------------------------------------


def whole(task: str = "toy", seed: int = 0) -> ZooTask:
    """Return a habitat of every world twenty times."""
    worlds = np.tile(SPACE.all_codes(), (20, 1))
    return ZooTask(task, seed, KNOWLEDGE, {"test": worlds}, worlds)


def test_a_survey_counts_each_thing_that_was_required() -> None:
    """Four things are asked of a diagnosis of a right model: that it is sound, noisy, first noisy, and names `a`."""
    assert "oracle" in FAULTY_PREDICTORS
    right = FAULTY_PREDICTORS["oracle"][1](whole(), rng_for(0))
    assert right is not None
    found = diagnose(right.evidence)
    asked = {"note": "", "first": frozenset(), "concepts": frozenset()}
    fine = replace(
        right, **asked, required=(frozenset({"sound", "noisy"}),), forbidden=frozenset({"leaking", "opaque"})
    )
    counts = Survey()
    counts.add("here", replace(fine, note="every label is right"), found)
    assert counts == Survey(1, 2, 2, 2, 0, [])
    noisy = frozenset({"noisy"})
    faulty = replace(
        fine, required=(noisy,), forbidden=frozenset({"sound"}), concepts=frozenset("a"), note="by chance", first=noisy
    )
    counts.add("there", faulty, found)
    assert (counts.required, counts.reported, counts.forbidden, counts.falsely_reported) == (6, 2, 3, 1)
    (miss,) = counts.misses
    for fault in ("no noisy", "a is not named", "'by chance' is not said", "not first: noisy", "sound was told"):
        assert miss.startswith("there: ") and fault in miss


def test_a_survey_passes_over_habitats_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    right = FAULTY_PREDICTORS["oracle"][1](whole(), rng_for(0))
    assert right is not None
    opaque = replace(right, required=(frozenset({"opaque"}),), forbidden=frozenset(), first=frozenset())
    plant = lambda home, rng: None if home.task == "small" else opaque  # noqa: E731
    monkeypatch.setitem(FAULTY_PREDICTORS, "toy of a test", ("A toy.", plant))
    ((name, counts),) = survey([whole("small"), whole("large", 4)], ["toy of a test"])
    assert name == "toy of a test"
    assert counts == Survey(1, 1, 0, 0, 0, ["toy of a test on large, seed 4: no opaque (told: sound)"])


def test_a_habitat_knows_what_its_rule_uses_and_which_readings_keep_its_labels() -> None:
    def shifted(worlds: np.ndarray) -> np.ndarray:
        """Keep the labels of training, and not of the first example of test."""
        read = worlds.copy()
        read[(worlds == [0, 1, 0, 0]).all(axis=1), 1] = 0
        return read

    assert HOME.used == [0, 1] and HOME.unused == [2, 3]
    assert HOME.keeps(shifted) and not HOME.keeps(shifted, ["test"]) and not HOME.keeps(shifted, ["ood"])
    assert HOME.keeps(lambda worlds: worlds[:, [1, 0, 2, 3]], ["test", "ood"])
    assert not HOME.keeps(lambda worlds: np.minimum(worlds + np.eye(4, dtype=int)[0], 2))


@needs_task("mnadd-evenodd")
def test_a_habitat_has_the_worlds_of_a_task() -> None:
    home = zoo_task("mnadd-evenodd", sizes={"train": 50, "test": 20, "hard": 7})
    assert (home.task, home.seed, home.training.shape) == ("mnadd-evenodd", 0, (50, 2))
    assert {name: len(codes) for name, codes in home.splits.items()} == {"test": 20, "ood": 300, "hard": 7}
    other = zoo_task("mnadd-evenodd", seed=1, sizes={"train": 50})
    assert other.seed == 1 and other.training.tolist() != home.training.tolist()

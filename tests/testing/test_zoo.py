"""The zoo of known faults: what must be told is told, what must not is not. `make bench` tries it in full."""

from dataclasses import replace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.diagnosis import diagnose, kinds_in_order
from assay.logic import Knowledge
from assay.seeds import rng_for
from assay.testing import SPECIMENS, Habitat, Survey, habitat, survey, zoo
from assay.testing.zoo import Planted
from tests.samples import needs_task

HOMES = ("mnadd-evenodd", "robots")
"""A few of the tasks; the benchmark takes eight and three seeds."""


@pytest.fixture(scope="module")
def homes() -> list[Habitat]:
    return [habitat(task) for task in HOMES]


def test_known_faults_are_told_and_no_others(homes: list[Habitat]) -> None:
    total, names = Survey(), 0
    for _, counts in survey(homes):
        names += 1
        total.required += counts.required
        total.reported += counts.reported
        total.forbidden += counts.forbidden
        total.falsely_reported += counts.falsely_reported
        total.misses += counts.misses
    assert names == len(SPECIMENS) >= 50
    assert total.reported >= 0.98 * total.required > 80, total.misses
    assert total.falsely_reported <= 0.01 * total.forbidden, total.misses


SPACE = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (7,)), Concept("d", (0, 1))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "(a + b) % 2 == 0"})
TEST = np.array([[0, 1, 0, 0], [2, 2, 0, 1], [1, 0, 0, 1], [2, 0, 0, 1]])
HOME = Habitat(
    "toy", 0, KNOWLEDGE, {"test": TEST, "ood": TEST[:2]}, np.array([[0, 0, 0, 0], [2, 2, 0, 1], [1, 2, 0, 0]])
)


# -- what is counted ---------------------------------------------------------------------------------------------------


def test_a_survey_counts_each_thing_that_was_required() -> None:
    """Four things are asked of a diagnosis of a right model: that it is sound, noisy, first noisy, and names `a`."""
    worlds = np.tile(SPACE.all_codes(), (20, 1))
    found = diagnose({"test": zoo.answers(Habitat("toy", 0, KNOWLEDGE, {"test": worlds}, worlds), "test", worlds)})
    fine = Planted({}, (zoo.one_of("sound", "noisy"),), zoo.one_of("leaking", "opaque"), note="every label is right")
    counts = Survey()
    counts.add("here", fine, found)
    assert counts == Survey(1, 2, 2, 2, 0, [])
    faulty = Planted(
        {}, (zoo.one_of("noisy"),), zoo.one_of("sound"), frozenset({"a"}), "by chance", zoo.one_of("noisy")
    )
    counts.add("there", faulty, found)
    faults = "no noisy; a is not named; 'by chance' is not said; not first: noisy; sound was told"
    assert counts == Survey(2, 6, 2, 3, 1, [f"there: {faults} (told: sound)"])


def test_a_survey_passes_over_habitats_without_room() -> None:
    worlds = np.tile(SPACE.all_codes(), (20, 1))
    large = Habitat("large", 4, KNOWLEDGE, {"test": worlds}, worlds)
    try:

        @zoo.specimen("toy of a test")
        def toy(home: Habitat, rng: np.random.Generator) -> Planted | None:
            """A toy."""
            said = zoo.answers(home, "test", home.splits["test"])
            return None if home.task == "small" else Planted({"test": said}, (zoo.one_of("opaque"),), frozenset())

        assert SPECIMENS["toy of a test"] == ("A toy.", toy)
        ((name, counts),) = survey([replace(large, task="small"), large], ["toy of a test"])
    finally:
        del SPECIMENS["toy of a test"]
    assert name == "toy of a test"
    assert counts == Survey(1, 1, 0, 0, 0, ["toy of a test on large, seed 4: no opaque (told: sound)"])


def test_kinds_of_findings() -> None:
    words = set(kinds_in_order())
    assert zoo.one_of("sound", "noisy") == {"sound", "noisy"}
    assert zoo.all_but("sound", "noisy") < words and not zoo.all_but("sound", "noisy") & {"sound", "noisy", "too few"}


# -- what specimens are made of ----------------------------------------------------------------------------------------


def test_what_the_rule_uses() -> None:
    assert HOME.used == [0, 1] and HOME.unused == [2, 3]
    assert zoo.names(HOME, [3, 0]) == {"a", "d"}


def test_a_mapping_keeps_labels_of_training_and_of_splits() -> None:
    def shifted(worlds: np.ndarray) -> np.ndarray:
        """Keep the labels of training, and not of the first example of test."""
        read = worlds.copy()
        read[(worlds == [0, 1, 0, 0]).all(axis=1), 1] = 0
        return read

    assert HOME.keeps(shifted) and not HOME.keeps(shifted, ["test"]) and not HOME.keeps(shifted, ["ood"])
    assert HOME.keeps(zoo.exchange(0, 1), ["test", "ood"])
    assert not HOME.keeps(zoo.by_tables({0: np.array([1, 1, 2])}))


def test_mappings_by_tables_and_by_exchange() -> None:
    read = zoo.by_tables({0: np.array([2, 1, 0]), 3: np.array([1, 1])})(TEST)
    assert read.tolist() == [[2, 1, 0, 1], [0, 2, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1]]
    assert zoo.exchange(0, 3)(TEST[:2]).tolist() == [[0, 1, 0, 0], [1, 2, 0, 2]]
    assert TEST[0].tolist() == [0, 1, 0, 0]


def test_confidence_leaves_the_rest_to_the_others_alike() -> None:
    sure = zoo.certain(np.array([2, 0, -1]), 3, np.array([0.7, 0.4, 0.6]))
    np.testing.assert_allclose(sure, [[0.15, 0.15, 0.7], [0.4, 0.3, 0.3], [0.6, 0.2, 0.2]])
    assert zoo.certain(np.array([0, 0]), 1, 0.9).tolist() == [[1.0], [1.0]]


def test_rows_that_training_showed() -> None:
    assert zoo.rows_in_training(HOME, "test").tolist() == [False, True, False, False]
    assert zoo.rows_in_training(HOME, "ood").tolist() == [False, True]


def test_a_shortcut_is_drawn_from_those_that_keep_the_labels() -> None:
    every = SPACE.all_codes()
    home = Habitat("t", 0, KNOWLEDGE, {"test": every}, every)
    for seed in range(6):
        read = zoo.draw_shortcut(home, rng_for(seed))
        assert read is not None and home.keeps(read) and (read(every) != every).any()
    assert zoo.draw_shortcut(home, rng_for(0), tries=0) is None


def test_concepts_of_equal_values_are_exchanged_where_labels_stay() -> None:
    concepts = (("a", (0, 1, 2)), ("b", (2, 1, 0)), ("c", (0, 1, 2)), ("d", (0, 1)))
    space = ConceptSpace(tuple(Concept(name, values) for name, values in concepts))
    every = space.all_codes()
    home = Habitat("t", 0, Knowledge.of(space, {"y": "a + b + c == 3 or d == 1"}), {"test": every}, every)
    assert {zoo.find_exchangeable(home, rng_for(seed)) for seed in range(6)} == {(0, 2)}


@needs_task("mnadd-evenodd")
def test_a_habitat_has_the_worlds_of_a_task() -> None:
    home = habitat("mnadd-evenodd", sizes={"train": 50, "test": 20, "hard": 7})
    assert (home.task, home.seed, home.training.shape) == ("mnadd-evenodd", 0, (50, 2))
    assert {name: len(codes) for name, codes in home.splits.items()} == {"test": 20, "ood": 300, "hard": 7}
    other = habitat("mnadd-evenodd", seed=1, sizes={"train": 50})
    assert other.seed == 1 and other.training.tolist() != home.training.tolist()

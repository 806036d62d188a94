"""The parts that specimens of the zoo are built from, and how a survey counts."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, digits
from assay.diagnosis.findings import RANK
from assay.errors import DataError
from assay.logic.knowledge import Knowledge
from assay.seeds import rng_for
from assay.testing import zoo
from assay.testing.zoo import Habitat, Planted, Survey, habitat
from tests.samples import needs_task

SPACE = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (7,)), Concept("d", (0, 1))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "(a + b) % 2 == 0"})
TEST = np.array([[0, 1, 0, 0], [2, 2, 0, 1], [1, 0, 0, 1], [2, 0, 0, 1]])
HOME = Habitat(
    "toy", 0, KNOWLEDGE, {"test": TEST, "ood": TEST[:2]}, np.array([[0, 0, 0, 0], [2, 2, 0, 1], [1, 2, 0, 0]])
)


def test_what_the_rule_uses() -> None:
    assert HOME.used == [0, 1] and HOME.unused == [2, 3]
    assert zoo.names(HOME, [3, 0]) == {"a", "d"}


def test_a_reading_keeps_labels_of_training_and_of_splits() -> None:
    def shifted(worlds: np.ndarray) -> np.ndarray:
        """Keep the labels of training, and not of the first example of test."""
        read = worlds.copy()
        read[(worlds == [0, 1, 0, 0]).all(axis=1), 1] = 0
        return read

    assert HOME.keeps(shifted) and not HOME.keeps(shifted, ["test"]) and not HOME.keeps(shifted, ["ood"])
    assert HOME.keeps(zoo.exchange(0, 1), ["test", "ood"])
    assert not HOME.keeps(zoo.by_tables({0: np.array([1, 1, 2])}))


def test_readings_by_tables_and_by_exchange() -> None:
    read = zoo.by_tables({0: np.array([2, 1, 0]), 3: np.array([1, 1])})(TEST)
    assert read.tolist() == [[2, 1, 0, 1], [0, 2, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1]]
    assert zoo.exchange(0, 3)(TEST[:2]).tolist() == [[0, 1, 0, 0], [1, 2, 0, 2]]
    assert TEST[0].tolist() == [0, 1, 0, 0]


def test_certainty_leaves_the_rest_to_the_others_alike() -> None:
    sure = zoo.certain(np.array([2, 0, -1]), 3, np.array([0.7, 0.4, 0.6]))
    np.testing.assert_allclose(sure, [[0.15, 0.15, 0.7], [0.4, 0.3, 0.3], [0.6, 0.2, 0.2]])
    assert zoo.certain(np.array([0, 0]), 1, 0.9).tolist() == [[1.0], [1.0]]


def test_answers_follow_the_rule_unless_labels_are_said() -> None:
    concepts = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [-1, 2, 0, 0], [2, 1, 0, 0]])
    evidence = zoo.answers(HOME, "test", concepts, confidence=[None, 0.8, None, 0.9])
    assert evidence.split == "test" and evidence.concepts.tolist() == TEST.tolist()
    assert evidence.labels[:, 0].tolist() == [0, 1, 0, 1]
    assert evidence.predicted_labels[:, 0].tolist() == [1, 0, 1, 0]
    assert evidence.predicted_concepts.tolist() == concepts.tolist()
    assert evidence.label_probabilities == (None,)
    first, second, third, fourth = evidence.concept_probabilities
    assert first is None and third is None and second is not None and fourth is not None
    np.testing.assert_allclose(second[0], [0.1, 0.8, 0.1])
    np.testing.assert_allclose(fourth[0], [0.9, 0.1])
    said = zoo.answers(HOME, "test", concepts, np.array([[1], [1], [0], [0]]))
    assert said.predicted_labels[:, 0].tolist() == [1, 1, 0, 0]
    assert said.concept_probabilities == (None,) * 4
    assert {name: len(e) for name, e in zoo.everywhere(HOME, lambda worlds: worlds).items()} == {"test": 4, "ood": 2}


def test_misreadings_are_of_other_values_drawn_evenly() -> None:
    worlds = np.tile([[1, 2, 0, 1]], (3000, 1))
    read = zoo.misread(HOME, worlds, 0.4, rng_for(0, "misread"))
    shares = [np.bincount(read[:, column], minlength=3) / 3000 for column in range(4)]
    np.testing.assert_allclose(shares[0], [0.2, 0.6, 0.2], atol=0.04)
    np.testing.assert_allclose(shares[1], [0.2, 0.2, 0.6], atol=0.04)
    np.testing.assert_allclose(shares[2], [1, 0, 0])
    np.testing.assert_allclose(shares[3], [0.4, 0.6, 0], atol=0.04)
    some = zoo.misread(HOME, worlds, 1.0, rng_for(0, "misread"), [3])
    assert (some[:, :3] == worlds[:, :3]).all() and not some[:, 3].any()
    assert (worlds == [1, 2, 0, 1]).all()
    assert (zoo.misread(HOME, worlds, 1.0, rng_for(0, "misread"), []) == worlds).all()


def test_a_reading_is_visible_where_enough_is_wrong() -> None:
    read = zoo.by_tables({0: np.array([1, 1, 2])})  # wrong in one of four
    assert zoo.visible(HOME, read, [0, 1], share=0.25) and not zoo.visible(HOME, read, [0, 1], share=0.26)
    assert not zoo.visible(HOME, read, [1])
    tenth = Habitat("t", 0, KNOWLEDGE, {"test": np.repeat(TEST[[0, 1]], [1, 9], axis=0)}, TEST)
    assert zoo.visible(tenth, read, [0])
    less = Habitat("t", 0, KNOWLEDGE, {"test": np.repeat(TEST[[0, 1]], [1, 10], axis=0)}, TEST)
    assert not zoo.visible(less, read, [0])


def test_columns_vary_where_two_values_are_frequent() -> None:
    worlds = np.zeros((20, 4), dtype=int)
    worlds[:2, 0], worlds[:1, 1], worlds[:10, 3] = 2, 1, 1
    home = Habitat("t", 0, KNOWLEDGE, {"test": worlds}, worlds)
    assert zoo.varying_columns(home, [0, 1, 2, 3]) == [0, 3]
    assert zoo.varying_columns(home, [3, 1], 0.05) == [3, 1]
    assert zoo.varying_columns(home, [0, 3], 0.5) == [3]


def test_what_can_be_exchanged_is_found() -> None:
    assert zoo.find_exchangeable(HOME, rng_for(0)) == (0, 1)
    assert zoo.find_exchangeable(HOME, rng_for(0), ["test"]) == (0, 1)
    one_sided = Habitat("t", 0, Knowledge.of(SPACE, {"y": "a == 2 and b == 0"}), HOME.splits, HOME.training[[0, 1]])
    assert zoo.find_exchangeable(one_sided, rng_for(0)) == (0, 1)  # training does not show the difference
    assert zoo.find_exchangeable(one_sided, rng_for(0), ["test"]) is None
    found = {zoo.find_exchangeable_values(HOME, rng_for(seed))[0] for seed in range(9)}  # type: ignore[index]
    assert found == {0, 1}
    for seed in range(4):
        column, read = zoo.find_exchangeable_values(HOME, rng_for(seed)) or (9, zoo.exchange(0, 1))
        changed = read(TEST)[:, column]
        assert changed.tolist() == (2 - TEST[:, column]).tolist()
    strict = Habitat("t", 0, Knowledge.of(SPACE, {"y": "a + 3 * b"}), HOME.splits, TEST)
    assert zoo.find_exchangeable_values(strict, rng_for(0)) is None
    assert zoo.find_exchangeable(strict, rng_for(0)) is None


def test_a_shortcut_is_drawn_from_those_that_keep_the_labels() -> None:
    every = SPACE.all_codes()
    home = Habitat("t", 0, KNOWLEDGE, {"test": every}, every)
    for seed in range(3):
        read = zoo.draw_shortcut(home, rng_for(seed))
        assert read is not None
        assert home.keeps(read) and (read(every) != every)[:, :2].any()
    strict = Habitat("t", 0, Knowledge.of(SPACE, {"y": "a + 3 * b"}), {"test": every}, every)
    assert zoo.draw_shortcut(strict, rng_for(0)) is None


def test_nothing_is_known_where_worlds_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo, "new_worlds", lambda evidence, training: None)
    assert zoo.rows_in_training(HOME, "test").tolist() == [False] * 4


def test_rows_that_training_showed() -> None:
    assert zoo.rows_in_training(HOME, "test").tolist() == [False, True, False, False]
    assert zoo.rows_in_training(HOME, "ood").tolist() == [False, True]


def test_kinds_of_findings() -> None:
    assert zoo.one_of("sound", "noisy") == {"sound", "noisy"}
    assert zoo.all_but("sound", "noisy") == set(RANK) - {"sound", "noisy", "too few"}
    assert set(RANK) - {"sound", "too few"} == zoo.FAULTS


def diagnosis(*found: tuple[str, tuple[str, ...]], text: str = "") -> Any:
    findings = [SimpleNamespace(concepts=concepts) for _, concepts in found]
    return SimpleNamespace(kinds=tuple(kind for kind, _ in found), findings=findings, text=text)


def test_a_survey_counts_each_thing_that_was_required() -> None:
    planted = Planted(
        {}, (zoo.one_of("noisy", "shortcut"), zoo.one_of("opaque")), zoo.one_of("sound", "leaking"),
        frozenset({"a", "b"}), "by chance",
    )  # fmt: skip
    survey = Survey()
    survey.add("here", planted, diagnosis(("noisy", ("a", "b")), ("opaque", ()), text="it is by chance"))
    assert survey == Survey(1, 5, 5, 2, 0, [])
    survey.add("there", planted, diagnosis(("shortcut", ("a",)), ("sound", ()), ("leaking", ()), text="nothing"))
    faults = "no opaque; b is not named; 'by chance' is not said; leaking was told; sound was told"
    assert survey == Survey(2, 10, 7, 4, 2, [f"there: {faults} (told: shortcut, sound, leaking)"])
    survey = Survey()
    survey.add("here", Planted({}, (zoo.one_of("noisy", "boundary"),), frozenset()), diagnosis(("sound", ())))
    assert survey == Survey(1, 1, 0, 0, 0, ["here: no boundary or noisy (told: sound)"])


def test_a_survey_passes_over_habitats_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def plant(home: Habitat, rng: np.random.Generator) -> Planted | None:
        seen.append((home.task, int(rng.integers(10**9))))
        return None if home.task == "small" else Planted({}, (zoo.one_of("sound"),), frozenset())

    monkeypatch.setitem(zoo.SPECIMENS, "toy", ("A toy.", plant))
    monkeypatch.setattr(zoo, "diagnose", lambda evidence, training: diagnosis(("noisy", ())))
    homes = [Habitat(task, seed, KNOWLEDGE, {}, TEST) for task, seed in (("small", 3), ("large", 4))]
    ((name, survey),) = zoo.survey(homes, ["toy"])
    assert name == "toy"
    assert survey == Survey(1, 1, 0, 0, 0, ["toy on large, seed 4: no sound (told: noisy)"])
    expected = [("small", 3), ("large", 4)]
    assert seen == [(task, int(rng_for(seed, "zoo", "toy", task).integers(10**9))) for task, seed in expected]


@needs_task("mnadd-evenodd")
def test_a_habitat_has_the_worlds_of_a_task() -> None:
    home = habitat("mnadd-evenodd", sizes={"train": 50, "test": 20, "hard": 7})
    assert home.task == "mnadd-evenodd" and home.seed == 0
    assert {name: codes.shape for name, codes in home.splits.items()} == {
        "test": (20, 2),
        "ood": (300, 2),
        "hard": (7, 2),
    }
    assert home.training.shape == (50, 2)
    other = habitat("mnadd-evenodd", seed=1, sizes={"train": 50})
    assert other.seed == 1 and other.training.tolist() != home.training.tolist()
    full = habitat("mnadd-evenodd")
    assert {name: len(codes) for name, codes in full.splits.items()} == {"test": 450, "ood": 300, "hard": 200}
    assert len(full.training) == 2000


def test_shortcuts_are_counted_on_worlds_from_all_of_training() -> None:
    idle = [Concept(f"i{n}", (False, True)) for n in range(7)]
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), *idle))
    every = space.all_codes()  # 1,152 of them, those with the same `a` together
    home = Habitat("t", 0, Knowledge.of(space, {"y": "(a + b) % 2 == 0"}), {"test": every[::-5]}, every[::-1])
    tables = set()
    for seed in range(4):
        read = zoo.draw_shortcut(home, rng_for(seed))
        assert read is not None and home.keeps(read)
        tables.add(tuple(read(np.array([[a, 1, *[0] * 7] for a in range(3)]))[:, 0].tolist()))
    assert any(table[2] != 2 for table in tables)  # of the last worlds too something is read otherwise


def test_no_shortcut_is_drawn_where_readings_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.counting import count

    every = SPACE.all_codes()
    home = Habitat("t", 0, KNOWLEDGE, {"test": every}, every)
    counted = count.count_readings
    asked = []

    def bounds(*args: Any, **more: Any) -> Any:
        asked.append((args[1], more))
        return SimpleNamespace(readings=None, total=None)

    monkeypatch.setattr(count, "count_readings", bounds)
    assert zoo.draw_shortcut(home, rng_for(0)) is None and asked == [("shared", {"seconds": 60.0})]

    def refuse(*_: Any, **__: Any) -> Any:
        raise DataError("it cannot be")

    monkeypatch.setattr(count, "count_readings", refuse)
    assert zoo.draw_shortcut(home, rng_for(0)) is None
    monkeypatch.setattr(count, "count_readings", counted)
    assert zoo.draw_shortcut(home, rng_for(0)) is not None and zoo.draw_shortcut(home, rng_for(0), tries=0) is None


def test_specimens_are_registered_by_name_with_what_they_say() -> None:
    try:

        @zoo.specimen("toy of a test")
        def toy(home: Habitat, rng: np.random.Generator) -> Planted | None:
            """A toy."""
            return None

        assert zoo.SPECIMENS["toy of a test"] == ("A toy.", toy)
    finally:
        del zoo.SPECIMENS["toy of a test"]


def test_unequal_values_are_not_exchanged() -> None:
    space = ConceptSpace(
        (Concept("a", (0, 1, 2)), Concept("b", (2, 1, 0)), Concept("c", (0, 1, 2)), Concept("d", (0, 1)))
    )
    every = space.all_codes()
    home = Habitat("t", 0, Knowledge.of(space, {"y": "a + b + c == 3 or d == 1"}), {"test": every}, every)
    assert {zoo.find_exchangeable(home, rng_for(seed)) for seed in range(6)} == {(0, 2)}
    three = Habitat("t", 0, Knowledge.of(digits(["a", "b", "c"], range(3)), {"y": "a + b + c"}), {"test": every[:, :3]}, every[:, :3])  # fmt: skip
    assert {zoo.find_exchangeable(three, rng_for(seed)) for seed in range(20)} == {(0, 1), (0, 2), (1, 2)}


def test_concepts_of_other_values_are_not_exchanged_though_labels_would_stay() -> None:
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (5, 6, 7)), Concept("c", (0, 1, 2))))
    every = space.all_codes()
    shifted = Habitat("t", 0, Knowledge.of(space, {"y": "a + b == 7 and c > 0"}), {"test": every}, every)
    assert shifted.keeps(zoo.exchange(0, 1)) and zoo.visible(shifted, zoo.exchange(0, 1), [0, 1])
    assert zoo.find_exchangeable(shifted, rng_for(0)) is None

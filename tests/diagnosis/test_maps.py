"""Which map explains what is said of a concept, on answers made by hand: its own, another concept's, an object's."""

import numpy as np
import pytest

from assay.base import rng_for
from assay.diagnosis import ConceptState, diagnose, read_thresholds
from assay.logic import Concept, ConceptSpace, Knowledge, Slot
from assay.metrics import Evidence

QUICK = read_thresholds({"verdict.resamples": 0})


def judge(truth: np.ndarray, said: np.ndarray, space: ConceptSpace) -> tuple[ConceptState, ...]:
    """Return how concepts are read, under a rule of the first."""
    knowledge = Knowledge.of(space, {"y": f"{space.names[0]} == {space.concepts[0].values[0]!r}"})
    labels = knowledge.labels_of(np.maximum(truth, 0))
    held = Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None,) * len(space))
    return diagnose({"test": held}, thresholds=QUICK).concepts["test"]


def kinds(states: tuple[ConceptState, ...]) -> list[str]:
    return ["" if state.map is None else state.map.kind for state in states]


def numbers(*sizes: int) -> ConceptSpace:
    return ConceptSpace(tuple(Concept("cdef"[place], tuple(range(size))) for place, size in enumerate(sizes)))


def test_a_map_has_the_most_frequent_answer_and_its_own_value_where_that_is_as_frequent() -> None:
    """Ten times: 0 is said as 0 and 1 in equal number, 1 mostly as 2, 2 as 0 and 2 in equal number; -1 is no truth."""
    truth = np.repeat([[2, 0], [0, 1], [1, 0], [-1, 1]], [5, 4, 3, 2], axis=0)
    said = truth.copy()
    said[:, 0] = [0, 0, 2, 1, 2, 1, 1, 0, 0, 2, 2, 0, 0, 1]
    found = judge(np.tile(truth, (10, 1)), np.tile(said, (10, 1)), numbers(3, 2))[0].map
    assert found is not None and (found.concept, found.kind, found.sources) == ("c", "own", ("c",))
    assert found.image == {(0,): 0, (1,): 2, (2,): 2}
    assert found.entries == {(2,): (50, 20), (0,): (40, 20), (1,): (30, 20)} and found.fidelity == 6 / 12


def test_a_concept_read_from_another_is_found() -> None:
    truth = rng_for(0, "two concepts", 200).integers(0, 3, size=(200, 2))
    said = truth.copy()
    said[:, 0] = truth[:, 1]
    first, second = judge(truth, said, numbers(3, 3))
    assert first.state == "misread" and first.map is not None and second.state == "right"
    assert (first.map.kind, first.map.sources, first.map.fidelity) == ("source", ("d",), 1.0)
    assert first.map.image == {(0,): 0, (1,): 1, (2,): 2}
    assert sum(examples for examples, _ in first.map.entries.values()) == 200
    exchanged = judge(truth, truth[:, ::-1], numbers(3, 3))
    assert [state.map and state.map.sources for state in exchanged] == [("d",), ("c",)]


def test_of_few_answers_no_other_map_is_told() -> None:
    truth = rng_for(0, "two concepts", 60).integers(0, 3, size=(60, 2))
    said = truth.copy()
    said[:, 0] = truth[:, 1]
    gaps = truth.copy()
    gaps[15:, 1] = -1  # sixteen answers beside a known source are needed
    assert kinds(judge(truth, said, numbers(3, 3)))[0] == "source" != kinds(judge(gaps, said, numbers(3, 3)))[0]


@pytest.mark.parametrize(("better", "told"), [(19, False), (21, True)])
def test_another_map_must_explain_a_tenth_more(better: int, told: bool) -> None:
    """The first 100 are equal in both concepts; of the others the source explains `better` more, of 200."""
    rows = np.arange(200)
    truth = np.stack([rows % 2, rows % 2], axis=1)
    truth[100 : 100 + better, 1] = 1 - truth[100 : 100 + better, 0]
    said = np.stack([truth[:, 1], truth[:, 1]], axis=1)
    assert (kinds(judge(truth, said, numbers(2, 2)))[0] == "source") == told


@pytest.mark.parametrize(("share", "told"), [(0.4, False), (0.55, True)])
def test_another_map_must_explain_half_of_the_answers(share: float, told: bool) -> None:
    """By chance one in six follows as well: 0.5 of the answers, and 0.63."""
    rng = rng_for(0, "half")
    truth = rng.integers(0, 6, size=(600, 2))
    said = truth.copy()
    said[:, 0] = np.where(rng.random(600) < share, truth[:, 1], rng.integers(0, 6, 600))
    assert (kinds(judge(truth, said, numbers(6, 6)))[0] == "source") == told


def test_worlds_are_a_source_where_each_occurs_eight_times() -> None:
    """What is said of d is whether c and e differ: no single concept and no object tells that."""
    space = numbers(2, 2, 2)
    codes = space.all_codes().astype(np.int64)
    for times, told in ((8, True), (7, False)):
        truth = np.tile(codes, (times, 1))
        said = truth.copy()
        said[:, 1] = truth[:, 0] ^ truth[:, 2]
        assert (kinds(judge(truth, said, space))[1] == "world") == told
    assert {"world", "source", "object"}.isdisjoint(kinds(judge(truth, truth, space)))


def test_an_object_comes_before_the_world() -> None:
    concepts = tuple(Concept(name, (0, 1)) for name in ("o.s", "o.t", "p"))
    space = ConceptSpace(concepts, (Slot("o", "object", ("s", "t")),))
    truth = np.tile(space.all_codes().astype(np.int64), (10, 1))
    said = truth.copy()
    said[:, 2] = said[:, 0] = truth[:, 0] ^ truth[:, 1]
    first, second, other = judge(truth, said, space)
    assert first.map is not None and (first.map.kind, first.map.sources) == ("object", ("o.s", "o.t"))
    assert first.map.image == {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0} and second.state == "right"
    assert other.map is not None and (other.map.kind, other.map.sources) == ("world", ("o.s", "o.t", "p"))


def test_a_concept_itself_comes_before_another_that_explains_as_much() -> None:
    truth = np.tile([[0, 0], [1, 1], [2, 2]], (30, 1))
    assert [state.state for state in judge(truth, truth, numbers(3, 3))] == ["right", "right"]
    merged = np.minimum(truth, 1)
    assert kinds(judge(truth, merged, numbers(3, 3))) == ["own", "own"]


@pytest.mark.parametrize(("wrong", "state"), [(0, "right"), (5, "collapsed")])
def test_values_misread_together_are_clear_where_each_alone_is_not(wrong: int, state: str) -> None:
    """Ten values, four examples of each; of the first `wrong` all are said as another, too few for each alone."""
    truth = np.repeat(np.arange(10), 4)
    said = np.where(truth < wrong, (truth + 5) % 10, truth)
    nothing = truth * 0
    found = judge(np.stack([truth, nothing], axis=1), np.stack([said, nothing], axis=1), numbers(10, 2))[0]
    assert found.state == state

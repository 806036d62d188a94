"""How concepts are judged, on counts made by hand."""

import numpy as np
import pytest
from scipy import stats

from assay.base import rng_for
from assay.diagnosis import STATES, ConceptState, diagnose, read_thresholds
from assay.logic import NO_RULE, Concept, ConceptSpace, Knowledge, Label, Slot, bits
from assay.metrics import Evidence, wilson

QUICK = read_thresholds({"verdict.resamples": 0})


def judge(held: Evidence) -> tuple[ConceptState, ...]:
    """Return how the concepts of a split are judged."""
    return diagnose({"test": held}, thresholds=QUICK).concepts["test"]


def judged(counts: list[list[int]], silent: int = 0) -> ConceptState:
    """Judge a concept of which the true value `row` was said as `column` so often."""
    size = len(counts)
    space = ConceptSpace((Concept("c", tuple(range(size))), Concept("d", (False, True))))
    pairs = [(t, p) for t, row in enumerate(counts) for p, count in enumerate(row) for _ in range(count)]
    pairs += [(0, -1)] * silent
    rng = rng_for(0, "order", len(pairs))
    codes = np.array(pairs)[rng.permutation(len(pairs))]
    truth = np.stack([codes[:, 0], rng.integers(0, 2, len(codes))], axis=1)
    return judge(evidence_of(truth, np.stack([codes[:, 1], truth[:, 1]], axis=1), space))[0]


@pytest.mark.parametrize(
    ("counts", "state"),
    [
        ([[19, 0], [0, 19]], "right"),  # 38 of 38: of one that is wrong in a tenth, 1.8 % likely
        ([[18, 0], [0, 19]], "too few"),
        ([[200, 4], [4, 200]], "right"),
        ([[170, 30], [30, 170]], "noisy"),
        ([[110, 90], [90, 110]], "not learned"),
        ([[0, 100], [100, 0]], "misread"),
        ([[10, 90], [90, 10]], "misread"),
        ([[100, 0], [100, 0]], "collapsed"),
        ([[198, 0], [2, 0]], "right"),  # two examples of a value tell nothing
        ([[400, 0], [14, 0]], "collapsed"),  # fourteen do
        ([[50, 0, 0], [0, 50, 0], [50, 0, 0]], "collapsed"),
        ([[0, 50, 0], [0, 0, 50], [0, 50, 0]], "misread"),
        ([[60, 20, 20], [20, 60, 20], [20, 20, 60]], "noisy"),
        ([[30, 40, 30], [30, 40, 30], [30, 40, 30]], "not learned"),
        ([[900, 0], [14, 16]], "noisy"),  # a rare value is clearly missed
    ],
)
def test_states(counts: list[list[int]], state: str) -> None:
    found = judged(counts)
    assert found.state == state in STATES and found.used
    assert found.right == np.trace(counts) and found.answered == np.sum(counts)
    assert found.to_dict()["state"] == state


def test_silence() -> None:
    assert judged([[0, 0], [0, 0]], silent=50).state == "absent"
    assert judged([[30, 0], [0, 30]], silent=20).state == "absent"  # said of some examples only
    assert judged([[99, 0], [0, 100]], silent=1).state == "right"


def test_how_often_a_concept_decides() -> None:
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    labels = knowledge.labels_of(codes)
    evidence = Evidence(knowledge, "test", labels, codes, labels, codes, (None,), (None, None))
    found = judge(evidence)
    assert [state.decides for state in found] == [40, 40]  # a decides where b is true


def test_an_objects_attributes_may_be_read_together() -> None:
    """A red square said for a blue circle and the other way round: no attribute by itself has such a map."""
    values = (("square", "circle", "star"), ("red", "green", "blue"))
    concepts = tuple(Concept(f"o.{name}", v) for name, v in zip(("shape", "colour"), values, strict=True))
    space = ConceptSpace(concepts, (Slot("o", "object", ("shape", "colour")),))
    knowledge = Knowledge.of(space, {"y": "o.shape == 'star'"})
    truth = rng_for(0, "objects").integers(0, 3, size=(600, 2))
    said = truth.copy()
    red_squares, blue_circles = (truth == [0, 0]).all(axis=1), (truth == [1, 2]).all(axis=1)
    said[red_squares], said[blue_circles] = [1, 2], [0, 0]
    labels = knowledge.labels_of(truth)
    evidence = Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None, None))
    states = judge(evidence)
    assert [state.state for state in states] == ["misread", "misread"]
    assert all(state.map is not None and state.map.kind == "object" and state.map.fidelity == 1 for state in states)


def test_without_a_rule_any_concept_may_matter() -> None:
    space = bits(["a", "b"])
    unruled = Knowledge(space, (Label("y", NO_RULE, (False, True)),))
    codes = space.all_codes().astype(np.int64)
    labels = codes[:, :1]
    evidence = Evidence(unruled, "test", labels, codes, labels, codes, (None,), (None, None))
    assert [(state.used, state.decides) for state in judge(evidence)] == [(True, 0), (True, 0)]


def test_what_decides_is_counted_by_brute_force() -> None:
    knowledge = Knowledge.of(bits(list("abc")), {"y": "a and b", "z": "b or c"})
    codes = rng_for(0, "decides").integers(0, 2, size=(70, 3))
    codes[5, 1] = -1  # what is not wholly known decides nothing
    labels = knowledge.labels_of(np.maximum(codes, 0))
    evidence = Evidence(knowledge, "test", labels, codes, labels, codes, (None, None), (None,) * 3)
    expected = []
    for place in range(3):
        other = codes.copy()
        other[:, place] = 1 - other[:, place]
        known = (codes >= 0).all(axis=1)
        expected.append(int((knowledge.labels_of(codes[known]) != knowledge.labels_of(other[known])).any(axis=1).sum()))
    assert [state.decides for state in judge(evidence)] == expected


def evidence_of(truth: np.ndarray, said: np.ndarray, space: ConceptSpace) -> Evidence:
    """What is said of concepts beside the truth, under a rule that asks whether the first has its first value."""
    first = space.concepts[0]
    knowledge = Knowledge.of(space, {"y": f"{first.name} == {first.values[0]!r}"})
    labels = knowledge.labels_of(np.maximum(truth, 0))
    return Evidence(knowledge, "test", labels, truth, labels, said, (None,), (None,) * len(space))


@pytest.mark.parametrize(("concepts", "state"), [(1, "noisy"), (20, "too few")])
def test_all_concepts_share_the_level(concepts: int, state: str) -> None:
    """88 of 100 right: 0.4 % likely for one that errs in 5 %, which is no alarm among twenty concepts."""
    space = bits([f"c{number}" for number in range(concepts)])
    truth = rng_for(0, "level").integers(0, 2, size=(100, concepts))
    truth[:, 0] = np.arange(100) % 2
    said = truth.copy()
    said[:12, 0] = 1 - said[:12, 0]
    states = judge(evidence_of(truth, said, space))
    assert 0.01 / 20 < stats.binom.cdf(88, 100, 0.95) < 0.01
    assert [found.state for found in states] == [state, *["right"] * (concepts - 1)]
    assert [found.used for found in states] == [True, *[False] * (concepts - 1)]


def test_examples_are_those_whose_truth_is_known() -> None:
    space = ConceptSpace((Concept("c", (0, 1, 2)), Concept("d", (False, True))))
    truth = rng_for(0, "known").integers(0, 2, size=(90, 2))
    said = truth.copy()
    truth[::3, 0], truth[:, 1] = -1, -1
    said[1, 0] = -1
    partly, nowhere = judge(evidence_of(truth, said, space))
    assert (partly.state, partly.examples, partly.answered, partly.right) == ("right", 60, 59, 59)
    assert partly.accuracy == 1 and partly.interval == wilson(59, 59)
    assert (nowhere.state, nowhere.examples, nowhere.answered, nowhere.map) == ("too few", 0, 0, None)
    assert nowhere.to_dict()["accuracy"] is None


def test_only_values_that_are_clearly_misread_decide_how() -> None:
    """Value 0 is always said as 1; that 2 is said as 1 a little more often than as itself may be chance."""
    assert judged([[0, 100, 0], [0, 100, 0], [130, 140, 132]]).state == "collapsed"
    assert judged([[0, 100, 0], [0, 10, 90], [130, 140, 132]]).state == "misread"
    assert judged([[10, 45, 45], [45, 10, 45], [10, 10, 80]]).state == "noisy"

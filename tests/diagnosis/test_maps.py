"""Maps from true values to what is said, on answers made by hand: which explain them, and which are taken for it."""

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, Slot
from assay.diagnosis.maps import ConceptMap, MapFitter, explained_by_sources, follows_map
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.seeds import rng_for

LEVEL = 0.01


def mapping(kind, image, sources=("c",), entries=None):
    keyed = {key if isinstance(key, tuple) else (key,): value for key, value in image.items()}
    return ConceptMap("c", kind, sources, keyed, entries or dict.fromkeys(keyed, (1, 1)))


def fitter(truth, said, space, level=LEVEL):
    knowledge = Knowledge.of(space, {"y": f"{space.names[0]} == {space.concepts[0].values[0]!r}"})
    labels = knowledge.labels_of(np.maximum(truth, 0))
    nothing = (None,) * len(space)
    return MapFitter(Evidence(knowledge, "test", labels, truth, labels, said, (None,), nothing), level)


def numbers(*sizes):
    return ConceptSpace(tuple(Concept("cdef"[place], tuple(range(size))) for place, size in enumerate(sizes)))


@pytest.mark.parametrize(
    ("kind", "image", "identity", "renames", "merges"),
    [
        ("own", {0: 0, 1: 1}, True, False, False),
        ("own", {0: 1, 1: 1}, False, False, True),
        ("own", {0: 1, 1: 0}, False, False, False),
        ("own", {0: 1, 1: 2, 2: 2}, False, False, False),  # 1 is said for 0, and 2 for 1
        ("own", {0: 2, 1: 1}, False, False, True),  # 2 does not occur, so it is misnamed nowhere
        ("source", {0: 0, 1: 1}, False, True, False),
        ("source", {0: 0, 1: 0}, False, False, False),
        ("source", {0: 1, 1: 1}, False, False, False),
        ("object", {(0, 1): 0, (1, 1): 1}, False, False, False),
    ],
)
def test_what_a_map_does(kind, image, identity, renames, merges):
    found = mapping(kind, image)
    assert (found.is_identity, found.renames, found.merges) == (identity, renames, merges)


def test_fidelity_is_the_share_of_answers_that_follow():
    found = mapping("own", {0: 1, 1: 1}, entries={(0,): (30, 21), (1,): (10, 9)})
    assert found.fidelity == 30 / 40
    assert np.isnan(mapping("own", {}, entries={}).fidelity)


def test_each_half_is_judged_by_the_map_of_the_other():
    keys = np.array([7, 7, 7, 7, 2, 2, 2, 9])
    answers = np.array([0, 0, 1, 2, 1, 2, 2, 0])
    halves = np.array([0, 0, 1, 1, 1, 0, 0, 0])
    # 7: half 0 says 0, half 1 says 1 or 2 (the first of equals); 2: half 0 says 2, half 1 says 1; 9: half 1 knows none
    assert follows_map(keys, answers, 3, halves).tolist() == [False] * 8
    answers = np.array([1, 1, 1, 0, 2, 2, 1, 0])
    # 7: half 0 says 1, half 1 says 0 (the first of equals); 2: half 0 says 1 (of equals), half 1 says 2
    assert follows_map(keys, answers, 3, halves).tolist() == [False, False, True, False, False, True, False, False]


def test_what_sources_explain_by_counting(monkeypatch):
    monkeypatch.setattr("assay.diagnosis.maps.AT_ONCE", 7)  # several blocks, the last of them not full
    rng = rng_for(0, "by counting")
    sizes = (2, 4, 3)
    truth = np.stack([rng.integers(0, size, 50) for size in sizes], axis=1)
    said = np.stack([truth[:, 0], (truth[:, 2] + 1) % 4, np.minimum(truth[:, 1], 2)], axis=1)
    noise = rng.random(said.shape) < 0.2
    said = np.where(noise, rng.integers(0, np.array(sizes), said.shape), said)
    said[3, 1] = truth[4, 2] = -1  # neither counts for anything
    halves = np.arange(50) % 3 == 0
    expected = np.zeros((3, 3))
    for place in range(3):
        for source in range(3):
            for fitted, judged in ((halves, ~halves), (~halves, halves)):
                for value in range(sizes[source]):
                    counts = [
                        int(((truth[:, source] == value) & fitted & (said[:, place] == code)).sum())
                        for code in range(4)
                    ]
                    best = counts.index(max(counts))
                    expected[place, source] += ((truth[:, source] == value) & judged & (said[:, place] == best)).sum()
    assert explained_by_sources(truth, said, sizes, halves.astype(int)).tolist() == expected.tolist()


def test_a_map_has_the_most_frequent_answer_and_its_own_value_where_that_is_as_frequent():
    truth = np.repeat([[2, 0], [0, 1], [1, 0], [-1, 1]], [5, 4, 3, 2], axis=0)
    said = truth.copy()
    said[:, 0] = [0, 0, 0, 1, -1, 1, 1, 0, 0, 2, 2, 0, 0, 1]
    found = fitter(truth, said, numbers(3, 2)).own(0)
    assert (found.concept, found.kind, found.sources) == ("c", "own", ("c",))
    assert found.image == {(0,): 0, (1,): 2, (2,): 0} and list(found.image) == [(0,), (1,), (2,)]
    assert found.entries == {(2,): (4, 3), (0,): (4, 2), (1,): (3, 2)}
    assert found.fidelity == 7 / 11


def two_concepts(rows, exchanged):
    truth = rng_for(0, "two concepts", rows).integers(0, 3, size=(rows, 2))
    said = truth.copy()
    said[:exchanged, 0] = truth[:exchanged, 1]
    return truth, said


def test_a_concept_read_from_another_is_found():
    truth, said = two_concepts(200, 200)
    fit = fitter(truth, said, numbers(3, 3))
    found = fit.elsewhere(0)
    assert found is not None and fit.elsewhere(1) is None
    assert (found.kind, found.sources, found.renames, found.fidelity) == ("source", ("d",), True, 1.0)
    assert found.image == {(0,): 0, (1,): 1, (2,): 2}
    assert sum(examples for examples, _ in found.entries.values()) == 200


def test_of_few_answers_no_other_map_is_told():
    truth, said = two_concepts(60, 60)
    said[15:, 0] = -1
    assert fitter(truth, said, numbers(3, 3)).elsewhere(0) is None
    truth, said = two_concepts(60, 60)
    truth[15:, 1] = -1  # sixteen answers beside a known source are needed
    assert fitter(truth, said, numbers(3, 3)).elsewhere(0) is None


@pytest.mark.parametrize(("better", "told"), [(19, False), (21, True)])
def test_another_map_must_explain_a_tenth_more(better, told):
    """The first 100 are equal in both concepts; of the others the source explains `better` more, of 200."""
    rows = np.arange(200)
    truth = np.stack([rows % 2, rows % 2], axis=1)
    truth[100 : 100 + better, 1] = 1 - truth[100 : 100 + better, 0]
    said = np.stack([truth[:, 1], truth[:, 1]], axis=1)
    found = fitter(truth, said, numbers(2, 2)).elsewhere(0)
    assert (found is not None) == told


def test_another_map_must_explain_half_of_the_answers():
    rng = rng_for(0, "half")
    truth = rng.integers(0, 6, size=(600, 2))
    said = truth.copy()
    said[:, 0] = np.where(rng.random(600) < 0.4, truth[:, 1], rng.integers(0, 6, 600))
    fit = fitter(truth, said, numbers(6, 6))
    follows = fit._follows(0, (1,), np.ones(600, bool))
    assert 0.5 < follows.mean() < 0.54 and fit.elsewhere(0) is None  # not surely half of them
    said[:, 0] = np.where(rng.random(600) < 0.55, truth[:, 1], rng.integers(0, 6, 600))
    assert fitter(truth, said, numbers(6, 6)).elsewhere(0) is not None


def test_worlds_are_a_source_where_each_occurs_eight_times():
    """What is said of d is whether c and e differ: no single concept and no object tells that."""
    space = numbers(2, 2, 2)
    codes = space.all_codes().astype(np.int64)
    for times, kind in ((8, "world"), (7, None)):
        truth = np.tile(codes, (times, 1))
        said = truth.copy()
        said[:, 1] = truth[:, 0] ^ truth[:, 2]
        found = fitter(truth, said, space).elsewhere(1)
        assert (None if found is None else found.kind) == kind
    assert fitter(np.tile(codes, (8, 1)), np.tile(codes, (8, 1)), space).elsewhere(1) is None


def test_an_object_comes_before_the_world():
    concepts = tuple(Concept(name, (0, 1)) for name in ("o.s", "o.t", "p"))
    space = ConceptSpace(concepts, (Slot("o", "object", ("s", "t")),))
    truth = np.tile(space.all_codes().astype(np.int64), (10, 1))
    said = truth.copy()
    said[:, 2] = truth[:, 0] ^ truth[:, 1]
    said[:, 0] = truth[:, 0] ^ truth[:, 1]
    fit = fitter(truth, said, space)
    first, other = fit.elsewhere(0), fit.elsewhere(2)
    assert first is not None and (first.kind, first.sources) == ("object", ("o.s", "o.t"))
    assert first.image == {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0}
    assert other is not None and (other.kind, other.sources) == ("world", ("o.s", "o.t", "p"))
    assert fit.elsewhere(1) is None


def test_a_concept_itself_comes_before_another_that_explains_as_much():
    truth = np.tile([[0, 0], [1, 1], [2, 2]], (20, 1))
    fit = fitter(truth, truth, numbers(3, 3))
    assert (fit._best_source(0), fit._best_source(1)) == (0, 1)


def misread_often(wrong):
    """Ten values, four examples of each; of the first `wrong` of them all are said as another, too few for each alone."""
    truth = np.repeat(np.arange(10), 4)
    said = np.where(truth < wrong, (truth + 5) % 10, truth)
    return np.stack([truth, truth * 0], axis=1), np.stack([said, truth * 0], axis=1)


@pytest.mark.parametrize(("wrong", "clearly"), [(0, False), (1, False), (5, True)])
def test_values_misread_together_are_clear_where_each_alone_is_not(wrong, clearly):
    truth, said = misread_often(wrong)
    assert fitter(truth, said, numbers(10, 2)).clearly_misread(0) == clearly


def test_gains_are_tested_at_the_level_of_all_concepts():
    """Twelve answers gained and two lost are 0.65 % likely by chance, and a twentieth of 200 answers."""
    truth = np.zeros((200, 2), dtype=np.int64)
    follows, before = np.zeros(200, bool), np.zeros(200, bool)
    follows[:12], before[12:14] = True, True
    assert fitter(truth, truth, numbers(2, 2), 0.014)._gains(follows, before, 0.05)
    assert not fitter(truth, truth, numbers(2, 2), 0.012)._gains(follows, before, 0.05)  # for each of two, 0.6 %
    assert not fitter(truth, truth, numbers(2, 2), 0.014)._gains(follows, before, 0.051)

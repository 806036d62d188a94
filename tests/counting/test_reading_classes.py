"""Every family counts what trying every reading counts: on all kinds of concepts and labels, on all worlds or some."""

import math
from itertools import product

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits
from assay.counting import count_readings
from assay.counting.concept_permutations import MergedReadings
from assay.errors import ConfigError
from assay.logic import Constraint, Knowledge, parse
from tests.counting import brute
from tests.counting.random_tasks import flat_space, random_task, said, shuffled_rows, slot_space

TABLES = [("per-concept", flat_space), ("shared", flat_space), ("per-concept", slot_space), ("per-object", slot_space)]


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize(("family", "make"), TABLES)
def test_tables_of_entries(family, make, partial):
    for seed in range(25):
        task = random_task(seed, make, family, partial)
        expected = brute.readings(task.space, task.labels.__getitem__, task.support, family)
        support = shuffled_rows(task.codes, seed) if partial else None
        found = count_readings(task.knowledge, family, support)
        assert found.total == len(expected), (seed, task)
        assert found.worlds == len(task.support)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("family", ["block", "block-permutation"])
def test_whole_blocks(family, partial):
    for seed in range(60):
        task = random_task(seed, flat_space, family, partial)
        expected = brute.block(task.space, task.labels.__getitem__, task.support, family == "block-permutation")
        support = shuffled_rows(task.codes, seed) if partial else None
        assert count_readings(task.knowledge, family, support).total == expected, (seed, task)


@pytest.mark.parametrize("partial", [False, True])
def test_free(partial):
    tasks = [random_task(seed, lambda rng: flat_space(rng, 2, 2), "free", partial) for seed in range(40)]
    small = [task for task in tasks if task.space.worlds <= 6]
    assert len(small) > 10
    for task in small:
        expected = brute.free(task.space, task.labels.__getitem__, task.support)
        support = shuffled_rows(task.codes, 0) if partial else None
        assert count_readings(task.knowledge, "free", support).total == expected


@pytest.mark.parametrize("family", ["free", "per-concept", "shared", "block", "block-permutation"])
def test_full_support_is_every_possible_world(family):
    knowledge = Knowledge.of(bits(["a", "b"], shared=True), {"y": "a and b"}, [Constraint("one", parse("a or b"))])
    possible, labels = [(False, True), (True, False), (True, True)], said(knowledge)
    if family == "free":
        expected = brute.free(knowledge.space, labels.__getitem__, possible)
    elif family in ("per-concept", "shared"):
        expected = len(brute.readings(knowledge.space, labels.__getitem__, possible, family))
    else:
        expected = brute.block(knowledge.space, labels.__getitem__, possible, family != "block")
    found = count_readings(knowledge, family)
    assert (found.total, found.worlds) == (expected, 3)


def test_blocks_with_values_that_no_world_shows():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1)), Concept("c", (0, 1, 2, 3))))
    knowledge = Knowledge.of(space, {"y": "a + b == c"})
    worlds, labels = [(0, 1, 1), (2, 0, 1), (2, 1, 3)], said(knowledge)
    codes = np.array(worlds)
    assert count_readings(knowledge, "block", codes).total == brute.block(space, labels.__getitem__, worlds)
    one_to_one = brute.block(space, labels.__getitem__, worlds, one_to_one=True)
    assert count_readings(knowledge, "block-permutation", codes).total == one_to_one > 1


@pytest.mark.parametrize("one_to_one", [False, True])
def test_many_maps_are_counted_permutation_by_permutation(one_to_one, monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and (b or not c)"})
    family = "block-permutation" if one_to_one else "block"
    support = np.array(list(product([0, 1], repeat=3)))[[0, 2, 3, 5, 7]]
    merged = count_readings(knowledge, family, support)
    monkeypatch.setattr("assay.counting.concept_permutations.MOST_MAPS", 0)
    one_by_one = count_readings(knowledge, family, support)
    assert (merged.total, merged.method[:6]) == (one_by_one.total, "merged")
    assert "permutation by permutation" in one_by_one.method


def test_objects_of_a_group_must_be_alike():
    concepts = (Concept("x.size", (1, 2)), Concept("y.size", (1, 2, 3)))
    space = ConceptSpace(concepts, (Slot("x", "things", ("size",)), Slot("y", "things", ("size",))))
    knowledge = Knowledge.of(space, {"y": "x.size == y.size"})
    with pytest.raises(ConfigError, match="'x' and 'y' of group 'things' differ"):
        count_readings(knowledge, "per-object")


def test_what_is_absent_is_read_as_absent():
    concepts = (Concept("x.size", (1, 2, ABSENT)), Concept("y.size", (1, 2, ABSENT)))
    space = ConceptSpace(concepts, (Slot("x", "things", ("size",)), Slot("y", "things", ("size",))))
    knowledge = Knowledge.of(space, {"y": "count(t.size > 0 for t in things)"})
    assert count_readings(knowledge, "per-object").total == 4  # any map of the sizes


@pytest.mark.parametrize("family", ["block", "block-permutation"])
def test_permutation_by_permutation_counts_concepts_of_any_sizes(family, monkeypatch):
    monkeypatch.setattr("assay.counting.concept_permutations.MOST_MAPS", 0)
    uneven = 0
    for seed in range(16):
        task = random_task(seed, flat_space, family, partial=seed % 2 == 0)
        expected = brute.block(task.space, task.labels.__getitem__, task.support, family == "block-permutation")
        support = shuffled_rows(task.codes, seed) if seed % 2 == 0 else None
        found = count_readings(task.knowledge, family, support)
        assert found.total == expected and "permutation by permutation" in found.method, (seed, task)
        uneven += len(set(task.space.sizes)) > 1
    assert uneven > 4


def test_merged_readings_know_the_values_seen_and_what_can_still_be_reached():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1)), Concept("c", (0, 1, 2, 3))))
    knowledge = Knowledge.of(space, {"y": "a + b == c"})
    support = np.array([[2, 0, 1], [0, 1, 1], [2, 1, 3]])
    merged = MergedReadings(knowledge, support, False, math.inf)
    assert [(values.tolist(), places.tolist()) for values, places in merged.support_values] == [
        ([0, 2], [1, 0, 1]), ([0, 1], [0, 1, 1]), ([1, 3], [0, 0, 1])]  # fmt: skip
    assert merged.maps == 4**2 and merged.goal.tolist() == knowledge.diagram.outcome_of(support).tolist()
    assert merged.alive[-1].tolist() == [[True, False], [False, True]] and merged.alive[0].tolist() == [[True, True]]
    for one_to_one, source, rows, unseen in (
        (False, 2, 3**2, 3**2), (False, 1, 3**2, 1), (False, 0, 3**2, 3), (True, 2, 6, 0), (True, 1, 6, 1), (True, 0, 6, 1),
    ):  # fmt: skip
        values, others = MergedReadings(knowledge, support, one_to_one, math.inf)._values(0, source)
        assert (len(values), others) == (rows, unseen) and values.shape[1] == 2

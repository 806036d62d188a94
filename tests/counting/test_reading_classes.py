"""Every family counts what trying every reading counts: on all kinds of concepts and labels, on all worlds or some."""

import math
from itertools import product

import numpy as np
import pytest

from assay.base import ConfigError
from assay.counting import count_shortcuts
from assay.logic import ABSENT, Concept, ConceptSpace, Constraint, EncoderGroup, Knowledge, Slot, bits, digits, parse
from tests.counting import brute
from tests.counting.random_tasks import every_reading, flat_space, random_task, said, shuffled_rows, slot_space

TABLES = [("per-concept", flat_space), ("shared", flat_space), ("per-concept", slot_space), ("per-object", slot_space)]


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize(("family", "make"), TABLES)
def test_tables_of_entries(family, make, partial):
    for seed in range(25):
        task = random_task(seed, make, family, partial)
        expected = brute.readings(task.space, task.labels.__getitem__, task.support, family)
        support = shuffled_rows(task.codes, seed) if partial else None
        found = count_shortcuts(task.knowledge, family, support)
        assert found.total == len(expected), (seed, task)
        assert found.worlds == len(task.support)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("family", ["block", "block-permutation"])
def test_whole_blocks(family, partial):
    for seed in range(60):
        task = random_task(seed, flat_space, family, partial)
        expected = brute.block(task.space, task.labels.__getitem__, task.support, family == "block-permutation")
        support = shuffled_rows(task.codes, seed) if partial else None
        assert count_shortcuts(task.knowledge, family, support).total == expected, (seed, task)


@pytest.mark.parametrize("partial", [False, True])
def test_free(partial):
    tasks = [random_task(seed, lambda rng: flat_space(rng, 2, 2), "free", partial) for seed in range(40)]
    small = [task for task in tasks if task.space.worlds <= 6]
    assert len(small) > 10
    for task in small:
        expected = brute.free(task.space, task.labels.__getitem__, task.support)
        support = shuffled_rows(task.codes, 0) if partial else None
        assert count_shortcuts(task.knowledge, "free", support).total == expected


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
    found = count_shortcuts(knowledge, family)
    assert (found.total, found.worlds) == (expected, 3)


def test_blocks_with_values_that_no_world_shows():
    space = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1)), Concept("c", (0, 1, 2, 3))))
    knowledge = Knowledge.of(space, {"y": "a + b == c"})
    worlds, labels = [(0, 1, 1), (2, 0, 1), (2, 1, 3)], said(knowledge)
    codes = np.array(worlds)
    assert count_shortcuts(knowledge, "block", codes).total == brute.block(space, labels.__getitem__, worlds)
    one_to_one = brute.block(space, labels.__getitem__, worlds, one_to_one=True)
    assert count_shortcuts(knowledge, "block-permutation", codes).total == one_to_one > 1


def test_objects_of_a_group_must_be_alike():
    concepts = (Concept("x.size", (1, 2)), Concept("y.size", (1, 2, 3)))
    space = ConceptSpace(concepts, (Slot("x", "things", ("size",)), Slot("y", "things", ("size",))))
    knowledge = Knowledge.of(space, {"y": "x.size == y.size"})
    with pytest.raises(ConfigError, match="'x' and 'y' of group 'things' differ"):
        count_shortcuts(knowledge, "per-object")


def test_what_is_absent_is_read_as_absent():
    concepts = (Concept("x.size", (1, 2, ABSENT)), Concept("y.size", (1, 2, ABSENT)))
    space = ConceptSpace(concepts, (Slot("x", "things", ("size",)), Slot("y", "things", ("size",))))
    knowledge = Knowledge.of(space, {"y": "count(t.size > 0 for t in things)"})
    assert count_shortcuts(knowledge, "per-object").total == 4  # any map of the sizes


# -- rules that compare values, concepts that do not matter, worlds too many to list -------------------------------------

COMPARISONS = [
    "a == b", "a != b and b != c", "a == 1", "1 == a", "a == b and b != 2", "a == b and c == 2", "all_equal(a, b, c) or a == 0",
    "all_different(a, b, c)", "a == 6 or b == c", "a + 1 == b", "a < b", "a == b and b > c", "2 * a == 2", "a + b == 2", "a == 0",
    "a + 1 == 0", "1 - a == 0", "a - 1 == 0 or a == 2", "not (a == b or a == 1)", "xor(a == b, c == 0)", "a in (0, 2)",
    "(a == b and c == 1) or (a == 0 and c != 1)", "all_different(a, b, 2) or c == a", "all_equal(a, 1, c) or b == 0",
    "a == b + 1 or c == b", "a - b == 1", "(a == c) if b == 1 else a == 2",
]  # fmt: skip
MIXED = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2)), Concept("c", (False, True))))


@pytest.mark.parametrize("values", [(0, 1, 2, -1), (-1, 2, 0)])
@pytest.mark.parametrize("rule", COMPARISONS)
def test_values_that_a_rule_compares_are_told_apart_only_where_it_does(rule, values):
    space = ConceptSpace(tuple(Concept(name, values) for name in "abc"), encoders=(EncoderGroup("all", (*"abc",)),))
    knowledge = Knowledge.of(space, {"y": rule})
    expected = brute.readings(space, said(knowledge).__getitem__, brute.every_world(space), "shared")
    readings = every_reading(knowledge, "shared")
    assert count_shortcuts(knowledge).total == readings.total == len(expected) == len(list(readings))
    for entry, share in readings.identifiability():
        right = [one[entry.owner, entry.truth] == entry.values[entry.right] for one in expected]
        assert share == pytest.approx(sum(right) / len(expected))


@pytest.mark.parametrize("one_to_one", [False, True])
@pytest.mark.parametrize(
    "rule", ["a == b", "a + b == 2 or c", "a < b and c", "a == 1 or b > 3", "c", "a == 0 or b == 0"]
)
def test_concepts_are_read_from_one_another(rule, one_to_one):
    knowledge = Knowledge.of(MIXED, {"y": rule})
    expected = brute.block(MIXED, said(knowledge).__getitem__, brute.every_world(MIXED), one_to_one)
    family = "block-permutation" if one_to_one else "block"
    found = count_shortcuts(knowledge, family)
    assert found.total == count_shortcuts(knowledge, family, MIXED.all_codes()).total == expected > 0


@pytest.mark.parametrize("family", ["block", "block-permutation"])
def test_concepts_of_many_values_are_read_from_one_another(family):
    space = ConceptSpace((Concept("a", tuple(range(6))), Concept("b", (0, 1))))
    knowledge, worlds = (
        Knowledge.of(space, {"y": "a > 3", "z": "a + b == 4"}),
        [(0, 0), (1, 0), (2, 1), (3, 1), (4, 0), (5, 1)],
    )
    found = count_shortcuts(knowledge, family, np.array(worlds))
    assert found.total == brute.block(space, said(knowledge).__getitem__, worlds, family != "block") > 1
    assert "permutation by permutation" in found.method


def by_tables(knowledge):
    """Count the shared readings of all possible worlds by trying every table of each encoder, with arrays."""
    space, worlds = knowledge.space, knowledge.space.all_codes()
    worlds = worlds[knowledge.can_be(worlds)]
    labels, groups, found = knowledge.labels_of(worlds), space.encoders, 0
    columns = [[space.place(name) for name in group.concepts] for group in groups]
    sizes = [len(space.concepts[own[0]].values) for own in columns]
    for tables in product(*(product(range(size), repeat=size) for size in sizes)):
        read = worlds.copy()
        for own, table in zip(columns, tables, strict=True):
            read[:, own] = np.array(table)[worlds[:, own]]
        found += np.array_equal(knowledge.labels_of(read), labels)
    return found


def grouped(*groups):
    """Return a space of groups, each a name, how many concepts, and their values."""
    names = {name: [f"{name}{n}" for n in range(count)] for name, count, _ in groups}
    concepts = [Concept(one, values) for name, _, values in groups for one in names[name]]
    return ConceptSpace(tuple(concepts), encoders=tuple(EncoderGroup(name, tuple(own)) for name, own in names.items()))


MANY = {
    "parity": (grouped(("x", 8, (0, 1)), ("z", 7, (False, True))), "xor(" + ", ".join([*(f"x{n} == 1" for n in range(8)), *(f"z{n}" for n in range(7))]) + ")", ()),
    "some": (grouped(("x", 9, (0, 1, 2)), ("z", 1, (False, True))), "x0 == x1 and x7 != 2 or z0", ("x8 < 2 or x7 == 1",)),
    "idle": (grouped(("x", 14, (False, True)), ("w", 2, (3, 1))), "x0 and not x13", ()),
    "rare": (grouped(("x", 9, (0, 1, 2)), ("z", 1, (False, True))), " and ".join(f"x{n} == 2" for n in range(9)) + " or z0", ()),
    "limited": (grouped(("x", 10, (0, 1, 2))), "x0 + x1 == 2", ("x0 <= x1", "x3 != 0 or x4 == 1")),
}  # fmt: skip


@pytest.mark.parametrize("name", MANY)
def test_worlds_too_many_to_list_count_as_if_they_were_listed(name):
    space, rule, limits = MANY[name]
    knowledge = Knowledge.of(space, {"y": rule}, [Constraint(f"c{n}", parse(text)) for n, text in enumerate(limits)])
    found = count_shortcuts(knowledge)
    assert found.worlds is None and found.total == by_tables(knowledge)
    assert f"proved on all {space.worlds:,} worlds" in found.method


def test_whole_maps_keep_labels_on_the_support_and_are_free_elsewhere():
    knowledge = Knowledge.of(digits(["a", "b"], (0, 1, 2)), {"sum": "a + b"})
    found = count_shortcuts(knowledge, "free", np.array([[0, 0], [0, 1], [1, 0], [2, 2], [2, 2]]))
    assert (found.total, found.worlds, found.method) == (1 * 2**2 * 1 * 9**5, 4, "closed form")
    limited = Knowledge.of(knowledge.space, {"sum": "a + b"}, [Constraint("less", parse("a < b"))])
    assert count_shortcuts(limited, "free").worlds == 3
    assert count_shortcuts(Knowledge.of(bits([*"ab"]), {"y": "a"}), "free", np.array([[1, 0]])).total == 2 * 4**3


@pytest.mark.parametrize("partial", [False, True])
def test_whole_worlds(partial):
    """A world of the concepts that matter may be read as any world with the same labels."""
    for seed in range(30):
        task = random_task(seed, flat_space, "per-concept", partial)
        every, rule = brute.every_world(task.space), task.labels.__getitem__
        changes = [(w, (*w[:i], v, *w[i + 1 :]), i) for w in every for i, c in enumerate(task.space.concepts) for v in c.values]  # fmt: skip
        used = sorted({i for one, other, i in changes if rule(one) != rule(other)})
        labels = {tuple(world[i] for i in used): rule(world) for world in every}
        shown = {tuple(world[i] for i in used) for world in task.support}
        expected = math.prod(sum(label == labels[world] for label in labels.values()) for world in shown)
        found = count_shortcuts(task.knowledge, "per-world", task.codes)
        assert found.total == expected, (seed, task)
        assert found.unused == tuple(name for i, name in enumerate(task.space.names) if i not in used)

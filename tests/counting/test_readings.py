"""What is asked of the optimal readings: shares, samples, ranks, plans and supervision, against the list of all."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

import assay
from assay.concepts import ConceptSpace, EncoderGroup, bits
from assay.counting import count_readings
from assay.counting.problem import Problem
from assay.counting.reading_classes import entry_of
from assay.counting.readings import Readings
from assay.errors import ConfigError, UnknownName
from assay.logic import Knowledge
from assay.seeds import rng_for
from tests.counting import brute
from tests.counting.random_tasks import flat_space, random_task, slot_space
from tests.counting.rules import EVENODD, addition, both_ways, cle4evr, xor

KINDS = [("per-concept", flat_space), ("shared", flat_space), ("per-object", slot_space)]


def tasks(count=12):
    """Yield a family, the readings to ask, the list of all by brute force, and the names of entries."""
    for seed in range(count):
        family, make = KINDS[seed % 3]
        task = random_task(seed, make, family, partial=True)
        readings = Readings(Problem(task.knowledge, family, task.codes))
        expected = brute.readings(task.space, task.labels.__getitem__, task.support, family)
        yield family, task, readings, expected


def said(readings, reading):
    """Return a reading as brute force writes it."""
    entries = readings.problem.entries
    return {(e.owner, e.truth): e.values[code] for e, code in zip(entries, reading, strict=True)}


def test_shares_and_confusions_are_those_of_the_list():
    for _, _, readings, expected in tasks():
        for number, (entry, share) in enumerate(readings.identifiability()):
            given = [one[entry.owner, entry.truth] for one in expected]
            assert readings.confusion(number) == [given.count(value) for value in entry.values]
            assert share == pytest.approx(given.count(entry.values[entry.right]) / len(expected))


def test_ranks_number_the_readings():
    for _, _, readings, expected in tasks():
        by_rank = [readings.of_rank(rank) for rank in range(readings.total)]
        assert sorted(by_rank) == list(readings)
        assert all(said(readings, reading) in expected for reading in by_rank) and len(by_rank) == len(expected)
        assert readings.problem.truth in by_rank
        with pytest.raises(ValueError, match="ranks run from 0"):
            readings.of_rank(readings.total)


def test_samples_are_uniform():
    readings = count_readings(addition(), support=both_ways(EVENODD)).readings
    drawn = readings.sample(rng_for(0, "uniform"), 3600)
    counts = [drawn.count(reading) for reading in readings]
    assert sum(counts) == 3600  # nothing but optimal readings
    assert sum((count - 100) ** 2 / 100 for count in counts) < 66.6  # the 99.9th percentile, 35 degrees of freedom


def test_samples_of_large_counts_are_optimal():
    knowledge = cle4evr(2, 10, 10)
    support = rng_for(0, "support").integers(10, size=(200, 4))
    found = count_readings(knowledge, support=support)
    assert found.total > 10**18
    for reading in found.readings.sample(rng_for(1), 5):
        table = said(found.readings, reading)
        for codes in support:
            truth = knowledge.space.decode(codes)
            read = {name: table[name.partition(".")[2], (value,)] for name, value in truth.items()}
            pair = knowledge.space.encode([truth, read])
            assert len(np.unique(knowledge.labels_of(pair))) == 1


def test_each_step_of_a_plan_leaves_what_a_fresh_count_finds():
    for family, task, readings, _ in tasks():
        entries = {entry.text: entry for entry in readings.problem.entries}
        shown, left = set(), readings.total
        for step in readings.plan():
            shown.add((entries[step.supervised].owner, entries[step.supervised].truth))
            fresh = Readings(Problem(task.knowledge, family, task.codes, frozenset(shown)))
            assert step.left == fresh.total < left
            left = step.left
        assert left == 1


def test_a_plan_by_example_ends_with_one_reading():
    for _, _, readings, expected in tasks():
        steps = readings.plan_examples()
        assert [step.left for step in steps][-1:] == ([1] if len(expected) > 1 else [])


def test_the_least_to_show_is_minimal():
    for _, _, readings, expected in tasks():
        truth = said(readings, readings.problem.truth)

        def left(chosen, expected=expected, truth=truth):
            return sum(all(one[key] == truth[key] for key in chosen) for one in expected)

        least = next(n for n in range(len(truth) + 1) if any(left(c) == 1 for c in combinations(truth, n)))
        found = readings.least_to_show(most=len(truth))
        assert len(found) == least and left([(entry.owner, entry.truth) for entry in found]) == 1
        assert least == 0 or readings.least_to_show(most=least - 1) is None


def test_supervision_by_concept_and_by_value():
    for family, task, _, expected in tasks(24):
        name = task.space.names[0]
        owner, columns = brute.deciding(task.space, family)[0]
        for value in (None, task.support[0][0]):
            keys = {(owner, tuple(w[c] for c in columns)) for w in task.support if value is None or w[0] == value}
            right = {
                key: world[0] for world in task.support for key in keys if key[1] == tuple(world[c] for c in columns)
            }
            left = [one for one in expected if all(one[key] == right[key] for key in keys)]
            found = count_readings(task.knowledge, family, task.codes, {name: None if value is None else [value]})
            assert found.total == len(left)
            assert len(found.supervised) == len(keys)


def test_known_counts_with_supervision():
    pairs = both_ways(EVENODD)
    assert count_readings(addition(), support=pairs, supervised={"a": [0]}).total == 6
    assert count_readings(addition(), support=pairs, supervised={"a": [0, 1]}).total == 1
    assert count_readings(xor(4), "per-concept", supervised={"x0": None, "x1": [0]}).total == 2


def test_supervision_that_cannot_be():
    with pytest.raises(UnknownName, match="no concept named 'q'"):
        count_readings(addition(), supervised={"q": None})
    with pytest.raises(UnknownName, match="has no value 12"):
        count_readings(addition(), supervised={"a": [12]})
    with pytest.raises(ConfigError, match="'block' takes no supervision"):
        count_readings(xor(3), "block", supervised={"x0": None})


def test_further_examples_count_as_from_the_start():
    pairs = both_ways(EVENODD)
    few = count_readings(addition(), support=pairs[:10]).readings
    assert few.add_worlds(pairs[10:]).total == count_readings(addition(), support=pairs).total == 36
    assert few.add_worlds(pairs[:3]).total == few.total


def test_a_reading_in_words():
    readings = count_readings(xor(2), "per-concept").readings
    assert [readings.text(reading) for reading in readings] == [
        "reads everything right",
        "reads x0 False as True, x0 True as False, x1 False as True, x1 True as False",
    ]


class Offers(list):
    """Options that are offered a few times only, so that a plan without an end is told."""

    offered = 0

    def __iter__(self):
        self.offered += 1
        assert self.offered < 10, "the plan does not end"
        return super().__iter__()


def test_a_plan_ends_where_nothing_more_can_be_told():
    readings = Readings(Problem(xor(3), "per-concept", xor(3).space.all_codes()))
    assert readings.total > 2
    assert readings._greedy(Offers([("nothing", ())]), 10) == []
    some = readings._greedy(Offers([("x0=0", (0,)), ("x0=0 again", (0,))]), 10)
    assert [step.supervised for step in some] == ["x0=0"] and 1 < some[-1].left < readings.total
    plan = readings.plan()
    left = [readings.total, *(step.left for step in plan)]
    assert left[-1] == 1 and all(after < before for before, after in pairwise(left))


def test_a_plan_without_time_is_cut_short_and_leaves_no_deadline():
    readings = Readings(Problem(xor(4), "per-concept", xor(4).space.all_codes()))
    assert readings.total > 1
    plan = readings.plan(seconds=-1)
    assert len(plan) < len(readings.plan()) and readings.solver.deadline == float("inf")


def test_of_entries_that_remove_as_many_a_plan_can_take_the_most_frequent(evenodd):
    readings = assay.count(evenodd).readings
    usual, frequent = ([step.supervised for step in plan] for plan in (readings.plan(), readings.plan_frequent()))
    assert (usual, frequent) == (["digit 0", "digit 1"], ["digit 1", "digit 4"])
    assert [step.left for step in readings.plan_frequent()] == [6, 1]
    assert [entry.truth for step in readings.plan() for entry in step.entries] == [(0,), (1,)]


def test_the_closest_shortcuts_get_the_fewest_entries_wrong():
    for _, _, readings, _ in tasks():
        truth = readings.problem.truth
        wrong = {reading: sum(a != b for a, b in zip(reading, truth, strict=True)) for reading in readings}
        found = readings.closest(2)
        assert truth not in found and len(found) == min(2, len(wrong) - 1)
        assert [wrong[reading] for reading in found] == sorted(wrong.values())[1 : 1 + len(found)]
    assert len(readings.closest()) == min(3, readings.total - 1)


def test_of_very_many_shortcuts_some_are_drawn(monkeypatch):
    readings = Readings(Problem(xor(4), "per-concept", xor(4).space.all_codes()))
    monkeypatch.setattr("assay.counting.readings.MOST_LISTED", readings.total - 1)
    monkeypatch.setattr(Readings, "__iter__", lambda _: pytest.fail("they are too many to list"))
    assert all(reading != readings.problem.truth for reading in readings.closest())


def test_concepts_outside_of_the_rule_are_counted_apart():
    """36 readings of two digits by whether their sum is even or odd, times all maps of ten bits that nothing asks for."""
    space = ConceptSpace((*addition().space.concepts, *bits([f"x{n}" for n in range(10)]).concepts), (), (
        *addition().space.encoders, *(EncoderGroup(f"x{n}", (f"x{n}",)) for n in range(10))))  # fmt: skip
    support = np.array([[*pair, *[n % 2] * 10] for pair in both_ways(EVENODD) for n in range(2)])
    found = count_readings(Knowledge.of(space, {"sum": "a + b"}), "shared", support)
    assert found.of_used == (36, 36) and found.shortcuts == (35, 35) and found.total == 36 * 4**10
    assert found.unused == tuple(f"x{n}" for n in range(10)) and found.readings.total == 36
    assert not any(entry.startswith("x") for entry in found.identifiability())
    assert found.to_dict()["total"] == 36 * 4**10 and found.to_dict()["unused_concepts"] == list(found.unused)
    assert "36 readings" in repr(found) and "10 concepts are not in the rule" in repr(found)
    assert {step.entries[0].owner for step in found.readings.plan()} == {addition().space.encoders[0].name}


@pytest.mark.parametrize("text", ["a and (b or not b)", "a", "a or (a and b)"])
def test_what_the_text_names_is_used_only_if_a_label_depends_on_it(text):
    found = count_readings(Knowledge.of(bits(["a", "b", "c"]), {"y": text}), "per-concept")
    assert found.unused == ("b", "c") and found.of_used == (1, 1) and found.total == 4**2


def test_a_rule_that_no_concept_decides_leaves_nothing_to_count():
    found = count_readings(Knowledge.of(bits(["a", "b"]), {"y": "a or not a"}), "per-concept")
    assert found.of_used == (1, 1) and found.unused == ("a", "b") and found.total == 4**2


def test_readings_of_whole_worlds_are_those_that_keep_every_label():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b"})
    found = count_readings(knowledge, "per-world")
    assert found.of_used == (3**3, 3**3) and found.worlds == 8 and found.unused == ("c",)
    # with `a` supervised, the worlds 00 and 01 may trade places; 10 and 11 have labels of their own
    assert count_readings(knowledge, "per-world", supervised={"a": None}).total == 2**2
    assert count_readings(knowledge, "per-world", supervised={"a": None, "b": None}).total == 1
    assert count_readings(knowledge, "per-world", supervised={"a": [False]}).total == 2**2 * 3
    assert count_readings(knowledge, "per-world", supervised={"a": [True]}).total == 3**2


def test_each_example_of_a_plan_removes_as_many_readings_as_any_could():
    for family, task, readings, _ in tasks(6):
        shown = set()
        for step in readings.plan_examples():
            fewest = min(
                Readings(replace(Problem(task.knowledge, family, task.codes), supervised=frozenset(shown | keys))).total
                for codes in task.codes.tolist()
                for keys in [{(e.owner, e.truth) for e in used(readings.problem, codes)}]
            )
            assert step.left == fewest
            shown |= {(entry.owner, entry.truth) for entry in step.entries}


def used(problem, codes):
    return [entry_of(problem.knowledge.space, cell, codes) for cell in problem.cells]


def test_by_default_no_more_than_four_entries_are_tried():
    for bits_flipped, least in ((4, 3), (6, 5)):  # all but one bit must be shown
        knowledge = xor(bits_flipped)
        readings = Readings(Problem(knowledge, "per-concept", knowledge.space.all_codes()))
        assert len(readings.least_to_show(most=5)) == least
        assert (readings.least_to_show() is None) == (least > 4)

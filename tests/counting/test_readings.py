"""What is asked of the optimal readings: shares, samples, ranks, plans and supervision, against the list of all."""

import re
from decimal import Decimal
from itertools import combinations, product

import numpy as np
import pytest

import assay
from assay.base import ConfigError, UnknownName, rng_for
from assay.counting import ReadingCount, count_shortcuts
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, bits, digits
from tests.counting import brute
from tests.counting.random_tasks import every_reading, flat_space, random_task, slot_space
from tests.counting.rules import EVENODD, addition, both_ways, cle4evr, xor

KINDS = [("per-concept", flat_space), ("shared", flat_space), ("per-object", slot_space)]


def tasks(count=12):
    """Yield a family, the readings to ask, the list of all by brute force, and the names of entries."""
    for seed in range(count):
        family, make = KINDS[seed % 3]
        task = random_task(seed, make, family, partial=True)
        readings = every_reading(task.knowledge, family, task.codes)
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
    readings = count_shortcuts(addition(), support=both_ways(EVENODD)).readings
    drawn = readings.sample(rng_for(0, "uniform"), 1440)
    counts = [drawn.count(reading) for reading in readings]
    assert sum(counts) == 1440  # nothing but optimal readings
    assert sum((count - 40) ** 2 / 40 for count in counts) < 66.6  # the 99.9th percentile, 35 degrees of freedom


def test_samples_of_large_counts_are_optimal():
    knowledge = cle4evr(2, 10, 10)
    support = rng_for(0, "support").integers(10, size=(200, 4))
    found = count_shortcuts(knowledge, support=support)
    assert found.total > 10**18
    for reading in found.readings.sample(rng_for(1), 5):
        table = said(found.readings, reading)
        read = [
            {name: table[name.partition(".")[2], (value,)] for name, value in knowledge.space.decode(codes).items()}
            for codes in support
        ]
        assert (knowledge.labels_of(knowledge.space.encode(read)) == knowledge.labels_of(support)).all()


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
            found = count_shortcuts(task.knowledge, family, task.codes, {name: None if value is None else [value]})
            assert found.total == len(left)
            assert len(found.supervised) == len(keys)


def test_known_counts_with_supervision():
    pairs = both_ways(EVENODD)
    assert count_shortcuts(addition(), support=pairs, supervised={"a": [0]}).total == 6
    assert count_shortcuts(addition(), support=pairs, supervised={"a": [0, 1]}).total == 1
    assert count_shortcuts(xor(4), "per-concept", supervised={"x0": None, "x1": [0]}).total == 2


def test_supervision_that_cannot_be():
    with pytest.raises(UnknownName, match="no concept named 'q'"):
        count_shortcuts(addition(), supervised={"q": None})
    with pytest.raises(UnknownName, match="has no value 12"):
        count_shortcuts(addition(), supervised={"a": [12]})
    with pytest.raises(ConfigError, match="'block' takes no supervision"):
        count_shortcuts(xor(3), "block", supervised={"x0": None})


def test_further_examples_count_as_from_the_start():
    pairs = both_ways(EVENODD)
    few = count_shortcuts(addition(), support=pairs[:10]).readings
    assert few.add_worlds(pairs[10:]).total == count_shortcuts(addition(), support=pairs).total == 36
    assert few.add_worlds(pairs[:3]).total == few.total


def test_a_reading_in_words():
    readings = count_shortcuts(xor(2), "per-concept").readings
    assert [readings.text(reading) for reading in readings] == [
        "reads everything right",
        "reads x0 False as True, x0 True as False, x1 False as True, x1 True as False",
    ]


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


def test_a_count_as_data_and_in_words():
    found = count_shortcuts(xor(2), "per-concept", supervised={"x0": [0]})
    assert found.to_dict() == {
        "total": 1, "used_low": 1, "used_high": 1, "unused_concepts": [], "family": "per-concept", "worlds": 4,
        "method": "residual constraints", "seconds": round(found.seconds, 4), "shown": ["x0 False"],
        "identifiability": {"x0 False": 1.0, "x0 True": 1.0, "x1 False": 1.0, "x1 True": 1.0},
    }  # fmt: skip
    assert "1 reading keeps every label" in repr(found) and "4 worlds" in repr(found)
    assert ">100 %</td>" in found._repr_html_() and "x1 True" in found._repr_html_()
    many = ReadingCount("shared", None, 10**70, 10**70, "m", 1.23456)
    assert "1.0 x 10^70 readings" in repr(many) and "every world" in repr(many) and many.shortcuts[0] == 10**70 - 1
    bounds = ReadingCount("shared", 1200, 2, 3000, "m", 1.23456)
    assert "2 to 3,000 readings" in repr(bounds) and "1,200 worlds" in repr(bounds)
    assert bounds.total is None and bounds.identifiability() == {} and "<table" not in bounds._repr_html_()
    assert bounds.to_dict()["low"] == 2 and bounds.to_dict()["high"] == 3000 and "total" not in bounds.to_dict()


@pytest.mark.parametrize(
    "number", [10**6, 1_049_999, 1_050_001, 9_949_999, 9_950_001, 10**9 - 1, 178_405_961, 3**99, 10**71 - 1]
)
def test_long_numbers_are_rounded_to_two_digits(number):
    digits, _, exponent = f"{Decimal(number):.1E}".partition("E+")
    words = f"{digits} x 10^{exponent}" if number > 10**6 else f"{number:,}"
    assert ReadingCount("shared", None, number, number, "m", 0.0).text.startswith(f"{words} readings")


def entries_of(readings):
    return [entry for entry, _ in readings.identifiability()]


def test_each_step_of_a_plan_leaves_what_is_left_of_the_list_and_no_other_would_leave_less():
    for _, task, readings, expected in tasks():
        truth = said(readings, readings.problem.truth)
        space, family = task.space, readings.problem.family

        def left(keys, expected=expected, truth=truth):
            return sum(all(one[key] == truth[key] for key in keys) for one in expected)

        def shown_by(world, space=space, family=family):
            return [(owner, tuple(world[c] for c in columns)) for owner, columns in brute.deciding(space, family)]

        entries = [[(entry.owner, entry.truth)] for entry in entries_of(readings)]
        worlds = [shown_by(world) for world in task.support]
        for plan, options in (
            (readings.plan(), entries),
            (readings.plan_frequent(), entries),
            (readings.plan_examples(), worlds),
        ):
            shown, before = [], len(expected)
            for step in plan:
                fewest = min(left([*shown, *option]) for option in options)
                shown += [(entry.owner, entry.truth) for entry in step.entries]
                assert step.left == left(shown) == fewest < before
                before = step.left
            assert before == 1


def test_a_plan_without_time_is_cut_short_and_leaves_time_for_the_next():
    readings = count_shortcuts(xor(4), "per-concept").readings
    plan = readings.plan(seconds=-1)
    assert len(plan) < len(readings.plan()) == 3 and readings.plan()[-1].left == 1


def test_of_very_many_shortcuts_some_are_drawn():
    for values, total in ((range(4), 2**4 * 3**3), (range(6), 4**6 * 5**5)):
        knowledge = Knowledge.of(digits(["a", "b"], values), {"y": f"a < {len(values) - 2}", "z": "b == 1"})
        readings = count_shortcuts(knowledge, "per-concept").readings
        found, truth = readings.closest(20), readings.problem.truth
        wrong = [sum(a != b for a, b in zip(reading, truth, strict=True)) for reading in found]
        assert wrong == sorted(wrong) and truth not in found and len(set(found)) == 20
        assert readings.closest() == found[:3]
        assert readings.total == (total if len(values) == 4 else 4**4 * 2**2 * 5**5)


def test_a_rule_that_holds_of_all_readings_leaves_no_more_than_four_entries_to_try():
    for bits_flipped, least in ((4, 3), (6, 5)):  # all but one bit must be shown
        readings = count_shortcuts(xor(bits_flipped), "per-concept").readings
        assert len(readings.least_to_show(most=5)) == least
        assert (readings.least_to_show() is None) == (least > 4)


ODD_NAMES = ConceptSpace(
    (Concept("z", (10, 9, 2)), Concept("a", ("w", "v")), Concept("m", (10, 9, 2))),
    encoders=(EncoderGroup("zed", ("z", "m")), EncoderGroup("art", ("a",))),
)


def test_entries_stand_by_owner_as_first_met_and_by_value():
    knowledge = Knowledge.of(ODD_NAMES, {"y": "z > m and a == 'v'", "n": "z - m"})
    codes = ODD_NAMES.all_codes()[np.random.default_rng(0).permutation(18)[:11]]
    whole = {
        "per-concept": ["z 2", "z 9", "z 10", "a v", "a w", "m 2", "m 9", "m 10"],
        "shared": ["zed 2", "zed 9", "zed 10", "art v", "art w"],
    }
    for family, texts in whole.items():
        problem = count_shortcuts(knowledge, family, codes).readings.problem
        assert [entry.text for entry in problem.entries] == texts
        assert problem.truth == tuple((2, 1, 0, 1, 0, 2, 1, 0)[: len(texts)])
        assert [concept.values for concept in problem.space.concepts] == [entry.values for entry in problem.entries]
        assert {n: problem.entries[n].text for n in problem.numbers.values()} == dict(enumerate(texts))
        known = problem.supervise({"m": [2, 10]}).supervise({"a": None})
        owner = "m" if family == "per-concept" else "zed"
        own = "a" if family == "per-concept" else "art"
        assert known.supervised == {(owner, (2,)), (owner, (10,)), (own, ("v",)), (own, ("w",))}


def test_readings_of_a_rule_that_compares_are_listed_planned_and_told():
    space = digits(["a", "b"], (3, 5, 8))
    knowledge = Knowledge.of(space, {"y": "a < b"})
    support = np.array([[2, 1], [0, 1], [1, 1], [2, 0], [1, 0], [0, 1]])
    readings = count_shortcuts(knowledge, "per-concept", np.unique(support, axis=0)).readings
    names = [entry.text for entry in readings.problem.entries]
    assert names == ["a 3", "a 5", "a 8", "b 3", "b 5"]
    values = (3, 5, 8)
    lawful = [
        codes
        for codes in product(range(3), repeat=5)
        if all((values[codes[a]] < values[codes[3 + b]]) == (a < b) for a, b in support.tolist())
    ]
    assert list(readings) == sorted(lawful) and readings.total == len(lawful) > 10
    for number in range(5):
        assert readings.confusion(number) == [sum(codes[number] == c for codes in lawful) for c in range(3)]
    truth = readings.problem.truth
    closest = sorted((codes for codes in lawful if codes != truth), key=lambda r: (sum(np.not_equal(r, truth)), r))
    assert readings.closest() == closest[:3] and readings.closest(5) == closest[:5]
    wrong = [f"{names[n]} as {values[c]}" for n, c in enumerate(closest[4]) if c != truth[n]]
    assert readings.text(closest[4]) == "reads " + ", ".join(wrong)

    def left(shown):
        return sum(all(codes[n] == truth[n] for n in shown) for codes in lawful)

    for plan, order in ((readings.plan(), range(5)), (readings.plan_frequent(), (4, 1, 2, 3, 0))):
        shown, steps = list[int](), list[tuple[str, int]]()
        while left(shown) > 1:
            best = min(order, key=lambda n: left([*shown, n]))
            shown.append(best)
            steps.append((names[best], left(shown)))
        assert [(step.supervised, step.left) for step in plan] == steps
        assert [entry.text for step in plan for entry in step.entries] == [name for name, _ in steps]
    worlds, shown, told = {tuple(row): [row[0], 3 + row[1]] for row in readings.problem.support.tolist()}, [], []
    while left(shown) > 1:
        world = min(worlds, key=lambda w: left([*shown, *worlds[w]]))
        shown += worlds[world]
        told.append((f"a={values[world[0]]} b={values[world[1]]}", left(shown), [names[n] for n in worlds[world]]))
    assert [
        (step.supervised, step.left, [entry.text for entry in step.entries]) for step in readings.plan_examples()
    ] == told


def test_entries_of_one_world_are_counted_once_in_a_frequent_plan():
    space = bits(["a", "b", "c"], shared=True)
    knowledge = Knowledge.of(space, {"y": "a == b", "z": "b or c or not c"})
    support = np.array([[1, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]])  # False in three worlds, True in three
    readings = every_reading(knowledge, "shared", support)
    assert readings.total == 2
    assert [step.supervised for step in readings.plan_frequent()] == [readings.problem.entries[0].text]
    more = every_reading(knowledge, "shared", np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 0]]))
    assert more.total == 2 and [step.supervised for step in more.plan()] == [more.problem.entries[0].text]
    true = every_reading(knowledge, "shared", np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1]]))
    assert [step.supervised for step in true.plan_frequent()] == [true.problem.entries[1].text]


def test_further_worlds_may_bring_further_entries():
    space = digits(["a", "b"], range(3))
    knowledge = Knowledge.of(space, {"sum": "a + b"})
    few = count_shortcuts(knowledge, "per-concept", np.array([[0, 0], [1, 0]])).readings
    more = few.add_worlds(np.array([[1, 0], [2, 2]]))
    assert more.problem.support.tolist() == [[0, 0], [1, 0], [2, 2]]
    assert [entry.text for entry in more.problem.entries] == ["a 0", "a 1", "a 2", "b 0", "b 2"]
    assert more.total == count_shortcuts(knowledge, "per-concept", more.problem.support).readings.total
    same = more.add_worlds(np.array([[2, 0]]))
    assert same.problem.support.tolist() == [[0, 0], [1, 0], [2, 0], [2, 2]]
    assert same.total == count_shortcuts(knowledge, "per-concept", same.problem.support).readings.total


def test_of_many_shares_the_first_twenty_are_shown():
    knowledge = Knowledge.of(digits(["a", "b"], range(11)), {"y": "a >= 3", "z": "b >= 3"})
    found = count_shortcuts(knowledge, "per-concept", np.array([[n, n] for n in range(11)]))
    html = found._repr_html_()
    assert f"<b>{found!r}</b>" in html
    shown = re.findall(r">([ab] \d+)</td>.*?>(\d+ %)</td>", html)
    assert shown == [(f"{name} {n}", "33 %" if n < 3 else "12 %") for name in "ab" for n in range(11)][:20]
    assert found.total == 3**6 * 8**16
    assert found.identifiability()["a 0"] == pytest.approx(1 / 3) and found.identifiability()["b 9"] == 1 / 8


def test_a_problem_as_knowledge_says_which_readings_are_optimal():
    space = digits(["a", "b"], (3, 5))
    less, support = Knowledge.of(space, {"y": "a < b"}), np.array([[0, 1], [1, 0], [1, 1]])
    readings = count_shortcuts(less, "per-concept", support, {"b": [5]}).readings
    known = readings.problem.as_knowledge()
    assert known.space.names == ("e0", "e1", "e2", "e3") and known.label_names == ("optimal",)
    codes = known.space.all_codes()
    optimal = codes[known.labels_of(codes)[:, 0] == 1].tolist()
    assert optimal == [list(reading) for reading in readings]
    assert optimal == [[0, 1, 0, 1], [0, 1, 1, 1]]


def test_concepts_outside_of_the_rule_are_counted_apart():
    """36 readings of two digits by whether their sum is even or odd, times all maps of ten bits that nothing asks for."""
    space = ConceptSpace((*addition().space.concepts, *bits([f"x{n}" for n in range(10)]).concepts), (), (
        *addition().space.encoders, *(EncoderGroup(f"x{n}", (f"x{n}",)) for n in range(10))))  # fmt: skip
    support = np.array([[*pair, *[n % 2] * 10] for pair in both_ways(EVENODD) for n in range(2)])
    found = count_shortcuts(Knowledge.of(space, {"sum": "a + b"}), "shared", support)
    assert found.of_used == (36, 36) and found.shortcuts == (35, 35) and found.total == 36 * 4**10
    assert found.unused == tuple(f"x{n}" for n in range(10)) and found.readings.total == 36
    assert not any(entry.startswith("x") for entry in found.identifiability())
    assert found.to_dict()["total"] == 36 * 4**10 and found.to_dict()["unused_concepts"] == list(found.unused)
    assert "36 readings" in repr(found) and "10 concepts are not in the rule" in repr(found)
    assert {step.entries[0].owner for step in found.readings.plan()} == {addition().space.encoders[0].name}


@pytest.mark.parametrize("text", ["a and (b or not b)", "a", "a or (a and b)"])
def test_what_the_text_names_is_used_only_if_a_label_depends_on_it(text):
    found = count_shortcuts(Knowledge.of(bits(["a", "b", "c"]), {"y": text}), "per-concept")
    assert found.unused == ("b", "c") and found.of_used == (1, 1) and found.total == 4**2


def test_a_rule_that_no_concept_decides_leaves_nothing_to_count():
    found = count_shortcuts(Knowledge.of(bits(["a", "b"]), {"y": "a or not a"}), "per-concept")
    assert found.of_used == (1, 1) and found.unused == ("a", "b") and found.total == 4**2


def test_readings_of_whole_worlds_are_those_that_keep_every_label():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b"})
    found = count_shortcuts(knowledge, "per-world")
    assert found.of_used == (3**3, 3**3) and found.worlds == 8 and found.unused == ("c",)
    # with `a` supervised, the worlds 00 and 01 may trade places; 10 and 11 have labels of their own
    assert count_shortcuts(knowledge, "per-world", supervised={"a": None}).total == 2**2
    assert count_shortcuts(knowledge, "per-world", supervised={"a": None, "b": None}).total == 1
    assert count_shortcuts(knowledge, "per-world", supervised={"a": [False]}).total == 2**2 * 3
    assert count_shortcuts(knowledge, "per-world", supervised={"a": [True]}).total == 3**2

"""Parts of counting one by one: whole maps, idle concepts, ranks, other people's counters, and counts in words."""

import math
import stat
import sys
from itertools import permutations, product

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.counting import check_reading_class, count_readings, count_with, encode_problem
from assay.counting.backends import Estimate
from assay.counting.concept_permutations import MergedReadings, count_block, count_idle_readings, count_maps
from assay.counting.count import _free, _used
from assay.counting.counterexample_guided import FEW, all_worlds, sample_worlds
from assay.counting.problem import Problem
from assay.counting.readings import Readings, _below
from assay.counting.solver import LONG, Solver
from assay.counting.symmetries import Symmetries, count_distinct_values, truth_table
from assay.errors import ConfigError, MissingExtra, RunFailed, TooLarge, UnknownName
from assay.logic import Constraint, Knowledge, parse
from assay.seeds import rng_for

SUM = Knowledge.of(digits(["a", "b"], (0, 1, 2)), {"sum": "a + b"})


@pytest.mark.parametrize("one_to_one", [True, False])
@pytest.mark.parametrize("sizes", [[2], [2, 3], [3, 3, 2]])
def test_idle_concepts_are_read_from_one_another_in_so_many_ways(sizes, one_to_one):
    total = 0
    for order in permutations(range(len(sizes))):
        ways = 1
        for target, source in enumerate(order):
            maps = product(range(sizes[target]), repeat=sizes[source])
            ways *= sum(1 for one in maps if not one_to_one or len(set(one)) == len(one))
        total += ways
    assert count_idle_readings(sizes, one_to_one) == total
    assert count_maps(3, 2, True) == 6 and count_maps(2, 3, True) == 0 and count_maps(3, 2, False) == 9


def test_whole_maps_keep_labels_on_the_support_and_are_free_elsewhere():
    # labels 0..4 are met by 1, 2, 3, 2 and 1 of nine worlds
    support = np.array([[0, 0], [0, 1], [1, 0], [2, 2], [2, 2]])
    assert _used(SUM, support) == [1, 2, 0, 0, 1] and _used(SUM, None) == [1, 2, 3, 2, 1]
    assert _free(SUM, [1, 2, 0, 0, 1]) == 1 * 2**2 * 1 * 9**5 and _free(SUM, [1, 2, 3, 2, 1]) == 2**2 * 3**3 * 2**2
    found = count_readings(SUM, "free", support)
    assert (found.total, found.worlds, found.method) == (4 * 9**5, 4, "closed form")
    limited = Knowledge.of(SUM.space, {"sum": "a + b"}, [Constraint("less", parse("a < b"))])
    assert _used(limited, None) == [0, 1, 1, 1, 0] and count_readings(limited, "free").worlds == 3
    with pytest.raises(TooLarge, match="digits, more than the 100,000"):
        _free(Knowledge.of(bits([f"b{n}" for n in range(18)]), {"y": "b0"}), [0, 2**17])


def test_families_by_name():
    with pytest.raises(ConfigError, match="did you mean 'shared'"):
        check_reading_class("share")
    for family in ("free", "block", "block-permutation"):
        with pytest.raises(ConfigError, match="takes no supervision"):
            count_readings(SUM, family, supervised={"a": None})
    assert count_readings(SUM).family == "shared"


def test_numbers_below_a_total_are_uniform():
    rng = rng_for(0, "below")
    drawn = np.bincount([_below(5, rng) for _ in range(5000)], minlength=5)
    assert len(drawn) == 5 and drawn / 5000 == pytest.approx([0.2] * 5, abs=0.03)
    assert {_below(1, rng) for _ in range(20)} == {0} and 0 <= _below(2**100, rng) < 2**100
    assert max(_below(256, rng) for _ in range(2000)) > 250


def test_ranks_are_those_of_the_readings():
    readings = Readings(
        Problem(
            Knowledge.of(bits(["a", "b", "c"]), {"y": "xor(a, b)"}), "per-concept", bits(["a", "b", "c"]).all_codes()
        )
    )
    everything = [readings.of_rank(rank) for rank in range(readings.total)]
    assert sorted(everything) == sorted(readings) and len(set(everything)) == readings.total
    for rank in (-1, readings.total):
        with pytest.raises(ValueError, match=f"ranks run from 0 to {readings.total - 1}"):
            readings.of_rank(rank)


def test_worlds_are_listed_up_to_a_number():
    assert FEW == 20_000 and len(all_worlds(SUM)) == 9 and LONG == 4
    assert all_worlds(Knowledge.of(bits([f"b{n}" for n in range(15)]), {"y": "b0"})) is None
    assert len(all_worlds(Knowledge.of(bits([f"b{n}" for n in range(14)]), {"y": "b0"}))) == 2**14
    limited = Knowledge.of(SUM.space, {"sum": "a + b"}, [Constraint("less", parse("a < b"))])
    assert sorted(all_worlds(limited).tolist()) == [[0, 1], [0, 2], [1, 2]]


def test_merged_readings_agree_with_symmetries():
    for text, total in (("xor(a, b, c)", 24), ("a and b and c", 6), ("a and (b or c)", 2)):
        knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": text})
        assert count_block(knowledge, None, False, 60.0) == (total, "symmetries of the truth table")
        support = knowledge.space.all_codes()
        assert count_block(knowledge, support, False, 60.0) == (total, "merged readings, concept by concept")
        merged = MergedReadings(knowledge, support, False, math.inf)
        assert merged.maps == 4 and [values.tolist() for values, _ in merged.support_values] == [[0, 1]] * 3
    table = truth_table(SUM)
    assert table.shape == (3, 3, 5) and table.sum(axis=(0, 1)).tolist() == [1, 2, 3, 2, 1]
    assert (
        count_distinct_values(table, 0) == 3
        and Symmetries(table, math.inf).maps == 12
        and Symmetries(table, math.inf).order() == 2
    )


def test_parts_of_a_problem_are_counted_apart():
    space = digits(["a", "b", "c", "d"], (0, 1, 2))
    solver = Solver(space)
    part = solver.part([parse("a < b"), parse("c != 1")])
    assert solver.total(part) == 3 * 2 * 3 and solver.count(part) == 6 and solver.mask(part) == 0b111
    assert solver.free(0b0101) == 9 and len(solver.components(part)) == 2
    assert solver.total(solver.part([parse("a < b"), parse("b < a")])) == 0 and solver.total(solver.part([])) == 81


def test_estimates_have_bounds():
    assert Estimate(90, 0.8).bounds == (50, 162) and Estimate(7).bounds == (7, 7)


@pytest.fixture
def problem():
    return Problem(SUM, "shared", SUM.space.all_codes())


def counter_of(folder, monkeypatch, output):
    """Set up a program in the place of approxmc, which answers with a line for each call."""
    program = folder / "python"
    program.write_text(f"#!{sys.executable}\nimport sys\ntext = sys.stdin.read()\n{output}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("ASSAY_APPROXMC", str(program))


def test_an_estimate_of_another_counter_is_taken_if_it_counts_two(problem, tmp_path, monkeypatch):
    small = "'p cnf 2 2' in text"
    counter_of(tmp_path, monkeypatch, f"print('noise'); print(2 if {small} else 18)")
    assert count_with("approxmc", problem) == Estimate(18, 0.8, 0.2)
    for wrong in (6, 1):
        counter_of(tmp_path, monkeypatch, f"print({wrong} if {small} else 18)")
        with pytest.raises(RunFailed, match=f"approxmc counts {wrong} models of a formula that has 2"):
            count_with("approxmc", problem)
    counter_of(tmp_path, monkeypatch, "")
    with pytest.raises(RunFailed, match="failed: IndexError"):
        count_with("approxmc", problem)
    monkeypatch.delenv("ASSAY_APPROXMC")
    with pytest.raises(MissingExtra, match="set ASSAY_APPROXMC"):
        count_with("approxmc", problem)
    with pytest.raises(UnknownName, match="did you mean 'ganak'"):
        count_with("gank", problem)


def test_a_problem_as_clauses_shows_its_entries(problem):
    cnf = encode_problem(problem)
    assert {name for name, _ in cnf.meanings.values()} == {f"e{n}" for n in range(len(problem.entries))}
    assert len(cnf.meanings) == 9  # three entries of three values


def test_worlds_that_are_sampled_are_the_same_everywhere():
    knowledge = Knowledge.of(digits(["a", "b"], range(6)), {"y": "a + b > 4"})
    found = sample_worlds(knowledge, "shared", 6).tolist()
    assert found == [
        [0, 3],
        [0, 4],
        [1, 2],
        [1, 5],
        [2, 1],
        [3, 0],
        [4, 0],
        [5, 1],
        [5, 3],
    ]  # three of each, and every value

"""Which clauses make a program, against brute force over all choices of a few clauses."""

from itertools import combinations
from math import comb, log2

import numpy as np
import pytest

from assay.models.symbolic.bits import pack_bits, unpack_bits
from assay.models.symbolic.ilp import set_cover
from assay.models.symbolic.ilp.search import Candidate, Clock
from assay.models.symbolic.ilp.set_cover import CoverSolver, SetCover, drop_dominated

SIZE = 70  # more than a word
SOON = Clock.of(1e6)


def clause(covers, bits=1.0, size=SIZE):
    truth = np.zeros(size, dtype=bool)
    truth[list(covers)] = True
    return Candidate(None, bits, pack_bits(truth))


def solver(positive, most=3, size=SIZE):
    truth = np.zeros(size, dtype=bool)
    truth[list(positive)] = True
    return CoverSolver(pack_bits(truth), pack_bits(~truth), most)


def places(pool, chosen):
    return [next(at for at, one in enumerate(pool) if one is other) for other in chosen]


def drawn(seed, number=7, size=SIZE):
    rng = np.random.default_rng(seed)
    pool = [clause(np.flatnonzero(rng.random(size) < 0.25), float(rng.integers(1, 9)), size) for _ in range(number)]
    return pool, np.flatnonzero(rng.random(size) < 0.5)


def exceptions(errors, size=SIZE):
    return log2(size + 1) + log2(comb(size, min(errors, size // 2))) + max(errors - size // 2, 0)


def wrong_of(pool, chosen, positive, size=SIZE):
    covered = set()
    for at in chosen:
        covered |= set(np.flatnonzero(unpack_bits(pool[at].covers, size)).tolist())
    return len(covered ^ set(np.asarray(positive).tolist()))


def cost_of(pool, chosen, positive, price, size=SIZE):
    return sum(pool[at].bits for at in chosen) + price * wrong_of(pool, chosen, positive, size)


def test_exceptions_are_counted_by_the_ways_to_choose_them():
    one = solver(range(30))
    assert one.size == SIZE and one.most == 3
    for errors in (0, 1, 2, 34, 35, 36, 50):
        assert one.exceptions(errors) == pytest.approx(exceptions(errors))
    assert one.least == pytest.approx(1 + log2(71))


def test_a_theory_costs_its_clauses_and_its_exceptions():
    one, pool = solver({0, 1, 2, 66, 67}), [clause({0, 1, 5}, 3.0), clause({1, 66, 69}, 4.5)]
    both = one.theory(pool, proved=True)
    assert both.errors == 4 and both.proved and places(pool, both.clauses) == [0, 1]  # 2 and 67 missed, 5 and 69 hit
    assert both.bits == pytest.approx(7.5 + log2(3) + exceptions(4))
    assert np.flatnonzero(unpack_bits(both.covers, SIZE)).tolist() == [0, 1, 5, 66, 69]
    none = one.theory(())
    assert none.errors == 5 and none.bits == pytest.approx(exceptions(5)) and not none.proved
    assert [places(pool, part.clauses) for part in one.without_each(both)] == [[1], [0]]


def test_savings_are_hoped_for_up_to_half_more_than_exceptions_cost():
    one = solver(range(20))
    best = one.theory([clause(range(15), 2.0)])
    assert best.errors == 5
    price = exceptions(1) - exceptions(0)
    wanted = [min(1.5 * (exceptions(5) - exceptions(max(5 - n, 0))), price * n) for n in range(8)]
    assert one.savings(best, 7).tolist() == pytest.approx(wanted)
    assert one.savings(one.theory(()), 7).tolist() == pytest.approx([price * n for n in range(8)])


def test_prices_go_from_many_exceptions_to_the_first():
    numbers = [0, 1, 2, 3, 7, 14, 21]  # of 70: 1 %, 3 %, 10 %, 20 %, 30 %
    wanted = sorted(exceptions(n + 1) - exceptions(n) for n in numbers)
    assert solver(range(9)).prices() == pytest.approx(wanted)
    few = solver([0], size=2)
    assert few.size == 2 and few.prices() == pytest.approx([1.0])
    assert solver([0], size=1).prices() == [1.0]
    eight = sorted(exceptions(n + 1, 8) - exceptions(n, 8) for n in (0, 1, 2, 3))
    assert solver([0], size=8).prices() == pytest.approx(eight)


@pytest.mark.parametrize("seed", range(12))
def test_a_move_is_the_best_addition_omission_or_exchange(seed):
    pool, positive = drawn(seed)
    one = solver(positive, most=3)
    covers, bits = np.stack([c.covers for c in pool]), np.array([c.bits for c in pool])
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(7)[: seed % 4].tolist()
    for price in (0.3, 0.9, 2.0):
        now = cost_of(pool, chosen, positive, price)
        assert one._cost(covers, bits, chosen, price) == pytest.approx(now)
        options = []
        for rest in [chosen, *([x for x in chosen if x != out] for out in chosen)]:
            options.append(rest)
            options += [[*rest, new] for new in range(7) if len(rest) < 3]
        best = min(cost_of(pool, option, positive, price) for option in options)
        found = one._move(covers, bits, chosen, price)
        if best > now - 1e-6:
            assert found is None
        else:
            assert cost_of(pool, found, positive, price) == pytest.approx(best) and len(found) <= 3


def test_no_move_is_made_for_nothing():
    one, pool = solver({0, 1}), [clause({0, 1}, 2.0)]
    covers, bits = np.stack([c.covers for c in pool]), np.array([2.0])
    assert one._move(covers, bits, [], 1.0) is None and one._move(covers, bits, [], 1.1) == [0]
    assert one._move(covers, bits, [0], 1.0) is None and one._move(covers, bits, [0], 0.9) == []


@pytest.mark.parametrize("seed", range(6))
def test_integer_programming_finds_the_cheapest_choice(seed):
    pool, positive = drawn(seed)
    truth = np.zeros(SIZE, dtype=bool)
    truth[positive] = True
    for price, most in ((0.5, 2), (1.3, 2), (1.3, 7)):
        problem = SetCover(pool, pack_bits(truth), pack_bits(~truth), price, most)
        found, sure = problem.solve(20.0)
        every = [some for size in range(most + 1) for some in combinations(range(7), size)]
        best = min(cost_of(pool, some, positive, price) for some in every)
        assert sure and len(found) <= most and cost_of(pool, found, positive, price) == pytest.approx(best)


def test_examples_that_the_same_clauses_cover_are_one_column():
    pool = [clause({0, 1, 2, 65}), clause({2, 3})]
    wanted = pack_bits(np.isin(np.arange(SIZE), [0, 2, 3, 4, 65]))
    columns, counts = SetCover(pool, wanted, wanted, 1.0, 1)._columns(wanted)
    found = {tuple(column.tolist()): count for column, count in zip(columns.T, counts.tolist(), strict=True)}
    assert found == {(False, False): 1, (False, True): 1, (True, False): 2, (True, True): 1}


def test_too_many_rows_are_not_solved(monkeypatch):
    pool, positive = drawn(0)
    one = solver(positive)
    problem = SetCover(pool, one.positive, one.negative, 1.0, 2)
    assert problem.solve(20.0)[0] is not None
    monkeypatch.setattr(set_cover, "MOST_ROWS", 3)
    assert problem.solve(20.0) == (None, False)
    known = one.theory(())
    assert one.prove(pool, SOON, known) is known


@pytest.mark.parametrize("seed", range(4))
def test_the_best_program_is_greedy_and_the_proof_is_no_worse(seed):
    pool, positive = drawn(seed)
    one = solver(positive, most=4)
    every = [some for size in range(5) for some in combinations(range(7), size)]

    def bits(some):
        return sum(pool[at].bits for at in some) + log2(1 + len(some)) + exceptions(wrong_of(pool, some, positive))

    best = one.best(pool, SOON, one.theory(()))
    assert best.bits == pytest.approx(bits(places(pool, best.clauses)))
    assert best.bits <= min(map(bits, every)) + 1.5
    proved = one.prove(pool, SOON, best)
    price = exceptions(best.errors + 1) - exceptions(best.errors)
    cheapest = min(cost_of(pool, some, positive, price) for some in every)
    assert proved.bits <= best.bits + 1e-9
    if proved is not best:
        assert proved.proved
        assert cost_of(pool, places(pool, proved.clauses), positive, price) == pytest.approx(cheapest)


def test_a_program_that_is_known_is_kept_if_nothing_is_better():
    one, wanted = solver(range(30)), clause(range(30), 1.0)
    known = one.theory([wanted])
    assert one.best([clause(range(20), 1.0), clause(range(20, 30), 1.0)], SOON, known) is known
    assert one.best([wanted], SOON, one.theory(())).errors == 0
    assert one.best([], SOON, known) is known and one.prove([], SOON, known) is known
    assert one.prove([wanted], Clock.of(0.4), one.theory(())).clauses == ()
    assert one.prove([wanted], SOON, one.theory(())).proved
    over = one.best([wanted], Clock.of(-1), known)
    assert over is known


def test_a_proof_of_part_of_the_pool_is_none(monkeypatch):
    one = solver(range(30))
    pool = [clause(range(30), 1.0), *(clause([40 + n], 5.0) for n in range(5))]
    assert one.prove(pool, SOON, one.theory(())).proved
    monkeypatch.setattr(set_cover, "MOST_EXACT", 4)
    found = one.prove(pool, SOON, one.theory(()))
    assert found.errors == 0 and not found.proved


def test_promising_clauses_save_alone_or_with_the_best(monkeypatch):
    one = solver(range(30))
    pool = [clause(range(12), 1), clause(range(11), 1), clause(range(12, 22), 1), clause([*range(12, 20), 60], 1),
            clause(range(22, 27), 1)]  # fmt: skip
    best = one.theory([pool[0]])
    monkeypatch.setattr(set_cover, "MOST_EXACT", 6)  # two for each of nothing, the best, and the best without its only
    assert one._promising(pool, best, 1.0) == [0, 1, 2, 3]
    monkeypatch.setattr(set_cover, "MOST_EXACT", 5)
    assert one._promising(pool, best, 1.0) == [0, 2]


@pytest.mark.parametrize("seed", range(5))
def test_a_clause_is_dropped_if_another_is_as_good_in_all_respects(seed):
    rng = np.random.default_rng(seed)
    size = 6
    pool = [clause(np.flatnonzero(rng.random(size) < 0.5), float(rng.integers(1, 4)), size) for _ in range(14)]
    truth = np.array([True, True, True, False, False, False])
    kept = drop_dominated(pool, pack_bits(truth), pack_bits(~truth))
    sets = [set(np.flatnonzero(unpack_bits(one.covers, size)).tolist()) for one in pool]

    def as_good(a, b):
        right, wrong = {0, 1, 2}, {3, 4, 5}
        better = sets[a] & right >= sets[b] & right and sets[a] & wrong <= sets[b] & wrong
        return better and pool[a].bits <= pool[b].bits

    ranked = sorted(range(14), key=lambda at: pool[at].bits)
    wanted = []
    for at in ranked:
        if not any(as_good(other, at) for other in wanted):
            wanted.append(at)
    assert places(pool, kept) == wanted and drop_dominated([], pack_bits(truth), pack_bits(~truth)) == []
    assert 1 < len(kept) < 14


def test_prices_of_many_examples():
    numbers = [0, 1, 2, 3, 6, 20, 40, 60]  # of 200: 1 %, 3 %, 10 %, 20 %, 30 %
    wanted = sorted(exceptions(n + 1, 200) - exceptions(n, 200) for n in numbers)
    assert solver(range(9), size=200).prices() == pytest.approx(wanted)

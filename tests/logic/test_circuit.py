"""Diagrams at the sizes that tasks need, within their budgets, in good orders; that they are right is a law of formulas."""

import time
from math import comb

import numpy as np
import pytest

from assay import Knowledge, bits, compile_diagram, digits, parse
from assay.base import TooLarge, UnknownName, rng_for
from assay.logic import exactly, parity, product, total, var

BITS = [f"x{number}" for number in range(64)]


DRIVING = ["green_light", "follow", "clear", "red_light", "stop_sign", "car", "person", "rider", "other_obstacle",
           "no_left_lane", "left_obstacle", "left_solid_line", "right_lane", "right_green_light", "right_follow",
           "no_right_lane", "right_obstacle", "right_solid_line", "left_lane", "left_green_light", "left_follow"]  # fmt: skip


DRIVING_PARTS = {"red": "red_light and not green_light", "obstacle": "car or person or rider or other_obstacle"}


DRIVING_RULES = {
    "stop": "red or stop_sign or obstacle",
    "forward": "(green_light or follow or not obstacle) and not (red or stop_sign or obstacle)",
    "left": "(left_lane or left_green_light or left_follow) and not (no_left_lane or left_obstacle or left_solid_line)",
    "right": "(right_lane or right_green_light or right_follow)"
    " and not (no_right_lane or right_obstacle or right_solid_line)",
}


def test_sum_of_8_digits_is_the_convolution():
    space = digits(BITS[:8])
    diagram = compile_diagram([total(*var(*BITS[:8]))], space)
    rows = rng_for(5, "digits").dirichlet(np.ones(10), size=8)
    expected = np.ones(1)
    for row in rows:
        expected = np.convolve(expected, row)
    assert diagram.outcomes == tuple((number,) for number in range(73)) and diagram.size <= 10_000
    assert np.allclose(diagram.probabilities([row[None] for row in rows])[0], expected, atol=1e-12)
    assert sum(diagram.counts.values()) == 10**8 and diagram.counts[(36,)] == 4816030


def test_two_equations():
    rules = [parse("x1 + x2 == x3 + x4"), parse("x5 * x6 == x7 * x8")]
    diagram = compile_diagram(rules, digits([f"x{number}" for number in range(1, 9)]))
    assert diagram.counts == {
        (False, False): 87981900,
        (False, True): 5318100,
        (True, False): 6318100,
        (True, True): 381900,
    }


def test_parity_of_64_bits():
    diagram = compile_diagram([parity(*var(*BITS))], bits(BITS))
    assert diagram.counts == {(False,): 2**63, (True,): 2**63} and diagram.width == 2
    ranking = diagram.among(np.array([False, True]))
    ranks = np.array([0, 1, 2**40, 2**63 - 1], dtype=object)
    worlds = ranking.worlds(ranks)
    assert (worlds.sum(axis=1) % 2 == 1).all() and ranking.ranks(worlds).tolist() == ranks.tolist()
    odd = diagram.probabilities([np.array([[0.9, 0.1]])] * 64)[0, 1]
    assert odd == pytest.approx((1 - 0.8**64) / 2)


def test_exactly_one_of_64_bits():
    diagram = compile_diagram([exactly(1, *var(*BITS))], bits(BITS))
    assert diagram.counts == {(False,): 2**64 - 64, (True,): 64} and diagram.width <= 3
    worlds = diagram.among(np.array([False, True])).worlds(np.arange(64))
    assert (worlds.sum(axis=1) == 1).all() and len(np.unique(worlds, axis=0)) == 64


@pytest.mark.parametrize("wanted", [0, 10, 32, 64])
def test_counts_of_64_bits_are_binomial(wanted):
    diagram = compile_diagram([parse(f"count({', '.join(BITS)})")], bits(BITS))
    assert diagram.counts[(wanted,)] == comb(64, wanted)


def test_driving_has_21_concepts_and_four_labels():
    knowledge = Knowledge.of(bits(DRIVING), DRIVING_RULES, definitions=DRIVING_PARTS)
    diagram = knowledge.diagram
    assert len(DRIVING) == 21 and sum(diagram.counts.values()) == 2**21
    codes = rng_for(6, "driving").integers(2, size=(20_000, 21))
    found = np.array([diagram.outcomes[number] for number in diagram.outcome_of(codes)], dtype=int)
    assert (found == knowledge.labels_of(codes)).all()
    rates = {name: sum(n for o, n in diagram.counts.items() if o[k]) for k, name in enumerate(DRIVING_RULES)}
    # stop: 1 - P(no obstacle, no sign, no red without green); left: 7/8 of a reason and 1/8 of no hindrance
    assert rates["stop"] == 2**21 * (1 - 1 / 16 * 1 / 2 * 3 / 4) and rates["forward"] == 2**21 - rates["stop"]
    assert rates["left"] == rates["right"] == 2**21 * 7 / 64


def test_a_diagram_that_outgrows_its_budget_is_refused():
    space = digits(BITS[:12])
    with pytest.raises(TooLarge, match="outgrows 1,000 nodes"):
        compile_diagram([product(*var(*BITS[:12]))], space, budget=1000)
    with pytest.raises(TooLarge, match="outgrows 100 nodes"):
        compile_diagram([parse("all_different(" + ", ".join(BITS[:10]) + ")")], space, BITS[:12], budget=100)


def test_the_budget_is_the_number_of_nodes_that_may_be():
    space, rule = digits(["a", "b"]), [parse("a + b")]
    assert compile_diagram(rule, space, budget=30).size == 30 == 1 + 10 + 19
    with pytest.raises(TooLarge, match="outgrows 29 nodes"):
        compile_diagram(rule, space, budget=29)


@pytest.mark.parametrize("rule", ["products", "sum"])
def test_a_diagram_that_will_be_too_large_is_refused_long_before_it_is(rule):
    names, weights = BITS[:12], rng_for(0, "weights").integers(1, 10**6, size=12).tolist()
    parts = {
        "products": [f"{a} * {b}" for a, b in zip(names, names[5:] + names[:5], strict=True)],
        "sum": [f"{weight} * {name}" for weight, name in zip(weights, names, strict=True)],
    }[rule]
    began = time.process_time()
    with pytest.raises(TooLarge, match=r"outgrows 300,000 nodes: it has [3-9]\.\de\+05 or more; use fewer concepts"):
        compile_diagram(
            [parse(f"{' + '.join(parts)} > {200 if rule == 'products' else 9 * sum(weights) // 2}")], digits(names)
        )
    assert time.process_time() - began < 8


def test_one_that_grows_and_shrinks_again_is_not_refused():
    names = BITS[:9]
    rule = parse(f"({' * '.join(f'({name} + 1)' for name in names)}) % 997 == 17")
    diagram = compile_diagram([rule], digits(names), budget=12_000)
    assert diagram.size < 12_000 and sum(diagram.counts.values()) == 10**9


def equal_pairs(pairs):
    """Return "some x, and each x is its y": of few nodes if every x is read just before its y."""
    some = " or ".join(f"x{i}" for i in range(pairs))
    return parse(f"({some}) and {' and '.join(f'x{i} == y{i}' for i in range(pairs))}")


def test_the_smaller_of_two_orders_is_taken():
    pairs = [name for i in range(9) for name in (f"x{i}", f"y{i}")]
    apart = sorted(pairs)
    small, large = (compile_diagram([equal_pairs(9)], bits(pairs), order).size for order in (pairs, apart))
    assert large > 5 * small
    assert compile_diagram([equal_pairs(9)], bits(pairs)).size == small  # though the rule names every x first


def test_an_order_that_outgrows_the_budget_gives_way_to_that_of_the_space():
    pairs = [name for i in range(9) for name in (f"x{i}", f"y{i}")]
    small, large = (compile_diagram([equal_pairs(9)], bits(pairs), order).size for order in (pairs, sorted(pairs)))
    assert compile_diagram([equal_pairs(9)], bits(pairs), budget=large // 2).size == small
    with pytest.raises(TooLarge, match="outgrows 20 nodes"):
        compile_diagram([equal_pairs(9)], bits(pairs), budget=20)
    with pytest.raises(TooLarge):
        compile_diagram([equal_pairs(9)], bits(sorted(pairs)), budget=large // 2)  # both orders are one


def test_an_order_of_unknown_concepts_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'green'"):
        compile_diagram([parse("green")], bits(["green"]), ["gren"])


@pytest.mark.parametrize("rank", [-1, 8])
def test_a_rank_that_no_world_has_is_refused(rank):
    diagram = compile_diagram([parse("a + b")], digits(["a", "b"]))
    ranking = diagram.among(np.array([outcome == (7,) for outcome in diagram.outcomes]))
    assert ranking.total == 8
    with pytest.raises(ValueError, match="ranks run from 0 to 7"):
        ranking.worlds(np.array([0, rank]))


def test_ranks_beyond_64_bits_are_exact():
    names = [f"x{number}" for number in range(70)]
    ranking = compile_diagram([parity(*var(*names))], bits(names)).among(np.array([False, True]))
    ranks = [0, 2**62, 2**63 + 1, 2**69 - 1]
    assert ranking.total == 2**69
    assert ranking.ranks(ranking.worlds(np.array(ranks, dtype=object))).tolist() == ranks


def test_no_examples_have_no_probabilities_and_no_worlds():
    made = compile_diagram([parse("a + b")], digits(["a", "b"], range(3)))
    none = [np.zeros((0, 3))] * 2
    assert made.probabilities(none).shape == (0, 5) and made.outcome_of(np.zeros((0, 2), dtype=int)).shape == (0,)
    codes, logs = made.most_probable(none, np.ones(5, dtype=bool))
    assert codes.shape == (0, 2) and logs.shape == (0,)

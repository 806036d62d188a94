"""The decision diagram agrees with looking at every world: labels, counts, probabilities, best worlds, ranks."""

import time
from collections import Counter
from math import comb

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, bits, digits
from assay.errors import TooLarge, UnknownName
from assay.logic import (
    Knowledge,
    Residuals,
    circuit,
    compile_diagram,
    evaluate,
    exactly,
    parity,
    parse,
    product,
    total,
    var,
)
from assay.logic.circuit import least_classes
from assay.seeds import rng_for
from tests.logic.formulas import CASES, case

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


def typed(values):
    return [(type(value), value) for value in values]


def random_distributions(space, rng, batch=3):
    """Return distributions of each concept, some of them certain."""
    drawn = [rng.dirichlet(np.ones(size), size=batch) for size in space.sizes]
    for one in drawn:
        one[0] = np.eye(one.shape[1])[rng.integers(one.shape[1])]
    return drawn


def joint(space, codes, distributions):
    """Return the probability of each world, for each of the batch."""
    return np.prod([distributions[place][:, codes[:, place]] for place in range(len(space))], axis=0)


@pytest.mark.parametrize("place", range(CASES))
def test_labels_and_counts_agree_with_every_world(place):
    one = case(place)
    diagram = compile_diagram([one.formula], one.space)
    assert typed(diagram.outcomes[number][0] for number in diagram.outcome_of(one.codes)) == typed(one.values)
    assert diagram.counts == Counter((value,) for value in one.values)
    assert typed(outcome[0] for outcome in diagram.counts) == typed(outcome[0] for outcome in diagram.outcomes)


@pytest.mark.parametrize("place", range(CASES))
def test_probabilities_agree_with_every_world(place):
    one = case(place)
    diagram = compile_diagram([one.formula], one.space)
    distributions = random_distributions(one.space, rng_for(1, "probabilities", place))
    mass = joint(one.space, one.codes, distributions)
    which = diagram.outcome_of(one.codes)
    expected = [mass[:, which == number].sum(axis=1) for number in range(len(diagram.outcomes))]
    assert np.allclose(diagram.probabilities(distributions), np.stack(expected, axis=1), atol=1e-12)


@pytest.mark.parametrize("place", range(CASES))
def test_most_probable_world_agrees_with_every_world(place):
    one = case(place)
    rng = rng_for(2, "best", place)
    diagram = compile_diagram([one.formula], one.space)
    wanted = rng.random(len(diagram.outcomes)) < 0.6
    wanted[rng.integers(len(wanted))] = True
    distributions = random_distributions(one.space, rng)
    mass = joint(one.space, one.codes, distributions)[:, wanted[diagram.outcome_of(one.codes)]].max(axis=1)
    codes, logs = diagram.most_probable(distributions, wanted)
    assert np.allclose(np.exp(logs), mass, atol=1e-12)
    assert np.allclose(np.diag(joint(one.space, codes, distributions)), mass, atol=1e-12)
    assert wanted[diagram.outcome_of(codes)].all() and (np.isneginf(logs) == (mass == 0)).all()


@pytest.mark.parametrize("place", range(CASES))
def test_ranks_number_the_wanted_worlds(place):
    one = case(place)
    diagram = compile_diagram([one.formula], one.space)
    wanted = rng_for(3, "ranks", place).random(len(diagram.outcomes)) < 0.6
    ranking = diagram.among(wanted)
    inside = wanted[diagram.outcome_of(one.codes)]
    ranks = ranking.ranks(one.codes)
    assert ranking.total == inside.sum() and (ranks[~inside] == -1).all()
    assert sorted(ranks[inside].tolist()) == list(range(ranking.total))
    assert (ranking.worlds(ranks[inside]) == one.codes[inside]).all()


@pytest.mark.parametrize("place", range(0, CASES, 5))
def test_any_order_and_several_formulas_give_the_same_counts(place):
    one = case(place)
    order = rng_for(4, "order", place).permutation(one.space.names).tolist()
    both = [one.formula, parse(one.space.names[0])]
    found = zip(*(evaluate(formula, one.space, one.codes).tolist() for formula in both), strict=True)
    plain = [(value, ABSENT if other == -(2**31) else other) for value, other in found]
    assert compile_diagram(both, one.space, order).counts == Counter(plain)


def test_one_outcome_keeps_one_path():
    diagram = compile_diagram([parse("a == a or b")], bits(["a", "b"]))
    assert diagram.counts == {(True,): 4} and diagram.size == 3 and diagram.width == 1


def test_a_number_that_may_be_absent():
    space = ConceptSpace((Concept("a", (3, ABSENT, 5)), Concept("b", (0, 1))))
    assert compile_diagram([parse("a"), parse("count(b == 1)")], space).counts == Counter(
        (a, b) for a in (3, ABSENT, 5) for b in (0, 1)
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a ** 64 == 9 ** 64", 10),
        ("a ** 64 > 2 ** 60 * 2 ** 60", 60),
        ("abs(a - b) == 3", 14),
        ("max(a, b) - min(a, b) == 3", 14),
        ("max(a, a, a) == 3", 10),
        ("all_equal(a, True, 1)", 10),
        ("all_equal(a, b, a == a)", 1),
        ("all_equal(True, 1)", 100),
        ("all_different(a, b, True)", 9 * 8),
        ("(a + b) % 7 == 0", sum((a + b) % 7 == 0 for a in range(10) for b in range(10))),
        ("(2 * a - 2 * b) // 2 == 0", 10),
        ("6 * a - 4 * b > 3", sum(6 * a - 4 * b > 3 for a in range(10) for b in range(10))),
        ("2 * a + 4 * b == 7", 0),
        ("(a, b, 1) in [(1, 2, 1), (1, 2, True), (3, 4, 2)]", 1),
        ("(a == b) + (b == a) == 2", 10),
    ],
)
def test_pinned_counts_over_two_digits(text, count):
    assert compile_diagram([parse(text)], digits(["a", "b"])).counts.get((True,), 0) == count


# -- the sizes that the tasks need -------------------------------------------------------------------------------------


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


def test_the_least_number_of_classes_is_below_the_true_one():
    for classes in (100, 3_000, 50_000):
        drawn = rng_for(0, "classes", classes).integers(classes, size=2_000)
        found = np.bincount(drawn)
        assert 0.5 * classes < least_classes(found[found > 0].tolist()) < 1.1 * classes


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


def test_an_order_that_is_no_better_is_not_taken():
    pairs = [name for i in range(7) for name in (f"x{i}", f"y{i}")]
    sixes = [Concept(f"z{i}", tuple(range(6))) for i in range(4)]
    rule = parse(" and ".join(f"x{i} == y{i}" for i in range(7)))
    number = parse("z0 + 6 * z1 + 36 * z2 + 216 * z3")
    space = ConceptSpace((*bits(sorted(pairs)).concepts, *sixes))
    by_use = compile_diagram([rule, number], space, [*pairs, *(six.name for six in sixes)])
    by_space = compile_diagram([rule, number], space, space.names)
    assert by_use.width > 200 and by_use.size < by_space.size
    assert compile_diagram([rule, number], space).size == by_use.size


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


def test_an_order_that_outgrows_the_budget_gives_way_to_that_of_the_space():
    pairs = [name for i in range(9) for name in (f"x{i}", f"y{i}")]
    small, large = (compile_diagram([equal_pairs(9)], bits(pairs), order).size for order in (pairs, sorted(pairs)))
    assert compile_diagram([equal_pairs(9)], bits(pairs), budget=large // 2).size == small
    with pytest.raises(TooLarge, match="outgrows 20 nodes"):
        compile_diagram([equal_pairs(9)], bits(pairs), budget=20)
    with pytest.raises(TooLarge):
        compile_diagram([equal_pairs(9)], bits(sorted(pairs)), budget=large // 2)  # both orders are one


def test_outcomes_of_several_formulas_in_concepts_of_several_sizes():
    space = ConceptSpace((Concept("a", (2, 0, 1)), Concept("hue", ("red", "blue")), Concept("b", (False, True)), Concept("n", (1, 2, ABSENT))))  # fmt: skip
    rules = [parse("a * 2 - b"), parse("hue if b else 'blue'"), parse("n"), parse("n == 2 or b")]
    made = compile_diagram(rules, space)
    codes = space.all_codes()
    worlds = [list(space.decode(row).values()) for row in codes]
    expected = [(a * 2 - b, hue if b else "blue", n, n == 2 or b) for a, hue, b, n in worlds]
    assert [made.outcomes[number] for number in made.outcome_of(codes)] == expected
    assert made.counts == Counter(expected) and made.next_widths[-1] == len(made.outcomes) == len({*expected})
    assert made.size == sum(len(layer) for layer in made.layers) + len(made.outcomes)
    assert made.width == max(len(layer) for layer in made.layers)
    rng = np.random.default_rng(0)
    chances = [rng.dirichlet(np.ones(size), size=4) for size in space.sizes]
    mass = joint(space, codes, chances)
    which = made.outcome_of(codes)
    assert made.probabilities(chances) == pytest.approx(
        np.stack([mass[:, which == number].sum(axis=1) for number in range(len(made.outcomes))], axis=1)
    )
    wanted = np.array([outcome[3] and outcome[0] > 0 for outcome in made.outcomes])
    best, logs = made.most_probable(chances, wanted)
    inside = np.flatnonzero(wanted[which])
    assert best.tolist() == codes[inside[mass[:, inside].argmax(axis=1)]].tolist()
    assert logs == pytest.approx(np.log(mass[:, inside].max(axis=1)))
    ranking = made.among(wanted)
    assert ranking.total == len(inside) and sorted(ranking.worlds(np.arange(ranking.total)).tolist()) == codes[inside].tolist()  # fmt: skip
    assert ranking.ranks(ranking.worlds(np.arange(ranking.total)[::-1])).tolist() == list(range(ranking.total))[::-1]


# -- parts -------------------------------------------------------------------------------------------------------------


def test_rows_are_numbered_among_those_that_differ():
    numbers, first = circuit._numbered(np.array([[0, 2, 1], [1, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 1], [0, 2, 0]]))
    assert numbers.tolist() == [1, 2, 1, 3, 2, 0] and first.tolist() == [5, 0, 1, 3]
    same, only = circuit._numbered(np.zeros((4, 2), dtype=np.int32))
    assert same.tolist() == [0] * 4 and only.tolist() == [0]


def test_worlds_of_each_value_begin_where_those_before_end():
    assert circuit._starts(np.array([[2, 0, 3], [1, 4, 1]])).tolist() == [[0, 2, 2], [0, 1, 5]]
    shares = np.array([[0.5, 0.1, 0.2, 0.2], [1.0, 2.0, 4.0, 8.0]])
    gathered = circuit._gathered(shares, np.array([2, 0, 2, 1]), 3)
    assert gathered.tolist() == [pytest.approx([0.1, 0.2, 0.7]), [2.0, 8.0, 5.0]]


def test_samples_leave_out_worlds_that_are_decided_as_long_as_others_are_left():
    terms = Residuals(bits(["a", "b", "c"]))
    for text, classes in (("xor(a, b, c)", [2, 2, 2]), ("a and b and c", [1, 1, 2]), ("a", [2, 2, 2])):
        found = list(circuit._sampled_layers(terms, (terms.term(parse(text)),), (0, 1, 2)))
        assert [len(counts) for counts in found] == classes
        assert all(1900 < sum(counts) <= 2000 for counts in found) and sum(found[-1]) == 2000
    pair = tuple(terms.term(parse(text)) for text in ("a", "b or c"))
    found = list(circuit._sampled_layers(terms, pair, (1, 0, 2)))
    assert [len(counts) for counts in found] == [2, 2, 4] and all(sum(counts) == 2000 for counts in found)


def test_an_estimate_is_of_all_layers_together():
    terms = Residuals(bits(["a", "b", "c"]))
    first = (terms.term(parse("xor(a, b, c)")),)
    circuit._require_fitting(terms, first, (0, 1, 2), 6)
    with pytest.raises(TooLarge, match=r"outgrows 5 nodes: it has 6\.0e\+00 or more"):
        circuit._require_fitting(terms, first, (0, 1, 2), 5)


def test_concepts_come_in_the_order_in_which_formulas_name_them():
    space = bits([*"abcde"])
    assert circuit._order_of_use([parse("d and b"), parse("a or d")], space) == (3, 1, 0, 2, 4)
    assert circuit._order_of_use([parse("True")], space) == (0, 1, 2, 3, 4)


def test_a_narrow_diagram_keeps_the_order_of_use_though_another_is_smaller():
    pairs = [name for i in range(4) for name in (f"x{i}", f"y{i}")]
    made = compile_diagram([equal_pairs(4)], bits(pairs))
    by_space = compile_diagram([equal_pairs(4)], bits(pairs), pairs)
    assert by_space.size < made.size and made.width <= circuit.WIDE
    assert [pairs[place] for place in made.order] == [f"x{i}" for i in range(4)] + [f"y{i}" for i in range(4)]

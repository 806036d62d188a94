"""Rules compiled by what they count agree with every other way, and large boards are small diagrams."""

from functools import cache

import numpy as np
import pytest

from assay.concepts import bits, digits
from assay.errors import TooLarge
from assay.families.chess.rules import Board
from assay.logic.circuit import compile_diagram, letters
from assay.logic.evaluate import evaluate
from assay.logic.formula import Count, Var, conjunction
from assay.logic.parse import parse
from assay.logic.tally import NotTallied, chance_of, compile_tallied, holding, truth_diagram, uniform
from assay.seeds import rng_for
from tests.logic.formulas import CASES, case

BITS = [f"b{number}" for number in range(64)]
CHESS = Board().knowledge()
RULES = {constraint.name: constraint.formula for constraint in CHESS.constraints}
RATES = {  # how often each was broken in 100 000 random boards
    "kings_apart": 0.8362, "white_one_king": 0.9691, "white_at_most_16": 0.9920, "white_at_most_8_pawns": 0.0546,
    "white_no_pawn_at_the_ends": 0.7223, "white_none_promoted": 0.0622, "white_promoted": 0.8776,
    "white_bishops_differ": 0.0029,
}  # fmt: skip


@cache
def compiled(name):
    return truth_diagram(RULES[name], CHESS.space)


def test_random_formulas_agree_with_the_plain_reading():
    tallied = 0
    for place in range(CASES):
        one = case(place)
        if not all(isinstance(value, bool) for value in one.values):
            continue
        try:
            diagram = compile_tallied(one.formula, one.space)
        except NotTallied:
            continue
        tallied += 1
        assert holding(diagram)[diagram.outcome_of(one.codes)].tolist() == one.values, str(one.formula)
    assert tallied > 40


@pytest.mark.parametrize(
    "text",
    [
        "count(a == 1, b == 1, c == 1, d == 2) == 2",
        "a + b + c + d > 7 and a != d",
        "max(0, count(a == 1, b == 1, c == 1) - 1) + count(b == 2, c == 2) <= d",
        "implies(count(a > b, b > c, c > d) >= 2, a + 2 * d == 4)",
        "xor(a == b, c == d) or a * d == 6",
        "iff(count(a == 0, b == 0, c == 0) == 1, d - a - b < 0)",
        "(count(a == b, c == d, a == d) if b > 2 else a + c) == 2",
    ],
)
@pytest.mark.parametrize("order", [None, ["c", "a", "d", "b"]])
def test_written_formulas_agree_with_every_world(text, order):
    space = digits(["a", "b", "c", "d"], range(4))
    codes = space.all_codes()
    diagram = compile_tallied(parse(text), space, order)
    assert (holding(diagram)[diagram.outcome_of(codes)] == evaluate(parse(text), space, codes)).all()
    assert diagram.size <= compile_diagram([parse(text)], space, order or space.names).size


def test_what_is_no_formula_of_tallies_is_compiled_in_the_general_way():
    space = digits(["a", "b", "c"], range(3))
    with pytest.raises(NotTallied):
        compile_tallied(parse("all_different(a, b, c)"), space)
    assert truth_diagram(parse("all_different(a, b, c)"), space).counts[(True,)] == 6


def test_a_rule_that_is_always_or_never_true():
    space = bits(["a", "b", "c"])
    assert compile_tallied(parse("count(a, b, c) <= 3"), space).counts == {(True,): 8}
    assert compile_tallied(parse("count(a, b, c) > 3"), space).counts == {(False,): 8}


@pytest.mark.parametrize("name", RATES)
def test_rules_over_64_squares_are_broken_by_guesses_as_often_as_samples_say(name):
    diagram = compiled(name)
    assert diagram.size <= 110_000
    rate = 1 - float(chance_of(diagram, uniform(CHESS.space))[0])
    assert rate == pytest.approx(RATES[name], abs=4 * np.sqrt(RATES[name] * (1 - RATES[name]) / 100_000))


@pytest.mark.parametrize("name", RATES)
def test_rules_over_64_squares_hold_where_numbers_say_so(name):
    diagram = compiled(name)
    codes = rng_for(0, "boards").integers(13, size=(3000, 64))
    codes[1000:] *= rng_for(1, "boards").random((2000, 64)) < 0.3
    flags = ~CHESS.violations(codes)[:, [c.name for c in CHESS.constraints].index(name)]
    assert (holding(diagram)[diagram.outcome_of(codes)] == flags).all()


def test_exactly_one_king_is_the_closed_form():
    rng = rng_for(2, "kings")
    spread = [rng.dirichlet(np.full(13, 0.5), size=50) for _ in range(64)]
    king = np.stack([one[:, 6] for one in spread], axis=1)
    closed = np.prod(1 - king, axis=1) * (king / (1 - king)).sum(axis=1)
    found = chance_of(compiled("white_one_king"), spread)
    assert np.allclose(found, closed, rtol=1e-10, atol=0)


def test_kings_apart_on_a_small_board_by_listing():
    board = Board(3, 2)
    rule = board.knowledge().constraints[0].formula
    codes = board.space.all_codes()[::7]
    diagram = truth_diagram(rule, board.space)
    assert (holding(diagram)[diagram.outcome_of(codes)] == evaluate(rule, board.space, codes)).all()


def test_too_large_is_refused():
    with pytest.raises(TooLarge, match="outgrows 50 nodes"):
        compile_tallied(Count(tuple(map(Var, BITS))).eq(32), bits(BITS), budget=50)
    halves = conjunction(*(Count(tuple(map(Var, BITS[n::8]))).eq(4) for n in range(8)))
    with pytest.raises(TooLarge, match="tallies have 1,679,616 combinations, more than 400,000"):
        compile_tallied(halves, bits(BITS))


def test_codes_that_lead_alike_are_one_letter():
    diagram = compiled("white_one_king")
    codes, of_code = letters(diagram.layers[3])
    assert len(codes) == 2 and (of_code == np.eye(13, dtype=int)[6]).all()

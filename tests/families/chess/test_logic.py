"""The rules of chess compiled, decoded and learned with: large boards are small diagrams, and chances are exact."""

from functools import cache

import numpy as np
import pytest
import torch

from assay.families.chess.positions import codes_of
from assay.families.chess.rules import Board
from assay.logic import Constraint, Decoder, Knowledge, Limits, chance_of, evaluate, letters, true_outcomes, uniform
from assay.logic.tally import truth_diagram
from assay.models.concept.semantic import TruthLayer
from assay.seeds import rng_for
from tests.logic.test_decode import best_of, spreads
from tests.models.concept.test_semantic import both, logits

CHESS = Board().knowledge()
RULES = {constraint.name: constraint.formula for constraint in CHESS.constraints}
RATES = {  # how often each was broken in 100 000 random boards
    "kings_apart": 0.8362, "white_one_king": 0.9691, "white_at_most_16": 0.9920, "white_at_most_8_pawns": 0.0546,
    "white_no_pawn_at_the_ends": 0.7223, "white_none_promoted": 0.0622, "white_promoted": 0.8776,
    "white_bishops_differ": 0.0029,
}  # fmt: skip
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
MIDDLE = "r3k2r/ppp2ppp/8/8/8/8/PPP2PPP/R3K2R"
END = "8/5k2/8/3Q4/8/8/2K5/8"


@cache
def compiled(name):
    return truth_diagram(RULES[name], CHESS.space)


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
    assert (true_outcomes(diagram)[diagram.outcome_of(codes)] == flags).all()


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
    assert (true_outcomes(diagram)[diagram.outcome_of(codes)] == evaluate(rule, board.space, codes)).all()


def test_codes_that_lead_alike_are_one_letter():
    diagram = compiled("white_one_king")
    codes, of_code = letters(diagram.layers[3])
    assert len(codes) == 2 and (of_code == np.eye(13, dtype=int)[6]).all()


@pytest.mark.parametrize("budget", [150_000, 25])
def test_small_boards_are_decoded_to_the_best_of_all_worlds(budget):
    board = Board(5, 1)
    rules = [c for c in board.knowledge().constraints if "king" in c.name or "ends" in c.name]
    knowledge = Knowledge.of(board.space, {"y": "a1 == 'K'"}, [*rules, Constraint("few", board.number("PNBRQ") <= 1)])
    worlds = board.space.all_codes()
    worlds = worlds[~knowledge.violations(worlds).any(axis=1)]
    given = spreads(board.space, 30, 0.3)
    decoder = Decoder(knowledge, Limits(knowledge, budget))
    found = decoder(given)
    assert (len(decoder.limits.groups) > 1) == (budget == 25) and not decoder.limits.left_out
    assert not knowledge.violations(found.codes).any() and found.proven.all()
    assert np.allclose(found.logs, best_of(worlds, given), atol=1e-9)


@pytest.mark.slow
def test_a_whole_chess_board():
    board = Board()
    knowledge = board.knowledge()
    rng = rng_for(3, "noisy boards")
    truth = codes_of([START, MIDDLE, END])[rng.integers(3, size=30)]
    logits = rng.normal(size=(30, 64, 13)) + 4 * np.eye(13)[truth]
    spread = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    likely = spread.argmax(axis=2)
    found = Decoder(knowledge)([spread[:, place] for place in range(64)])
    assert knowledge.violations(likely).any(axis=1).mean() > 0.2
    assert found.solved.all() and not knowledge.violations(found.codes).any() and found.proven.mean() > 0.9
    kept = ~knowledge.violations(likely).any(axis=1)
    assert (found.codes[kept] == likely[kept]).all() and (found.changed[kept] == 0).all()
    assert (found.changed[~kept] > 0).all()
    true_log = np.log(np.take_along_axis(spread, truth[:, :, None], axis=2)[:, :, 0]).sum(axis=1)
    assert (found.logs[found.proven] >= true_log[found.proven] - 1e-9).all()  # the truth keeps every rule
    assert (found.codes == truth).all(axis=1).mean() > (likely == truth).all(axis=1).mean()


@pytest.mark.slow
def test_a_chess_board_of_4_x_4_is_one_group():
    limits = Limits(Board(4, 4).knowledge())
    assert limits.exact and len(limits.groups[0]) == 15


def test_one_king_on_64_squares_is_the_closed_form():
    knowledge = Board().knowledge()
    rule = next(c.formula for c in knowledge.constraints if c.name == "white_one_king")
    layer = TruthLayer(truth_diagram(rule, knowledge.space))

    def closed(spread):
        king = torch.stack([one[:, 6] for one in spread], dim=1)
        return ((1 - king).log().sum(dim=1) + (king / (1 - king)).sum(dim=1).log()).mean()

    assert both(lambda spread: layer(spread).mean(), closed, logits(knowledge.space.sizes)) < 1e-9

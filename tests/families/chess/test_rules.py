"""The rules on boards of any size, as the paper states them and as its released code checks them: by plain loops."""

import chess
import numpy as np
import pytest

from assay.base import rng_for
from assay.families.chess.positions import VALUES, class_indices
from assay.families.chess.settings import Board
from assay.logic import Decoder, evaluate, true_outcomes, truth_diagram

RULES = Board().knowledge()
NAMES = [rule.name for rule in RULES.constraints]
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
MIDDLE = "r3k2r/ppp2ppp/8/8/8/8/PPP2PPP/R3K2R"
END = "8/5k2/8/3Q4/8/8/2K5/8"


def plainly_broken(row, files=8, ranks=8, as_released=False):
    """Return the rules that a board breaks, in plain words; the released code forgets two things about promotion."""
    board = {(x, y): VALUES[row[y * files + x]] for y in range(ranks) for x in range(files)}
    near = [(s, t) for s in board for t in board if s != t and max(abs(s[0] - t[0]), abs(s[1] - t[1])) == 1]
    broken = {"kings_apart"} if any(board[s] == "K" and board[t] == "k" for s, t in near) else set()
    for colour, letters in (("white", "PNBRQK"), ("black", "pnbrqk")):
        number = dict(zip("PNBRQK", (list(board.values()).count(letter) for letter in letters), strict=True))
        beyond = {kind: max(0, number[kind] - (1 if kind == "Q" else 2)) for kind in "QBNR"}
        counted = sum(beyond[kind] for kind in ("QBN" if as_released else "QBNR"))
        shades = {(x + y) % 2 for x, y in board if board[x, y] == letters[2]}
        found = {
            "one_king": number["K"] != 1,
            "at_most_16": sum(number.values()) - number["K"] >= 16,
            "at_most_8_pawns": number["P"] >= 9,
            "no_pawn_at_the_ends": any(board[x, y] == letters[0] for x in range(files) for y in (0, ranks - 1)),
            "none_promoted": number["P"] == 8 and sum(beyond.values()) > 0,
            "promoted": number["P"] < 8 and counted > 8 - number["P"] and not (as_released and colour == "white"),
            "bishops_differ": number["P"] == 8 and number["B"] == 2 and len(shades) == 1,
        }
        broken |= {f"{colour}_{name}" for name, is_broken in found.items() if is_broken}
    return broken


def boards(files, ranks, number=400):
    """Return boards each with other pieces in plenty, and half of them with six to nine pawns of one colour."""
    rng = rng_for(0, "boards")
    codes = np.array([rng.choice(13, size=files * ranks, p=rng.dirichlet(np.full(13, 0.25))) for _ in range(number)])
    for row in codes[number // 2 :]:
        places, pawn = rng.permutation(files * ranks), (1, 7)[int(rng.integers(2))]
        row[row == pawn] = 0
        row[places[: rng.integers(6, 10)]] = pawn
        row[places[10:12]] = pawn + 2  # two bishops
    return codes


def test_there_are_eight_rules_for_both_colours():
    assert len(NAMES) == 15 and sum(name.startswith("white_") for name in NAMES) == 7
    tags = [rule.tags for rule in RULES.constraints]
    assert tags.count(("counting",)) == 10 and tags.count(("localising",)) == 5
    assert all(concept.nothing == "empty" for concept in RULES.space.concepts)
    assert RULES.space.names == tuple(chess.SQUARE_NAMES)


@pytest.mark.parametrize("as_released", [False, True])
@pytest.mark.parametrize(("files", "ranks"), [(4, 5), (8, 8)])
def test_rules_are_broken_where_plain_words_say_so(files, ranks, as_released):
    board, codes = Board(files, ranks, as_released), boards(files, ranks)
    if (files, ranks) == (8, 8):  # fuller boards break more rules
        codes *= rng_for(1, "emptied").random(codes.shape) < 0.4
    rules = {rule.name: ~evaluate(rule.formula, board.space, codes).astype(bool) for rule in board.rules()}
    found = [{name for name in rules if rules[name][place]} for place in range(len(codes))]
    assert found == [plainly_broken(row, files, ranks, as_released) for row in codes.tolist()]
    assert all(flags.any() and not flags.all() for name, flags in rules.items() if (files, ranks) == (4, 5))
    assert ("white_promoted" in rules) is not as_released and "black_promoted" in rules


def test_bishops_differ_where_all_pawns_and_two_bishops_are_there():
    board = Board(4, 5)
    rule = next(rule.formula for rule in board.rules() if rule.name == "black_bishops_differ")
    codes = np.zeros((4, 20), dtype=np.int64)
    codes[:, 4:12] = 7  # eight pawns
    codes[:, 0] = 9  # a1, which is dark
    codes[range(4), [1, 2, 13, 3]] = 9  # b1 is light, c1 and b4 are dark
    codes[3, 4] = 0  # seven pawns
    assert evaluate(rule, board.space, codes).tolist() == [True, False, False, True]


def test_white_is_ahead_with_more_pieces_not_with_as_many():
    knowledge = Board(3, 2).knowledge()
    assert knowledge.space.names == ("a1", "b1", "c1", "a2", "b2", "c2")
    codes = np.array([[1, 5, 1, 7, 6, 12], [0, 0, 1, 1, 11, 9], [1, 0, 0, 0, 6, 12], [6, 6, 6, 7, 0, 0]])
    assert knowledge.label_names == ("white_is_ahead",)
    assert knowledge.labels_of(codes)[:, 0].tolist() == [1, 0, 1, 0]  # kings do not count


def test_fens_are_those_of_the_chess_package():
    board = chess.Board()
    for move in ("e4", "c5", "Nf3", "Nc6", "Bb5", "g6", "O-O"):
        board.push_san(move)
        pieces = {chess.SQUARE_NAMES[square]: piece.symbol() for square, piece in board.piece_map().items()}
        assert RULES.space.decode(class_indices([board.fen()])[0]) == {
            name: pieces.get(name, "empty") for name in chess.SQUARE_NAMES
        }


# -- compiled ----------------------------------------------------------------------------------------------------------

RATES = {  # how often each was broken in 100 000 random boards
    "kings_apart": 0.8362, "white_one_king": 0.9691, "white_at_most_16": 0.9920, "white_at_most_8_pawns": 0.0546,
    "white_no_pawn_at_the_ends": 0.7223, "white_none_promoted": 0.0622, "white_promoted": 0.8776,
    "white_bishops_differ": 0.0029,
}  # fmt: skip


@pytest.mark.parametrize("name", RATES)
def test_rules_over_64_squares_compile_to_small_diagrams_with_exact_chances(name):
    rule = next(constraint.formula for constraint in RULES.constraints if constraint.name == name)
    diagram = truth_diagram(rule, RULES.space)
    assert diagram.size <= 110_000
    rate = float(diagram.probabilities([np.full((1, 13), 1 / 13)] * 64)[0, ~true_outcomes(diagram)].sum())
    assert rate == pytest.approx(RATES[name], abs=4 * np.sqrt(RATES[name] * (1 - RATES[name]) / 100_000))
    codes = boards(8, 8, 1000) * (rng_for(1, "emptied").random((1000, 64)) < 0.5)
    flags = ~RULES.violations(codes)[:, NAMES.index(name)]
    assert (true_outcomes(diagram)[diagram.outcome_of(codes)] == flags).all()
    if name == "white_one_king":
        rng = rng_for(2, "kings")
        spread = [rng.dirichlet(np.full(13, 0.5), size=50) for _ in range(64)]
        king = np.stack([one[:, 6] for one in spread], axis=1)
        closed = np.prod(1 - king, axis=1) * (king / (1 - king)).sum(axis=1)
        kept = diagram.probabilities(spread)[:, true_outcomes(diagram)].sum(axis=1)
        assert np.allclose(kept, closed, rtol=1e-10, atol=0)


@pytest.mark.slow
def test_a_whole_chess_board_is_decoded_to_one_that_keeps_the_rules():
    rng = rng_for(3, "noisy boards")
    truth = class_indices([START, MIDDLE, END])[rng.integers(3, size=30)]
    logits = rng.normal(size=(30, 64, 13)) + 4 * np.eye(13)[truth]
    spread = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    likely = spread.argmax(axis=2)
    found = Decoder(RULES)([spread[:, place] for place in range(64)])
    assert RULES.violations(likely).any(axis=1).mean() > 0.2
    assert found.solved.all() and not RULES.violations(found.codes).any() and found.proven.mean() > 0.9
    kept = ~RULES.violations(likely).any(axis=1)
    assert (found.codes[kept] == likely[kept]).all()
    true_log = np.log(np.take_along_axis(spread, truth[:, :, None], axis=2)[:, :, 0]).sum(axis=1)
    assert (found.logs[found.proven] >= true_log[found.proven] - 1e-9).all()  # the truth keeps every rule
    assert (found.codes == truth).all(axis=1).mean() > (likely == truth).all(axis=1).mean()

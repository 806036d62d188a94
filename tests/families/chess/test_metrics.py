"""Consistency metrics on 20 chess boards that were counted by hand, and on a million."""

import numpy as np
import pytest

from assay.base import rng_for
from assay.families.chess.positions import class_indices
from assay.families.chess.settings import Board
from assay.metrics import METRICS, Evidence, violations_of

BOARD = Board()
CHESS = BOARD.knowledge()
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
QUEEN = "8/5k2/8/3Q4/8/8/2K5/8"
KINGS = "4k3/8/8/8/8/8/8/4K3"
EMPTY = "8/8/8/8/8/8/8/8"
ALL_QUEENS = "/".join(["QQQQQQQQ"] * 8)

# truth, prediction, squares hit, pieces there, pieces said, rules broken
BOARDS = [
    (START, START, 32, 32, 32, ""),
    (START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR", 31, 32, 31, "white_one_king"),
    (START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKKBNR", 31, 32, 32, "white_one_king"),
    # nine pawns, and with them sixteen pieces beside the king
    (START, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPPPPPP/RNBQKBNR", 32, 32, 33, "white_at_most_8_pawns white_at_most_16"),
    (START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPQPPP/RNBQKBNR", 31, 32, 32, ""),  # one pawn less, one queen more
    # one pawn less, two queens more
    (START, "rnbqkbnr/pppppppp/8/8/2Q1Q3/8/PPPP1PPP/RNBQKBNR", 31, 32, 33, "white_at_most_16 white_promoted"),
    (START, "rnbqkbnr/pppppppp/8/8/4Q3/8/PPPPPPPP/1NBQKBNR", 31, 32, 32, "white_none_promoted"),
    # bishops on c1 and e3, both dark
    (START, "rnbqkbnr/pppppppp/8/8/8/4B3/PPPPPPPP/RNBQK1NR", 31, 32, 32, "white_bishops_differ"),
    (START, "Pnbqkbnr/pppppppp/8/8/8/8/1PPPPPPP/RNBQKBNR", 30, 32, 31, "white_no_pawn_at_the_ends"),
    (QUEEN, "8/5k2/4K3/3Q4/8/8/8/8", 2, 3, 3, "kings_apart"),
    (QUEEN, EMPTY, 0, 3, 0, "white_one_king black_one_king"),
    (QUEEN, QUEEN, 3, 3, 3, ""),
    (QUEEN, "8/5k2/8/3q4/8/8/2K5/8", 2, 3, 3, ""),
    (START, "rnbkkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", 31, 32, 32, "black_one_king"),
    (START, "1nbqkbnr/pppppppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR", 31, 32, 32, "black_at_most_8_pawns"),
    (START, "rnbqkbnr/ppppppp1/8/8/8/8/PPPPPPPP/RNBQKBNp", 30, 32, 31, "black_no_pawn_at_the_ends"),
    (KINGS, "qqqqk3/qqqqqq2/8/8/8/8/8/4K3", 2, 2, 12, "black_promoted"),  # nine queens too many, eight pawns missing
    (KINGS, "qqqqk3/qqqqq3/8/8/8/8/8/4K3", 2, 2, 11, ""),
    (KINGS, "3Kk3/8/8/8/8/8/8/4K3", 2, 2, 3, "kings_apart white_one_king"),
    (KINGS, ALL_QUEENS, 0, 2, 64, "white_one_king black_one_king white_at_most_16 white_promoted"),
]
BY_RULE = {
    "kings_apart": 2, "white_one_king": 5, "white_at_most_16": 3, "white_at_most_8_pawns": 1,
    "white_no_pawn_at_the_ends": 1, "white_none_promoted": 1, "white_promoted": 2, "white_bishops_differ": 1,
    "black_one_king": 3, "black_at_most_16": 0, "black_at_most_8_pawns": 1, "black_no_pawn_at_the_ends": 1,
    "black_none_promoted": 0, "black_promoted": 1, "black_bishops_differ": 0,
}  # fmt: skip


def evidence(truth, said):
    labels = CHESS.labels_of(truth)
    return Evidence(CHESS, "test", labels, truth, labels, said, (None,), (None,) * 64)


@pytest.fixture(scope="module")
def held():
    return evidence(class_indices([row[0] for row in BOARDS]), class_indices([row[1] for row in BOARDS]))


def values(name, held):
    return METRICS[name].values(held).tolist()


def test_set_f1_of_each_board(held):
    expected = [2 * hits / (there + said) for _, _, hits, there, said, _ in BOARDS]
    assert values("set_f1", held) == pytest.approx(expected)


def test_broken_rules_of_each_board(held):
    names = np.array([constraint.name for constraint in CHESS.constraints])
    flags = CHESS.violations(held.predicted_concepts)
    assert [set(names[row]) for row in flags] == [set(row[5].split()) for row in BOARDS]
    assert values("mean_violations", held) == [len(row[5].split()) for row in BOARDS]
    assert values("violation_rate", held) == [bool(row[5]) for row in BOARDS]


def test_sums_over_all_boards(held):
    sane = 1 + 62 / 64 + 1 + 4 / 6 + 4 / 13
    assert METRICS["concept_exact"](held) == pytest.approx(2 / 20)
    assert METRICS["violation_rate"](held) == pytest.approx(15 / 20)
    assert METRICS["mean_violations"](held) == pytest.approx(22 / 20)
    assert METRICS["sane_f1"](held) == pytest.approx(sane / 20)
    assert METRICS["f1_room"](held) == pytest.approx(METRICS["set_f1"](held) - sane / 20)


@pytest.mark.slow
def test_by_rule_and_by_tag_beside_a_random_guesser(held):
    found = violations_of(held)
    assert {rule.name: round(20 * rule.rate) for rule in found.rules} == BY_RULE
    tags = {tag.tag: tag for tag in found.tags}
    assert (tags["localising"].rules, tags["counting"].rules) == (5, 10)
    assert 20 * tags["localising"].mean == pytest.approx(5) and 20 * tags["counting"].mean == pytest.approx(17)
    assert 20 * tags["localising"].rate == pytest.approx(5) and 20 * tags["counting"].rate == pytest.approx(11)
    kings = next(rule for rule in found.rules if rule.name == "white_one_king")
    alone = 64 / 13 * (12 / 13) ** 63  # exactly one of 64 squares that are a white king one time in 13
    assert kings.random == pytest.approx(1 - alone) and kings.relative == pytest.approx(0.25 / (1 - alone))
    ends = next(rule for rule in found.rules if rule.name == "black_no_pawn_at_the_ends")
    assert ends.random == pytest.approx(1 - (12 / 13) ** 16)
    assert tags["counting"].random_mean == pytest.approx(sum(r.random for r in found.rules if "counting" in r.tags))
    assert found.guesser.contradiction_rate.low > 0.999 and found.guesser.contradiction_rate.high == 1
    assert found.guesser.sane_f1.high < 1e-3
    assert METRICS["violations_vs_random"](held) == pytest.approx(1.1 / found.guesser.mean_violations)
    assert "75.0 % of answers break a constraint, most often white_one_king (25.0 %)" in found.text


def test_a_model_that_is_silent_on_a_square_is_not_judged_there(held):
    said = held.predicted_concepts.copy()
    said[3, 5] = -1
    half = evidence(held.concepts, said)
    for name in ("set_f1", "sane_f1", "mean_violations", "f1_room", "violations_vs_random"):
        found = METRICS[name].values(half)
        assert np.isnan(found[3]) and not np.isnan(np.delete(found, 3)).any()
    assert violations_of(half).examples == 19


@pytest.mark.slow
def test_a_million_boards_are_scored_at_once():
    rng = rng_for(0, "million boards")
    truth = class_indices([START, QUEEN, KINGS, EMPTY])[rng.integers(4, size=1_000_000)].astype(np.int8)
    said = np.where(
        rng.random(truth.shape, dtype=np.float32) < 0.02, rng.integers(13, size=truth.shape, dtype=np.int8), truth
    )
    labels = np.zeros((len(truth), 1), dtype=np.int8)
    many = Evidence(CHESS, "test", labels, truth, labels, said, (None,), (None,) * 64)
    found = {name: METRICS[name](many) for name in ("concept_exact", "set_f1", "sane_f1", "mean_violations")}
    assert 0.2 < found["concept_exact"] < 0.35 and found["sane_f1"] < found["set_f1"]
